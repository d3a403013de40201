//! Which buckets answer a distance other than the plan's own.
//!
//! A *probe* is a table and an exact number of flipped bits in each of its blocks: it looks up every key that differs
//! from the query's so. A set of probes is exact for distance k when every way to spread at most k errors over the
//! blocks is matched by some probe. For distances below the plan's radius a few tables suffice; above it the nearest
//! keys are probed too. Both are the same covering problem, solved here when a distance is first asked for.
//!
//! Tables without a common block fall apart into groups. If group i were allowed at most `a_i` errors and all
//! groups had more, there would be `sum (a_i + 1)` errors; so thresholds with `sum (a_i + 1) = k + 1` are enough (the
//! general pigeonhole principle; -1 leaves a group out). Within a group the probes are chosen greedily, most error
//! patterns per look-up first, and those made superfluous by later ones are dropped; patterns not covered would be a
//! defect and are checked for. Where the patterns are too many to enumerate there is no schedule, and searches scan.

use std::collections::{BTreeMap, BinaryHeap};

use super::{Plan, Prefix};

/// One look-up of every query: a table, and the bits to flip before its key is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lookup {
    pub(crate) table: u8,
    pub(crate) flips: u64,
}

/// The look-ups that answer one distance exactly, those with few flips first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) lookups: Vec<Lookup>,
    /// Whether no look-up flips a bit; then a hit belongs to the first table whose mask it matches.
    pub(crate) plain: bool,
    /// Expected share of all uniform fingerprints that is read.
    pub(crate) share: f64,
}

/// Error patterns that are enumerated at most for one group of tables: some tenths of a second.
const PATTERNS: usize = 20_000;
/// Look-ups of a schedule at most: a scan of a few million fingerprints costs less.
const LOOKUPS: usize = 1 << 16;
/// Rounds of improving a cover times its patterns.
const IMPROVEMENTS: usize = 50_000;
/// A look-up that misses the cache costs as much as reading so many fingerprints in order: 60 ns against 0.5 to 1.
pub(super) const MISS: f64 = 64.0;

/// A table and the flips in each of its blocks.
type Chosen = (u8, Vec<u8>);

impl Schedule {
    /// The schedule for `distance`, if one can be had.
    pub(crate) fn new(plan: &Plan, distance: u32) -> Option<Self> {
        let chosen = match choose(plan, distance) {
            Some(chosen) => chosen,
            // The plan itself is exact within its radius.
            None if distance <= plan.radius() => (0..plan.prefixes().len() as u8)
                .map(|table| (table, vec![0; plan.prefixes()[table as usize].blocks().len()]))
                .collect(),
            None => return None,
        };
        Self::expand(plan, chosen)
    }

    fn expand(plan: &Plan, mut chosen: Vec<Chosen>) -> Option<Self> {
        chosen.sort_by_key(|(table, flips)| {
            (flips.iter().map(|&f| u32::from(f)).sum::<u32>(), *table)
        });
        let mut lookups = Vec::new();
        let mut share = 0.0;
        let starts = plan.starts();
        for (table, flips) in &chosen {
            let prefix = &plan.prefixes()[usize::from(*table)];
            let before = lookups.len();
            let mut masks = vec![0u64];
            for (&block, &count) in prefix.blocks().iter().zip(flips) {
                let (start, width) =
                    (starts[usize::from(block)], plan.widths()[usize::from(block)]);
                let ways = combinations(width, u32::from(count));
                if masks.len() * ways.len() + before > LOOKUPS {
                    return None;
                }
                masks = masks
                    .iter()
                    .flat_map(|mask| ways.iter().map(move |way| mask | way << start))
                    .collect();
            }
            lookups.extend(masks.into_iter().map(|flips| Lookup { table: *table, flips }));
            share += (lookups.len() - before) as f64 * (-f64::from(prefix.bits())).exp2();
        }
        let plain = lookups.iter().all(|lookup| lookup.flips == 0);
        Some(Self { lookups, plain, share })
    }

