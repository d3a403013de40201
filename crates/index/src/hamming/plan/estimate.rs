//! What a plan will cost, before anything is built.

use std::fmt;

use super::{MAX_DISTANCE, Plan, schedule};
use crate::IndexError;
use crate::hamming::segment;

/// Bytes of the id map per distinct fingerprint: 8.25 for the record, 7.4 to 7.8 for the map's lines.
const ID_BYTES: f64 = 16.0;

/// The expected cost of searching uniform fingerprints, all in one segment.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Distinct fingerprints assumed.
    pub count: u64,
    /// Distance assumed.
    pub distance: u32,
    /// Sorted copies kept.
    pub tables: usize,
    /// Shortest prefix of a table, in bits.
    pub prefix_bits: u32,
    /// Mean prefix, in bits.
    pub mean_prefix_bits: f64,
    /// Bytes of tables and directories per fingerprint.
    pub table_bytes: f64,
    /// Bytes of the id map per fingerprint.
    pub id_bytes: f64,
    /// Look-ups per search; 0 when it scans.
    pub lookups: usize,
    /// Fingerprints read per search.
    pub candidates: f64,
    /// Whether a search reads every fingerprint, because that is cheaper.
    pub scans: bool,
}

impl Estimate {
    /// The cost of a search in fingerprints read in order, a look-up that misses the cache counting as 64 of them;
    /// candidates count `skew` times: 1 for uniform data, [`SKEW`](super::SKEW) for texts. Never more than a scan.
    pub fn work(&self, skew: f64) -> f64 {
        (self.lookups as f64 * schedule::MISS + self.candidates * skew).min(self.count as f64)
    }
}

impl Plan {
    /// What searches up to `distance` among `count` fingerprints will cost with this plan.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above [`MAX_DISTANCE`].
    pub fn estimate(&self, count: u64, distance: u32) -> Result<Estimate, IndexError> {
        if distance > MAX_DISTANCE {
            return Err(IndexError::Distance { given: distance, max: MAX_DISTANCE });
        }
        let bits = self.prefixes.iter().map(super::Prefix::bits);
        let tables = self.prefixes.len();
        let schedule = self.schedule(distance).filter(|schedule| schedule.pays(count as usize));
        let assumed = count.max(1) as usize;
        let table_bytes: usize =
            self.prefixes.iter().map(|prefix| segment::table_bytes(assumed, prefix)).sum();
        let share = schedule.map_or(1.0, |schedule| schedule.share);
        Ok(Estimate {
            count,
            distance,
            tables,
            prefix_bits: bits.clone().min().unwrap_or(0),
            mean_prefix_bits: f64::from(bits.sum::<u32>()) / tables as f64,
            table_bytes: table_bytes as f64 / count.max(1) as f64,
            id_bytes: ID_BYTES,
            lookups: schedule.map_or(0, |schedule| schedule.lookups.len()),
            candidates: share * count as f64,
            scans: schedule.is_none(),
        })
    }
}

/// The plan in words: its name, its blocks, and the blocks and bits that each table keeps.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.prefixes.len();
        writeln!(f, "{}: {tables} tables, exact for distance {}", self.name, self.radius)?;
        writeln!(f, "blocks of {:?} bits", self.widths)?;
        for (number, prefix) in self.prefixes.iter().enumerate() {
            writeln!(f, "table {number}: {} bits, blocks {:?}", prefix.bits(), prefix.blocks())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_those_of_the_published_table() {
        for (name, expected) in
            [("k3-t4", 3052.0), ("k3-t6", 119.2), ("k3-t11", 1.071), ("k4-t10", 572.2)]
        {
            let plan = Plan::named(name).unwrap();
            let estimate = plan.estimate(50_000_000, plan.radius()).unwrap();
            assert!((estimate.candidates / expected - 1.0).abs() < 0.01, "{name} {estimate:?}");
            assert_eq!(estimate.lookups, estimate.tables);
            assert!(!estimate.scans);
        }
    }

    #[test]
    fn small_indexes_and_wide_distances_scan() {
        let plan = Plan::named("k3-t6").unwrap();
        assert!(plan.estimate(100, 3).unwrap().scans);
        assert!(plan.estimate(1_000_000, 16).unwrap().scans);
        assert!(plan.estimate(1, 17).is_err());
    }

    #[test]
    fn a_plan_says_what_it_keeps() {
        let text = Plan::named("k3-t6").unwrap().to_string();
        assert!(text.starts_with("k3-t6: 6 tables, exact for distance 3\n"));
        assert!(text.contains("table 5: 21 bits, blocks [4, 5]"), "{text}");
    }
}
