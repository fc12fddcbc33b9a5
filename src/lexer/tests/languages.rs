//! One table of pairs per language: equal tokens, and other tokens.
//!
//! In: pairs of texts. Out: assertions. I/O: none.

use super::{change, differs, lines, same};

#[test]
fn a_reindented_block_with_one_edit_is_one_line() {
    let old: Vec<String> = (0..300).map(|at| format!("call({at});\n")).collect();
    let mut new: Vec<String> = (0..300).map(|at| format!("    call({at}); // {at}\n")).collect();
    "    call(-1);\n".clone_into(&mut new[120]);
    let (old, new) = (old.concat(), new.concat());
    for name in ["a.rs", "a.java", "a.kt", "a.go", "a.cs", "a.ts", "a.tsx", "a.js"] {
        let found = change(name, &old, &new);
        assert_eq!(found.lines.lines().collect::<Vec<_>>(), vec![121], "{name}");
        assert_eq!(found.same.count(), 299, "{name}");
    }
}

#[test]
fn an_inserted_line_in_a_reindented_block_is_one_line() {
    let old = "f(a);\nf(b);\nf(c);\n";
    assert_eq!(lines("a.rs", old, "  f(a);\n  f(x);\n  f(b);\n  f(c);\n"), vec![2]);
    assert_eq!(lines("a.rs", old, "  f(a);\n  f(b);\n  f(b);\n  f(c);\n"), vec![3]);
}

#[test]
fn the_lines_before_and_after_a_deletion_count() {
    assert_eq!(lines("a.rs", "a();\nb();\nc();\n", "a();\nc();\n"), vec![1, 2]);
    assert_eq!(lines("a.rs", "a();\nb();\n", "a();\n"), vec![1]);
    assert_eq!(lines("a.rs", "a();\nb();\n", "b();\n"), vec![1]);
    assert_eq!(lines("a.rs", "a();\n b();\nc();\n", "  a();\n  // gone\n  c();\n"), vec![1, 3]);
    assert_eq!(lines("a.rs", "f(a, b);\n", "f(a);\n"), vec![1]);
    assert_eq!(lines("a.rs", "x = a + b;\ny();\n", "x = a;\ny();\n"), vec![1]);
}

#[test]
fn a_deleted_comment_or_blank_line_changes_nothing() {
    same("a.rs", "a();\n// note\n\nb();\n", "a();\nb();\n");
    same("a.py", "a()\n# note\n\nb()\n", "a()\nb()\n");
}

#[test]
fn lines_that_come_out_of_a_comment_count_although_their_text_is_old() {
    let found = lines("a.java", "a();\n/*\nb();\nc();\n*/\nd();\n", "a();\nb();\nc();\nd();\n");
    assert!(found.contains(&2) && found.contains(&3), "{found:?}");
    let found = lines("a.java", "a();\nb();\nc();\nd();\n", "a();\n/*\nb();\nc();\n*/\nd();\n");
    assert_eq!(found, vec![1, 6]);
}

#[test]
fn rust_is_read() {
    same("a.rs", "foo(aaa, bbb);\n", "foo(\n    aaa,\n    bbb,\n);\n");
    same("a.rs", "let x = foo(a);\n", "let x = foo(\n    a,\n);\n");
    same("a.rs", "use a::{b, c};\n", "use a::{\n    b,\n    c,\n};\n");
    same("a.rs", "fn f<'a>(x: &'a str) {}\n", "fn f<'a>(\n    x: &'a str // why\n) {\n}\n");
    same("a.rs", "/* a /* b */ c */ x();\n", "x();\n");
    same("a.rs", "let c = '\"'; // x\n", "let c = '\"'; // y\n");
    same("a.rs", "let c = '\\''; // x\n", "let c = '\\''; // y\n");
    same("a.rs", "let s = r#\"a // \" b\"#; // x\n", "let s = r#\"a // \" b\"#;\n");
    differs("a.rs", "let s = \"// a\";\n", "let s = \"// b\";\n");
    differs("a.rs", "let s = r#\"// \" a\"#;\n", "let s = r#\"// \" b\"#;\n");
    differs("a.rs", "let s = b'a';\n", "let s = b'b';\n");
    differs("a.rs", "let t = (a,);\n", "let t = (a);\n");
    differs("a.rs", "fn f<'a>() {}\n", "fn f<'b>() {}\n");
    differs("a.rs", "let s = \"a\n  b\";\n", "let s = \"a\n    b\";\n");
    differs("a.rs", "a & &b;\n", "a && b;\n");
    differs("a.rs", "a < b;\n", "a <= b;\n");
    differs("a.rs", "1..2\n", "1..=2\n");
    differs("a.rs", "// x\na();\n", "#[mutants::skip]\na();\n");
}

