use tariff::{CardError, RateCard};

fn card() -> RateCard {
    RateCard::parse("DE-2; 2000=450; 500=310; 31500=1290").expect("a good card")
}

#[test]
fn bands_are_sorted_by_weight() {
    assert_eq!(card().price(120), Some(310));
    assert_eq!(card().price(500), Some(310));
    assert_eq!(card().price(501), Some(450));
}

#[test]
fn parcels_above_the_last_band_have_no_price() {
    assert_eq!(card().price(31_501), None);
    assert_eq!(card().heaviest_grams(), 31_500);
}

#[test]
fn broken_cards_are_named() {
    assert_eq!(RateCard::parse("; 500=310"), Err(CardError::MissingZone));
    assert_eq!(RateCard::parse("DE-2"), Err(CardError::NoBands));
    assert_eq!(RateCard::parse("DE-2; 500:310"), Err(CardError::BadBand("500:310".to_owned())));
}
