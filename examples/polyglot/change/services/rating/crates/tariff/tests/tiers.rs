use tariff::{Ladder, TierError};

#[test]
fn the_highest_tier_that_was_reached_counts() {
    let ladder = Ladder::parse("100=250, 1000=400,").expect("a good ladder");
    let off = |parcels| ladder.tier_for(parcels).map(|tier| tier.basis_points);
    assert_eq!(off(12), None);
    assert_eq!(off(640), Some(250));
    assert_eq!(off(5_000), Some(400));
}

#[test]
fn tiers_that_do_not_rise_are_refused() {
    let refused = Ladder::parse("1000=400, 100=250");
    assert_eq!(refused, Err(TierError::OutOfOrder { from_parcels: 100 }));
    assert_eq!(Ladder::parse("100:250"), Err(TierError::BadStep("100:250".to_owned())));
}
