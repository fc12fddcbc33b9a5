//! `polymut demo`: the shipped example as a git repository, and the main job on it.
//!
//! In: the example that polymut carries. Out: a report, the exit code. I/O: a temporary folder, git, all of `run`.

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use include_dir::{Dir, include_dir};

mod lay_out;

use self::lay_out::{Layer, lay_out};
use super::context::Place;
use super::output::{self, Target};
use super::resume;
use super::run::{Start, Way, run_into};
use crate::cli::DemoArgs;
use crate::exit::Exit;
use crate::paths::AbsPath;

/// The tree of the base branch.
static BASE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/examples/polyglot/base");
/// What the change adds and replaces.
static CHANGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/examples/polyglot/change");
/// What the change deletes, a path per line.
static DELETED: &str = include_str!("../../../examples/polyglot/deleted.txt");

/// The page that the demo writes beside the repository.
const PAGE: &str = "polymut-report.html";

/// Lays out, runs, reports.
pub(super) fn demo(place: &Place, args: &DemoArgs) -> anyhow::Result<Exit> {
    let folder = folder(place, args.into.as_ref())?;
    let repo = folder.join("parcelwright");
    lay_out_example(&repo)?;
    place.terminal.say(&format!("the example is in {repo}, on branch surcharges over main"));
    let mut targets = output::targets(place, &args.how.format)?;
    let page = Utf8PathBuf::from(folder.join(PAGE).as_str());
    if args.how.format.is_empty() {
        targets.push(Target::file("html", page.clone())?);
    }
    let mut scope = args.scope.clone();
    if scope.base.is_none() && scope.diff_file.is_none() && !scope.all {
        scope.base = Some("main".to_owned());
    }
    let mut how = args.how.clone();
    // What the example needs is installed: into the private store, and into the sandboxes.
    how.provision = true;
    let exit = run_into(
        &place.at(repo.clone()),
        (&scope, &how),
        &targets,
        &Way { start: Start::Afresh, again: again(&repo) },
    )?;
    if args.how.format.is_empty() {
        place.terminal.say(&format!("the page: {page}"));
    }
    Ok(exit)
}

/// Makes `repo` the example's repository: branch `main`, and `surcharges` with the change, checked out.
pub fn lay_out_example(repo: &AbsPath) -> anyhow::Result<()> {
    let deleted: Vec<&str> =
        DELETED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let base =
        Layer { name: "main", message: "Parcelwright as it is", files: files(&BASE)?, deleted: Vec::new() };
    let change =
        Layer { name: "surcharges", message: "The change under review", files: files(&CHANGE)?, deleted };
    lay_out(repo, &[base, change])
}

/// The words that run on the example as it lies there.
fn again(repo: &AbsPath) -> Vec<String> {
    let own = ["-C", repo.as_str(), "run", "--base", "main", "--provision"].map(str::to_owned);
    let mut given = resume::own_words().into_iter().skip_while(|word| word != "demo").skip(1);
    let mut rest = Vec::new();
    while let Some(word) = given.next() {
        match word.as_str() {
            "--into" | "--base" => drop(given.next()),
            "--provision" => {}
            other if other.starts_with("--into=") || other.starts_with("--base=") => {}
            _ => rest.push(word),
        }
    }
    own.into_iter().chain(rest).collect()
}

/// `--into`, or a temporary folder that stays, because the page in it is to be looked at.
fn folder(place: &Place, into: Option<&Utf8PathBuf>) -> anyhow::Result<AbsPath> {
    let Some(given) = into else {
        let made = tempfile::Builder::new().prefix("polymut-demo-").tempdir()?.keep();
        return Ok(AbsPath::new(Utf8PathBuf::try_from(made)?)?);
    };
    let path = place.path(given)?;
    fs_err::create_dir_all(path.as_std_path())?;
    let mut entries = fs_err::read_dir(path.as_std_path())?;
    anyhow::ensure!(
        entries.next().is_none(),
        "{path} is not empty; `--into` wants an empty or absent folder"
    );
    Ok(path)
}

/// Every file of an embedded folder.
fn files(dir: &'static Dir<'static>) -> anyhow::Result<Vec<(&'static Utf8Path, &'static [u8])>> {
    let mut found = Vec::new();
    for file in dir.files() {
        let path = Utf8Path::from_path(file.path()).context("the example has UTF-8 names")?;
        found.push((path, file.contents()));
    }
    for inner in dir.dirs() {
        found.extend(files(inner)?);
    }
    Ok(found)
}
