//! Quotes: one price for one parcel, and how long it is held.

mod hold;
mod volumetric;

pub use hold::{HOLD_SECONDS, is_held, reminders_due};
use tariff::{Ladder, RateCard};
pub use volumetric::{Dimensions, volumetric_grams};

/// What a shipper hands over.
#[derive(Debug, Clone, Copy)]
pub struct Parcel {
    pub grams: u32,
    pub dimensions: Dimensions,
}

/// Who ships: the contract's tiers, the parcels of the last month, and what a campaign adds.
#[derive(Debug, Clone)]
pub struct Shipper {
    pub ladder: Ladder,
    pub parcels_last_month: u32,
    pub campaign_basis_points: u64,
}

/// A price that the shipper may take up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub zone: String,
    pub cents: u64,
    pub chargeable_grams: u32,
}

/// Why there is no price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteError {
    TooHeavy { limit_grams: u32 },
}

/// Prices one parcel by the card of its zone, less what the shipper's volume takes off.
pub fn quote(card: &RateCard, shipper: &Shipper, parcel: &Parcel) -> Result<Quote, QuoteError> {
    let chargeable_grams = parcel.grams.max(volumetric_grams(&parcel.dimensions));
    let too_heavy = QuoteError::TooHeavy { limit_grams: card.heaviest_grams() };
    let list = card.price(chargeable_grams).ok_or(too_heavy)?;
    let tier = shipper.ladder.tier_for(shipper.parcels_last_month);
    let off = tier.map_or(0, |tier| tier.basis_points) + shipper.campaign_basis_points;
    let cents = list - list * off / 10_000;
    Ok(Quote { zone: card.zone().to_owned(), cents, chargeable_grams })
}
