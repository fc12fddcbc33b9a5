//! How long a quoted price is held, and how often the shipper is reminded of it.

/// Seconds after which a quote lapses: two days.
pub const HOLD_SECONDS: u64 = 172_800;

/// Seconds after which the first reminder goes out; each later one waits twice as long.
const FIRST_REMINDER: u64 = 3600;

/// Whether a quote of this age may still be taken up.
pub fn is_held(age_seconds: u64) -> bool {
    age_seconds < HOLD_SECONDS
}

/// How many reminders a quote of this age has earned.
pub fn reminders_due(age_seconds: u64) -> u64 {
    let mut due = 0;
    let mut at = FIRST_REMINDER;
    while at <= age_seconds {
        due += 1;
        at *= 2;
    }
    due
}
