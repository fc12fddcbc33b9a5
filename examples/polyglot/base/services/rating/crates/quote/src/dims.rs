//! Volumetric weight: bulky parcels pay for the room that they take.

/// The outer size of a parcel.
#[derive(Debug, Clone, Copy)]
pub struct Dimensions {
    pub length_mm: u32,
    pub width_mm: u32,
    pub height_mm: u32,
}

/// Cubic millimetres that count as one gram (a divisor of 5000 in cm³ per kg).
const MM3_PER_GRAM: u64 = 5_000;

/// Parcels up to this length on every side fit the sorter, and pay no volumetric weight.
const SORTER_MM: u32 = 200;

/// The weight that the size of a parcel stands for.
pub fn volumetric_grams(size: &Dimensions) -> u32 {
    let longest = size.length_mm.max(size.width_mm).max(size.height_mm);
    if longest <= SORTER_MM {
        return 0;
    }
    let mm3 = u64::from(size.length_mm) * u64::from(size.width_mm) * u64::from(size.height_mm);
    u32::try_from(mm3 / MM3_PER_GRAM).unwrap_or(u32::MAX)
}
