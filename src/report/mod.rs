//! The room that shows a report: one pure renderer per format, one reader, one writer. Station 8 of 8.
//!
//! # Invariants
//! - A renderer is a function from a report (and sources) to bytes; it judges nothing and touches nothing.
//! - `write.rs` is the only place that writes; what it replaces is either the old file or the whole new one.
//! - Words of tools, tests and files are foreign: each format escapes them, control characters are made visible.
//! - Survivors are never cut from a page, however large the report.

mod change;
mod elements;
mod escape;
mod format;
mod html;
mod json;
mod read;
mod text;
mod view;
mod write;

pub use elements::Elements;
pub use escape::visible;
pub use format::{FORMATS, FormatInfo, RenderError, Renderer, format};
pub use html::Html;
pub use json::Json;
pub use read::{ReadError, read_report};
pub use text::{Palette, Text};
pub use write::{WriteError, check_writable, write_atomic};