#[test]
fn java_is_read() {
    same("a.java", "int x = a(b,\n  c);\n", "int x =\n    a(b, c); /* why */\n");
    same("a.java", "char c = '\"'; // x\n", "char c = '\"';\n");
    differs("a.java", "s = \"\"\"\n  a\n  \"\"\";\n", "s = \"\"\"\n    a\n  \"\"\";\n");
    differs("a.java", "s = \"\"\"\n  // a\n  \"\"\";\n", "s = \"\"\"\n  // b\n  \"\"\";\n");
    differs("a.java", "i++ + j;\n", "i + ++j;\n");
}

#[test]
fn kotlin_is_read() {
    same("a.kt", "val x = list.map { it }.first()\n", "val x = list\n    .map { it }\n    .first()\n");
    same("a.kt", "foo(a, b)\n", "foo(\n    a,\n    b,\n)\n");
    same("a.kt", "val s = \"${f(\"// x\")}\" // a\n", "val s = \"${f(\"// x\")}\"\n");
    differs("a.kt", "val s = \"${f(\"// x\")}\"\n", "val s = \"${f(\"// y\")}\"\n");
    differs("a.kt", "val x = a + b\n", "val x = a\n+ b\n");
    differs("a.kt", "return f()\n", "return\nf()\n");
    differs("a.kt", "val s = \"\"\"a\n  b\"\"\"\"\n", "val s = \"\"\"a\n b\"\"\"\"\n");
    differs("a.kt", "x ?: y\n", "x ? : y\n");
}

#[test]
fn go_is_read() {
    same("a.go", "x := f(a,\n\tb)\n", "x := f(a, b)\n");
    same("a.go", "x := f(a, b)\n", "x := f(\n\ta,\n\tb,\n)\n");
    same("a.go", "s := `// a` // b\n", "s := `// a`\n");
    same("a.go", "if a &&\n\tb {\n}\n", "if a && b {\n}\n");
    differs("a.go", "s := `a\nb`\n", "s := `a\n b`\n");
    differs("a.go", "return f()\n", "return\nf()\n");
    differs("a.go", "x++\n", "x\n++\n");
    differs("a.go", "//go:build linux\n", "//go:build darwin\n");
    differs("a.go", "// int f(void);\nimport \"C\"\n", "// int g(void);\nimport \"C\"\n");
}

#[test]
fn csharp_is_read() {
    same("a.cs", "var s = @\"a\"\"// b\"; // x\n", "var s = @\"a\"\"// b\";\n");
    same("a.cs", "var s = $\"{d[\"// k\"]:N2}\"; // x\n", "var s = $\"{d[\"// k\"]:N2}\";\n");
    same("a.cs", "f(a,\n  b);\n", "f(a, b);\n");
    differs("a.cs", "var s = @\"c:\\\";x(\"// a\");\n", "var s = @\"c:\\\";x(\"// b\");\n");
    differs("a.cs", "var s = $\"{d[\"// k\"]}\";\n", "var s = $\"{d[\"// l\"]}\";\n");
    differs("a.cs", "var s = \"\"\"\"a \"\"\" // b\"\"\"\";\n", "var s = \"\"\"\"a \"\"\" // c\"\"\"\";\n");
    differs("a.cs", "#if A\nf();\n#endif\n", "#if B\nf();\n#endif\n");
    differs("a.cs", "// x\na();\n", "// Stryker disable once all\na();\n");
}

#[test]
fn scripts_are_read() {
    for name in ["a.ts", "a.js", "a.tsx"] {
        same(name, "const x = f(a, b);\n", "const x = f(\n  a,\n  b,\n);\n");
        same(name, "p.then(a).catch(b);\n", "p\n  .then(a)\n  .catch(b);\n");
        same(name, "x = y / 2 / z; // a\n", "x = y / 2 / z; // b\n");
        same(name, "x = (y) / 2; // a\n", "x = (y) / 2;\n");
        same(name, "x = s.replace(/[\"'/]/g, ''); // a\n", "x = s.replace(/[\"'/]/g, '');\n");
        same(name, "x = `a ${f(`// ${b}`)}`; // a\n", "x = `a ${f(`// ${b}`)}`;\n");
        same(name, "if (a) {\n  b()\n}\n", "if (a) {\n    b() // why\n}\n");
        differs(name, "x = `// a`;\n", "x = `// b`;\n");
        differs(name, "x = `a ${f(`// ${b}`)}`;\n", "x = `a ${f(`// ${c}`)}`;\n");
        differs(name, "x = `a\n  b`;\n", "x = `a\n    b`;\n");
        differs(name, "if (x) /a  b/.test(y);\n", "if (x) /a b/.test(y);\n");
        differs(name, "if (x) /\"//.test(y);\n", "if (x) /\"//.test(z);\n");
        differs(name, "return a;\n", "return\na;\n");
        differs(name, "x = [a, , ];\n", "x = [a, ];\n");
        differs(name, "// x\na();\n", "// Stryker disable next-line all\na();\n");
        differs(name, "// x\na();\n", "/* istanbul ignore next */\na();\n");
    }
}

