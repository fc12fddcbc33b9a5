use quote::{is_held, reminders_due};

const HOUR: u64 = 3600;

#[test]
fn quotes_lapse_after_two_days() {
    assert!(is_held(3 * HOUR));
    assert!(!is_held(72 * HOUR));
}

#[test]
fn reminders_thin_out() {
    assert_eq!(reminders_due(HOUR / 2), 0);
    assert_eq!(reminders_due(HOUR), 1);
    assert_eq!(reminders_due(9 * HOUR), 4);
}
