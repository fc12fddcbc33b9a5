//! How far the statement on a line reaches.
//!
//! In: source text. Out: [`Extents`]. I/O: none.
//!
//! A compiler puts all code of an expression that spans several lines on few of them: javac mostly on the first, and
//! an operator on the line of what stands right of it. PIT reports those lines. So a line of PIT stands for the whole
//! statement; without that, a change on the third line of a condition would have no mutant on a changed line, and its
//! survivors would never be seen. A block inside an expression (`run(() -> { … }, limit * 2);`) is not part of the
//! statement around it unless that statement goes on behind the block with more than closing brackets.

use polymut_schemas::LineRange;

use super::source::blank;

/// For each line of a file the lines of the statements on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Extents(Vec<LineRange>);

impl Extents {
    /// Reads `text`. In a file that is not Java a line end may end a statement.
    pub(crate) fn of(file_name: &str, text: &str) -> Self {
        let code = blank(text);
        let count = u32::try_from(code.split('\n').count()).unwrap_or(u32::MAX);
        let mut reader = Reader {
            java: file_name.rsplit_once('.').is_some_and(|(_, ending)| ending == "java"),
            line: 1,
            ..Reader::default()
        };
        reader.lines = (1..=count).map(|line| LineRange { first: line, last: line }).collect();
        reader.read(&code);
        Self(reader.lines)
    }

    /// The lines that code attributed to `line` may stand on.
    pub(crate) fn around(&self, line: u32) -> LineRange {
        let index = usize::try_from(line).unwrap_or(usize::MAX).wrapping_sub(1);
        self.0.get(index).copied().unwrap_or(LineRange { first: line, last: line })
    }
}

/// A run of lines of a statement between embedded blocks, and whether it says more than brackets.
#[derive(Clone, Copy)]
struct Segment {
    lines: LineRange,
    says: bool,
}

#[derive(Default)]
struct Statement {
    segments: Vec<Segment>,
    /// The next character starts a new segment: a block lay between.
    apart: bool,
    /// Its first characters, as far as `default`.
    lead: String,
    /// Its last two characters that are no blanks.
    last: [char; 2],
}

enum Frame {
    /// Round, square or initialiser brackets: the statement goes on inside.
    Group { brace: bool },
    /// A block, and the statement that it interrupts.
    Block { embedded: bool, head: Statement },
}

#[derive(Default)]
struct Reader {
    java: bool,
    line: u32,
    now: Statement,
    frames: Vec<Frame>,
    lines: Vec<LineRange>,
}

impl Reader {
    fn read(&mut self, code: &str) {
        let mut chars = code.chars();
        while let Some(c) = chars.next() {
            let after = chars.as_str();
            match c {
                '\n' => {
                    if !self.java && !self.in_group() && !self.now.goes_on(after) {
                        self.finish();
                    }
                    self.line += 1;
                }
                ';' if !self.in_group() => self.finish(),
                '(' | '[' => {
                    self.now.add(self.line, c);
                    self.frames.push(Frame::Group { brace: false });
                }
                ')' | ']' => {
                    self.now.add(self.line, c);
                    if self.in_group() {
                        self.frames.pop();
                    }
                }
                '{' => self.open(),
                '}' => self.close(after),
                c => self.now.add(self.line, c),
            }
        }
        self.finish();
        while let Some(frame) = self.frames.pop() {
            if let Frame::Block { head, .. } = frame {
                self.now = head;
                self.finish();
            }
        }
    }

    fn in_group(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Group { .. }))
    }

    fn open(&mut self) {
        let in_braces = matches!(self.frames.last(), Some(Frame::Group { brace: true }));
        let before = self.now.last[1];
        let initialiser =
            self.java && (matches!(before, '=' | ']' | '(') || (in_braces && matches!(before, '{' | ',')));
        if initialiser {
            self.now.add(self.line, '{');
            self.frames.push(Frame::Group { brace: true });
            return;
        }
        let arrow = self.java && self.now.last == ['-', '>'] && !self.now.is_case();
        let embedded = self.in_group() || arrow;
        let mut head = std::mem::take(&mut self.now);
        head.apart = true;
        self.frames.push(Frame::Block { embedded, head });
    }

    fn close(&mut self, after: &str) {
        if matches!(self.frames.last(), Some(Frame::Group { brace: true })) {
            self.now.add(self.line, '}');
            self.frames.pop();
            return;
        }
        self.finish();
        // Brackets that do not match end with their block.
        while let Some(frame) = self.frames.pop() {
            if let Frame::Block { embedded, head } = frame {
                let goes_on = embedded || after.trim_start().starts_with(['.', '?', ':']);
                self.now = head;
                if !goes_on {
                    self.finish();
                }
                return;
            }
        }
    }

    fn finish(&mut self) {
        let mut segments = std::mem::take(&mut self.now).segments;
        while segments.last().is_some_and(|segment| !segment.says) {
            segments.pop();
        }
        let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return };
        let reach = LineRange { first: first.lines.first, last: last.lines.last };
        for line in segments.iter().flat_map(|segment| segment.lines.first..=segment.lines.last) {
            let index = usize::try_from(line).unwrap_or(usize::MAX).wrapping_sub(1);
            if let Some(known) = self.lines.get_mut(index) {
                known.first = known.first.min(reach.first);
                known.last = known.last.max(reach.last);
            }
        }
    }
}

