//! Small crates without dependencies, each with a change on top that shows one thing.
//!
//! In: nothing. Out: repositories. I/O: temporary folders.

use crate::place::Place;

const MANIFEST: &str = "[package]\nname = \"fare\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"fare\"\nversion = \"0.1.0\"\n";

/// A fare by age whose tests know both sides of the limit.
pub(crate) const FARE: &str = "\
//! Fares of the ferry.

/// Cents that a rider of this age pays.
pub fn fare(age: u32) -> u32 {
    if age < 16 { 150 } else { 300 }
}

/// Waits for one berth after the other.
pub fn berths(wanted: u32) -> u32 {
    let mut free = 0;
    while free < wanted {
        free = free.max(wanted);
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_pay_half() {
        assert_eq!((fare(15), fare(16)), (150, 300));
    }

    #[test]
    fn every_berth_is_found() {
        assert_eq!(berths(3), 3);
    }
}
";

/// The crate at its base.
pub(crate) fn fare() -> Place {
    Place::with(&[("Cargo.toml", MANIFEST), ("Cargo.lock", LOCK), ("src/lib.rs", FARE)])
}

/// A change whose every mutant dies.
pub(crate) fn well_tested() -> Place {
    let place = fare();
    place.edit("src/lib.rs", "{ 300 }", "{ 2 * 150 }");
    place
}

/// A change with a limit that no test knows.
pub(crate) fn weakly_tested() -> Place {
    let place = fare();
    place.edit("src/lib.rs", "    if age < 16 {", "    if age > 64 { return 150; }\n    if age < 16 {");
    place
}

/// A change with a loop that one mutant makes endless; its other mutants die.
pub(crate) fn with_a_hanging_mutant() -> Place {
    let place = fare();
    place.write("polymut.toml", "[run]\ntimeout-floor = \"2s\"\n");
    place.commit("short limits");
    place.git(&["branch", "-f", "main"]);
    place.edit("src/lib.rs", "free = free.max(wanted);", "free += 1;");
    place
}

/// A change with many mutants, whose suite takes a moment; one of them survives.
pub(crate) fn slowly_tested() -> Place {
    let place = fare();
    place.edit("src/lib.rs", "        assert_eq!(berths(3), 3);", "        assert_eq!(berths(3), 3);\n        std::thread::sleep(std::time::Duration::from_millis(300));");
    place.commit("a slow suite");
    place.git(&["branch", "-f", "main"]);
    place.edit(
        "src/lib.rs",
        "    if age < 16 { 150 } else { 300 }",
        "    let half = 100 + 50;\n    if age < 16 { half } else { half * 2 + 3 - 3 + 0 }",
    );
    place
}

/// A workspace two folders below the git root, with a change of one line beside a changed file whose name git quotes.
pub(crate) fn workspace_below_the_root() -> Place {
    let at = |path: &str| format!("services/rating/{path}");
    let workspace = "[workspace]\nmembers = [\"crates/quote\"]\nresolver = \"2\"\n";
    let manifest = "[package]\nname = \"quote\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let lock = "version = 4\n\n[[package]]\nname = \"quote\"\nversion = \"0.1.0\"\n";
    let place = Place::with(&[
        (&at("Cargo.toml"), workspace),
        (&at("Cargo.lock"), lock),
        (&at("crates/quote/Cargo.toml"), manifest),
        (&at("crates/quote/src/lib.rs"), "pub mod hold;\npub fn zones() -> u32 {\n    6\n}\n"),
        (&at("crates/quote/src/hold.rs"), "//! Held quotes.\n"),
        (
            &at("crates/quote/tests/zones.rs"),
            "#[test]\nfn zones() {\n    assert_eq!(quote::zones(), 7);\n}\n",
        ),
        ("docs/zonen-für-händler.md", "# Zonen\n"),
    ]);
    place.write("docs/zonen-für-händler.md", "# Zonen für Händler\n");
    place.edit(&at("crates/quote/src/lib.rs"), "    6", "    7");
    place
}

const HOLD: &str = "\
//! Held quotes.

/// Seconds for which a quote is held.
pub const HOLD: u64 = 900;

/// Whether a quote of this age may still be taken up.
pub fn is_held(age: u64) -> bool {
    age < HOLD
}

/// How many reminders a quote of this age has earned.
pub fn reminders(age: u64) -> u64 {
    let (mut due, mut at) = (0, 300);
    while at <= age {
        due += 1;
        at *= 2;
    }
    due
}

/// A place in the queue; there is none that stands for all.
pub struct Ticket(pub u32);

/// The ticket after this one.
pub fn next(ticket: &Ticket) -> Ticket {
    Ticket(ticket.0 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_quote_is_not_held() {
        assert!(!is_held(1000), \"1000\");
    }

    #[test]
    fn a_new_quote_is_held() {
        assert!(is_held(10), \"10\");
    }

    #[test]
    fn reminders_come_at_doubled_times() {
        assert_eq!((reminders(299), reminders(300), reminders(1000)), (0, 1, 2));
    }

    #[test]
    fn the_first_reminder_comes_after_five_minutes() {
        assert_eq!(reminders(300), 1);
    }

    #[test]
    fn tickets_count_up() {
        assert_eq!(next(&Ticket(4)).0, 5);
    }
}
";

/// The same workspace, committed, with a change that has every outcome of the tool: killed, survived, timeout, unviable.
pub(crate) fn with_every_outcome() -> Place {
    let place = workspace_below_the_root();
    place.write("polymut.toml", "[run]\ntimeout-floor = \"2s\"\n");
    place.write("services/rating/crates/quote/src/hold.rs", HOLD);
    place.edit(
        "services/rating/crates/quote/src/lib.rs",
        "}\n",
        "}\npub fn base() -> u32 {\n    2 * 75\n}\n",
    );
    place.commit("change");
    place
}