    /// Whether looking up is cheaper than reading `count` fingerprints.
    pub(crate) fn pays(&self, count: usize) -> bool {
        self.lookups.len() as f64 * MISS + self.share * (count as f64) < count as f64
    }
}

/// All numbers below `2^width` with `count` bits set.
fn combinations(width: u32, count: u32) -> Vec<u64> {
    if count == 0 {
        return vec![0];
    }
    (count - 1..width)
        .flat_map(|top| combinations(top, count - 1).into_iter().map(move |rest| rest | 1 << top))
        .collect()
}

fn binomial(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Tables that share blocks, directly or through others.
struct Group<'a> {
    tables: Vec<(u8, &'a Prefix)>,
    blocks: Vec<u8>,
}

fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (table, prefix) in (0u8..).zip(plan.prefixes()) {
        let mut own = Group { tables: vec![(table, prefix)], blocks: prefix.blocks().to_vec() };
        let mut apart = Vec::new();
        for group in groups {
            if group.blocks.iter().any(|block| own.blocks.contains(block)) {
                own.tables.extend(group.tables);
                own.blocks.extend(group.blocks);
            } else {
                apart.push(group);
            }
        }
        own.blocks.sort_unstable();
        own.blocks.dedup();
        own.tables.sort_by_key(|(table, _)| *table);
        apart.push(own);
        groups = apart;
    }
    groups
}

fn choose(plan: &Plan, distance: u32) -> Option<Vec<Chosen>> {
    let groups = groups(plan);
    // best[s]: the cheapest choice for the groups so far with sum (a_i + 1) = s.
    let mut best: Vec<Option<(u64, Vec<Chosen>)>> = vec![None; distance as usize + 2];
    best[0] = Some((0, Vec::new()));
    for group in &groups {
        let covers: Vec<Option<(u64, Vec<Chosen>)>> = (0..=distance + 1)
            .map(|spent| match spent {
                0 => Some((0, Vec::new())),
                _ => cover(plan, group, spent - 1),
            })
            .collect();
        let mut next = vec![None; best.len()];
        for (spent, so_far) in best.iter().enumerate() {
            let Some((cost, chosen)) = so_far else { continue };
            for (more, cover) in covers.iter().enumerate().take(best.len() - spent) {
                let Some((extra, probes)) = cover else { continue };
                let sum = cost + extra;
                let slot: &mut Option<(u64, Vec<Chosen>)> = &mut next[spent + more];
                if slot.as_ref().is_none_or(|(cost, _)| sum < *cost) {
                    *slot = Some((sum, [&chosen[..], &probes[..]].concat()));
                }
            }
        }
        best = next;
    }
    best.pop()?.map(|(_, chosen)| chosen)
}

/// Every way to spread at most `errors` errors over blocks of these widths.
fn patterns(widths: &[u32], errors: u32, limit: usize) -> Option<Vec<Vec<u8>>> {
    let mut all: Vec<(Vec<u8>, u32)> = vec![(Vec::new(), 0)];
    for &width in widths {
        let mut longer = Vec::new();
        for (pattern, sum) in all {
            for count in 0..=width.min(errors - sum) {
                let mut pattern = pattern.clone();
                pattern.push(count as u8);
                longer.push((pattern, sum + count));
            }
            if longer.len() > limit {
                return None;
            }
        }
        all = longer;
    }
    Some(all.into_iter().map(|(pattern, _)| pattern).collect())
}

