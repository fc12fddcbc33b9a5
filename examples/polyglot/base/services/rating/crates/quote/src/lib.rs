//! Quotes: one price for one parcel, and how long it is held.

mod dims;

pub use dims::{Dimensions, volumetric_grams};
use tariff::RateCard;

/// What a shipper hands over.
#[derive(Debug, Clone, Copy)]
pub struct Parcel {
    pub grams: u32,
    pub dimensions: Dimensions,
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

/// Prices one parcel by the card of its zone.
pub fn quote(card: &RateCard, parcel: &Parcel) -> Result<Quote, QuoteError> {
    let chargeable_grams = parcel.grams.max(volumetric_grams(&parcel.dimensions));
    let too_heavy = QuoteError::TooHeavy { limit_grams: card.heaviest_grams() };
    let cents = card.price(chargeable_grams).ok_or(too_heavy)?;
    Ok(Quote { zone: card.zone().to_owned(), cents, chargeable_grams })
}