#[test]
fn a_line_added_at_the_edge_of_a_block_leaves_its_neighbours_out() {
    for (name, end) in [("a.ts", ""), ("a.kt", ""), ("a.go", ""), ("a.ts", ";")] {
        let old = format!("f() {{\n  a(){end}\n}}\n");
        assert_eq!(lines(name, &old, &format!("f() {{\n  a(){end}\n  b(){end}\n}}\n")), vec![3], "{name}");
        assert_eq!(lines(name, &old, &format!("f() {{\n  b(){end}\n  a(){end}\n}}\n")), vec![2], "{name}");
    }
    assert_eq!(lines("a.kt", "a()\nc()\n", "a()\n  .b()\nc()\n"), vec![2]);
}

#[test]
fn elements_are_read() {
    let page = |text: &str| format!("export const p = () => (\n  <a href=\"x\">\n    {text}\n  </a>\n);\n");
    for name in ["a.tsx", "a.jsx"] {
        same(name, &page("Don't"), &page("    Don't"));
        same(name, &page("x"), &page("{/* note */}\n    x"));
        same(name, &page("{f(a)}"), &page("{f(\n  a,\n)}"));
        same(
            name,
            "x = <A b={c} d=\"e\" />; // x\n",
            "x = (<A\n  b={c}\n  d=\"e\"\n/>);\n".replace(['(', ')'], "").as_str(),
        );
        differs(name, &page("see http://a"), &page("see http://b"));
        differs(name, &page("// a"), &page("// b"));
        differs(name, &page("Don't // a"), &page("Don't // b"));
        differs(name, &page("<b>a</b> c"), &page("<b>a</b>c"));
        differs(name, &page("{a && <b>// x</b>}"), &page("{a && <b>// y</b>}"));
    }
    same("a.tsx", "const f = <T,>(a: T) => a // x\n", "const f = <T,>(a: T) => a\n");
}

#[test]
fn python_is_read() {
    same("a.py", "def f():\n  a()\n  b()\n", "def f():\n    a()  # why\n\n    b()\n");
    same("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n");
    same("a.py", "x = a + \\\n  b\n", "x = a + \\\n      b\n");
    same("a.py", "s = f'{d[\"# k\"]}'  # x\n", "s = f'{d[\"# k\"]}'\n");
    same("a.py", "s = '''# ' a'''  # x\n", "s = '''# ' a'''\n");
    differs("a.py", "s = f'{d[\"# k\"]}'\n", "s = f'{d[\"# l\"]}'\n");
    differs("a.py", "s = '# a'\n", "s = '# b'\n");
    differs("a.py", "s = '''a\n  b'''\n", "s = '''a\n b'''\n");
    differs("a.py", "t = (a,)\n", "t = (a)\n");
    differs("a.py", "x[a,]\n", "x[a]\n");
    differs("a.py", "a()\nb()\n", "a(); b()\n");
    differs("a.py", "# x\na()\n", "# pragma: no mutate\na()\n");
    let nested = lines("a.py", "a()\nb()\nc()\n", "if x:\n    a()\n    b()\nc()\n");
    assert_eq!(nested, vec![1, 2, 3], "a block that is nested anew stays in");
    let out = lines("a.py", "if x:\n    a()\n    b()\n", "if x:\n    a()\nb()\n");
    assert_eq!(out, vec![3]);
}

#[test]
fn scala_is_read() {
    same("a.scala", "val x = f(a,\n  b) // x\n", "val x = f(a, b)\n");
    same("a.scala", "val c = 'x' // x\n", "val c = 'x'\n");
    same("a.scala", "val s = s\"${f(\"// k\")}\" // x\n", "val s = s\"${f(\"// k\")}\"\n");
    differs("a.scala", "val s = s\"${f(\"// k\")}\"\n", "val s = s\"${f(\"// l\")}\"\n");
    differs("a.scala", "if x then\n  a()\n  b()\n", "if x then\n  a()\nb()\n");
    differs("a.scala", "a :+ b\n", "a : + b\n");
}

#[test]
fn only_line_endings_are_free_in_unknown_files() {
    same("a.txt", "a\nb\n", "a\r\nb\r\n");
    same("a.txt", "a\nb\n", "a\nb");
    differs("a.yaml", "a:\n b\n", "a:\n  b\n");
}

#[test]
fn line_endings_are_free_in_code() {
    for name in ["a.rs", "a.py", "a.ts", "a.go", "a.cs", "a.kt", "a.java", "a.scala"] {
        same(name, "a()\nb()\n", "a()\r\nb()\r\n");
    }
    differs("a.cs", "x = @\"a\nb\";\n", "x = @\"a\r\nb\";\n");
}

#[test]
fn what_is_not_understood_stays_in() {
    differs("a.ts", "x = \"a\n// b\n", "x = \"a\n// c\n");
    differs("a.py", "f(\n# a\n", "f(\n# b\n");
    differs("a.rs", "/* a\n// b\n", "/* a\n// c\n");
}
