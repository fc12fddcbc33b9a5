//! The store: recipes run once, whole or not at all, and failures speak.
//!
//! In: recipes of the fake tool. Out: claims. I/O: processes, temporary folders.

use polymut::exec::{Event, EventSender, ExecError, Install, Installed, Stop, StopReason, Store, ToolEnv};
use polymut::paths::AbsPath;
use polymut_adapters::{Cost, Recipe, RecipeStep, Spread, StorePath, ToolInfo, TreeUse};

use crate::rig::{environment, folder, in_time, program};

/// A tool whose recipe is one command of the fake tool.
fn tool(words: &[&str]) -> ToolInfo {
    let mut args: Vec<&'static str> = crate::fake::ENTRY.to_vec();
    args.extend(words.iter().map(|word| &*Box::leak((*word).to_owned().into_boxed_str())));
    let steps = vec![RecipeStep { program: program(), args: args.leak() }];
    ToolInfo {
        id: "fake",
        recipe: Recipe { version: "1.2.3", provides: "bin/tool", steps: steps.leak(), hint: "make fake" },
        languages: &[],
        extensions: &[],
        reads: &[],
        dependency_dirs: &[],
        supported: "*",
        tree: TreeUse::Reads,
        spread: Spread::Own,
        cost: Cost { start: 0, mutant: 0 },
        scrub: &[],
    }
}

struct Bench {
    _temp: tempfile::TempDir,
    store: Store,
    env: ToolEnv,
    stop: Stop,
}

impl Bench {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::at(folder(temp.path(), "tools"));
        Self { _temp: temp, store, env: environment(&[]), stop: Stop::new() }
    }

    async fn install(&self, tool: &ToolInfo, events: &EventSender) -> Result<Installed, ExecError> {
        let with = Install { env: &self.env, cores: 2, stop: &self.stop, events };
        in_time(self.store.install(tool, &with)).await
    }

    fn path(&self, name: &str) -> AbsPath {
        self.store.path(&StorePath::new(format!("fake/1.2.3/{name}")).unwrap())
    }
}

#[tokio::test]
async fn a_tool_is_installed_once_and_says_what_it_does() {
    let bench = Bench::new();
    let tool = tool(&["write={store}/bin/tool:{version} on {cores}", "count={store}/runs"]);
    assert!(!bench.store.has(&tool));
    let (events, mut told) = EventSender::channel();
    assert_eq!(bench.install(&tool, &events).await.unwrap(), Installed::Now);
    assert_eq!(bench.install(&tool, &events).await.unwrap(), Installed::Before);
    assert!(bench.store.has(&tool));
    assert_eq!(fs_err::read_to_string(bench.path("bin/tool").as_std_path()).unwrap(), "1.2.3 on 2");
    let first = told.recv().await.unwrap();
    assert!(matches!(&first, Event::Installing { command, .. } if command.contains("bin/tool")), "{first:?}");
}

#[tokio::test]
async fn two_installers_of_one_tool_do_it_once() {
    let bench = Bench::new();
    let tool = tool(&["sleep=300", "count={store}/runs", "write={store}/bin/tool:x"]);
    let nobody = EventSender::nobody();
    let (one, two) = tokio::join!(bench.install(&tool, &nobody), bench.install(&tool, &nobody));
    let mut both = [one.unwrap() == Installed::Now, two.unwrap() == Installed::Now];
    both.sort_unstable();
    assert_eq!(both, [false, true]);
    assert_eq!(fs_err::read_to_string(bench.path("runs").as_std_path()).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_failed_recipe_quotes_its_last_words_and_leaves_nothing_to_be_found() {
    let bench = Bench::new();
    let bad = tool(&["write={store}/bin/tool:half", "cry=no such package: fake", "exit=101"]);
    let error = bench.install(&bad, &EventSender::nobody()).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("exit code 101") && text.contains("no such package: fake"), "{text}");
    assert_eq!(error.hint().as_deref(), Some("by hand: make fake"));
    assert!(!bench.store.has(&bad));
    assert_eq!(bench.store.find(&StorePath::new("fake/1.2.3/bin/tool").unwrap()), None);
    // The next try begins anew.
    let good = tool(&["write={store}/bin/other:x", "write={store}/bin/tool:x"]);
    assert_eq!(bench.install(&good, &EventSender::nobody()).await.unwrap(), Installed::Now);
}

#[tokio::test]
async fn a_recipe_that_makes_nothing_is_a_failure() {
    let bench = Bench::new();
    let error = bench.install(&tool(&["say=nothing to do"]), &EventSender::nobody()).await.unwrap_err();
    assert!(error.to_string().contains("made no bin/tool"), "{error}");
}

#[tokio::test]
async fn an_installation_that_is_stopped_says_so() {
    let bench = Bench::new();
    bench.stop.request(StopReason::Interrupted);
    let error = bench.install(&tool(&["hang"]), &EventSender::nobody()).await.unwrap_err();
    assert!(matches!(error, ExecError::Stopped { .. }), "{error}");
}
