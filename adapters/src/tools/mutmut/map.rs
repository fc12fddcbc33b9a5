//! Where a mutant of mutmut 3 is, and what it changes: mutmut says neither.
//!
//! In: the trampolined file, its `.spans`, the original source. Out: [`Located`]. I/O: none.
//!
//! The generated file holds each function twice over: as it was, and once per mutant. The original copy is found in the
//! source line by line; what differs between it and a mutant's copy is the change.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::difference::difference;
use super::meta::{base_of, json_error, malformed, names};
use crate::formats::text;
use crate::{ColumnUnit, ParseError, RawPosition, RawSpan};

const ORIGINAL: &str = "__mutmut_orig";

/// One mutant's place and change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located {
    /// Its place.
    pub(super) span: RawSpan,
    /// The text there.
    pub(super) original: String,
    /// The text that takes its place.
    pub(super) replacement: String,
}

/// Line ranges in the generated file, from 1, both ends included.
#[derive(Deserialize)]
struct Spans {
    version: u32,
    spans: BTreeMap<String, (usize, usize)>,
}

/// A generated file beside its source.
pub(super) struct FileMap<'a> {
    at: &'a str,
    generated: Vec<String>,
    spans: BTreeMap<String, (usize, usize)>,
    /// First line (from 0) and number of lines of each function in the source, by the name of its copy.
    found: BTreeMap<String, (usize, usize)>,
}

impl<'a> FileMap<'a> {
    /// Finds every original function in the source.
    pub(super) fn new(
        at: &'a str,
        generated: &[u8],
        spans: &[u8],
        source: &[u8],
    ) -> Result<Self, ParseError> {
        let spans_at = format!("{at}.spans");
        let spans_text = text::decode(&spans_at, spans)?;
        let spans: Spans =
            serde_json::from_str(&spans_text).map_err(|error| json_error(&spans_at, &error))?;
        if spans.version != 1 {
            return Err(ParseError::FormatVersion { at: spans_at, found: spans.version.to_string() });
        }
        let source = lines(&plain(at, source)?);
        let mut map =
            Self { at, generated: lines(&plain(at, generated)?), spans: spans.spans, found: BTreeMap::new() };
        map.find(&source)?;
        Ok(map)
    }

    fn find(&mut self, source: &[String]) -> Result<(), ParseError> {
        let mut originals: Vec<(usize, String)> = self
            .spans
            .iter()
            .filter(|(name, _)| name.ends_with(ORIGINAL))
            .map(|(name, (first, _))| (*first, name.clone()))
            .collect();
        originals.sort();
        let mut next = 0;
        for (_, name) in originals {
            let block = self.block(&name)?;
            let search = |from: usize| {
                (from..=source.len().saturating_sub(block.len())).find(|at| {
                    source.get(*at..at + block.len()).is_some_and(|lines| lines == block.as_slice())
                })
            };
            let Some(line) = search(next).or_else(|| search(0)) else {
                return Err(malformed(
                    self.at,
                    &format!("`{name}` is not in the source: another version of the file?"),
                ));
            };
            next = line + 1;
            self.found.insert(name, (line, block.len()));
        }
        Ok(())
    }

    /// The lines of one copy, with the function's own name.
    fn block(&self, name: &str) -> Result<Vec<String>, ParseError> {
        let missing = || malformed(&format!("{}.spans", self.at), &format!("`{name}` has no lines"));
        let (first, last) = *self.spans.get(name).ok_or_else(missing)?;
        let lines =
            first.checked_sub(1).and_then(|first| self.generated.get(first..last)).ok_or_else(missing)?;
        let (_, own) = names(base_of(name));
        let mut block = lines.to_vec();
        let header = block.iter_mut().find_map(|line| renamed(line, name, own).map(|new| (line, new)));
        let (line, new) =
            header.ok_or_else(|| malformed(self.at, &format!("`def {name}` is not where it should be")))?;
        *line = new;
        Ok(block)
    }

    /// The lines of the source (from 1, both included) that mutmut can mutate.
    pub(super) fn reach(&self) -> Vec<(usize, usize)> {
        self.found.values().map(|(first, length)| (first + 1, first + length)).collect()
    }

