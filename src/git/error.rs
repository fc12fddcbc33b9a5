//! What can go wrong between a folder and the scope of a change. Every one of these ends with exit 2.
//!
//! In: nothing. Out: [`GitError`], [`DiffFileError`]. I/O: none.

use std::io;

/// The change, or a side of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No `.git` above.
    #[error("{start} is not in a git repository")]
    NotARepository {
        /// Where the search started.
        start: String,
    },
    /// No files are checked out.
    #[error("{path} is a bare repository: no files are checked out")]
    Bare {
        /// The repository.
        path: String,
    },
    /// git and libgit2 refuse a repository of another user.
    #[error("the repository at {path} belongs to another user")]
    Owner {
        /// The folder.
        path: String,
    },
    /// A path of the machine that is not UTF-8.
    #[error("the path {path} is not UTF-8")]
    PathNotUtf8 {
        /// With replacement characters.
        path: String,
    },
    /// No commit yet.
    #[error("nothing is committed yet, so there is nothing to compare with")]
    NoCommit,
    /// `--base` names nothing.
    #[error("--base {name} names no commit here")]
    NoSuchBase {
        /// As given.
        name: String,
        /// A name that exists and may be meant.
        instead: Option<String>,
        /// Whether the history is cut.
        shallow: bool,
    },
    /// No base was named and none was found.
    #[error("no base to compare with: {} do not exist here", tried.join(", "))]
    NoBase {
        /// What was looked for, with where each name came from.
        tried: Vec<String>,
        /// Whether the history is cut.
        shallow: bool,
    },
    /// Base and HEAD share no commit.
    #[error("{base} and HEAD have no common commit here{}", if *.shallow { " (this is a shallow clone)" } else { "" })]
    NoMergeBase {
        /// Name of the base.
        base: String,
        /// Whether the history is cut.
        shallow: bool,
    },
    /// The index holds unmerged files.
    #[error("the index holds unmerged files, such as {path}")]
    Unmerged {
        /// One of them.
        path: String,
    },
    /// libgit2 failed.
    #[error("{doing} failed: {words}")]
    Library {
        /// What was being done.
        doing: String,
        /// Its words.
        words: String,
    },
    /// The `git` program failed.
    #[error("`git {command}` failed: {words}")]
    Program {
        /// The subcommand.
        command: String,
        /// Its words.
        words: String,
    },
    /// Neither libgit2 nor the `git` program can read the repository.
    #[error("this repository needs the git program ({why}), and it cannot be used: {words}")]
    NoProgram {
        /// Why libgit2 cannot read it.
        why: String,
        /// What is wrong with the program.
        words: String,
    },
    /// A file cannot be read.
    #[error("a file of the new side cannot be read")]
    Read(#[from] io::Error),
    /// The file of `--diff-file`.
    #[error("{name}: {source}")]
    DiffFile {
        /// Name of the file.
        name: String,
        /// What is wrong with it.
        source: DiffFileError,
    },
}

/// A diff file cannot be read, or is not about this tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffFileError {
    /// No byte but white space.
    #[error("the diff is empty")]
    Empty,
    /// No file section.
    #[error("there is no unified diff in this file")]
    NoDiff,
    /// Encoded by a shell that writes UTF-16.
    #[error("the diff is UTF-16 text")]
    Utf16,
    /// A line that does not belong where it stands.
    #[error("line {line}: {why}")]
    Malformed {
        /// 1-based line of the diff.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A hunk ends before its counts are met.
    #[error("line {line}: the hunk `{header}` is cut off: {missing} of its lines are missing")]
    Truncated {
        /// 1-based line of the hunk's header.
        line: usize,
        /// The header.
        header: String,
        /// How many.
        missing: u64,
    },
    /// A file that the tree does not hold.
    #[error("line {line}: {path} is not on the new side")]
    NoSuchFile {
        /// 1-based line of the diff.
        line: usize,
        /// The path.
        path: String,
    },
    /// A file that should be gone.
    #[error("line {line}: the diff deletes {path}, which is still on the new side")]
    StillThere {
        /// 1-based line of the diff.
        line: usize,
        /// The path.
        path: String,
    },
    /// The new side has other text than the diff says.
    #[error("line {line}: {path}:{at} is `{found}` on the new side, but the diff says `{wanted}`")]
    OtherText {
        /// 1-based line of the diff.
        line: usize,
        /// The file.
        path: String,
        /// 1-based line of the file.
        at: u32,
        /// What stands there.
        found: String,
        /// What the diff says.
        wanted: String,
    },
}

/// What to fetch when history is missing.
const DEEPEN: &str = "the history is cut: `git fetch --unshallow` (on GitHub `fetch-depth: 0` for actions/checkout, on GitLab \
                      `GIT_DEPTH: 0`) fetches the rest";

impl GitError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotARepository { .. } => Some("run polymut inside a git checkout".to_owned()),
            Self::Bare { .. } => {
                Some("run polymut in a checkout, such as one of `git worktree add`".to_owned())
            }
            Self::Owner { path } => {
                Some(format!("`git config --global --add safe.directory {path}` trusts this folder"))
            }
            Self::NoCommit => Some("`--all` tests every file; a change needs a first commit".to_owned()),
            Self::NoSuchBase { instead: Some(instead), .. } => Some(format!("`--base {instead}` exists")),
            Self::NoSuchBase { name, instead: None, shallow } => Some(fetch_base(name, *shallow)),
            Self::NoBase { shallow, .. } => {
                Some(format!("name one with `--base`; {}", fetch_base("the target branch", *shallow)))
            }
            Self::NoMergeBase { shallow: true, .. } => Some(DEEPEN.to_owned()),
            Self::NoMergeBase { shallow: false, base } => Some(format!(
                "the two histories are unrelated: `--base` a commit that HEAD grew from, not {base}"
            )),
            Self::Unmerged { .. } => Some("resolve the merge, then `git add` the files".to_owned()),
            Self::NoProgram { .. } => {
                Some("install git, or hand the change over with `--diff-file`".to_owned())
            }
            Self::DiffFile { source, .. } => source.hint(),
            Self::PathNotUtf8 { .. } | Self::Library { .. } | Self::Program { .. } | Self::Read(_) => None,
        }
    }
}

fn fetch_base(name: &str, shallow: bool) -> String {
    let fetch = format!("fetch {name} first (`git fetch origin <branch>:refs/remotes/origin/<branch>`)");
    if shallow { format!("{fetch}; {DEEPEN}") } else { fetch }
}

impl DiffFileError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Empty => {
                Some("a change without lines needs no run; was the diff written at all?".to_owned())
            }
            Self::NoDiff | Self::Malformed { .. } => {
                Some("`git diff --output=FILE BASE...` writes a diff that polymut reads".to_owned())
            }
            Self::Utf16 => {
                Some("write it as UTF-8: `git diff --output=FILE …` needs no shell redirection".to_owned())
            }
            Self::Truncated { .. } => Some("the file was cut while it was written or copied".to_owned()),
            Self::NoSuchFile { .. } | Self::StillThere { .. } | Self::OtherText { .. } => Some(
                "the diff's new side must be the tree that is checked out (or staged, or committed)"
                    .to_owned(),
            ),
        }
    }
}
