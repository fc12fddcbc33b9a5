//! The seven tools as a person calls them: one script a project, in a folder of the repository.
//!
//! In: cores, where the tools are. Out: scripts. I/O: none.
//!
//! Each script leaves its tool's own report behind, and says which; a run that left none was no run.

/// How closely a script follows the change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scoped {
    /// With the finest scope that the tool itself takes: the mutants that polymut asks for.
    Finest,
    /// As a script in CI does it: the changed files, modules or packages.
    Files,
}

/// One tool on one project.
pub(crate) struct Alone {
    /// The tool, for the table.
    pub(crate) tool: &'static str,
    /// Where it starts.
    pub(crate) folder: &'static str,
    /// What is run.
    pub(crate) script: String,
    /// What it leaves, below the folder.
    pub(crate) report: &'static str,
    /// Ends that are no accident: survivors are an error to some tools.
    pub(crate) codes: &'static [i32],
}

/// Downloads what the PIT script needs, and builds once so that Maven has its plugins.
pub(crate) const PIT_READY: &str = "mvn -B -q test-compile \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.pitest:pitest-junit5-plugin:1.2.3 \
    -DoutputDirectory=\"$PWD/polymut-tools\" org.pitest:pitest-maven:1.30.2:mutationCoverage \
    -DtargetClasses=polymut.None -DfailWhenNoMutations=false";

/// Every project of the example that has a mutant to run, in the order of its folders.
pub(crate) fn scripts(store: &str, scoped: Scoped) -> Vec<Alone> {
    vec![
        stryker_net(store),
        gremlins(store, "services/dispatch"),
        gremlins(store, "services/tracking"),
        pit(),
        cargo_mutants(store, scoped),
        cosmic_ray(scoped),
        mutmut(scoped),
        stryker_js(scoped),
    ]
}

fn cargo_mutants(store: &str, scoped: Scoped) -> Alone {
    let scope = match scoped {
        Scoped::Finest => "--in-diff change.diff",
        Scoped::Files => {
            "--file hold.rs --file crates/quote/src/lib.rs --file volumetric.rs --file card.rs --file tiers.rs --file crates/tariff/src/lib.rs"
        }
    };
    let jobs = if scoped == Scoped::Finest { "--jobs \"$(nproc)\"" } else { "" };
    Alone {
        tool: "cargo-mutants",
        folder: "services/rating",
        script: format!(
            "git diff --relative main > change.diff
             {store}/cargo-mutants/*/bin/cargo-mutants mutants --workspace {scope} {jobs} --output out"
        ),
        report: "out/mutants.out/outcomes.json",
        codes: &[2, 3],
    }
}

fn stryker_js(scoped: Scoped) -> Alone {
    let page = "src/app/(shop)/[[...slug]]/page.ts";
    let (promotion, retry) = ("src/cart/promotion.ts", "src/rates/retry.ts");
    let mutate = match scoped {
        // StrykerJS takes no range behind a glob, and this path is one: the whole page has the mutants of its line.
        Scoped::Finest => format!(
            "src/app/?shop?/*slug*/page.ts,{promotion}:9-9,{promotion}:24-24,{promotion}:26-26,{retry}:2-2,{retry}:5-11"
        ),
        Scoped::Files => format!("src/app/?shop?/*slug*/page.ts,{promotion},{retry}"),
    };
    Alone {
        tool: "stryker-js",
        folder: "web/packages/checkout",
        script: format!("test -f '{page}'; npx stryker run --mutate '{mutate}' --reporters json"),
        report: "reports/mutation/mutation.json",
        codes: &[0, 1],
    }
}

fn pit() -> Alone {
    let classes = "example.parcelwright.ledger.PostingReference,example.parcelwright.ledger.RebateService,*StatementPeriod*";
    Alone {
        tool: "pit",
        folder: "services/ledger",
        // PIT is in no POM, and its JUnit 5 plugin neither: a script that may not edit the POM puts it on the class path.
        // A CI machine has no compiler daemon that is warm from the round before.
        script: format!(
            "mvn -B -q -o -Dkotlin.compiler.daemon=false test-compile org.pitest:pitest-maven:1.30.2:mutationCoverage \\
             -DtargetClasses='{classes}' -DfailWhenNoMutations=false -DoutputFormats=XML \\
             -DadditionalClasspathElements=\"$PWD/polymut-tools/pitest-junit5-plugin-1.2.3.jar\" -Dthreads=\"$(nproc)\""
        ),
        report: "postings/target/pit-reports/mutations.xml",
        codes: &[0],
    }
}

fn gremlins(store: &str, folder: &'static str) -> Alone {
    Alone {
        tool: "gremlins",
        folder,
        script: format!("{store}/gremlins/*/bin/gremlins unleash --output report.json"),
        report: "report.json",
        codes: &[0],
    }
}

fn mutmut(scoped: Scoped) -> Alone {
    let names = match scoped {
        Scoped::Finest => {
            "'manifest.bags.x_trips__*' 'manifest.bags.x_spare__*' 'manifest.lines.x_parse__*' 'manifest.lines.x_from_kilos__*'"
        }
        Scoped::Files => "'manifest.bags.*' 'manifest.lines.*'",
    };
    Alone {
        tool: "mutmut",
        folder: "tools/manifest",
        script: format!("rm -rf mutants; .venv/bin/mutmut run {names}"),
        report: "mutants/mutmut-stats.json",
        codes: &[0, 1],
    }
}

fn cosmic_ray(scoped: Scoped) -> Alone {
    let filter = match scoped {
        Scoped::Finest => ".venv/bin/cr-filter-git --config cosmic.toml session.sqlite",
        Scoped::Files => "true",
    };
    Alone {
        tool: "cosmic-ray",
        folder: "tools/labels",
        script: format!(
            "cat > cosmic.toml <<'END'
[cosmic-ray]
module-path = [\"labels/address.py\", \"labels/printer.py\"]
timeout = 15.0
excluded-modules = []
test-command = \".venv/bin/python -m unittest discover -s tests -t . -q\"
[cosmic-ray.distributor]
name = \"local\"
[cosmic-ray.filters.git-filter]
branch = \"main\"
END
             .venv/bin/cosmic-ray init cosmic.toml session.sqlite
             {filter}
             .venv/bin/cosmic-ray exec cosmic.toml session.sqlite"
        ),
        report: "session.sqlite",
        codes: &[0],
    }
}

fn stryker_net(store: &str) -> Alone {
    Alone {
        tool: "stryker-net",
        folder: "services/customs/src/Customs",
        script: format!(
            "{store}/stryker-net/*/dotnet-stryker --mutate '**/Declaration.cs' --mutate '**/Duty.cs' \\
             --test-project ../../tests/Customs.Tests/Customs.Tests.csproj \\
             --test-project ../../tests/Customs.Documents.Tests/Customs.Documents.Tests.csproj \\
             --reporter json --output out --skip-version-check"
        ),
        report: "out/reports/mutation-report.json",
        codes: &[0],
    }
}
