//! An interpreter that has what project, tests and tool need: `.polymut-env` in the project's folder of the sandbox.
//!
//! In: what is needed. Out: the step that makes it, and what it says of itself. I/O: none.
//!
//! It lies in the sandbox's tree and not in the work folder, because forks of a sandbox take the tree along only.

use std::collections::BTreeMap;

use polymut_schemas::{PathError, Quote, RepoDir};
use serde::Deserialize;

use super::quote_end;
use crate::{
    CommandSpec, Find, Finish, Gather, NewFile, Note, Parsed, Piece, Place, PlanError, Ran, Role, Step,
    StorePath, WorkPath,
};

const SCRIPT: &str = include_str!("environment.py");
const STEP: &str = "environment";
const ANSWER: &str = "environment.json";

/// Virtual environments that a project keeps in its folder or above.
const OWN: [&str; 2] = [".venv", "venv"];

/// What the environment is made of.
pub(in crate::tools) struct Environment<'a> {
    /// The project's folder.
    pub(in crate::tools) dir: &'a RepoDir,
    /// The tool's folder in the store, `mutmut/3.8.1`.
    pub(in crate::tools) store: &'a str,
    /// Distributions without which nothing can start.
    pub(in crate::tools) needs: &'a [&'a str],
}

/// What the step found and made.
#[derive(Debug, Default, Deserialize)]
pub(in crate::tools) struct Prepared {
    /// Version of the interpreter.
    pub(in crate::tools) python: String,
    /// Whose it is.
    pub(in crate::tools) interpreter: String,
    /// What was installed for this run.
    pub(in crate::tools) installed: Vec<String>,
    /// What could not be done.
    pub(in crate::tools) note: String,
    /// Versions of every distribution by canonical name.
    pub(in crate::tools) versions: BTreeMap<String, String>,
}

impl Environment<'_> {
    /// The step that makes the interpreter. It is the one that may use the network.
    pub(in crate::tools) fn step(&self) -> Result<Step, PlanError> {
        let script = work("environment.py")?;
        let store = StorePath::new(self.store).map_err(|error| unplaced(&error))?;
        let mut args = vec![
            vec![Piece::Work(script.clone())],
            Piece::word("--root"),
            vec![Piece::Sandbox(RepoDir::root())],
            Piece::word("--store"),
            vec![Piece::Store(store)],
            Piece::word("--out"),
            vec![Piece::Work(work(ANSWER)?)],
        ];
        for need in self.needs {
            args.extend([Piece::word("--need"), Piece::word(*need)]);
        }
        Ok(Step {
            name: STEP.to_owned(),
            about: None,
            role: Role::Fetch,
            files: vec![NewFile { at: Place::Work(script), bytes: SCRIPT.as_bytes().to_vec() }],
            command: CommandSpec {
                program: interpreter(self.dir),
                args,
                cwd: self.dir.clone(),
                env: BTreeMap::from([("PYTHONDONTWRITEBYTECODE".to_owned(), Piece::word("1"))]),
            },
            go_on: &[0],
            limit: None,
        })
    }

    /// What the step leaves.
    pub(in crate::tools) fn gather() -> Result<Gather, PlanError> {
        Ok(Gather::Files { under: Place::Work(work("")?), glob: ANSWER.to_owned(), fresh: true })
    }
}

/// The interpreter that the project would use: its own virtual environment, else the one on `PATH`.
pub(in crate::tools) fn interpreter(dir: &RepoDir) -> Vec<Find> {
    vec![
        Find::Upward(dir.clone(), ".venv/bin/python"),
        Find::Upward(dir.clone(), "venv/bin/python"),
        Find::OnPath("python3"),
        Find::OnPath("python"),
    ]
}

/// The interpreter that the environment step made.
pub(in crate::tools) fn python(dir: &RepoDir) -> Vec<Find> {
    vec![Find::Upward(dir.clone(), ".polymut-env/bin/python")]
}

/// `PATH` with the made environment first, then what the project's own virtual environments have.
pub(in crate::tools) fn start_folders(dir: &RepoDir) -> Vec<Piece> {
    let mut word = Vec::new();
    let mut add = |dir: &RepoDir, name: &str| {
        if let Ok(folder) = dir.resolve(format!("{name}/bin")) {
            word.extend([Piece::Sandbox(folder), Piece::Text(":".to_owned())]);
        }
    };
    add(dir, ".polymut-env");
    let mut at = Some(dir.clone());
    while let Some(folder) = at {
        for name in OWN {
            add(&folder, name);
        }
        at = folder.parent();
    }
    word.push(Piece::Inherit("PATH"));
    word
}

/// What the environment step said of itself, when it came to its end.
pub(in crate::tools) fn prepared(ran: &Ran) -> Option<Prepared> {
    serde_json::from_slice(ran.file_ending(ANSWER)?).ok()
}

/// What the environment has, told as facts and notes. `None`: there is none, and `parsed` says why.
pub(in crate::tools) fn environment(ran: &Ran, parsed: &mut Parsed) -> Option<Prepared> {
    let Some(found) = prepared(ran) else {
        let words = ran.step(STEP).map(|step| quote_end(step, 15));
        let nothing = || Quote { text: "no environment was made".to_owned(), at: "prepare".to_owned() };
        parsed.finish = Finish::Broken(words.unwrap_or_else(nothing));
        return None;
    };
    if !found.note.is_empty() {
        parsed.notes.push(Note(found.note.clone()));
    }
    if !found.installed.is_empty() {
        parsed.notes.push(Note(format!("installed for this run: {}", found.installed.join(", "))));
    }
    parsed.facts.set("python.version", &found.python);
    parsed.facts.set("python.interpreter", &found.interpreter);
    Some(found)
}

fn work(path: &str) -> Result<WorkPath, PlanError> {
    WorkPath::new(path).map_err(|error| unplaced(&error))
}

fn unplaced(error: &PathError) -> PlanError {
    PlanError::Missing { missing: error.to_string(), remedy: "this is a fault of polymut".to_owned() }
}
