//! Reads what a compiled class says of its source: name, source file, and the lines of each method.
//!
//! In: bytes of a `.class` file. Out: [`ClassFile`]. I/O: none.
//!
//! PIT names classes and lines, never paths; the class file is the only place that ties both to a source file
//! (JVM specification, chapter 4).

use std::collections::BTreeSet;

/// What is kept of a class file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassFile {
    /// Binary name with dots: `com.acme.Foo$Bar`.
    pub(crate) name: String,
    /// Attribute `SourceFile`, a bare file name.
    pub(crate) source: Option<String>,
    /// Methods.
    pub(crate) methods: Vec<Method>,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Method {
    /// Name in the class file: `<init>`, `lambda$total$0`.
    pub(crate) name: String,
    /// Lines of its line table.
    pub(crate) lines: BTreeSet<u32>,
}

impl ClassFile {
    /// The package, dots between parts; empty for the default package.
    pub(crate) fn package(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(package, _)| package)
    }

    /// The path below a class folder: `com/acme/Foo$Bar.class`.
    pub(crate) fn path(&self) -> String {
        format!("{}.class", self.name.replace('.', "/"))
    }
}

/// Reads a class file; `None` when the bytes are not one, or end too early.
pub(crate) fn read(bytes: &[u8]) -> Option<ClassFile> {
    let mut cursor = Cursor { bytes, at: 0 };
    if cursor.u32()? != 0xCAFE_BABE {
        return None;
    }
    cursor.skip(4)?;
    let pool = Pool::read(&mut cursor)?;
    cursor.skip(2)?;
    let name = pool.class(cursor.u16()?)?.replace('/', ".");
    cursor.skip(2)?;
    let interfaces = usize::from(cursor.u16()?);
    cursor.skip(interfaces * 2)?;
    for _ in 0..cursor.u16()? {
        cursor.skip(6)?;
        attributes(&mut cursor, &pool, |_, _| Some(()))?;
    }
    let mut methods = Vec::new();
    for _ in 0..cursor.u16()? {
        methods.push(method(&mut cursor, &pool)?);
    }
    let mut source = None;
    attributes(&mut cursor, &pool, |attribute, mut body| {
        if attribute == "SourceFile" {
            source = Some(pool.text(body.u16()?)?);
        }
        Some(())
    })?;
    Some(ClassFile { name, source, methods })
}

/// An abstract or native method has no lines.
fn method(cursor: &mut Cursor<'_>, pool: &Pool) -> Option<Method> {
    cursor.skip(2)?;
    let name = pool.text(cursor.u16()?)?;
    cursor.skip(2)?;
    let mut lines = BTreeSet::new();
    attributes(cursor, pool, |attribute, body| {
        if attribute == "Code" {
            lines = code_lines(body, pool)?;
        }
        Some(())
    })?;
    Some(Method { name, lines })
}

fn code_lines(mut body: Cursor<'_>, pool: &Pool) -> Option<BTreeSet<u32>> {
    body.skip(4)?;
    let length = usize::try_from(body.u32()?).ok()?;
    body.skip(length)?;
    let handlers = usize::from(body.u16()?);
    body.skip(handlers * 8)?;
    let mut lines = BTreeSet::new();
    attributes(&mut body, pool, |attribute, mut table| {
        if attribute == "LineNumberTable" {
            for _ in 0..table.u16()? {
                table.skip(2)?;
                lines.insert(u32::from(table.u16()?));
            }
        }
        Some(())
    })?;
    Some(lines)
}

fn attributes<'a>(
    cursor: &mut Cursor<'a>,
    pool: &Pool,
    mut each: impl FnMut(&str, Cursor<'a>) -> Option<()>,
) -> Option<()> {
    for _ in 0..cursor.u16()? {
        let name = pool.text(cursor.u16()?)?;
        let length = usize::try_from(cursor.u32()?).ok()?;
        let body = cursor.take(length)?;
        each(&name, Cursor { bytes: body, at: 0 })?;
    }
    Some(())
}

/// The constant pool, as far as names need it.
struct Pool(Vec<Constant>);

enum Constant {
    Text(String),
    Class(u16),
    Other,
}

impl Pool {
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let count = usize::from(cursor.u16()?);
        let mut constants = vec![Constant::Other];
        while constants.len() < count {
            let tag = cursor.u8()?;
            constants.push(match tag {
                1 => {
                    let length = usize::from(cursor.u16()?);
                    // Modified UTF-8 differs from UTF-8 for NUL and beyond the BMP only; such names become U+FFFD.
                    Constant::Text(String::from_utf8_lossy(cursor.take(length)?).into_owned())
                }
                7 => Constant::Class(cursor.u16()?),
                8 | 16 | 19 | 20 => skipped(cursor, 2)?,
                15 => skipped(cursor, 3)?,
                3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => skipped(cursor, 4)?,
                5 | 6 => skipped(cursor, 8)?,
                _ => return None,
            });
            if matches!(tag, 5 | 6) {
                // Long and Double take two places.
                constants.push(Constant::Other);
            }
        }
        Some(Self(constants))
    }

    fn text(&self, index: u16) -> Option<String> {
        match self.0.get(usize::from(index))? {
            Constant::Text(text) => Some(text.clone()),
            Constant::Class(_) | Constant::Other => None,
        }
    }

    fn class(&self, index: u16) -> Option<String> {
        match self.0.get(usize::from(index))? {
            Constant::Class(name) => self.text(*name),
            Constant::Text(_) | Constant::Other => None,
        }
    }
}

fn skipped(cursor: &mut Cursor<'_>, count: usize) -> Option<Constant> {
    cursor.skip(count)?;
    Some(Constant::Other)
}

#[derive(Clone, Copy)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.take(count).map(|_| ())
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }
}