impl Statement {
    fn add(&mut self, line: u32, c: char) {
        if c.is_whitespace() {
            if !self.lead.is_empty() {
                self.lead.push(' ');
            }
            return;
        }
        match self.segments.last_mut() {
            Some(segment) if !self.apart => {
                segment.lines.last = line;
                segment.says |= c.is_alphanumeric();
            }
            Some(_) | None => self
                .segments
                .push(Segment { lines: LineRange { first: line, last: line }, says: c.is_alphanumeric() }),
        }
        self.apart = false;
        if self.lead.len() < 8 {
            self.lead.push(c);
        }
        self.last = [self.last[1], c];
    }

    /// `case X ->` and `default ->` start a block of their own, not a lambda.
    fn is_case(&self) -> bool {
        self.lead.starts_with("case ") || self.lead.starts_with("default")
    }

    /// Whether a Kotlin statement goes on behind this line end.
    fn goes_on(&self, after: &str) -> bool {
        if self.segments.is_empty() {
            return false;
        }
        let open = matches!(
            self.last[1],
            '+' | '-' | '*' | '/' | '%' | '=' | ',' | '.' | '&' | '|' | '<' | ':' | '?'
        ) || self.last == ['-', '>'];
        let next = after.trim_start();
        open || ["?.", "?:", "&&", "||", ".", "as ", "as? "].iter().any(|start| next.starts_with(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(name: &str, text: &str) -> Vec<(u32, u32)> {
        let extents = Extents::of(name, text);
        (1..=u32::try_from(text.lines().count()).unwrap())
            .map(|line| (extents.around(line).first, extents.around(line).last))
            .collect()
    }

    #[test]
    fn a_condition_over_several_lines_is_one_place() {
        let text = "void f() {\n  if (a > 1\n      && b < 2\n      || c) {\n    x();\n  } else {\n    y(1,\n      2);\n  }\n}";
        let lines = around("A.java", text);
        assert_eq!(lines[1..4], [(2, 4), (2, 4), (2, 4)]);
        assert_eq!(lines[4..6], [(5, 5), (6, 6)]);
        assert_eq!(lines[6..8], [(7, 8), (7, 8)]);
    }

    #[test]
    fn a_block_inside_a_call_is_left_out_unless_the_call_goes_on() {
        let closed = "  run(() -> {\n    a();\n    b();\n  });\n";
        assert_eq!(around("A.java", closed), [(1, 1), (2, 2), (3, 3), (4, 4)]);
        let goes_on = "  run(() -> {\n    a();\n  }, limit\n    * 2);\n";
        assert_eq!(around("A.java", goes_on), [(1, 4), (2, 2), (1, 4), (1, 4)]);
    }

    #[test]
    fn initialisers_and_for_headers_are_one_statement() {
        let text = "int[] a = {\n  1,\n  2 };\nfor (int i = 0;\n  i < 3;\n  i++) {\n  s += i;\n}";
        assert_eq!(around("A.java", text), [(1, 3), (1, 3), (1, 3), (4, 6), (4, 6), (4, 6), (7, 7), (8, 8)]);
    }

    #[test]
    fn switch_arrows_do_not_join_their_cases() {
        let text = "switch (x) {\n  case 1 -> {\n    a();\n  }\n  default -> {\n    b();\n  }\n}";
        assert_eq!(around("A.java", text)[1], (2, 2));
        assert_eq!(around("A.java", text)[4], (5, 5));
    }

    #[test]
    fn kotlin_lines_end_statements_unless_they_go_on() {
        let text = "val a = b\nval c = d +\n  e\nxs\n  .map { it + 1 }\n  .sum()\nval z = 1";
        assert_eq!(around("A.kt", text), [(1, 1), (2, 3), (2, 3), (4, 6), (4, 6), (4, 6), (7, 7)]);
    }
}
