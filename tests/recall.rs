//! One job that goes on where an interrupted one stopped: what is taken over, and what is done again.
//!
//! In: a fake tool, a journal. Out: claims about the job's outcome. I/O: processes, temporary folders.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may stop at the first surprise, and starts the program as a user does"
)]

#[path = "support/fake.rs"]
mod fake;

use camino::Utf8PathBuf;
use fake::{Scene, play, scene};
use polymut::exec::{EventSender, Header, Journal};
use polymut::job::JobOutcome;
use polymut::paths::AbsPath;
use polymut_schemas::{RunState, Status};

/// Answers two of three mutants, the second with half a line, and then hangs.
const HANGS: &str = "case $1 in\nversion) echo 1;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2; echo mutant c 3;;\ntest) echo mutant a 1 killed; printf 'mutant b 2 kill'; sleep 600;;\nesac\n";

/// Answers more than it is asked.
const ALL: &str = "case $1 in\nversion) echo 1;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2; echo mutant c 3;;\ntest) shift; for key; do case $key in b) echo mutant b 2 survived; echo mutant a 1 killed;; c) echo mutant c 3 hung;; esac; done;;\nesac\n";

/// Knows nothing of the first mutant any more.
const REST: &str = "case $1 in\nversion) echo 1;;\nlist) echo seen source.txt; echo mutant a 1; echo mutant b 2; echo mutant c 3;;\ntest) shift; for key; do case $key in b) echo mutant b 2 survived;; c) echo mutant c 3 hung;; esac; done;;\nesac\n";

struct Book(tempfile::TempDir);

impl Book {
    fn new() -> Self {
        let book = Self(tempfile::tempdir().unwrap());
        Journal::create(&book.place(), Header::default(), &EventSender::nobody()).unwrap();
        book
    }

    fn place(&self) -> AbsPath {
        AbsPath::new(Utf8PathBuf::try_from(self.0.path().join("journal")).unwrap()).unwrap()
    }

    fn open(&self) -> Journal {
        Journal::open(&self.place(), &EventSender::nobody()).unwrap().unwrap().0
    }

    async fn play(&self, tool: &'static str, scene: Scene) -> JobOutcome {
        play(Scene { tool, journal: self.open(), ..scene }).await
    }
}

fn answers(outcome: &JobOutcome) -> Vec<(&str, Status, bool)> {
    let mutants = outcome.mutants.iter();
    mutants.map(|mutant| (mutant.key.as_str(), mutant.status, mutant.provenance.resumed)).collect()
}

/// The counts, the state and the notes: all that a resumed job may not have otherwise.
fn account(outcome: &JobOutcome) -> String {
    format!("{:?} {:?} {:?}", outcome.run.state, outcome.run.stages, outcome.run.notes)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_were_given_are_kept_and_half_a_line_is_no_answer() {
    let book = Book::new();
    let one = |scene: Scene| Scene { stop_at: Some("mutant b 2 kill"), ..scene };
    let cut = book.play(HANGS, one(scene())).await;
    assert!(matches!(cut.run.state, RunState::Partial { .. }), "{:?}", cut.run.state);
    let answered =
        |key| cut.mutants.iter().any(|mutant| mutant.key == key && mutant.status != Status::NotRun);
    assert!(!answered("b"), "half a line was taken for an answer: {:?}", answers(&cut));
    let resumed = book.play(REST, scene()).await;
    let whole = play(scene()).await;
    assert_eq!(
        answers(&resumed),
        [("a", Status::Killed, true), ("b", Status::Survived, false), ("c", Status::Timeout, false)]
    );
    assert_eq!(account(&resumed), account(&whole));
    // What has ended is not looked at again.
    let again = book.play("exit 9\n", scene()).await;
    assert_eq!(account(&again), account(&whole));
    assert!(again.mutants.iter().all(|mutant| mutant.provenance.resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_given_again_without_being_asked_for_counts_once() {
    let book = Book::new();
    book.play(HANGS, Scene { stop_at: Some("mutant b 2 kill"), ..scene() }).await;
    let resumed = book.play(ALL, scene()).await;
    assert_eq!(account(&resumed), account(&play(scene()).await));
    assert_eq!(answers(&resumed)[0], ("a", Status::Killed, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_that_is_red_by_now_starts_the_job_afresh_and_says_so() {
    let book = Book::new();
    book.play(HANGS, Scene { stop_at: Some("mutant b 2 kill"), ..scene() }).await;
    let resumed = book.play(REST, Scene { suite: "exit 1\n", ..scene() }).await;
    assert!(matches!(resumed.run.state, RunState::RedBaseline { .. }), "{:?}", resumed.run.state);
    let note = resumed.run.notes.iter().find(|note| note.starts_with("started afresh, not resumed"));
    assert!(note.is_some_and(|note| note.contains("suite: exit 0 before, exit 1 now")), "{note:?}");
    assert!(resumed.mutants.iter().all(|mutant| !mutant.provenance.resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_ends_before_anything_leaves_nothing_to_take_over() {
    let book = Book::new();
    let stopped = book.play(HANGS, Scene { budget: Some(std::time::Duration::ZERO), ..scene() }).await;
    assert!(!matches!(stopped.run.state, RunState::Complete), "{:?}", stopped.run.state);
    let resumed = book.play(scene().tool, scene()).await;
    assert_eq!(account(&resumed), account(&play(scene()).await));
    assert!(resumed.mutants.iter().all(|mutant| !mutant.provenance.resumed));
}
