//! Volume tiers: what a shipper's monthly parcel count takes off the list price.

use std::fmt;

/// One step of the ladder: from `from_parcels` a month on, `basis_points` come off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tier {
    pub from_parcels: u32,
    pub basis_points: u64,
}

/// The tiers of one contract, smallest shippers first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    tiers: Vec<Tier>,
}

/// Why a contract's tiers cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TierError {
    BadStep(String),
    OutOfOrder { from_parcels: u32 },
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TierError::BadStep(text) => write!(f, "not a tier: {text}"),
            TierError::OutOfOrder { from_parcels } => {
                write!(f, "the tier from {from_parcels} parcels does not rise above the one before it")
            }
        }
    }
}

impl Ladder {
    /// Reads tiers such as `100=250, 1000=400`.
    pub fn parse(text: &str) -> Result<Ladder, TierError> {
        let mut tiers: Vec<Tier> = Vec::new();
        for step in text.split(',').map(str::trim).filter(|step| !step.is_empty()) {
            let bad = || TierError::BadStep(step.to_owned());
            let (from, off) = step.split_once('=').ok_or_else(bad)?;
            let from_parcels = from.trim().parse().map_err(|_| bad())?;
            let basis_points = off.trim().parse().map_err(|_| bad())?;
            if tiers.last().is_some_and(|below| from_parcels <= below.from_parcels) {
                return Err(TierError::OutOfOrder { from_parcels });
            }
            tiers.push(Tier { from_parcels, basis_points });
        }
        Ok(Ladder { tiers })
    }

    /// The highest tier that a shipper of this size has reached.
    pub fn tier_for(&self, parcels: u32) -> Option<Tier> {
        self.tiers.iter().rev().find(|tier| parcels >= tier.from_parcels).copied()
    }
}
