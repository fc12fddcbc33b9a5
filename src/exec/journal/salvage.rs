//! Reads what a round of the test stage had left when its run died, as if it had been stopped.
//!
//! In: beginnings without an end, the dead run's folders. Out: cut rounds in the journal. I/O: reads the dead sandboxes
//! and logs.
//!
//! Only what was on the disk when nothing ran any more is read, and nothing after a restart of the machine: what the
//! disk holds then is no picture of any moment.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use polymut_adapters::{End, Gather, Key, Output, Ran, StepEnd, Units};
use polymut_schemas::StageName;
use serde_json::Value;

use super::written::Beginning;
use super::{Journal, Kept, Share};
use crate::exec::collect::{Collector, LARGEST_ARTIFACT};
use crate::exec::record::{file_name, whole_lines};
use crate::exec::resolve::Resolver;
use crate::exec::{ExecError, HostEnv, Store, ToolEnv};
use crate::paths::AbsPath;

impl Journal {
    /// Turns every round of the test stage that died into one that was cut. Nothing of the dead run may live any more;
    /// its folders are not needed afterwards.
    ///
    /// `edited` is when the last of the user's files was written: a round that began before and saw them may have tested
    /// something else.
    pub fn salvage(&self, store: &Store, host: &HostEnv, edited: SystemTime) {
        let env = host.for_tool(&[], &[]);
        for began in self.unended() {
            if began.remains.shows_the_tree() && edited >= UNIX_EPOCH + Duration::from_nanos(began.since) {
                continue;
            }
            match left(&began, store, &env) {
                Ok(Some(ran)) => keep(self, began, ran),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, project = %began.project, "what a dead run had tested cannot be read");
                }
            }
        }
    }
}

fn keep(journal: &Journal, began: Beginning, ran: Ran) {
    let name = (StageName::Test, &began.project, began.key.as_str(), began.root.clone());
    journal.round_ended(name, (Some(began.serial), Some(began.share.clone())), true, &ran);
    let units = Units::from(began.share.units);
    let share = Some(Share { number: began.share.number, round: began.share.round, units });
    let (key, root) = (began.key, began.root);
    journal.learn(&began.project, Kept { stage: StageName::Test, key, root, share, cut: true, ran });
}

/// What the round left; `None`: nothing that can be believed.
fn left(began: &Beginning, store: &Store, env: &ToolEnv) -> Result<Option<Ran>, ExecError> {
    if began.boot.is_empty() || began.boot != boot() {
        return Ok(None);
    }
    let Some(logs) = AbsPath::new(began.logs.as_str()).ok() else { return Ok(None) };
    let Some(sandbox) = began.remains.clone().open() else { return Ok(None) };
    let steps = steps(began, &logs);
    if steps.is_empty() {
        return Ok(None);
    }
    let gather: Vec<Gather> = began.gather.iter().cloned().map(Gather::from).collect();
    let resolver = Resolver { sandbox: sandbox.as_ref(), store, env, cores: 1 };
    let since = UNIX_EPOCH + Duration::from_nanos(began.since);
    let keep = logs.join("artifacts");
    let collector =
        Collector { resolver: &resolver, since: Some(since), keep: &keep, largest: LARGEST_ARTIFACT };
    let files = collector.collect(&gather)?;
    Ok(Some(Ran { steps, files }))
}

/// The steps that had ended, and the one that was running, which counts as stopped.
fn steps(began: &Beginning, logs: &AbsPath) -> Vec<StepEnd> {
    let mut ends = Vec::new();
    for (index, (name, about)) in began.steps.iter().enumerate() {
        let place = |ending: &str| logs.join(format!("{index:02}-0-{}.{ending}", file_name(name)));
        let Ok(record) = fs_err::read(place("json").as_std_path()) else { break };
        let bytes = |ending| fs_err::read(place(ending).as_std_path()).unwrap_or_default();
        let (exit, wall) = ended(&record);
        let (mut stdout, mut stderr) = (bytes("stdout"), bytes("stderr"));
        if exit.is_none() {
            whole_lines(&mut stdout);
            whole_lines(&mut stderr);
        }
        ends.push(StepEnd {
            name: name.clone(),
            about: about.clone().map(Key),
            end: exit.map_or(End::Stopped, End::Exit),
            wall,
            stdout: Output { bytes: stdout, lost: 0 },
            stderr: Output { bytes: stderr, lost: 0 },
        });
        if exit.is_none() {
            break;
        }
    }
    // Every step had ended, but not the round: its last end is not known to be the last.
    if let Some(last) = ends.last_mut().filter(|_| ends_whole(began, logs)) {
        last.end = End::Stopped;
    }
    ends
}

fn ends_whole(began: &Beginning, logs: &AbsPath) -> bool {
    began.steps.iter().enumerate().all(|(index, (name, _))| {
        let file = logs.join(format!("{index:02}-0-{}.json", file_name(name)));
        fs_err::read(file.as_std_path()).is_ok_and(|record| ended(&record).0.is_some())
    })
}

/// The exit code and wall time of a step that had ended by itself.
fn ended(record: &[u8]) -> (Option<i32>, Duration) {
    let Ok(record) = serde_json::from_slice::<Value>(record) else { return (None, Duration::ZERO) };
    let code =
        record["end"].as_str().and_then(|end| end.strip_prefix("Exit(")?.strip_suffix(')')?.parse().ok());
    let seconds = record["seconds"].as_f64().unwrap_or_default();
    (code, Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// Nanoseconds since 1970.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Names the time since the machine was started; empty where it has no name.
pub(super) fn boot() -> String {
    fs_err::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
