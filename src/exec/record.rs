//! What is kept of a step beside its outputs: argv, folder, names of variables, and how it ended.
//!
//! In: a step. Out: `<n>-<run>-<name>.{json,stdout,stderr}` in the log folder. I/O: writes there.
//!
//! Values of variables are not kept: somebody may attach the folder to a bug report.

use serde_json::{Value, json};

use super::collect::write_all;
use super::process::Ended;
use super::{ExecError, Launch};
use crate::paths::AbsPath;

/// The files of one run of a step.
pub(super) struct Record {
    logs: AbsPath,
    name: String,
    written: Value,
}

impl Record {
    /// Names the files after the step.
    pub(super) fn new(logs: &AbsPath, prefix: &str, step: &str) -> Self {
        Self {
            logs: logs.clone(),
            name: format!("{prefix}-{}", file_name(step)),
            written: json!({ "step": step }),
        }
    }

    /// Where stdout goes.
    pub(super) fn stdout(&self) -> AbsPath {
        self.logs.join(format!("{}.stdout", self.name))
    }

    /// Where stderr goes.
    pub(super) fn stderr(&self) -> AbsPath {
        self.logs.join(format!("{}.stderr", self.name))
    }

    /// Before the start: the command as it is meant, without the sandbox's wrapping.
    pub(super) fn command(&mut self, launch: &Launch) -> Result<(), ExecError> {
        let args: Vec<_> = launch.args.iter().map(|arg| arg.to_string_lossy()).collect();
        let names: Vec<_> = launch.env.keys().map(|name| name.to_string_lossy()).collect();
        self.add(json!({
            "program": launch.program.as_str(),
            "args": args,
            "cwd": launch.cwd.as_str(),
            "environment": names,
            "network": launch.network,
            "memory": launch.memory,
        }))
    }

    /// After the end.
    pub(super) fn end(&mut self, ended: &Ended) -> Result<(), ExecError> {
        self.add(json!({
            "end": format!("{:?}", ended.end),
            "seconds": ended.wall.as_secs_f64(),
            "stdout_lost": ended.stdout.lost,
            "stderr_lost": ended.stderr.lost,
        }))
    }

    fn add(&mut self, more: Value) -> Result<(), ExecError> {
        if let (Value::Object(all), Value::Object(more)) = (&mut self.written, more) {
            all.extend(more);
        }
        let text = format!("{:#}\n", self.written);
        write_all(&self.logs.join(format!("{}.json", self.name)), text.as_bytes())
    }
}

/// A step's name as a file name that every system takes.
pub(super) fn file_name(step: &str) -> String {
    step.chars()
        .take(60)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .collect()
}

/// Cuts off a last line that has no end: half an answer may read as another one.
pub(super) fn whole_lines(bytes: &mut Vec<u8>) {
    let keep = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(keep);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_no_answer() {
        for (text, kept) in [("a killed\nb surv", "a killed\n"), ("a kil", ""), ("a\n", "a\n"), ("", "")] {
            let mut bytes = text.as_bytes().to_vec();
            whole_lines(&mut bytes);
            assert_eq!(bytes, kept.as_bytes());
        }
    }

    #[test]
    fn a_step_may_have_any_name() {
        assert_eq!(file_name("test a/b::c <d>"), "test_a_b__c__d_");
        assert_eq!(file_name(&"x".repeat(300)).len(), 60);
    }
}
