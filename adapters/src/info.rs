//! What is known of a tool before any repository is looked at: [`ToolInfo`] and its [`Recipe`].
//!
//! In: nothing. Out: constants. I/O: none.

use polymut_schemas::ToolId;
use semver::{Version, VersionReq};

/// Facts about a tool that hold in every repository.
#[derive(Debug, Clone, Copy)]
pub struct ToolInfo {
    /// The usual name: `cargo-mutants`.
    pub id: &'static str,
    /// Languages as a reader names them.
    pub languages: &'static [&'static str],
    /// Endings (without the dot) of source files that the tool mutates. A changed file with such an ending that no
    /// project claims is reported.
    pub extensions: &'static [&'static str],
    /// Names of files whose bytes [`Tree`] holds: manifests and the tool's own configuration. A name may be a glob
    /// over the file name (`*.csproj`).
    pub reads: &'static [&'static str],
    /// Folder names that hold installed dependencies: linked, not copied, into a copied sandbox (`node_modules`).
    pub dependency_dirs: &'static [&'static str],
    /// Versions that the adapter was tested with, as a semver requirement.
    pub supported: &'static str,
    /// Whether the tool writes into the source tree.
    pub tree: TreeUse,
    /// How the tool uses several cores.
    pub spread: Spread,
    /// Which job has the most work ahead, as long as nothing is measured.
    pub cost: Cost,
    /// How to provide the tool when the machine lacks it.
    pub recipe: Recipe,
    /// Names of environment variables that are taken away before the tool starts; a trailing `*` is a prefix.
    pub scrub: &'static [&'static str],
}

impl ToolInfo {
    /// The same tool with a recipe for another version. Versions come from a configuration that is read once, so what is
    /// kept for as long as the program runs stays small.
    #[must_use]
    pub fn at(&self, version: &str) -> Self {
        let version: &'static str = Box::leak(version.to_owned().into_boxed_str());
        Self { recipe: Recipe { version, ..self.recipe }, ..*self }
    }

    /// What a reader should know of a version that polymut was not tested with. Nothing is said of what is no version:
    /// some tools do not know theirs.
    pub fn untested(&self, version: &str) -> Option<String> {
        let read = Version::parse(version).or_else(|_| Version::parse(&format!("{version}.0"))).ok()?;
        // A requirement matches no pre-release of another version: what counts is the version that it will be.
        let read = Version::new(read.major, read.minor, read.patch);
        let tested = VersionReq::parse(self.supported).ok()?;
        let text = || {
            format!(
                "{} {version} is not among the versions that polymut was tested with ({})",
                self.id, self.supported
            )
        };
        (!tested.matches(&read)).then(text)
    }

    /// The id as the document holds it.
    pub fn tool_id(&self) -> ToolId {
        ToolId::from(self.id)
    }
}

/// Whether a tool edits the sources it is started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeUse {
    /// Works on its own copy.
    Reads,
    /// Edits sources or build output in place.
    Writes,
}

/// How long a tool takes beside the tests themselves, in milliseconds on one core. Rough: it decides who comes first and
/// into how many shares units are dealt, and nothing that is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Until its first mutant: build, analysis, coverage.
    pub start: u32,
    /// For each mutant.
    pub mutant: u32,
}

/// How a tool uses several cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// The tool runs [`crate::Piece::Cores`] at once by itself.
    Own,
    /// Units are dealt over clones of the prepared sandbox, one plan and parse each.
    Sandboxes,
}

/// How to provide a tool in the private store: commands whose words are [`Piece`]s, run in the store, with network.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// The pinned version, as it appears in the store's folder name.
    pub version: &'static str,
    /// Path below the recipe's store folder that must exist afterwards.
    pub provides: &'static str,
    /// Commands in order.
    pub steps: &'static [RecipeStep],
    /// What a person would do by hand, shown when the tool is missing.
    pub hint: &'static str,
}

/// One command of a recipe. `{store}` in a word stands for the recipe's folder in the store, `{version}` for the
/// pinned version, `{cores}` for the core budget.
#[derive(Debug)]
pub struct RecipeStep {
    /// Program looked up on `PATH`.
    pub program: &'static str,
    /// Its words.
    pub args: &'static [&'static str],
}
