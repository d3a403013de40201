//! Which bits must agree, by table: the plan's masks, and the same design over the bits of a large bucket.

use std::sync::Arc;

use crate::plan::{Plan, Prefix};

/// A bucket of more members is cut again where that pays, and a set of fewer is one bucket: comparing so many with
/// each other costs about as much as six tables of them (2 M comparisons of 0.3 ns against 12,000 entries of 20 ns
/// and the estimate).
pub(super) const OPEN: usize = 2048;

/// Members that are looked at to decide whether cutting pays: a share of 1 % is seen a dozen times.
const SAMPLE: usize = 1024;

/// Masks, one per table, such that any two fingerprints within the distance agree on one of them.
pub(super) type Masks = Arc<[u64]>;

/// The masks of a join.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// The tables to make.
    pub(super) masks: Masks,
    /// Masks of the plan that are exact for the distance.
    design: Masks,
}

impl Tables {
    /// For so many fingerprints. The plan's radius must reach the distance.
    pub(super) fn new(plan: &Plan, distance: u32, count: usize) -> Self {
        let fewer = || plan.schedule(distance).filter(|schedule| schedule.plain);
        let all = plan.prefixes().iter().map(Prefix::mask);
        let design: Masks = match (distance < plan.radius()).then(fewer).flatten() {
            Some(schedule) => schedule
                .lookups
                .iter()
                .map(|lookup| plan.prefixes()[usize::from(lookup.table)].mask())
                .collect(),
            None => all.collect(),
        };
        // One table that keeps no bits: everything in one bucket.
        let masks = if count <= OPEN { Arc::from([0]) } else { Arc::clone(&design) };
        Self { masks, design }
    }

    /// Masks that cut a bucket whose members agree on `own`, if that at least halves the comparisons.
    pub(super) fn cut(&self, members: &[u64], own: u64) -> Option<Masks> {
        if members.len() <= OPEN {
            return None;
        }
        let varying = members.iter().fold(0, |bits, member| bits | (member ^ members[0]));
        // Buckets may be coarser than the mask: then the rest of it comes first.
        let rest: Masks = Arc::from([own & varying]);
        let nested = || self.over(varying);
        let sample: Vec<u64> =
            members.iter().step_by(members.len().div_ceil(SAMPLE)).copied().collect();
        Some(rest)
            .filter(|masks| pays(&sample, masks))
            .or_else(|| Some(nested()).filter(|masks| pays(&sample, masks)))
    }

    /// The design over fewer bits: the i-th of v bits plays the part of bit `64 i / v` of the plan. Two members that
    /// differ in at most k of them differ in at most k blocks, as in the plan.
    fn over(&self, bits: u64) -> Masks {
        let count = bits.count_ones();
        let parts: Vec<(u64, u64)> = (0..64)
            .map(|bit| 1u64 << bit)
            .filter(|bit| bits & bit != 0)
            .zip(0u32..)
            .map(|(bit, number)| (bit, 1 << (64 * number / count)))
            .collect();
        let mask = |design: &u64| {
            parts.iter().filter(|part| design & part.1 != 0).fold(0, |mask, part| mask | part.0)
        };
        self.design.iter().map(mask).collect()
    }
}

/// Whether the pairs of the sample that agree on some mask, summed over the masks, are less than half of its pairs.
fn pays(sample: &[u64], masks: &[u64]) -> bool {
    let mut agree = 0;
    let mut keys = Vec::with_capacity(sample.len());
    for mask in masks {
        keys.clear();
        keys.extend(sample.iter().map(|member| member & mask));
        keys.sort_unstable();
        agree +=
            keys.chunk_by(|a, b| a == b).map(|same| same.len() * (same.len() - 1)).sum::<usize>();
    }
    agree * 2 < sample.len() * (sample.len() - 1)
}

/// Whether `table` is the first whose mask two fingerprints agree on that differ in these bits.
#[inline]
pub(super) fn is_first(masks: &[u64], table: usize, differ: u64) -> bool {
    differ & masks[table] == 0 && masks[..table].iter().all(|mask| differ & mask != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of `differ` and at most `distance` of these bits leaves some mask untouched.
    fn is_exact(masks: &[u64], bits: u64, differ: u64, distance: u32) -> bool {
        if !masks.iter().any(|mask| mask & differ == 0) {
            return false;
        }
        let mut next = bits;
        while distance > 0 && next != 0 {
            let bit = next & next.wrapping_neg();
            next ^= bit;
            if !is_exact(masks, next, differ | bit, distance - 1) {
                return false;
            }
        }
        true
    }

    #[test]
    fn the_design_stays_exact_over_any_bits() {
        for name in ["k1-t2", "k2-t7", "k3-t4", "k3-t6", "k3-t11", "k3-t14"] {
            let plan = Plan::named(name).unwrap();
            for distance in 0..=plan.radius() {
                let tables = Tables::new(&plan, distance, 1 << 20);
                for bits in [1, 0b1011, 0xf0f0, 0x8000_0000_0000_0001, 0x00ff_ff00_0000_f00f] {
                    let masks = tables.over(bits);
                    assert!(masks.iter().all(|mask| mask & !bits == 0));
                    assert!(is_exact(&masks, bits, 0, distance), "{name} {bits:x} {distance}");
                }
            }
        }
    }

    #[test]
    fn a_bucket_is_cut_only_where_that_saves_comparisons() {
        let tables = Tables::new(&Plan::named("k3-t6").unwrap(), 3, 1 << 20);
        let dense: Vec<u64> = (0..4096).collect();
        let wide: Vec<u64> = (0..4096u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        assert!(tables.cut(&wide, 0).is_some());
        assert!(tables.cut(&wide[..OPEN], 0).is_none());
        assert!(tables.cut(&vec![7; 4096], 0).is_none());
        assert_eq!(tables.cut(&dense, 0xfff).as_deref(), Some(&[0xfff][..]));
    }
}
