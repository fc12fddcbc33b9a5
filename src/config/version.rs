//! The version of a tool that a project asks for: exact, and fit to be a folder's name.
//!
//! In: text. Out: [`ToolVersion`]. I/O: none.
//!
//! It becomes a folder of the tool store, which is emptied before an installation, and a word of an installer's command.
//! `polymut.toml` comes with the change under review: a path in it would reach out of the store.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// An exact version: `27.1.0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolVersion(String);

/// A text that is no exact version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an exact version; write it like `27.1.0`")]
pub struct NoVersion(String);

impl ToolVersion {
    /// The version as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolVersion {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let starts = text.starts_with(|first: char| first.is_ascii_digit());
        let clean = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_'));
        if starts && clean { Ok(Self(text.to_owned())) } else { Err(NoVersion(text.to_owned())) }
    }
}

impl<'de> Deserialize<'de> for ToolVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for ToolVersion {
    fn schema_name() -> Cow<'static, str> {
        "ToolVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An exact version: `27.1.0`.",
            "pattern": "^[0-9][0-9A-Za-z.+_-]*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_exact_and_stays_in_its_folder() {
        for good in ["27.1.0", "1.15", "10.0.0-beta.1", "1.0+build_2"] {
            assert_eq!(
                good.parse::<ToolVersion>().map(|version| version.as_str().to_owned()),
                Ok(good.to_owned())
            );
        }
        for bad in
            ["", "latest", "^9.0.0", ">=3", "../../etc", "1/../../etc", "1.0 --index-url x", "-1", "1\n2"]
        {
            assert!(bad.parse::<ToolVersion>().is_err(), "{bad}");
        }
    }
}
