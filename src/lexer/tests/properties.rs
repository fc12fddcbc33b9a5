//! Generated code: layout and comments never count, a changed token always does.
//!
//! In: generated statements. Out: assertions. I/O: none.

use proptest::prelude::*;

use super::lines;

/// A statement in the languages where layout is free, as words that white space may separate.
fn statement() -> impl Strategy<Value = Vec<String>> {
    let name = prop::sample::select(vec!["a", "total", "x1", "rate"]);
    let value = prop::sample::select(vec!["1", "2.5", "\"t // no\"", "\"a b\"", "limit", "'c'"]);
    let sign = prop::sample::select(vec!["+", "-", "<=", "==", "&&"]);
    (name, value, sign, prop::collection::vec(prop::sample::select(vec!["p", "q", "7"]), 1..4)).prop_map(
        |(name, value, sign, args)| {
            let mut words: Vec<String> = [name, "=", value, sign, "call", "("].map(str::to_owned).to_vec();
            words.push(args.join(" , "));
            words.extend([")", ";"].map(str::to_owned));
            words.iter().flat_map(|word| split(word)).collect()
        },
    )
}

fn split(word: &str) -> Vec<String> {
    if word.starts_with('"') { vec![word.to_owned()] } else { word.split(' ').map(str::to_owned).collect() }
}

/// The statements with the given separators between words.
fn render(statements: &[Vec<String>], separators: &[&str]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for words in statements {
        for word in words {
            text.push_str(word);
            text.push_str(separators[at % separators.len()]);
            at += 1;
        }
        text.push('\n');
    }
    text
}

/// A block of lines where each stands one step deeper, as deep, or shallower than the one before.
fn block() -> impl Strategy<Value = Vec<(usize, String)>> {
    let text =
        prop::sample::select(vec!["f(a, b)", "x = y + 1", "s = \"# // q\"", "return x", "g(h(1), [2, 3])"]);
    prop::collection::vec((0_usize..3, text), 1..15).prop_map(|lines| {
        let mut deep = 0_usize;
        let mut block: Vec<(usize, String)> = Vec::new();
        for (step, text) in lines {
            deep = match step {
                0 => deep,
                1 => deep + 1,
                _ => deep.saturating_sub(1),
            };
            block.push((deep, text.to_owned()));
        }
        // Nothing stands shallower than the first line, and no line is two steps deeper than the one before.
        let first = block.first().map_or(0, |line| line.0);
        block.iter().map(|(deep, text)| (deep.saturating_sub(first), text.clone())).collect()
    })
}

/// The block with `width` columns per step; `notes` says where comments and blank lines go.
fn laid_out(block: &[(usize, String)], width: usize, notes: &[u8], comment: &str) -> String {
    let mut text = String::new();
    for (at, (deep, line)) in block.iter().enumerate() {
        let note = notes[at % notes.len()];
        if note == 1 {
            text.extend([comment, " it's a note\n\n"]);
        }
        let end = if note == 2 { format!("  {comment} \"why") } else { String::new() };
        text.extend([&" ".repeat(deep * width), line, &end, "\n"]);
    }
    text
}

/// White space and comments that join words in any of the free languages.
fn separators() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(
        prop::sample::select(vec![" ", "  ", "\t", "\n", "\n\n    ", " /* ' \" */ ", " // it's\n", "\r\n"]),
        1..7,
    )
}

proptest! {
    #[test]
    fn layout_and_comments_never_count(
        code in prop::collection::vec(statement(), 1..12),
        before in separators(),
        after in separators(),
        name in prop::sample::select(vec!["a.rs", "a.java", "a.cs"]),
    ) {
        prop_assert_eq!(lines(name, &render(&code, &before), &render(&code, &after)), Vec::<u32>::new());
    }

    #[test]
    fn a_changed_token_always_counts_and_its_line_is_in(
        code in prop::collection::vec(statement(), 1..12),
        before in separators(),
        after in separators(),
        place in any::<prop::sample::Index>(),
        name in prop::sample::select(vec!["a.rs", "a.java", "a.cs"]),
    ) {
        let mut edited = code.clone();
        let statement = place.index(edited.len());
        let word = place.index(edited[statement].len());
        edited[statement][word] = "NEW".to_owned();
        let new = render(&edited, &after);
        let line = new.lines().position(|line| line.contains("NEW")).and_then(|at| u32::try_from(at).ok()).unwrap();
        let found = lines(name, &render(&code, &before), &new);
        prop_assert!(found.contains(&(line + 1)), "{found:?} lacks {}", line + 1);
    }

    #[test]
    fn every_line_of_a_hunk_is_in_one_of_the_two_sets(
        old in "[a-c(){}\"'/*` \n]{0,60}",
        new in "[a-c(){}\"'/*` \n]{0,60}",
        name in prop::sample::select(vec![
            "a.rs", "a.java", "a.cs", "a.kt", "a.go", "a.ts", "a.tsx", "a.py", "a.scala", "a.txt",
        ]),
    ) {
        let found = super::change(name, &old, &new);
        let count = u32::try_from(new.split_inclusive('\n').count()).unwrap();
        for hunk in super::hunks(&old, &new) {
            for line in hunk.new {
                prop_assert!(found.lines.contains(line) != found.same.contains(line), "line {line}");
            }
        }
        prop_assert!(found.lines.lines().all(|line| (1..=count).contains(&line)));
    }

    #[test]
    fn steps_of_another_width_and_notes_never_count_where_line_ends_matter(
        block in block(),
        widths in (1_usize..6, 1_usize..6),
        before in prop::collection::vec(0_u8..3, 1..5),
        after in prop::collection::vec(0_u8..3, 1..5),
        name in prop::sample::select(vec!["a.py", "a.ts", "a.tsx", "a.go", "a.kt", "a.scala"]),
    ) {
        let comment = if name == "a.py" { "#" } else { "//" };
        let (old, new) = (laid_out(&block, widths.0, &before, comment), laid_out(&block, widths.1, &after, comment));
        prop_assert_eq!(lines(name, &old, &new), Vec::<u32>::new());
    }

    #[test]
    fn a_line_that_nests_otherwise_counts_in_python(block in block(), place in any::<prop::sample::Index>()) {
        let at = place.index(block.len());
        prop_assume!(at > 0);
        let mut deeper = block.clone();
        deeper[at].0 = deeper[at - 1].0 + usize::from(deeper[at].0 <= deeper[at - 1].0);
        prop_assume!(deeper[at].0 != block[at].0);
        let found = lines("a.py", &laid_out(&block, 4, &[0], "#"), &laid_out(&deeper, 4, &[0], "#"));
        prop_assert!(found.contains(&(u32::try_from(at).unwrap() + 1)), "{found:?}");
    }
}
