//! Which commit the change is compared with.
//!
//! In: `--base`, the CI variables, a repository. Out: [`Revision`]. I/O: reads references.

use std::collections::BTreeMap;

use polymut_schemas::Revision;

use super::error::GitError;
use super::repo::Repo;

/// What a CI variable holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Branch,
    Commit,
}

/// The variables in which CI systems name the target of a change, in the order in which they are asked.
const VARIABLES: [(&str, Holds); 7] = [
    ("GITHUB_BASE_REF", Holds::Branch),
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", Holds::Commit),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", Holds::Branch),
    ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", Holds::Branch),
    ("CHANGE_TARGET", Holds::Branch),
    ("BITBUCKET_PR_DESTINATION_BRANCH", Holds::Branch),
    ("SYSTEM_PULLREQUEST_TARGETBRANCH", Holds::Branch),
];

/// Default branches, in the order in which they are tried.
const DEFAULTS: [&str; 4] = ["origin/main", "main", "origin/master", "master"];

/// `--base`, else what CI says, else the default branch.
///
/// A CI variable that names a branch which is not here is an error and not passed over: another base would be
/// another change.
pub(super) fn find(
    repo: &Repo,
    base: Option<&str>,
    env: &BTreeMap<String, String>,
) -> Result<Revision, GitError> {
    if let Some(name) = base {
        return asked(repo, name);
    }
    let mut tried = Vec::new();
    for (variable, holds) in VARIABLES {
        let Some(value) = env.get(variable).map(|value| value.trim()).filter(|value| !value.is_empty())
        else {
            continue;
        };
        for (name, reference) in candidates(value, holds) {
            match repo.commit(&reference) {
                Some(commit) => return Ok(Revision { name, commit, found_by: variable.to_owned() }),
                None => tried.push(format!("{name} ({variable})")),
            }
        }
    }
    if tried.is_empty() {
        default_branch(repo)
    } else {
        Err(GitError::NoBase { tried, shallow: repo.is_shallow() })
    }
}

fn asked(repo: &Repo, name: &str) -> Result<Revision, GitError> {
    if let Some(commit) = repo.commit(name) {
        return Ok(Revision { name: name.to_owned(), commit, found_by: "--base".to_owned() });
    }
    let instead = Some(format!("origin/{name}")).filter(|other| repo.commit(other).is_some());
    Err(GitError::NoSuchBase { name: name.to_owned(), instead, shallow: repo.is_shallow() })
}

/// Shown name and full reference of what a variable may mean. Full references, because a tag may have the name as well.
fn candidates(value: &str, holds: Holds) -> Vec<(String, String)> {
    if holds == Holds::Commit {
        return vec![(value.to_owned(), value.to_owned())];
    }
    let branch = value.strip_prefix("refs/heads/").unwrap_or(value);
    vec![
        (format!("origin/{branch}"), format!("refs/remotes/origin/{branch}")),
        (branch.to_owned(), format!("refs/heads/{branch}")),
    ]
}

fn default_branch(repo: &Repo) -> Result<Revision, GitError> {
    let head = "refs/remotes/origin/HEAD";
    if let (Some(name), Some(commit)) = (repo.symbolic(head), repo.commit(head)) {
        return Ok(Revision { name, commit, found_by: "origin/HEAD".to_owned() });
    }
    for name in DEFAULTS {
        let reference = match name.strip_prefix("origin/") {
            Some(_) => format!("refs/remotes/{name}"),
            None => format!("refs/heads/{name}"),
        };
        if let Some(commit) = repo.commit(&reference) {
            return Ok(Revision { name: name.to_owned(), commit, found_by: "default branch".to_owned() });
        }
    }
    let tried = std::iter::once("origin/HEAD").chain(DEFAULTS).map(str::to_owned).collect();
    Err(GitError::NoBase { tried, shallow: repo.is_shallow() })
}
