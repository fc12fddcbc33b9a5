//! The tables that the README shows, made from the registries.
//!
//! In: the registries of tools, formats and exit codes. Out: Markdown. I/O: none.

use polymut_adapters::tools::REGISTRY;

use crate::exit::Exit;
use crate::report::FORMATS;

/// The README's generated blocks: the marker's name, and what stands between `<!-- name -->` and `<!-- /name -->`.
pub fn blocks() -> [(&'static str, String); 3] {
    [("exit-codes", exit_codes()), ("tools", tools()), ("formats", formats())]
}

/// Replaces what stands between the markers `name` of a Markdown text; `None` when they are not there.
pub fn replace_block(text: &str, name: &str, block: &str) -> Option<String> {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let start = text.find(&open)? + open.len();
    let end = start + text.get(start..)?.find(&close)?;
    Some(format!("{}\n{block}{}", text.get(..start)?, text.get(end..)?))
}

fn exit_codes() -> String {
    table(
        &["code", "meaning"],
        Exit::ALL.iter().map(|exit| vec![exit.code().to_string(), exit.meaning().to_owned()]),
    )
}

fn tools() -> String {
    let rows = REGISTRY.iter().map(|adapter| {
        let info = adapter.info();
        let supported = format!("`{}`", info.supported);
        let pinned = info.recipe.version.to_owned();
        vec![format!("`{}`", info.id), info.languages.join(", "), supported, pinned]
    });
    table(&["tool", "languages", "tested with", "`polymut tools install` brings"], rows)
}

fn formats() -> String {
    let rows = FORMATS.iter().map(|format| {
        let info = format.info();
        vec![format!("`{}`", info.name), info.about.to_owned()]
    });
    table(&["format", "what for"], rows)
}

fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let rule = vec!["---".to_owned(); heads.len()];
    let escaped = rows.map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>());
    [heads, rule].into_iter().chain(escaped).map(|cells| line(&cells)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_replaced_between_its_markers_only() {
        let text = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        assert_eq!(
            replace_block(text, "x", "new\n").as_deref(),
            Some("a\n<!-- x -->\nnew\n<!-- /x -->\nb\n")
        );
        assert_eq!(replace_block(text, "y", "new\n"), None);
        assert_eq!(replace_block("<!-- x --> no end", "x", "new\n"), None);
    }
}
