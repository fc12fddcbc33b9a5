//! Turns a plan's placeholders into the words, folders and programs of this machine.
//!
//! In: a [`CommandSpec`], a sandbox, the store, the tool's environment. Out: [`Launch`]. I/O: looks for files.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use polymut_adapters::{CommandSpec, Find, Piece};
use polymut_schemas::RepoDir;

use super::{CacheUse, ExecError, Launch, Sandbox, Store, ToolEnv};
use crate::paths::AbsPath;

/// What placeholders of one sandbox stand for.
pub(super) struct Resolver<'a> {
    pub(super) sandbox: &'a dyn Sandbox,
    pub(super) store: &'a Store,
    pub(super) env: &'a ToolEnv,
    pub(super) cores: u32,
}

impl Resolver<'_> {
    /// The command of this machine; `None` when its program is found nowhere. `own` is set on top of everything else.
    pub(super) fn launch(
        &self,
        spec: &CommandSpec,
        own: BTreeMap<OsString, OsString>,
    ) -> Result<Option<Launch>, ExecError> {
        let mut env = self.env.vars().clone();
        for (name, pieces) in &spec.env {
            env.insert(OsString::from(name), self.word(pieces));
        }
        env.extend(own);
        let Some(program) = self.program(spec, &env)? else { return Ok(None) };
        Ok(Some(Launch {
            program,
            args: spec.args.iter().map(|pieces| self.word(pieces)).collect(),
            cwd: self.sandbox.seen(&spec.cwd),
            env,
            network: false,
            memory: None,
            caches: CacheUse::Private,
        }))
    }

    /// Where the sandbox's repository has `name`, looking in `dir` and in each folder above.
    pub(super) fn upward(&self, dir: &RepoDir, name: &str) -> Option<RepoDir> {
        let mut at = Some(dir.clone());
        while let Some(folder) = at {
            if let Ok(candidate) = folder.join(name).map(RepoDir::from)
                && self.sandbox.exists(&candidate)
            {
                return Some(candidate);
            }
            at = folder.parent();
        }
        None
    }

    fn word(&self, pieces: &[Piece]) -> OsString {
        let mut word = OsString::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => word.push(text),
                Piece::Sandbox(path) => word.push(self.sandbox.seen(path).as_str()),
                Piece::Work(path) => word.push(self.sandbox.work(path).as_str()),
                Piece::Store(path) => word.push(self.store.path(path).as_str()),
                Piece::Inherit(name) => word.push(self.env.inherit(name).unwrap_or_default()),
                Piece::Cores => word.push(self.cores.to_string()),
            }
        }
        word
    }

    fn program(
        &self,
        spec: &CommandSpec,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<Option<AbsPath>, ExecError> {
        for find in &spec.program {
            let found = match find {
                Find::OnPath(name) => {
                    self.on_path(name, env.get(OsStr::new("PATH")).map(OsString::as_os_str), &spec.cwd)?
                }
                Find::Named(name) => self.named(name, env, &spec.cwd)?,
                Find::Upward(dir, name) => self.upward(dir, name).map(|path| self.sandbox.seen(&path)),
                Find::Store(path) => self.store.find(path),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// A program as a user writes it.
    fn named(
        &self,
        name: &str,
        env: &BTreeMap<OsString, OsString>,
        cwd: &RepoDir,
    ) -> Result<Option<AbsPath>, ExecError> {
        if !name.contains('/') {
            return self.on_path(name, env.get(OsStr::new("PATH")).map(OsString::as_os_str), cwd);
        }
        if let Ok(path) = AbsPath::new(name) {
            return Ok(path.as_path().exists().then_some(path));
        }
        let below = cwd.resolve(name).ok().filter(|path| self.sandbox.exists(path));
        Ok(below.map(|path| self.sandbox.seen(&path)))
    }

    /// Looks through `PATH`. A folder of the sandbox is asked through the sandbox: what Prepare made there may be
    /// invisible from outside.
    fn on_path(&self, name: &str, path: Option<&OsStr>, cwd: &RepoDir) -> Result<Option<AbsPath>, ExecError> {
        let root = self.sandbox.seen(&RepoDir::root());
        let cwd = self.sandbox.seen(cwd);
        for folder in std::env::split_paths(path.unwrap_or_default()) {
            let inside = folder.strip_prefix(root.as_std_path()).ok().and_then(|below| below.to_str());
            if let Some(below) = inside
                && let Ok(candidate) = RepoDir::new(below).and_then(|dir| dir.join(name)).map(RepoDir::from)
                && self.sandbox.exists(&candidate)
            {
                return Ok(Some(self.sandbox.seen(&candidate)));
            }
            if let Ok(found) = which::which_in(name, Some(&folder), cwd.as_std_path()) {
                return absolute(&found).map(Some);
            }
        }
        Ok(None)
    }
}

fn absolute(found: &std::path::Path) -> Result<AbsPath, ExecError> {
    match found.to_str().map(AbsPath::new) {
        Some(Ok(path)) => Ok(path),
        Some(Err(_)) | None => Err(ExecError::NotUtf8(found.to_string_lossy().into_owned())),
    }
}
