//! Changes with nothing to mutate: a pass that says what it is, and is never mistaken for dead mutants.
//!
//! In: small changes. Out: claims. I/O: processes.

use polymut_schemas::{Outcome, OutsideReason, ReasonKind, Report};

use crate::crates::fare;
use crate::place::Place;

/// A change that needs no tool at all: the store is empty.
fn judged(place: &Place) -> (Report, String) {
    let empty = place.beside("no-tools");
    let ran = |format: &str| {
        let words = ["run", "--base", "main", "--format", format];
        let mut command = place.command(&words);
        command.env("POLYMUT_TOOLS", &empty);
        crate::program::Ran::of(&command.output().unwrap()).ends(0)
    };
    (ran("json").report(), ran("text").out)
}

fn only_notice(report: &Report) -> &str {
    assert_eq!(report.verdict.outcome, Outcome::Pass);
    assert!(report.runs.is_empty() && report.mutants.is_empty(), "{report:#?}");
    let [reason] = report.verdict.reasons.as_slice() else { panic!("{:#?}", report.verdict) };
    assert_eq!(reason.kind, ReasonKind::NothingToMutate);
    &reason.message
}

#[test]
fn a_change_of_tests_alone_passes_with_words_that_promise_nothing() {
    let place = Place::with(&[
        ("Cargo.toml", "[package]\nname = \"fare\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn half(cents: u32) -> u32 {\n    cents / 2\n}\n"),
        ("tests/half.rs", "#[test]\nfn half() {\n    assert_eq!(fare::half(4), 2);\n}\n"),
    ]);
    place.edit("tests/half.rs", "assert_eq!(fare::half(4), 2)", "assert!(fare::half(4) > 0)");
    let (report, text) = judged(&place);
    assert_eq!(report.scope.files[0].outside, Some(OutsideReason::Test));
    assert_eq!(
        only_notice(&report),
        "only tests changed: nothing to mutate, so nothing is proved about them"
    );
    assert!(text.contains("only tests changed"), "{text}");
}

#[test]
fn a_change_of_documents_alone_passes_and_says_so() {
    let place = fare();
    place.write("README.md", "# Ferry\n");
    let (report, text) = judged(&place);
    assert_eq!(report.scope.files[0].outside, Some(OutsideReason::NotSource));
    assert!(only_notice(&report).contains("documentation"), "{report:#?}");
    assert!(text.contains("nothing to mutate"), "{text}");
}

#[test]
fn a_change_of_comments_alone_passes_and_says_so() {
    let place = fare();
    place.edit("src/lib.rs", "/// Cents that", "/// The cents that");
    let (report, _) = judged(&place);
    assert_eq!(report.scope.files[0].outside, Some(OutsideReason::SameTokens));
    assert!(only_notice(&report).contains("same tokens"), "{report:#?}");
}

#[test]
fn no_change_at_all_passes_and_says_so() {
    let (report, text) = judged(&fare());
    assert_eq!(only_notice(&report), "the diff is empty: nothing to mutate");
    assert!(text.contains("the diff is empty"), "{text}");
}

#[test]
fn a_deleted_file_alone_passes_and_says_so() {
    let place = fare();
    place.write("src/old.rs", "pub fn old() {}\n");
    place.commit("more");
    place.git(&["branch", "-f", "main"]);
    place.git(&["rm", "-q", "src/old.rs"]);
    let (report, _) = judged(&place);
    assert_eq!(report.scope.files[0].outside, Some(OutsideReason::Deleted));
    assert!(only_notice(&report).contains("deleted"), "{report:#?}");
}
