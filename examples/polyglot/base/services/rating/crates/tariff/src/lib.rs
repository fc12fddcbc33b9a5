//! Rate cards: what a parcel of a given weight costs in a given zone.

mod card;

pub use card::{Band, CardError, RateCard};
