//! Reads a verdict document back: any `polymut/1.x`, with a name for everything that it is not.
//!
//! In: bytes and their file's name. Out: [`Report`]. I/O: none.

use polymut_schemas::{Report, SchemaVersion, SchemaVersionError};
use serde_json::Value;
use serde_json::error::Category;

/// The bytes are no report that this polymut reads.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Written by a shell that turns output into UTF-16.
    #[error("{file} is UTF-16, not UTF-8")]
    Utf16 {
        /// The file.
        file: String,
    },
    /// Only the pointer of a large file.
    #[error("{file} is a Git LFS pointer, not the report itself")]
    LfsPointer {
        /// The file.
        file: String,
    },
    /// Nothing at all.
    #[error("{file} is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// The text stops in the middle.
    #[error("{file} ends in the middle: {why}")]
    Truncated {
        /// The file.
        file: String,
        /// Where.
        why: String,
    },
    /// Not JSON.
    #[error("{file} is not JSON: {why}")]
    NotJson {
        /// The file.
        file: String,
        /// What and where.
        why: String,
    },
    /// JSON of another kind.
    #[error("{file} is JSON, but not a polymut report")]
    Foreign {
        /// The file.
        file: String,
        /// What it looks like.
        looks: Option<&'static str>,
    },
    /// Another major version.
    #[error("{file}")]
    Version {
        /// The file.
        file: String,
        /// What it says.
        source: SchemaVersionError,
    },
    /// A report with something wrong inside.
    #[error("{file}: {place}: {why}")]
    Malformed {
        /// The file.
        file: String,
        /// Path of the value, such as `mutants[3].status`.
        place: String,
        /// What is wrong.
        why: String,
    },
}

impl ReadError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Utf16 { .. } => "PowerShell's `>` does that: let polymut write with `--format json=FILE`",
            Self::LfsPointer { .. } => "fetch the content with `git lfs pull`",
            Self::Empty { .. } | Self::Truncated { .. } => {
                "the writer was stopped or the disk was full: make the report again"
            }
            Self::Foreign { looks: Some(looks), .. } => {
                return Some(format!("it looks like {looks}; `polymut import` reads what tools write"));
            }
            Self::Foreign { looks: None, .. } => "`polymut import` reads what tools write",
            Self::Version { .. } => "read it with the polymut that wrote it, or a newer one",
            Self::NotJson { .. } | Self::Malformed { .. } => return None,
        };
        Some(text.to_owned())
    }
}

/// Reads a report; `file` is its name in messages.
pub fn read_report(bytes: &[u8], file: &str) -> Result<Report, ReadError> {
    let name = || file.to_owned();
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(ReadError::Utf16 { file: name() });
    }
    if bytes.starts_with(b"version https://git-lfs") {
        return Err(ReadError::LfsPointer { file: name() });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty { file: name() });
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|error| broken(&error, name()))?;
    let Some(schema) = value.get("schema").and_then(Value::as_str) else {
        return Err(ReadError::Foreign { file: name(), looks: looks(&value) });
    };
    SchemaVersion::parse(schema).map_err(|source| ReadError::Version { file: name(), source })?;
    serde_path_to_error::deserialize(value).map_err(|error| ReadError::Malformed {
        file: name(),
        place: error.path().to_string(),
        why: error.inner().to_string(),
    })
}

fn broken(error: &serde_json::Error, file: String) -> ReadError {
    let why = error.to_string();
    match error.classify() {
        Category::Eof => ReadError::Truncated { file, why },
        Category::Io | Category::Syntax | Category::Data => ReadError::NotJson { file, why },
    }
}

fn looks(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    if has("schemaVersion") && has("files") {
        Some("a mutation-testing-elements report")
    } else if has("outcomes") || has("total_mutants") {
        Some("an outcome file of a tool")
    } else if has("$schema") {
        Some("a JSON document with another schema")
    } else {
        None
    }
}
