//! The JSON Schemas that polymut ships, made from its types.
//!
//! In: nothing. Out: [`SCHEMAS`]. I/O: none.

use polymut_schemas::Report;
use schemars::{Schema, schema_for};

use crate::config::{Config, WaiverFile};

/// One schema, as `polymut schema NAME` prints it and as the repository holds it.
#[derive(Debug, Clone, Copy)]
pub struct SchemaFile {
    /// The name that the command takes.
    pub name: &'static str,
    /// Where the repository holds it.
    pub file: &'static str,
    /// What it describes.
    pub about: &'static str,
    make: fn() -> Schema,
}

/// Every schema.
pub static SCHEMAS: &[SchemaFile] = &[
    SchemaFile {
        name: "report",
        file: "schemas/json/polymut-1.schema.json",
        about: "the verdict document",
        make: || schema_for!(Report),
    },
    SchemaFile {
        name: "config",
        file: "schemas/json/polymut.toml.schema.json",
        about: "`polymut.toml`",
        make: || schema_for!(Config),
    },
    SchemaFile {
        name: "waivers",
        file: "schemas/json/waivers.toml.schema.json",
        about: "a file of `.polymut/waivers/`",
        make: || schema_for!(WaiverFile),
    },
];

impl SchemaFile {
    /// The schema as JSON with a line feed at the end.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let schema = (self.make)();
        serde_json::to_string_pretty(&schema).map(|text| text + "\n")
    }
}

/// The schema called `name`.
pub fn schema(name: &str) -> Option<&'static SchemaFile> {
    SCHEMAS.iter().find(|schema| schema.name == name)
}
