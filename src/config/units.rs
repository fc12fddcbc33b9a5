//! Durations as `90s` and `1h 30m`, amounts of memory as `2GiB`.
//!
//! In: text. Out: [`Period`], [`Bytes`]. I/O: none.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// A duration that a person writes: `90s`, `20m`, `1h 30m`, `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// An amount of memory that a person writes: `512MiB`, `2GiB`, `4GB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A text that is no amount of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a duration.
    #[error("`{0}` is not a duration; write it like `90s`, `20m` or `1h 30m`")]
    Period(String),
    /// Not an amount of memory.
    #[error("`{0}` is not an amount of memory; write it like `512MiB` or `2GiB`")]
    Bytes(String),
}

impl FromStr for Period {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::Period(text.to_owned());
        let signed: jiff::SignedDuration = text.trim().parse().map_err(|_| wrong())?;
        let duration = Duration::try_from(signed).map_err(|_| wrong())?;
        if duration.is_zero() { Err(wrong()) } else { Ok(Self(duration)) }
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::Bytes(text.to_owned());
        let trimmed = text.trim();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = trimmed.split_at(digits);
        let factor: u64 = match unit.trim() {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "B" => 1,
            _ => return Err(wrong()),
        };
        let amount = number.parse::<u64>().ok().and_then(|count| count.checked_mul(factor));
        amount.filter(|bytes| *bytes > 0).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::SignedDuration::try_from(self.0) {
            Ok(signed) => write!(f, "{signed:#}"),
            Err(_) => write!(f, "{}s", self.0.as_secs()),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.iter().find(|(factor, _)| self.0.is_multiple_of(*factor)) {
            Some((factor, unit)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Period {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Period {
    fn schema_name() -> Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A duration: `90s`, `20m`, `1h 30m`, `500ms`.",
            "pattern": "^[0-9]+ ?[a-z]",
        })
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An amount of memory: `512MiB`, `2GiB`, `4GB`.",
            "pattern": "^[0-9]+ ?(B|kB|KB|MB|GB|KiB|MiB|GiB)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Period>().map(|period| period.0);
        assert_eq!(read("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(read("20m"), Ok(Duration::from_mins(20)));
        assert_eq!(read("1h 30m"), Ok(Duration::from_mins(90)));
        assert_eq!(read("1h30m"), Ok(Duration::from_mins(90)));
        assert_eq!(read("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "20", "0s", "-5s", "soon", "20 parsecs"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_needs_a_unit_and_does_not_overflow() {
        let read = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.0);
        assert_eq!(read("2GiB"), Ok(2 << 30));
        assert_eq!(read("512 MiB"), Ok(512 << 20));
        assert_eq!(read("4GB"), Ok(4_000_000_000));
        for bad in ["", "2", "2gib", "0GiB", "-1GiB", "1.5GiB", "99999999999999GiB"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_again() {
        for text in ["20m", "1h 30m", "90s"] {
            let period: Period = text.parse().unwrap();
            assert_eq!(period.to_string().parse::<Period>(), Ok(period));
        }
        for bytes in [Bytes(2 << 30), Bytes(1 << 20), Bytes(1234)] {
            assert_eq!(bytes.to_string().parse::<Bytes>(), Ok(bytes));
        }
    }
}
