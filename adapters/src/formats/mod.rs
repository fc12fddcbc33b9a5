//! Report formats that several tools share.

pub mod elements;
mod elements_html;
pub mod elements_import;
pub mod sqlite;
pub mod text;
pub(crate) mod xml;
