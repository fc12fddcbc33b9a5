//! The private store of tools at pinned versions, and how a tool gets into it.
//!
//! In: a [`ToolInfo`] with its recipe. Out: [`Store`]. I/O: runs the recipe's commands, with network, outside of any
//! sandbox.
//!
//! `<tools>/<tool id>/<version>/…` is what [`StorePath`] names: `cargo-mutants/27.1.0/bin/cargo-mutants`. A recipe is
//! run in its final folder, because much of what installers write holds its own absolute path (a venv's scripts
//! above all) and would break when moved. What makes the step atomic is the file `.complete`, which is written last:
//! without it a folder counts as empty and is made anew.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use polymut_adapters::{Output, RecipeStep, StorePath, ToolInfo};

use super::event::{Event, EventSender};
use super::family::MARKER;
use super::output::Cap;
use super::process::{self, Ended, Process};
use super::stop::GRACE;
use super::workdir::{remove_tree, try_lock};
use super::{CacheUse, ExecError, InstallError, Launch, Stop, ToolEnv, disk};
use crate::paths::AbsPath;

/// The file that says that a folder of the store is whole.
const COMPLETE: &str = ".complete";

/// The room that an installation needs at the least.
const LEAST_ROOM: u64 = 1 << 30;

/// The most that one command of a recipe may take: a slow machine builds a tool from source.
const COMMAND_LIMIT: Duration = Duration::from_mins(45);

/// The longest wait for another polymut that installs the same tool.
const LOCK_LIMIT: Duration = Duration::from_hours(1);

/// How many lines of a failed command are quoted.
const QUOTED_LINES: usize = 15;

/// Tools at pinned versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    root: AbsPath,
}

/// What an installation may use.
pub struct Install<'a> {
    /// The environment of its commands.
    pub env: &'a ToolEnv,
    /// Cores that it may use.
    pub cores: u32,
    /// Who stops it.
    pub stop: &'a Stop,
    /// Who is told.
    pub events: &'a EventSender,
}

/// What an installation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installed {
    /// It was there already.
    Before,
    /// It is there now.
    Now,
}

impl Store {
    /// The store in the folder `root`, which need not exist yet.
    pub fn at(root: AbsPath) -> Self {
        Self { root }
    }

    /// The folder.
    pub fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Where `path` is or would be.
    pub fn path(&self, path: &StorePath) -> AbsPath {
        self.root.join(path.as_str())
    }

    /// `path`, when it exists in a folder that was installed to its end.
    pub fn find(&self, path: &StorePath) -> Option<AbsPath> {
        let mut parts = path.as_str().splitn(3, '/');
        let (tool, version) = (parts.next()?, parts.next()?);
        let whole = self.root.join(tool).join(version).join(COMPLETE).as_path().exists();
        let found = self.path(path);
        (whole && found.as_path().exists()).then_some(found)
    }

    /// Whether the tool is there at its pinned version.
    pub fn has(&self, info: &ToolInfo) -> bool {
        let provides = format!("{}/{}/{}", info.id, info.recipe.version, info.recipe.provides);
        StorePath::new(provides).is_ok_and(|path| self.find(&path).is_some())
    }

    /// The folder of the tool at its pinned version.
    pub fn folder(&self, info: &ToolInfo) -> AbsPath {
        self.root.join(info.id).join(info.recipe.version)
    }

    /// Installs the tool by its recipe, unless it is there.
    pub async fn install(&self, info: &ToolInfo, with: &Install<'_>) -> Result<Installed, ExecError> {
        if self.has(info) {
            return Ok(Installed::Before);
        }
        let started = Instant::now();
        let home = self.root.join(info.id);
        make_dir(&home)?;
        let version = info.recipe.version;
        let _lock = wait_for_lock(&home.join(format!(".{version}.lock")), info, with).await?;
        if self.has(info) {
            return Ok(Installed::Before);
        }
        disk::require(&home, LEAST_ROOM)?;
        let folder = self.folder(info);
        let logs = home.join(format!(".{version}.logs"));
        for made_anew in [&folder, &logs] {
            remove_tree(made_anew);
            make_dir(made_anew)?;
        }
        for (index, step) in info.recipe.steps.iter().enumerate() {
            let recipe = RecipeRun { info, with, folder: &folder, logs: &logs };
            recipe.command(index, step).await?;
        }
        let provides = folder.join(info.recipe.provides);
        if !provides.as_path().exists() {
            return Err(failed(info, "the recipe", format!("made no {}", info.recipe.provides), &[]));
        }
        let complete = folder.join(COMPLETE);
        fs_err::write(complete.as_std_path(), format!("{} {version}\n", info.id))
            .map_err(|source| ExecError::io(format!("write {complete}"), &folder, source))?;
        with.events.send(Event::Installed {
            tool: info.id.to_owned(),
            version: version.to_owned(),
            wall: started.elapsed(),
        });
        Ok(Installed::Now)
    }
}

/// One run of a recipe.
struct RecipeRun<'a> {
    info: &'a ToolInfo,
    with: &'a Install<'a>,
    folder: &'a AbsPath,
    logs: &'a AbsPath,
}

