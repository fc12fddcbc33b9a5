//! The page: well-formed, self-contained, readable without style and script, within its budget.
//!
//! In: reports built by hand. Out: assertions. I/O: with `POLYMUT_PAGE` set, the sample page is written there.

use std::collections::BTreeSet;

use polymut::report::{Html, Renderer as _};
use polymut::sources::Sources;
use polymut_schemas::*;
use quick_xml::events::{BytesStart, Event};

use crate::build::*;
use crate::sample::{sample, sources};

fn page(report: &Report) -> String {
    String::from_utf8(Html.render(report, &sources()).unwrap()).unwrap()
}

/// What an XML reader finds in a page.
#[derive(Default)]
struct Found {
    tags: BTreeSet<String>,
    attributes: BTreeSet<String>,
    ids: Vec<String>,
    links: Vec<String>,
    text: String,
}

fn found(html: &str) -> Found {
    let mut reader = quick_xml::Reader::from_str(html);
    reader.config_mut().check_end_names = true;
    let mut found = Found::default();
    let mut depth = 0_i32;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{}: {error}", reader.error_position())) {
            Event::Start(tag) => {
                depth += 1;
                found.tag(&tag);
            }
            Event::Empty(tag) => found.tag(&tag),
            Event::End(_) => depth -= 1,
            Event::Text(text) => found.text.push_str(&text),
            Event::GeneralRef(name) => {
                found.text.push_str(&quick_xml::escape::unescape(&format!("&{};", &*name)).unwrap());
            }
            Event::Eof => break,
            Event::CData(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    assert_eq!(depth, 0, "every element is closed");
    found
}

impl Found {
    fn tag(&mut self, tag: &BytesStart<'_>) {
        self.tags.insert(tag.name().as_ref().to_owned());
        for attribute in tag.attributes() {
            let attribute = attribute.unwrap();
            let name = attribute.key.as_ref().to_owned();
            let value = attribute.value.into_owned();
            match name.as_str() {
                "id" => self.ids.push(value),
                "href" => self.links.push(value),
                _ => {}
            }
            self.attributes.insert(name);
        }
    }
}

#[test]
fn the_page_is_well_formed_and_its_links_lead_somewhere() {
    let html = page(&sample());
    if let Some(path) = std::env::var_os("POLYMUT_PAGE") {
        fs_err::write(std::path::PathBuf::from(path), &html).unwrap();
    }
    let found = found(&html);
    let ids: BTreeSet<&String> = found.ids.iter().collect();
    assert_eq!(ids.len(), found.ids.len(), "no anchor twice");
    for link in &found.links {
        let target = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leaves the page"));
        assert!(ids.iter().any(|id| *id == target), "{link} leads nowhere");
    }
    for mutant in &sample().mutants {
        assert!(ids.contains(&format!("m-{}", mutant.id)), "{} has a place", mutant.id);
    }
}

#[test]
fn the_page_needs_no_script_no_handler_and_nothing_from_elsewhere() {
    let html = page(&sample());
    let found = found(&html);
    for tag in ["script", "iframe", "object", "link", "img", "form"] {
        assert!(!found.tags.contains(tag), "<{tag}>");
    }
    let wrong: Vec<_> = found
        .attributes
        .iter()
        .filter(|name| name.starts_with("on") || *name == "style" || *name == "src")
        .collect();
    assert_eq!(wrong, Vec::<&String>::new());
    assert!(!html.contains("url(") && !html.contains("@import") && !html.contains("http"));
}

#[test]
fn foreign_words_are_shown_and_never_become_markup() {
    let html = page(&sample());
    assert!(!html.contains("<script>") && !html.contains("<img") && !html.contains("<b>deploy"));
    assert!(html.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
    assert!(!html.contains('\u{202e}'));
    let text = found(&html).text;
    for shown in [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<b>2 failed</b>",
        "[id].tsx",
        "\\u{1b}[31m",
    ] {
        assert!(text.contains(shown), "{shown}");
    }
}

#[test]
fn without_style_the_words_still_tell_the_whole_story() {
    let html = page(&sample());
    let text = found(&html).text;
    let order = [
        "Fail",
        "2 survivors",
        "Survivors",
        "Line 6",
        "polymut repro",
        "No test reaches these",
        "Not tested, and why",
    ];
    let mut rest = text.split("</style>").last().unwrap();
    for words in order {
        let at = rest.find(words).unwrap_or_else(|| panic!("{words} comes in its turn"));
        rest = &rest[at + words.len()..];
    }
    for words in [
        "No module named 'yaml'",
        "already so at the merge base",
        "source code that no project claims",
        "sealed: memory held by watchdog",
    ] {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn a_change_is_shown_with_its_place_marked_and_code_around_it() {
    let html = page(&sample());
    let removed = "<del><i>    6</i> <b>-</b>     if quantity <mark>&gt;&#x3D;</mark> 10 {</del>";
    let added = "<ins><i>     </i> <b>+</b>     if quantity <mark>&gt;</mark> 10 {</ins>";
    assert!(html.contains(&format!("{removed}\n{added}\n<span><i>    7</i>")), "{html}");
    assert!(html.contains("<span><i>    3</i> <b> </b> /// The price of"));
}

#[test]
fn a_hundred_thousand_mutants_stay_within_the_budget_and_no_survivor_is_cut() {
    let mut big = report(&Case::new());
    let diff = format!(
        "--- a/{FILE}\n+++ b/{FILE}\n@@ -1 +1 @@\n-    if a < b {{ // {0}\n+    if a <= b {{ // {0}\n",
        "x".repeat(60)
    );
    big.mutants = (0..120_000_u32)
        .map(|number| {
            let status = if number % 40 == 0 { Status::Survived } else { Status::Killed };
            let file = format!("core/src/part_{:03}.rs", number / 400);
            let killed_by = vec!["a::rather::long::name::of::a::test".to_owned()];
            Mutant { diff: Some(diff.clone()), killed_by, ..mutant(CORE, &file, number, status) }
        })
        .collect();
    big.summary = Summary::of(&big.mutants);
    let html = String::from_utf8(Html.render(&big, &Sources::default()).unwrap()).unwrap();
    assert!(html.len() < 4_000_000, "{} bytes", html.len());
    let ids: BTreeSet<String> = found(&html).ids.into_iter().collect();
    let survivors: Vec<_> = big.mutants.iter().filter(|mutant| mutant.status == Status::Survived).collect();
    assert_eq!(survivors.len(), 3000);
    assert!(survivors.iter().all(|mutant| ids.contains(&format!("m-{}", mutant.id))));
    assert!(html.contains("116000 more are in the JSON document."));
}

#[test]
fn a_soft_gate_is_said_on_the_page() {
    let case = Case::new().with(Status::Survived, 1).config("[gate]\nmode = \"advisory\"\n");
    assert!(page(&report(&case)).contains("exit 0 in spite of it"));
}
