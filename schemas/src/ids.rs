//! Names that last: tools, projects and mutants.
//!
//! In: text. Out: [`ToolId`], [`ProjectId`], [`MutantId`]. I/O: none.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};

/// A mutation-testing tool by its usual name, such as `cargo-mutants`. Open: this crate has no list of tools.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolId(pub String);

/// One tool on one folder: `cargo-mutants:services/core`. The root folder is written `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ProjectId(pub String);

/// The name of a mutant that survives shifted lines and moved blocks: 16 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct MutantId(String);

/// Why a text is not a mutant's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a mutant id: 16 lower-case hexadecimal digits are wanted")]
pub struct MutantIdError(String);

impl MutantId {
    /// How many hexadecimal digits an id has.
    pub const DIGITS: usize = 16;

    /// Hashes the parts of an identity; each is length-prefixed, so that no two lists of parts collide by joining.
    pub fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let mut text = String::with_capacity(Self::DIGITS);
        for byte in digest.iter().take(Self::DIGITS / 2) {
            use fmt::Write as _;
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// Reads an id that a person typed or a file holds.
    pub fn parse(text: &str) -> Result<Self, MutantIdError> {
        let right = text.len() == Self::DIGITS
            && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if right { Ok(Self(text.to_owned())) } else { Err(MutantIdError(text.to_owned())) }
    }

    /// The 16 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for MutantId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl ToolId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ToolId {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl ProjectId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of `tool` on the folder `dir`.
    pub fn of(tool: &ToolId, dir: &crate::RepoDir) -> Self {
        Self(format!("{}:{dir}", tool.0))
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for MutantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(MutantId::of(&["ab", "c"]), MutantId::of(&["a", "bc"]));
    }

    #[test]
    fn a_foreign_text_is_refused() {
        assert!(MutantId::parse("xyz").is_err());
        assert!(serde_json::from_str::<MutantId>("\"0123456789ABCDEF\"").is_err());
    }
}
