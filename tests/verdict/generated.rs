//! Generated files are what the code would generate. `POLYMUT_BLESS=1` rewrites them.
//!
//! In: the repository's files. Out: assertions. I/O: reads them; with `POLYMUT_BLESS=1` writes them.

use std::path::PathBuf;

use polymut::docs::{blocks, replace_block};
use polymut::schema::{SCHEMAS, schema};

fn at(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Compares a file with what it should hold, or writes it.
fn check(file: &str, wanted: &str) {
    if std::env::var_os("POLYMUT_BLESS").is_some() {
        fs_err::create_dir_all(at(file).parent().unwrap()).unwrap();
        fs_err::write(at(file), wanted).unwrap();
    }
    let found = fs_err::read_to_string(at(file)).unwrap_or_default();
    assert!(
        found == wanted,
        "{file} is not what the code generates; run\n    POLYMUT_BLESS=1 cargo test -p polymut --test verdict generated"
    );
}

#[test]
fn the_schemas_are_those_of_the_types() {
    for schema in SCHEMAS {
        check(schema.file, &schema.text().unwrap());
    }
}

#[test]
fn the_tables_of_the_readme_are_those_of_the_registries() {
    let mut text = fs_err::read_to_string(at("README.md")).unwrap();
    for (name, block) in blocks() {
        text = replace_block(&text, name, &block)
            .unwrap_or_else(|| panic!("README.md lacks the markers <!-- {name} --> and <!-- /{name} -->"));
    }
    check("README.md", &text);
}

#[test]
fn the_configuration_schema_agrees_with_the_reader() {
    let schema = serde_json::from_str(&schema("config").unwrap().text().unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let cases = [
        ("", true),
        ("[run]\njobs = 2\nbudget = \"20m\"\nmemory = \"2GiB\"\n", true),
        ("[gate]\nmode = \"advisory\"\nmin-score = 0.5\ninconclusive = { base = \"fail\" }\n", true),
        ("[[gate.rule]]\npaths = [\"a/**\"]\nno-coverage = \"allow\"\n", true),
        ("[[project]]\npath = \"a\"\noperators = \"logic\"\n", true),
        ("[run]\njobz = 2\n", false),
        ("[run]\njobs = 0\n", false),
        ("[run]\nmemory = \"2\"\n", false),
        ("[gate]\nmin-score = 2\n", false),
        ("[gate]\ninconclusive = { base = \"pass\" }\n", false),
        ("[[gate.rule]]\nmode = \"block\"\n", false),
        ("[[project]]\ntool = \"pit\"\n", false),
    ];
    for (text, good) in cases {
        let value = serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
        assert_eq!(validator.is_valid(&value), good, "by the schema: {text}");
        assert_eq!(polymut::config::parse(text, "polymut.toml").is_ok(), good, "by the reader: {text}");
    }
}

#[test]
fn the_examples_configuration_is_read() {
    let file = "examples/polyglot/base/polymut.toml";
    let text = fs_err::read_to_string(at(file)).unwrap();
    let config = toml::from_str::<polymut::config::Config>(&text).unwrap();
    assert!(!config.projects.is_empty());
}
