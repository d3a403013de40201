//! Which plan an index gets when the caller names none.
//!
//! A search costs its look-ups, each of which misses the cache, and the fingerprints that it reads; both follow from
//! the plan, the distance and the number of fingerprints before anything is built ([`Estimate::work`]). More tables
//! mean fewer fingerprints to read, but also more memory, slower additions and less of everything in the caches. So the
//! choice is the plan with the fewest tables whose work is within a third of the least possible.
//!
//! Texts are not uniform: short ones read two to three times the fingerprints that random ones would, at the prefixes
//! in question, and that is what the work is taken at ([`SKEW`]). For data that is known to be worse, many very short
//! texts, name a plan with long prefixes: `k3-t11` or `k3-t14`.
//!
//! For distances to 3 the plans are those measured best at 1 to 50 million fingerprints, and eleven tables above 100
//! million. For the others `auto.txt` has the outcome, because some schedules take seconds to make: `simhash-bench
//! plans` (`benches/src/plans.rs`) makes them all, half a minute on two cores, and compares.
//!
//! [`Estimate::work`]: super::Estimate::work

use super::MAX_DISTANCE;

/// Fingerprints read for each that uniform data would have read.
pub const SKEW: f64 = 3.0;

/// Most tables: fourteen take the 130 bytes for each fingerprint that an index may cost with its ids.
pub const TABLES: usize = 14;

/// Above so many fingerprints eleven tables serve distance 3.
const LARGE: u64 = 100_000_000;

/// Without a capacity plans are chosen for so many.
const UNKNOWN: u64 = 10_000_000;

/// The smallest column of the table; each further one is for ten times as many.
const FIRST: u64 = 100_000;

const CHOSEN: &str = include_str!("auto.txt");

/// Name of the plan for a distance and a number of fingerprints, if the distance is not too large.
pub(super) fn choose(distance: u32, expected: Option<u64>) -> Option<&'static str> {
    let name = match distance {
        0 => "k0-t1",
        1 => "k1-t2",
        2 => "k2-t4",
        3 if expected.is_some_and(|count| count > LARGE) => "k3-t11",
        3 => "k3-t6",
        4..=MAX_DISTANCE => return listed(distance, expected.unwrap_or(UNKNOWN)),
        _ => return None,
    };
    Some(name)
}

fn listed(distance: u32, expected: u64) -> Option<&'static str> {
    let lines = CHOSEN.lines().filter(|line| !line.starts_with('#'));
    let mut rows = lines.map(|line| line.split(' '));
    let row = rows.find(|row| row.clone().next().and_then(|k| k.parse().ok()) == Some(distance))?;
    let names: Vec<&str> = row.skip(1).collect();
    // The nearest power of ten, by ratio: the next one begins at its third.
    let mut column = 0;
    let mut least = FIRST * 3;
    while expected > least && column + 1 < names.len() {
        (column, least) = (column + 1, least.saturating_mul(10));
    }
    names.get(column).copied()
}

#[cfg(test)]
mod tests {
    use super::super::{Plan, names};
    use super::*;

    #[test]
    fn every_distance_and_capacity_has_a_plan_of_bounded_size() {
        for distance in 0..=MAX_DISTANCE {
            for expected in [None, Some(0), Some(400_000), Some(50_000_000), Some(u64::MAX)] {
                let name = choose(distance, expected).unwrap();
                assert!(names().any(|known| known == name), "{name}");
                assert!(Plan::named(name).unwrap().prefixes().len() <= TABLES);
            }
        }
        assert_eq!(choose(MAX_DISTANCE + 1, None), None);
    }

    #[test]
    fn documented_choices_stay() {
        let million = 1_000_000;
        for (distance, expected, name) in [
            (3, None, "k3-t6"),
            (3, Some(million), "k3-t6"),
            (3, Some(50 * million), "k3-t6"),
            (3, Some(200 * million), "k3-t11"),
            (4, None, "k4-t10"),
            (5, None, "k5-t14"),
            (6, Some(million), "k5-t13"),
            (10, Some(50 * million), "k3-t6"),
        ] {
            assert_eq!(choose(distance, expected), Some(name), "k = {distance}, {expected:?}");
        }
    }
}