    /// The lines (from 1, both included) of a function's body in the source: what runs when it is called, and not when
    /// the module is loaded. `None` where body and header share a line.
    pub(super) fn body_lines(&self, generated_name: &str) -> Option<(usize, usize)> {
        let name = original_of(generated_name);
        let (first, length) = *self.found.get(&name)?;
        let block = self.block(&name).ok()?;
        let header = block.iter().position(|line| is_header(line))?;
        let end = header + header_length(block.get(header..)?)?;
        (end < length).then_some((first + end + 1, first + length))
    }

    /// Where the mutant with this generated name (`x_clamp__mutmut_3`) is.
    pub(super) fn locate(&self, generated_name: &str) -> Result<Located, ParseError> {
        let name = original_of(generated_name);
        let unknown = || malformed(self.at, &format!("`{generated_name}` has no original"));
        let (line, _) = *self.found.get(&name).ok_or_else(unknown)?;
        let original: Vec<char> = self.block(&name)?.join("\n").chars().collect();
        let mutated: Vec<char> = self.block(generated_name)?.join("\n").chars().collect();
        let edit = difference(&original, &mutated);
        let place = |offset: usize| {
            let before = original.get(..offset).unwrap_or_default();
            let rows = before.iter().filter(|c| **c == '\n').count();
            let column = before.iter().rev().take_while(|c| **c != '\n').count();
            RawPosition {
                line: u32::try_from(line + 1 + rows).unwrap_or(u32::MAX),
                column: Some(u32::try_from(column).unwrap_or(u32::MAX)),
            }
        };
        let text = |from: &[char], range: std::ops::Range<usize>| {
            from.get(range).unwrap_or_default().iter().collect::<String>()
        };
        Ok(Located {
            span: RawSpan {
                start: place(edit.start),
                end: Some(place(edit.end)),
                unit: ColumnUnit::CharsFromZero,
            },
            original: text(&original, edit.start..edit.end),
            replacement: text(&mutated, edit.start..edit.mutated_end),
        })
    }
}

fn original_of(generated_name: &str) -> String {
    format!("{}{ORIGINAL}", base_of(generated_name))
}

/// Text with universal newlines, as Python reads it.
fn plain(at: &str, bytes: &[u8]) -> Result<String, ParseError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ParseError::Encoding {
        at: at.to_owned(),
        found: "source that is not UTF-8".to_owned(),
        remedy: "mutmut reads sources as UTF-8: save the file so".to_owned(),
    })?;
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

fn is_header(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with("def ") || bare.starts_with("async ")
}

/// How many lines the header takes, which begins in the first one: up to a colon outside of all brackets.
fn header_length(lines: &[String]) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, line) in lines.iter().enumerate() {
        let code = line.split('#').next().unwrap_or_default();
        depth +=
            code.chars().map(|c| i32::from("([{".contains(c)) - i32::from(")]}".contains(c))).sum::<i32>();
        if depth <= 0 {
            return code.trim_end().ends_with(':').then_some(at + 1);
        }
    }
    None
}