impl RecipeRun<'_> {
    async fn command(&self, index: usize, step: &RecipeStep) -> Result<(), ExecError> {
        let args: Vec<String> = step.args.iter().map(|arg| self.word(arg)).collect();
        let command = shlex::try_join(std::iter::once(step.program).chain(args.iter().map(String::as_str)))
            .unwrap_or_else(|_| step.program.to_owned());
        self.with.events.send(Event::Installing {
            tool: self.info.id.to_owned(),
            version: self.info.recipe.version.to_owned(),
            command: command.clone(),
        });
        let temporary = self.logs.join("tmp");
        make_dir(&temporary)?;
        let Some(launch) = self.launch(step, args, &temporary)? else {
            return Err(failed(
                self.info,
                &command,
                format!("needs {}, which is not on PATH", step.program),
                &[],
            ));
        };
        let request = Process {
            name: self.info.id,
            launch,
            wall: Some(COMMAND_LIMIT),
            grace: GRACE,
            stdout: self.logs.join(format!("{index}.stdout")),
            stderr: self.logs.join(format!("{index}.stderr")),
            cap: Cap { head: 1 << 20, tail: 1 << 20 },
            on_line: self.with.events.lines(self.info.id),
            sandbox: None,
            disk: self.folder.clone(),
            before_stop: None,
        };
        let ended = process::run(request, self.with.stop).await;
        remove_tree(&temporary);
        self.judge(&command, &ended?)
    }

    fn launch(
        &self,
        step: &RecipeStep,
        args: Vec<String>,
        temporary: &AbsPath,
    ) -> Result<Option<Launch>, ExecError> {
        let mut env: BTreeMap<OsString, OsString> = self.with.env.vars().clone();
        for name in ["TMPDIR", "TMP", "TEMP", MARKER] {
            env.insert(OsString::from(name), OsString::from(temporary.as_str()));
        }
        let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let Ok(program) = which::which_in(step.program, Some(path), self.folder.as_std_path()) else {
            return Ok(None);
        };
        let text = program.to_string_lossy().into_owned();
        let program = AbsPath::new(text.clone()).map_err(|_| ExecError::NotUtf8(text))?;
        let args = args.into_iter().map(OsString::from).collect();
        Ok(Some(Launch {
            program,
            args,
            cwd: self.folder.clone(),
            env,
            network: true,
            memory: None,
            caches: CacheUse::Shared,
        }))
    }

    fn word(&self, arg: &str) -> String {
        arg.replace("{store}", self.folder.as_str())
            .replace("{version}", self.info.recipe.version)
            .replace("{cores}", &self.with.cores.to_string())
    }

    fn judge(&self, command: &str, ended: &Ended) -> Result<(), ExecError> {
        use polymut_adapters::End;
        let how = match ended.end {
            End::Exit(0) => return Ok(()),
            End::Stopped => {
                return Err(ExecError::Stopped { doing: format!("installing {}", self.info.id) });
            }
            End::Exit(code) => format!("ended with exit code {code}"),
            End::Signal(signal) => format!("was ended by signal {signal}"),
            End::Limit => format!("took more than {} minutes", COMMAND_LIMIT.as_secs() / 60),
            End::OutOfMemory => "ran out of memory".to_owned(),
            End::NoProgram => "was not found".to_owned(),
        };
        Err(failed(self.info, command, how, &[&ended.stdout, &ended.stderr]))
    }
}

fn failed(info: &ToolInfo, command: &str, ended: String, outputs: &[&Output]) -> ExecError {
    let text: Vec<_> = outputs.iter().map(|output| output.text()).collect();
    let lines: Vec<&str> =
        text.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()).collect();
    ExecError::Install(Box::new(InstallError {
        tool: info.id.to_owned(),
        version: info.recipe.version.to_owned(),
        command: command.to_owned(),
        ended,
        quote: lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n"),
        by_hand: info.recipe.hint.to_owned(),
    }))
}

/// Waits for another installer of the same version, as long as nobody wants polymut to stop.
async fn wait_for_lock(
    path: &AbsPath,
    info: &ToolInfo,
    with: &Install<'_>,
) -> Result<std::fs::File, ExecError> {
    let mut waited = Duration::ZERO;
    let pause = Duration::from_millis(200);
    loop {
        if let Some(lock) = try_lock(path)? {
            return Ok(lock);
        }
        if waited.is_zero() {
            let text = format!("waiting for another polymut that installs {}", info.id);
            with.events.send(Event::Note { label: None, text });
        }
        if waited >= LOCK_LIMIT {
            return Err(ExecError::Locked { lock: path.to_string(), waited });
        }
        tokio::select! {
            () = with.stop.asked() => {
                return Err(ExecError::Stopped { doing: format!("waiting for another installer of {}", info.id) });
            }
            () = tokio::time::sleep(pause) => waited += pause,
        }
    }
}

fn make_dir(folder: &AbsPath) -> Result<(), ExecError> {
    fs_err::create_dir_all(folder.as_std_path())
        .map_err(|source| ExecError::io(format!("create {folder}"), folder, source))
}
