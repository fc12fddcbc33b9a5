//! Owners of files by CODEOWNERS: the last matching line wins.
//!
//! In: the file's text. Out: owners per path. I/O: none.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use polymut_schemas::RepoPath;

/// Where hosts look for the file, in their order.
pub const PLACES: &[&str] = &[".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// The rules of one CODEOWNERS file.
#[derive(Default)]
pub struct Owners(Vec<(Gitignore, Vec<String>)>);

impl Owners {
    /// Reads the rules; a line that is not a pattern is left out, as hosts do.
    pub fn parse(text: &str) -> Self {
        let mut rules = Vec::new();
        for line in text.lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            // `[Section]` heads of one host carry no pattern.
            if line.is_empty() || line.starts_with(['#', '[', '^']) {
                continue;
            }
            let mut words = line.split_whitespace();
            let Some(pattern) = words.next() else { continue };
            let mut builder = GitignoreBuilder::new("");
            let readable = builder.add_line(None, pattern).is_ok();
            if let (true, Ok(matcher)) = (readable, builder.build()) {
                rules.push((matcher, words.map(str::to_owned).collect()));
            }
        }
        Self(rules)
    }

    /// The owners of `path`.
    pub fn of(&self, path: &RepoPath) -> Vec<String> {
        let hit = |matcher: &Gitignore| {
            matcher.matched_path_or_any_parents(path.as_path().as_std_path(), false).is_ignore()
        };
        self.0
            .iter()
            .rev()
            .find(|(matcher, _)| hit(matcher))
            .map(|(_, owners)| owners.clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_matching_line_wins_and_may_name_nobody() {
        let owners = Owners::parse("* @all\n/services/ @a @b # team\n/services/x/gen/\n*.md @docs\n");
        let of = |path: &str| owners.of(&RepoPath::new(path).unwrap());
        assert_eq!(of("web/a.ts"), ["@all"]);
        assert_eq!(of("services/x/a.go"), ["@a", "@b"]);
        assert_eq!(of("services/x/gen/a.go"), Vec::<String>::new());
        assert_eq!(of("services/x/README.md"), ["@docs"]);
    }
}
