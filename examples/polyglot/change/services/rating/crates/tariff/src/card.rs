//! One carrier's price list for one zone.

use std::fmt;

/// One step of a price list: parcels of up to `up_to_grams` cost `cents`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    pub up_to_grams: u32,
    pub cents: u64,
}

/// A carrier's prices for one zone, lightest band first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateCard {
    zone: String,
    bands: Vec<Band>,
}

/// Why a line of a tariff file is not a rate card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardError {
    MissingZone,
    NoBands,
    BadBand(String),
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CardError::MissingZone => write!(f, "the card names no zone"),
            CardError::NoBands => write!(f, "the card has no price bands"),
            CardError::BadBand(text) => write!(f, "not a price band: {text}"),
        }
    }
}

impl RateCard {
    /// Reads a card such as `DE-2; 500=310; 2000=450`.
    pub fn parse(line: &str) -> Result<RateCard, CardError> {
        let mut fields = line.split(';').map(str::trim);
        let zone = fields.next().filter(|zone| !zone.is_empty()).ok_or(CardError::MissingZone)?;
        let mut bands = fields.map(parse_band).collect::<Result<Vec<_>, _>>()?;
        if bands.is_empty() {
            return Err(CardError::NoBands);
        }
        bands.sort_by_key(|band| band.up_to_grams);
        Ok(RateCard { zone: zone.to_owned(), bands })
    }

    /// The zone that this card prices.
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// The list price of a parcel, or `None` when it is heavier than the last band.
    pub fn price(&self, grams: u32) -> Option<u64> {
        self.bands
            .iter()
            .find(|band| grams <= band.up_to_grams)
            .map(|band| band.cents)
    }

    /// The heaviest parcel that this card prices.
    pub fn heaviest_grams(&self) -> u32 {
        self.bands.iter().map(|band| band.up_to_grams).max().unwrap_or(0)
    }
}

fn parse_band(text: &str) -> Result<Band, CardError> {
    let bad = || CardError::BadBand(text.to_owned());
    let (grams, cents) = text.split_once('=').ok_or_else(bad)?;
    let up_to_grams = grams.trim().parse().map_err(|_| bad())?;
    let cents = cents.trim().parse().map_err(|_| bad())?;
    Ok(Band { up_to_grams, cents })
}