/// The line with `def name` as `def own`; `None` when it is not that line.
fn renamed(line: &str, name: &str, own: &str) -> Option<String> {
    let indent = line.len() - line.trim_start().len();
    let bare = line.get(indent..)?;
    let after_async = bare.strip_prefix("async").map_or(bare, str::trim_start);
    let rest = after_async.strip_prefix("def")?.trim_start();
    let after = rest.strip_prefix(name)?;
    if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let head = line.len() - rest.len();
    Some(format!("{}{own}{after}", line.get(..head)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_ends_at_its_own_colon() {
        let lines = |text: &str| lines(text);
        assert_eq!(header_length(&lines("def f(a: int) -> dict[str, int]:  # (\n    return a")), Some(1));
        assert_eq!(header_length(&lines("def f(\n    a={1: 2},\n    b=3,\n):\n    return a")), Some(4));
        assert_eq!(header_length(&lines("def f(): return 1")), None);
    }

    #[test]
    fn a_generated_header_is_found_whatever_stands_before_it() {
        let name = "x\u{1c1}A\u{1c1}f__mutmut_1";
        assert_eq!(
            renamed(&format!("    async  def {name}(self):"), name, "f").as_deref(),
            Some("    async  def f(self):")
        );
        assert_eq!(renamed("def x_f__mutmut_10(a):", "x_f__mutmut_1", "f"), None);
        assert_eq!(renamed("x = def_x_f__mutmut_1", "x_f__mutmut_1", "f"), None);
    }

    macro_rules! recorded {
        ($case:literal, $file:literal) => {
            Recorded {
                file: $file,
                generated: include_bytes!(concat!(
                    "../../../../tests/fixtures/mutmut/3.8.1-",
                    $case,
                    "/02-sandbox/mutants/",
                    $file
                )),
                spans: include_bytes!(concat!(
                    "../../../../tests/fixtures/mutmut/3.8.1-",
                    $case,
                    "/02-sandbox/mutants/",
                    $file,
                    ".spans"
                )),
            }
        };
    }

    struct Recorded {
        file: &'static str,
        generated: &'static [u8],
        spans: &'static [u8],
    }

    #[derive(Deserialize)]
    struct Expected {
        file: String,
        line: u32,
        col0: u32,
        end_line: u32,
        end_col0: u32,
        original: String,
        replacement: String,
        mutant: String,
    }

    fn offset(text: &str, line: u32, column: u32) -> usize {
        let before: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        before + text[before..].chars().take(column as usize).map(char::len_utf8).sum::<usize>()
    }

    /// The text with a span replaced, after a look at what stands there.
    fn edited(text: &str, span: [u32; 4], original: &str, replacement: &str) -> String {
        let (from, to) = (offset(text, span[0], span[1]), offset(text, span[2], span[3]));
        assert_eq!(&text[from..to], original);
        format!("{}{replacement}{}", &text[..from], &text[to..])
    }

    fn check(sources: &[(&str, &[u8])], recorded: &[Recorded], expected: &str) -> usize {
        let mut checked = 0;
        for row in expected.lines().map(|line| serde_json::from_str::<Expected>(line).unwrap()) {
            let file = recorded.iter().find(|recorded| recorded.file == row.file).unwrap();
            let (_, source) = sources.iter().find(|(name, _)| *name == row.file).unwrap();
            let map = FileMap::new(file.file, file.generated, file.spans, source).unwrap();
            let found = map.locate(row.mutant.rsplit('.').next().unwrap()).unwrap();
            let text = plain("source", source).unwrap();
            let (start, end) = (found.span.start, found.span.end.unwrap());
            let span = [start.line, start.column.unwrap(), end.line, end.column.unwrap()];
            let wanted = [row.line, row.col0, row.end_line, row.end_col0];
            assert_eq!(
                edited(&text, span, &found.original, &found.replacement),
                edited(&text, wanted, &row.original, &row.replacement),
                "{}",
                row.mutant
            );
            checked += 1;
        }
        checked
    }

    #[test]
    fn every_place_is_where_an_independent_reader_found_it() {
        macro_rules! source {
            ($repo:literal, $file:literal) => {
                (
                    $file,
                    include_bytes!(concat!("../../../../tests/fixtures/mutmut/_repos/", $repo, "/", $file))
                        .as_slice(),
                )
            };
        }
        let flat = [
            source!("flat", "flatpkg/core.py"),
            source!("flat", "flatpkg/crlf.py"),
            source!("flat", "flatpkg/tabs.py"),
        ];
        let made = [
            recorded!("flat", "flatpkg/core.py"),
            recorded!("flat", "flatpkg/crlf.py"),
            recorded!("flat", "flatpkg/tabs.py"),
        ];
        let expected = include_str!("../../../../tests/fixtures/mutmut/_positions/flat.jsonl");
        assert_eq!(check(&flat, &made, expected), 27);
        let srcpkg = [source!("srcpkg", "src/shop/calc.py"), source!("srcpkg", "src/shop/__init__.py")];
        let made = [recorded!("statuses", "src/shop/calc.py"), recorded!("statuses", "src/shop/__init__.py")];
        let expected = include_str!("../../../../tests/fixtures/mutmut/_positions/srcpkg.jsonl");
        assert_eq!(check(&srcpkg, &made, expected), 62);
    }
}