/// Probes of one group that match every pattern of at most `errors` errors in its blocks, and how many look-ups
/// they are.
fn cover(plan: &Plan, group: &Group<'_>, errors: u32) -> Option<(u64, Vec<Chosen>)> {
    let widths: Vec<u32> = group.blocks.iter().map(|&b| plan.widths()[usize::from(b)]).collect();
    let patterns = patterns(&widths, errors, PATTERNS)?;
    let mut matched: BTreeMap<Chosen, Vec<u32>> = BTreeMap::new();
    for &(table, prefix) in &group.tables {
        let places: Vec<usize> = prefix
            .blocks()
            .iter()
            .filter_map(|block| group.blocks.iter().position(|other| other == block))
            .collect();
        for (number, pattern) in (0u32..).zip(&patterns) {
            let flips: Vec<u8> = places.iter().map(|&place| pattern[place]).collect();
            matched.entry((table, flips)).or_default().push(number);
        }
    }
    let candidates: Vec<(&Chosen, u64, Vec<u32>)> = matched
        .iter()
        .map(|(probe, patterns)| {
            let blocks = plan.prefixes()[usize::from(probe.0)].blocks();
            let cost = blocks.iter().zip(&probe.1).fold(1u64, |cost, (&block, &flips)| {
                let width = u64::from(plan.widths()[usize::from(block)]);
                cost.saturating_mul(binomial(width, u64::from(flips)))
            });
            (probe, cost, patterns.clone())
        })
        .collect();
    let (cost, chosen) = improved(&candidates, patterns.len())?;
    Some((cost, chosen.into_iter().map(|at| candidates[at].0.clone()).collect()))
}

/// A candidate probe, its look-ups, and the patterns that it matches.
type Candidate<'a> = (&'a Chosen, u64, Vec<u32>);

