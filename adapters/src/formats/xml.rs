//! A small tree of XML elements that keeps what is whole of a document that ends in the middle.
//!
//! In: bytes. Out: [`Document`]. I/O: none.
//!
//! Read by events, not by serde: PIT writes its report while it runs, and a report that was cut still holds whole
//! mutants. Character references that XML 1.0 forbids (PIT writes them for control characters in test names) become
//! U+FFFD instead of ending the reading.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// One element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// Name without prefix.
    pub(crate) name: String,
    /// Attributes in order.
    pub(crate) attributes: Vec<(String, String)>,
    /// Text directly inside, references resolved.
    pub(crate) text: String,
    /// Whole child elements.
    pub(crate) children: Vec<Element>,
    /// 1-based line of its start.
    pub(crate) line: usize,
}

/// What could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// The outermost element, with the children that are whole; `None`: there is none.
    pub(crate) root: Option<Element>,
    /// Why the document is not whole.
    pub(crate) damage: Option<Damage>,
}

/// Why a document is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    /// 1-based line.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) why: String,
}

impl Element {
    /// The first child called `name`.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The trimmed text of the first child called `name`, when it has any.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim()).filter(|text| !text.is_empty())
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// This element and all below it.
    pub(crate) fn all(&self) -> Vec<&Self> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(element) = found.get(at).copied() {
            found.extend(element.children.iter());
            at += 1;
        }
        found
    }
}

/// Reads `text` as far as it goes.
pub(crate) fn read(text: &str) -> Document {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut lines = Lines { text, at: 0, line: 1 };
    loop {
        let line = lines.at(usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX));
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return unfinished(open, Damage { line, why: error.to_string() }),
        };
        match event {
            Event::Start(start) => open.push(element(&start, line)),
            Event::Empty(start) => {
                let whole = element(&start, line);
                if let Some(root) = attach(&mut open, whole) {
                    return Document { root: Some(root), damage: None };
                }
            }
            Event::End(_) => {
                if let Some(whole) = open.pop()
                    && let Some(root) = attach(&mut open, whole)
                {
                    return Document { root: Some(root), damage: None };
                }
            }
            Event::Text(piece) => append(&mut open, &piece.xml10_content()),
            Event::CData(piece) => append(&mut open, &piece.xml10_content()),
            Event::GeneralRef(name) => append(&mut open, &resolve(&name.xml10_content())),
            Event::Eof => {
                let why = "the file ends before its outermost element does".to_owned();
                return unfinished(open, Damage { line, why });
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn element(start: &BytesStart<'_>, line: usize) -> Element {
    let attributes = start
        .attributes()
        .filter_map(Result::ok)
        .map(|attribute| {
            let value = attribute
                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                .map(std::borrow::Cow::into_owned)
                .unwrap_or_default();
            (attribute.key.local_name().as_ref().to_owned(), value)
        })
        .collect();
    let name = start.local_name().as_ref().to_owned();
    Element { name, attributes, text: String::new(), children: Vec::new(), line }
}

/// Gives the element back when it is the outermost one.
fn attach(open: &mut [Element], whole: Element) -> Option<Element> {
    match open.last_mut() {
        Some(parent) => {
            parent.children.push(whole);
            None
        }
        None => Some(whole),
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Elements that did not end are dropped, all but the outermost.
fn unfinished(open: Vec<Element>, damage: Damage) -> Document {
    Document { root: open.into_iter().next(), damage: Some(damage) }
}

fn resolve(name: &str) -> String {
    let code = match name.strip_prefix('#') {
        Some(hex) if hex.starts_with(['x', 'X']) => {
            u32::from_str_radix(hex.get(1..).unwrap_or_default(), 16).ok()
        }
        Some(decimal) => decimal.parse().ok(),
        None => {
            let known = quick_xml::escape::resolve_predefined_entity(name);
            return known.map_or_else(|| format!("&{name};"), str::to_owned);
        }
    };
    let legal =
        |c: &char| matches!(c, '\t' | '\n' | '\r') || !c.is_control() || ('\u{7f}'..='\u{9f}').contains(c);
    code.and_then(char::from_u32).filter(legal).unwrap_or('\u{fffd}').to_string()
}

/// Counts lines up to positions that only grow.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, position: usize) -> usize {
        self.line += self.text.get(self.at..position).unwrap_or_default().matches('\n').count();
        self.at = self.at.max(position.min(self.text.len()));
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_of_a_cut_document_is_kept() {
        let whole =
            "<?xml version=\"1.0\"?>\n<all>\n<m a='1'><t>x &lt;y&gt;</t></m>\n<m a='2'><t>z</t></m>\n</all>";
        assert_eq!(read(whole).damage, None);
        let cut = read(&whole[..whole.len() - 20]);
        let root = cut.root.unwrap();
        assert_eq!(root.children.len(), 1);
        assert_eq!(root.children[0].text_of("t"), Some("x <y>"));
        assert_eq!(root.children[0].line, 3);
        assert!(cut.damage.is_some());
    }

    #[test]
    fn forbidden_references_do_not_end_the_reading() {
        let document = read("<a>x&#27;[1m&#0;&#x41;&unknown;</a>");
        assert_eq!(document.root.unwrap().text, "x\u{fffd}[1m\u{fffd}A&unknown;");
    }
}
