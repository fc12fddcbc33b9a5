//! Rate cards: what a parcel of a given weight costs in a given zone.

mod card;
mod tiers;

pub use card::{Band, CardError, RateCard};
pub use tiers::{Ladder, Tier, TierError};