/// A greedy cover, then bettered by dropping a random third of it and covering the rest anew, over and over, while
/// the work stays within some 10 ms. The random numbers are fixed: same plan, same schedule.
fn improved(candidates: &[Candidate<'_>], patterns: usize) -> Option<(u64, Vec<usize>)> {
    let cost = |chosen: &[usize]| {
        chosen.iter().fold(0u64, |sum, &at| sum.saturating_add(candidates[at].1))
    };
    let mut best = greedy(candidates, vec![0; patterns], Vec::new())?;
    if candidates.iter().all(|candidate| candidate.0.0 == candidates[0].0.0) {
        return Some((cost(&best), best)); // one table leaves no choice
    }
    let mut state = 1u64;
    for _ in 0..(IMPROVEMENTS / patterns.max(1)).min(300) {
        let mut covered = vec![0; patterns];
        let mut kept = Vec::new();
        for &at in &best {
            // Knuth's MMIX generator; its high bits are good enough for a choice of one in three.
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            if !(state >> 33).is_multiple_of(3) {
                kept.push(at);
                for &pattern in &candidates[at].2 {
                    covered[pattern as usize] += 1;
                }
            }
        }
        let other = greedy(candidates, covered, kept)?;
        if cost(&other) <= cost(&best) {
            best = other;
        }
    }
    Some((cost(&best), best))
}

/// Completes `chosen` by greedy weighted set cover with a lazy queue, then drops what became superfluous. `covered`
/// counts how often each pattern is matched by `chosen`.
fn greedy(
    candidates: &[Candidate<'_>],
    mut covered: Vec<u32>,
    mut chosen: Vec<usize>,
) -> Option<Vec<usize>> {
    // Patterns per look-up, scaled to an integer; gains only shrink, so a stale entry is re-queued.
    let worth = |gain: usize, cost: u64| (((gain as u128) << 64) / u128::from(cost), gain);
    let mut queue: BinaryHeap<_> = candidates
        .iter()
        .enumerate()
        .map(|(at, (_, cost, patterns))| (worth(patterns.len(), *cost), std::cmp::Reverse(at)))
        .collect();
    let mut left = covered.iter().filter(|&&count| count == 0).count();
    while left > 0 {
        let (known, std::cmp::Reverse(at)) = queue.pop()?;
        let (_, cost, patterns) = &candidates[at];
        let gain = patterns.iter().filter(|&&pattern| covered[pattern as usize] == 0).count();
        if gain == 0 {
            continue;
        }
        let now = worth(gain, *cost);
        if now < known {
            queue.push((now, std::cmp::Reverse(at)));
            continue;
        }
        for &pattern in patterns {
            covered[pattern as usize] += 1;
        }
        left -= gain;
        chosen.push(at);
    }
    chosen.sort_by_key(|&at| std::cmp::Reverse(candidates[at].1));
    chosen.retain(|&at| {
        let needed = candidates[at].2.iter().any(|&pattern| covered[pattern as usize] == 1);
        if !needed {
            for &pattern in &candidates[at].2 {
                covered[pattern as usize] -= 1;
            }
        }
        needed
    });
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The proof, spelled out over all blocks of the plan at once.
    fn is_exact(plan: &Plan, distance: u32, chosen: &[Chosen]) -> bool {
        let patterns = patterns(plan.widths(), distance, usize::MAX).unwrap();
        patterns.iter().all(|pattern| {
            chosen.iter().any(|(table, flips)| {
                let kept = plan.prefixes()[usize::from(*table)].blocks();
                kept.iter().zip(flips).all(|(&block, &count)| pattern[usize::from(block)] == count)
            })
        })
    }

    #[test]
    fn schedules_match_every_error_pattern() {
        for (name, distances) in [
            ("k0-t1", 0..=2),
            ("k1-t2", 0..=8),
            ("k2-t3", 0..=16),
            ("k2-t4", 0..=10),
            ("k3-t4", 0..=12),
            ("k3-t6", 0..=12),
            ("k3-t8", 0..=6),
            ("k3-t11", 0..=5),
            ("k3-t14", 0..=5),
            ("k4-t10", 0..=6),
        ] {
            let plan = Plan::named(name).unwrap();
            for distance in distances {
                if let Some(chosen) = choose(&plan, distance) {
                    assert!(is_exact(&plan, distance, &chosen), "{name} k = {distance}");
                    let mut fewer = chosen;
                    fewer.pop();
                    assert!(
                        !is_exact(&plan, distance, &fewer),
                        "{name} k = {distance}: spare probe"
                    );
                }
            }
        }
    }

    /// Look-ups of the best schedules known for these tables (set cover solved offline).
    #[test]
    fn schedules_are_no_longer_than_the_best_known() {
        for (name, distance, best) in [
            ("k2-t3", 3, 25),
            ("k2-t3", 4, 46),
            ("k2-t3", 5, 67),
            ("k2-t3", 6, 298),
            ("k2-t3", 7, 508),
            ("k2-t3", 8, 718),
            ("k2-t3", 9, 2258),
            ("k2-t3", 10, 3588),
            ("k3-t6", 4, 39),
            ("k3-t6", 5, 72),
            ("k3-t6", 6, 224),
            ("k3-t6", 7, 376),
            ("k3-t6", 8, 761),
            ("k3-t6", 9, 1146),
            ("k3-t6", 10, 3051),
            ("k3-t8", 4, 56),
            ("k3-t8", 5, 104),
            ("k3-t8", 6, 408),
            ("k3-t11", 4, 109),
            ("k3-t14", 4, 142),
            ("k3-t14", 5, 462),
            ("k4-t10", 5, 40),
            ("k4-t10", 6, 90),
        ] {
            let schedule = Schedule::new(&Plan::named(name).unwrap(), distance).unwrap();
            let ours = schedule.lookups.len();
            assert!(ours <= best, "{name} k = {distance}: {ours} against {best}");
        }
    }

    #[test]
    fn distances_below_the_radius_need_fewer_tables() {
        let plan = Plan::named("k3-t6").unwrap();
        let lookups = |distance| Schedule::new(&plan, distance).unwrap().lookups.len();
        assert_eq!([lookups(0), lookups(1), lookups(2), lookups(3)], [1, 2, 4, 6]);
    }

    #[test]
    fn every_plan_has_a_schedule_within_its_radius() {
        for name in super::super::names() {
            let plan = Plan::named(name).unwrap();
            let schedule = Schedule::new(&plan, plan.radius()).unwrap();
            assert!(schedule.plain, "{name}");
            assert!(schedule.lookups.len() <= plan.prefixes().len(), "{name}");
        }
    }
}
