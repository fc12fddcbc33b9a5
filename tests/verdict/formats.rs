//! Text, JSON and reading back.
//!
//! In: the sample report. Out: assertions and snapshots. I/O: none.

use polymut::report::{FORMATS, Json, Palette, ReadError, Renderer as _, Text, format, read_report};
use polymut::sources::Sources;
use polymut_schemas::*;

use crate::build::*;
use crate::sample::{sample, sources};

fn text(report: &Report, palette: Palette) -> String {
    String::from_utf8(Text { palette }.render(report, &Sources::default()).unwrap()).unwrap()
}

fn json(report: &Report) -> Vec<u8> {
    Json.render(report, &Sources::default()).unwrap()
}

#[test]
fn the_text_shows_survivors_first_and_ends_with_the_verdict() {
    insta::assert_snapshot!("text", text(&sample(), Palette::Plain));
}

#[test]
fn the_text_opens_and_closes_with_the_same_line() {
    let text = text(&sample(), Palette::Plain);
    assert_eq!(text.lines().next(), text.lines().last());
}

#[test]
fn no_control_character_of_a_tool_reaches_the_terminal() {
    let shown = text(&sample(), Palette::Plain);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown}");
    assert!(!shown.contains('\u{202e}'));
    assert!(shown.contains("\\u{1b}[31mExpected"));
}

#[test]
fn colour_adds_codes_and_changes_no_word() {
    let coloured = text(&sample(), Palette::Ansi);
    assert!(coloured.contains("\u{1b}["));
    let bare = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(bare, text(&sample(), Palette::Plain));
}

#[test]
fn a_passing_report_says_so_in_two_lines_and_its_table() {
    let text = text(&report(&Case::new()), Palette::Plain);
    insta::assert_snapshot!(text, @r"
    PASS (exit 0): 1 killed
    50 changed lines in 1 source file against origin/main

    Projects
      project     state     killed  limits  survived  no coverage  not scored  unknown  score
      alpha:core  complete       1       0         0            0           0        0  100 %

    PASS (exit 0): 1 killed
    ");
}

#[test]
fn survivors_are_never_cut_from_the_text() {
    let many = report(&Case::new().with(Status::Survived, 300));
    let text = text(&many, Palette::Plain);
    assert!(many.mutants[1..].iter().all(|mutant| text.contains(mutant.id.as_str())));
}

#[test]
fn the_document_is_read_back_as_it_was_written() {
    let report = sample();
    let bytes = json(&report);
    assert_eq!(read_report(&bytes, "report.json").unwrap(), report);
    assert_eq!(json(&read_report(&bytes, "report.json").unwrap()), bytes);
    assert!(bytes.ends_with(b"}\n"));
}

#[test]
fn the_document_keeps_to_its_schema() {
    let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&json(&sample())).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn a_number_that_json_cannot_hold_is_an_error_and_never_null() {
    let mut report = sample();
    report.mutants[0].duration = Some(f64::NAN);
    let error = Json.render(&report, &Sources::default()).unwrap_err();
    assert!(error.to_string().contains("is not a finite number"));
}

#[test]
fn a_newer_minor_with_more_fields_is_read_and_another_major_is_not() {
    let mut value = serde_json::to_value(sample()).unwrap();
    value["schema"] = "polymut/1.9".into();
    value["mutants"][0]["more"] = 1.into();
    assert!(read_report(value.to_string().as_bytes(), "r").is_ok());
    value["schema"] = "polymut/2.0".into();
    assert!(matches!(read_report(value.to_string().as_bytes(), "r"), Err(ReadError::Version { .. })));
}

#[test]
fn what_is_no_report_is_called_by_its_name() {
    let good = json(&sample());
    let message = |bytes: &[u8]| {
        let error = read_report(bytes, "r.json").unwrap_err();
        format!("{error}; {}", error.hint().unwrap_or_default())
    };
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(String::from_utf8(good.clone()).unwrap().encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert!(message(&utf16).starts_with("r.json is UTF-16, not UTF-8; PowerShell"));
    assert!(message(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n").contains("git lfs pull"));
    assert!(message(b" \n").starts_with("r.json is empty"));
    assert!(message(&good[..good.len() / 2]).starts_with("r.json ends in the middle"));
    assert!(message(b"<html>").starts_with("r.json is not JSON"));
    assert!(message(b"{\"schemaVersion\":\"1\",\"files\":{}}").contains("mutation-testing-elements"));
    assert!(message(b"[]").contains("not a polymut report"));
    let broken = String::from_utf8(good.clone()).unwrap().replacen("\"killed\"", "\"slain\"", 1);
    assert!(message(broken.as_bytes()).starts_with("r.json: mutants["), "{}", message(broken.as_bytes()));
    let mut marked = b"\xef\xbb\xbf".to_vec();
    marked.extend(&good);
    assert_eq!(read_report(&marked, "r.json").unwrap(), sample());
}

#[test]
fn a_report_cut_anywhere_is_never_read() {
    let good = json(&report(&Case::new()));
    let end = good.len() - 2;
    assert!((0..end).all(|cut| read_report(&good[..cut], "r").is_err()));
}

#[test]
fn every_format_renders_every_report_and_is_found_by_name() {
    let empty = report(&Case { runs: Vec::new(), scope: scope(Vec::new()), ..Case::new().empty() });
    for renderer in FORMATS {
        for report in [&sample(), &empty] {
            assert!(!renderer.render(report, &sources()).unwrap().is_empty());
        }
        assert!(format(renderer.info().name).is_some_and(|found| found.info() == renderer.info()));
    }
    assert!(format("docx").is_none());
}
