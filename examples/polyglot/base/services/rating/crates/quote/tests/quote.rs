use quote::{Dimensions, Parcel, QuoteError, quote};
use tariff::RateCard;

const SMALL: Dimensions = Dimensions { length_mm: 200, width_mm: 150, height_mm: 80 };
const LAMPSHADE: Dimensions = Dimensions { length_mm: 400, width_mm: 400, height_mm: 250 };

fn card() -> RateCard {
    RateCard::parse("DE-2; 500=310; 2000=450; 31500=1290").expect("a good card")
}

#[test]
fn small_parcels_pay_by_the_scale() {
    let quote = quote(&card(), &Parcel { grams: 480, dimensions: SMALL }).expect("a price");
    assert_eq!((quote.cents, quote.chargeable_grams), (310, 480));
    assert_eq!(quote.zone, "DE-2");
}

#[test]
fn bulky_parcels_pay_for_their_volume() {
    let quote = quote(&card(), &Parcel { grams: 900, dimensions: LAMPSHADE }).expect("a price");
    assert_eq!((quote.cents, quote.chargeable_grams), (1290, 8000));
}

#[test]
fn parcels_beyond_the_card_are_refused() {
    let refused = quote(&card(), &Parcel { grams: 40_000, dimensions: SMALL });
    assert_eq!(refused, Err(QuoteError::TooHeavy { limit_grams: 31_500 }));
}
