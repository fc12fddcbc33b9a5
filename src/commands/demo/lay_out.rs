//! Lays a tree out as a git repository with a base branch and a change on top.
//!
//! In: files in memory. Out: a repository on disk. I/O: the given folder only.

use camino::Utf8Path;
use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature, Time};

use crate::paths::AbsPath;

/// One commit on one branch.
pub(super) struct Layer<'a> {
    /// The branch; it stays on the layer before.
    pub(super) name: &'a str,
    /// The commit's message.
    pub(super) message: &'a str,
    /// Files that it adds or replaces.
    pub(super) files: Vec<(&'a Utf8Path, &'a [u8])>,
    /// Files that it deletes.
    pub(super) deleted: Vec<&'a str>,
}

/// Seconds since 1970 of the first commit: the same bytes give the same hashes on every machine.
const FIRST: i64 = 1_767_225_600;

/// Makes `folder` a repository with one commit and branch per layer, the last one checked out.
pub(super) fn lay_out(folder: &AbsPath, layers: &[Layer<'_>]) -> anyhow::Result<()> {
    let mut options = RepositoryInitOptions::new();
    options.initial_head(layers.first().map_or("main", |layer| layer.name)).external_template(false);
    let repo = Repository::init_opts(folder.as_std_path(), &options)?;
    // The files must be those of the example whatever the user's git says of line ends.
    repo.config()?.set_str("core.autocrlf", "false")?;
    for (number, layer) in layers.iter().enumerate() {
        if number > 0 {
            let head = repo.head()?.peel_to_commit()?;
            repo.branch(layer.name, &head, false)?;
            repo.set_head(&format!("refs/heads/{}", layer.name))?;
        }
        write(folder, layer)?;
        commit(&repo, layer, i64::try_from(number).unwrap_or(0))?;
    }
    Ok(())
}

fn write(folder: &AbsPath, layer: &Layer<'_>) -> anyhow::Result<()> {
    for (path, bytes) in &layer.files {
        let at = folder.join(path.as_str());
        if let Some(dir) = at.parent() {
            fs_err::create_dir_all(dir.as_std_path())?;
        }
        fs_err::write(at.as_std_path(), bytes)?;
    }
    for path in &layer.deleted {
        fs_err::remove_file(folder.join(path).as_std_path())?;
    }
    Ok(())
}

fn commit(repo: &Repository, layer: &Layer<'_>, number: i64) -> anyhow::Result<()> {
    let mut index = repo.index()?;
    index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
    index.update_all(["*"], None)?;
    index.write()?;
    let tree = repo.find_tree(index.write_tree()?)?;
    let who =
        Signature::new("Parcelwright", "dev@parcelwright.example", &Time::new(FIRST + number * 3600, 0))?;
    let parents: Vec<git2::Commit<'_>> =
        repo.head().ok().and_then(|head| head.peel_to_commit().ok()).into_iter().collect();
    repo.commit(Some("HEAD"), &who, &who, layer.message, &tree, &parents.iter().collect::<Vec<_>>())?;
    Ok(())
}
