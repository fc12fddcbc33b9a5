//! Path patterns of `polymut.toml`.
//!
//! In: a pattern. Out: [`PathGlob`]. I/O: none.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use polymut_schemas::{RepoDir, RepoPath};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// A pattern for paths below the repository root: `*` stays in one folder, `**` crosses folders, `.` is the root.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    set: GlobSet,
}

/// A text that is no such pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Absolute, empty or with `..`.
    #[error("`{0}` is not a path pattern below the repository root")]
    Outside(String),
    /// Not a valid glob.
    #[error("`{pattern}` is not a path pattern: {why}")]
    Invalid {
        /// The pattern.
        pattern: String,
        /// What the glob reader says.
        why: String,
    },
}

impl PathGlob {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let clean = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        if clean.is_empty() || clean.starts_with('/') || clean.split('/').any(|part| part == "..") {
            return Err(GlobError::Outside(text.to_owned()));
        }
        let invalid = |error: globset::Error| GlobError::Invalid {
            pattern: text.to_owned(),
            why: error.kind().to_string(),
        };
        let mut set = GlobSetBuilder::new();
        // `pay/**` is also meant to name the folder `pay` itself.
        for pattern in [Some(clean), clean.strip_suffix("/**")].into_iter().flatten() {
            set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(invalid)?);
        }
        Ok(Self { text: clean.to_owned(), set: set.build().map_err(invalid)? })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a file, or a folder above it, matches.
    pub fn covers(&self, path: &RepoPath) -> bool {
        self.text == "." || path.as_path().ancestors().any(|part| self.set.is_match(part.as_str()))
    }

    /// Whether a project's folder matches; the root is `.`.
    pub fn is_dir(&self, dir: &RepoDir) -> bool {
        self.set.is_match(dir.to_string())
    }

    /// The folder that the pattern names, when it has no wildcard.
    pub fn plain(&self) -> Option<RepoDir> {
        let wild = self.text.contains(['*', '?', '[', '{', '\\']);
        if wild { None } else { RepoDir::new(&self.text).ok() }
    }
}

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for PathGlob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for PathGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for PathGlob {
    fn schema_name() -> Cow<'static, str> {
        "PathGlob".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "description": "A path pattern below the repository root: `*` stays in one folder, `**` crosses folders.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, path: &str) -> bool {
        PathGlob::new(pattern).unwrap().covers(&RepoPath::new(path).unwrap())
    }

    fn is_dir(pattern: &str, dir: &str) -> bool {
        PathGlob::new(pattern).unwrap().is_dir(&RepoDir::new(dir).unwrap())
    }

    #[test]
    fn a_folder_covers_everything_below_it() {
        assert!(covers("services/pay", "services/pay/src/lib.rs"));
        assert!(covers("services/pay/**", "services/pay/lib.rs"));
        assert!(covers(".", "a.rs"));
        assert!(covers("**/*.go", "a/b/c.go"));
        assert!(!covers("services/pay", "services/payroll/a.rs"));
        assert!(!covers("src/*.rs", "src/deep/a.rs"));
    }

    #[test]
    fn a_project_is_named_by_its_own_folder() {
        assert!(is_dir("services/*", "services/pay"));
        assert!(is_dir("services/pay/**", "services/pay"));
        assert!(is_dir(".", ""));
        assert!(!is_dir(".", "services"));
        assert!(!is_dir("services", "services/pay"));
    }

    #[test]
    fn a_pattern_cannot_leave_the_repository() {
        for bad in ["", "/etc", "../x", "a/../b", "a[", "/"] {
            assert!(PathGlob::new(bad).is_err(), "{bad}");
        }
    }
}
