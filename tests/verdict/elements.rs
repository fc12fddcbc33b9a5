//! The mutation-testing-elements format against our own reading of its constraints.
//!
//! In: the sample report. Out: assertions. I/O: none.

use polymut::report::{Elements, Renderer as _};
use polymut_schemas::*;
use serde_json::{Value, json};

use crate::sample::{PAGE, PRICE, sample, sources};

/// What schema 2 of the format asks of the parts that we write.
fn constraints() -> Value {
    let point = json!({
        "type": "object",
        "required": ["line", "column"],
        "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}},
    });
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let statuses =
        ["Killed", "Survived", "NoCoverage", "CompileError", "RuntimeError", "Timeout", "Ignored", "Pending"];
    let mutant = json!({
        "type": "object",
        "required": ["id", "location", "mutatorName", "status"],
        "additionalProperties": false,
        "properties": {
            "id": {"type": "string"},
            "location": {"type": "object", "required": ["start", "end"], "properties": {"start": point, "end": point}},
            "mutatorName": {"type": "string"},
            "status": {"enum": statuses},
            "replacement": {"type": "string"}, "description": {"type": "string"}, "statusReason": {"type": "string"},
            "killedBy": texts, "coveredBy": texts,
            "duration": {"type": "number"}, "static": {"type": "boolean"},
        },
    });
    json!({
        "type": "object",
        "required": ["schemaVersion", "thresholds", "files"],
        "properties": {
            "schemaVersion": {"const": "2.0"},
            "thresholds": {"type": "object", "required": ["high", "low"]},
            "files": {"type": "object", "additionalProperties": {
                "type": "object",
                "required": ["language", "source", "mutants"],
                "properties": {
                    "language": {"type": "string"},
                    "source": {"type": "string"},
                    "mutants": {"type": "array", "uniqueItems": true, "items": mutant},
                },
            }},
        },
    })
}

fn document() -> Value {
    serde_json::from_slice(&Elements.render(&sample(), &sources()).unwrap()).unwrap()
}

#[test]
fn the_document_keeps_to_the_formats_constraints() {
    let document = document();
    let validator = jsonschema::validator_for(&constraints()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn no_mutant_is_lost_even_without_a_file() {
    let document = document();
    let files = document["files"].as_object().unwrap();
    let count: usize = files.values().map(|file| file["mutants"].as_array().unwrap().len()).sum();
    assert_eq!(count, sample().mutants.len());
    assert!(files.contains_key("Tax.java"));
}

#[test]
fn every_status_has_its_word() {
    let document = document();
    let word = |status: Status| {
        let mutant = sample().mutants.into_iter().find(|mutant| mutant.status == status).unwrap();
        let files = document["files"].as_object().unwrap();
        let entries = files.values().flat_map(|file| file["mutants"].as_array().unwrap());
        let entry = entries.into_iter().find(|entry| entry["id"] == mutant.id.as_str()).unwrap();
        entry["status"].as_str().unwrap().to_owned()
    };
    let words: Vec<String> = Status::ALL.into_iter().map(word).collect();
    assert_eq!(
        words,
        [
            "Killed",
            "Timeout",
            "Timeout",
            "Survived",
            "NoCoverage",
            "CompileError",
            "Ignored",
            "Pending",
            "RuntimeError",
            "Pending"
        ]
    );
}

#[test]
fn places_point_at_the_mutated_text_of_the_source() {
    let document = document();
    for path in [PRICE, PAGE] {
        let file = &document["files"][path];
        let lines: Vec<Vec<u16>> =
            file["source"].as_str().unwrap().lines().map(|line| line.encode_utf16().collect()).collect();
        for entry in file["mutants"].as_array().unwrap() {
            let at = |point: &str, part: &str| {
                usize::try_from(entry["location"][point][part].as_u64().unwrap()).unwrap() - 1
            };
            let line = &lines[at("start", "line")];
            let text = String::from_utf16(&line[at("start", "column")..at("end", "column")]).unwrap();
            let id = entry["id"].as_str().unwrap();
            let mutant = sample().mutants.into_iter().find(|mutant| mutant.id.as_str() == id).unwrap();
            assert_eq!(Some(text), mutant.original);
        }
    }
}
