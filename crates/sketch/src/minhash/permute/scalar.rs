//! The plain form: one position after another.

pub(super) fn lower32(low: &[u32], high: &[u32], by: &[u32], minima: &mut [u32]) {
    for (&by, minimum) in by.iter().zip(minima) {
        let values =
            low.iter().zip(high).map(|(&low, &high)| high.wrapping_add(by.wrapping_mul(low)));
        *minimum = values.fold(*minimum, u32::min);
    }
}

pub(super) fn lower64(low: &[u64], high: &[u64], by: &[u64], minima: &mut [u64]) {
    for (&by, minimum) in by.iter().zip(minima) {
        let values =
            low.iter().zip(high).map(|(&low, &high)| high.wrapping_add(by.wrapping_mul(low)));
        *minimum = values.fold(*minimum, u64::min);
    }
}
