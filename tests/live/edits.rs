//! Small edits of the example, one per project and kind.
//!
//! In: nothing. Out: texts. I/O: none.

/// What to do with one project.
pub(crate) struct Edits {
    /// The folder that the document names.
    pub(crate) folder: &'static str,
    /// The source file.
    pub(crate) source: &'static str,
    /// A text of the source and another that means the same; the tests know all about it.
    pub(crate) clean: (&'static str, &'static str),
    /// A text of the source and another that the suite notices.
    pub(crate) red: (&'static str, &'static str),
    /// What the suite says of it: a failing test's name, or its file.
    pub(crate) said: &'static str,
    /// A comment for the end of the source.
    pub(crate) comment: &'static str,
    /// A file of the suite.
    pub(crate) tests: &'static str,
    /// A text of the suite and what to put there.
    pub(crate) tested: (&'static str, &'static str),
}

/// Every project of the example that has code, by folder.
pub(crate) const PROJECTS: &[Edits] = &[
    Edits {
        folder: "services/rating",
        source: "services/rating/crates/quote/src/hold.rs",
        clean: ("due += 1;", "due = due + 1;"),
        red: ("due += 1;", "due += 2;"),
        said: "reminders_thin_out",
        comment: "// Reminders are sent by the night run.\n",
        tests: "services/rating/crates/quote/tests/hold.rs",
        tested: (
            "#[test]\n",
            "#[test]\nfn nothing_is_due_at_once() {\n    assert_eq!(reminders_due(0), 0);\n}\n\n#[test]\n",
        ),
    },
    Edits {
        folder: "web/packages/checkout",
        source: "web/packages/checkout/src/app/(shop)/[[...slug]]/page.ts",
        clean: ("slug ?? []", "(slug ?? [])"),
        red: ("'/' + parts", "'#' + parts"),
        said: "names the start page",
        comment: "// The page is built once a day.\n",
        tests: "web/packages/checkout/test/retry.test.ts",
        tested: ("\nit('", "\nit('does nothing', () => {});\n\nit('"),
    },
    Edits {
        folder: "web/packages/money",
        source: "web/packages/money/src/index.ts",
        clean: ("String(whole % 100)", "`${whole % 100}`"),
        red: ("'-' : ''", "'+' : ''"),
        said: "writes what is owed",
        comment: "// Cents are never split.\n",
        tests: "web/packages/money/test/money.test.ts",
        tested: ("\nit('writes cents", "\nit('does nothing', () => {});\n\nit('writes cents"),
    },
    Edits {
        folder: "services/ledger",
        source: "services/ledger/postings/src/main/java/example/parcelwright/ledger/PostingReference.java",
        clean: ("sum += rest % 10;", "sum = sum + rest % 10;"),
        red: ("return 9 - sum % 9;", "return 8 - sum % 9;"),
        said: "PostingReferenceTest",
        comment: "// Old references have no check digit.\n",
        tests: "services/ledger/postings/src/test/java/example/parcelwright/ledger/PostingReferenceTest.java",
        tested: (
            "    @Test\n",
            "    @Test\n    void theYearComesFirst() {\n        assertEquals(\"2025\", PostingReference.format(2025, 1).substring(0, 4));\n    }\n\n    @Test\n",
        ),
    },
    Edits {
        folder: "services/dispatch",
        source: "services/dispatch/carrier/carrier.go",
        clean: ("min(wait*2, longest)", "min(2*wait, longest)"),
        red: ("min(wait*2, longest)", "min(wait*3, longest)"),
        said: "TestTotalWait",
        comment: "\n// Carriers are asked again in the evening.\n",
        tests: "services/dispatch/carrier/carrier_test.go",
        tested: ("\nfunc Test", "\nfunc TestNothing(t *testing.T) {}\n\nfunc Test"),
    },
    Edits {
        folder: "services/tracking",
        source: "services/tracking/promise/promise.go",
        clean: ("w.To%60)", "(w.To)%60)"),
        red: ("\"between %02d", "\"from %02d"),
        said: "TestText",
        comment: "\n// The page is read on telephones.\n",
        tests: "services/tracking/promise/promise_test.go",
        tested: ("\nfunc TestText", "\nfunc TestNothing(t *testing.T) {}\n\nfunc TestText"),
    },
    Edits {
        folder: "tools/manifest",
        source: "tools/manifest/src/manifest/lines.py",
        clean: ("return kilos * 1000", "return 1000 * kilos"),
        red: ("return kilos * 1000", "return kilos * 100"),
        said: "test_lines.py",
        comment: "\n# Manifests come by mail.\n",
        tests: "tools/manifest/tests/test_lines.py",
        tested: ("\ndef test_", "\ndef test_nothing():\n    pass\n\n\ndef test_"),
    },
    Edits {
        folder: "tools/labels",
        source: "tools/labels/labels/printer.py",
        clean: ("        tries -= 1\n    return False", "        tries -= 1\n    return not True"),
        red: ("            return True", "            return False"),
        said: "test_the_printer_has_the_last_word",
        comment: "\n# Printers stand in the hall.\n",
        tests: "tools/labels/tests/test_printer.py",
        tested: (
            "    def test_a_jammed",
            "    def test_nothing(self):\n        pass\n\n    def test_a_jammed",
        ),
    },
    Edits {
        folder: "services/customs",
        source: "services/customs/src/Customs/Declaration.cs",
        clean: ("pages++;", "pages += 1;"),
        red: ("pages++;", "pages += 2;"),
        said: "LongListsTakeMorePages",
        comment: "// Forms are printed twice.\n",
        tests: "services/customs/tests/Customs.Documents.Tests/DeclarationTests.cs",
        tested: (
            "    [Fact]\n",
            "    [Fact]\n    public void OneGoodTakesOnePage()\n    {\n        Assert.Equal(1, Declaration.Pages(1));\n    }\n\n    [Fact]\n",
        ),
    },
];
