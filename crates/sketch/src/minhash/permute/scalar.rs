//! The plain form: one position after another. The forms for few positions are these, compiled for more instructions: the
//! compiler makes vectors of features of them.

use crate::minhash::value::mix;

#[inline]
pub(super) fn mix_all(features: &[u64], salt: u64, mixed: &mut [u64]) {
    for (mixed, &feature) in mixed.iter_mut().zip(features) {
        *mixed = mix(feature ^ salt);
    }
}

#[inline]
pub(super) fn lower32(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    for (&by, minimum) in by.iter().zip(minima) {
        let values =
            low.iter().zip(high).map(|(&low, &high)| high.wrapping_add(by.wrapping_mul(low)));
        *minimum = values.fold(*minimum, u32::min);
    }
}

#[inline]
pub(super) fn lower64(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    for (&by, minimum) in by.iter().zip(minima) {
        let values =
            low.iter().zip(high).map(|(&low, &high)| high.wrapping_add(by.wrapping_mul(low)));
        *minimum = values.fold(*minimum, u64::min);
    }
}
