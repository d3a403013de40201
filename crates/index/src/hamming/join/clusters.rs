//! Connected components of the near relation, without listing its pairs.
//!
//! Inside a group components are grown breadth-first: a member is compared with what is *left* of the group, and what
//! lies near leaves it. So c fingerprints that are all near each other cost c comparisons, not c². Groups are joined by
//! union-find over the fingerprints that have a neighbour at all; the rest are never looked up.

use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashMap;
use rayon::prelude::*;

use super::{NEST, Sealed, nested_masks};
use crate::IndexError;
use crate::hamming::scan;
use crate::hamming::{Hamming, Index};
use crate::live::Kind;
use crate::union::Union;

/// Documents linked by chains of near pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Ids, ascending, two or more. The first is the representative.
    pub ids: Vec<u64>,
}

/// Directory slots worked on by one task at a time.
const SLOTS: usize = 4096;

/// A group this short is compared at once: some 2,000 links at most.
const SHORT: usize = 64;

/// Links: each fingerprint with one that it is near to.
type Links = Vec<(u64, u64)>;

/// Grows the components of a group, adding a link per member after the first.
fn grow(group: &[u64], distance: u32, links: &mut Links, cancel: &AtomicBool) {
    let mut left = group.to_vec();
    let mut edge = Vec::new();
    while let Some(start) = left.pop() {
        edge.push(start);
        while let Some(member) = edge.pop() {
            if cancel.load(Ordering::Relaxed) {
                return;
            }
            let mut near = Vec::new();
            scan::within(&left, member, distance, |position, _| near.push(position));
            // From the back, so that what is swapped in has been looked at.
            for position in near.into_iter().rev() {
                let other = left.swap_remove(position);
                links.push((member, other));
                edge.push(other);
            }
        }
    }
}

fn grow_long(group: &[u64], own: u64, distance: u32, links: &mut Links, cancel: &AtomicBool) {
    for mask in nested_masks(own, distance) {
        let mut sorted = group.to_vec();
        sorted.sort_unstable_by_key(|value| value & mask);
        for equal in sorted.chunk_by(|a, b| a & mask == b & mask).filter(|equal| equal.len() > 1) {
            grow(equal, distance, links, cancel);
        }
    }
}

/// Short groups, where most members have no neighbour: comparing all at once beats growing.
fn link(group: &[u64], distance: u32, links: &mut Links, cancel: &AtomicBool) {
    if group.len() > SHORT {
        return grow(group, distance, links, cancel);
    }
    let mut near = Vec::new();
    scan::pairs_within(group, distance, &mut near);
    links.extend(near.iter().map(|&(a, b)| (group[usize::from(a)], group[usize::from(b)])));
}

/// What is linked, over the fingerprints seen, which are numbered as they come.
#[derive(Default)]
struct Linked {
    numbers: AHashMap<u64, u32>,
    union: Union,
}

impl Linked {
    fn number(&mut self, value: u64) -> u32 {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(value).or_insert(next);
        self.union.grow(number + 1);
        number
    }

    fn join(&mut self, one: u64, other: u64) {
        let (one, other) = (self.number(one), self.number(other));
        self.union.join(one, other);
    }
}

impl Index {
    /// All clusters of live documents linked by chains of pairs within `max_distance` (default: the index's own), by
    /// representative. Begins by compacting; documents added since are in none, documents deleted since are left out. `progress` gets the share done, 0 to 1. Runs on the current rayon pool on
    /// at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Distance`], [`IndexError::Cancelled`].
    pub fn clusters(
        &self,
        max_distance: Option<u32>,
        threads: usize,
        progress: &dyn Fn(f64),
        cancel: &AtomicBool,
    ) -> Result<Vec<Cluster>, IndexError> {
        let distance = self.checked(max_distance)?;
        let Sealed { mut copies, end } = Sealed::new(self, distance, cancel)?;
        let mut linked = Linked::default();
        let tasks = if threads == 0 { rayon::current_num_threads() } else { threads };
        for order in 0..copies.len() {
            copies.forget(order);
            copies.make(order, threads);
            let Some(view) = copies.view(order) else { break };
            let (own, slots) = (copies.mask(order), copies.slots(order));
            let stretch = |from: usize| {
                let mut links = Links::new();
                for slot in from..(from + SLOTS).min(slots) {
                    view.groups(slot, |group| {
                        if group.len() > NEST {
                            grow_long(group, own, distance, &mut links, cancel);
                        } else {
                            link(group, distance, &mut links, cancel);
                        }
                    });
                    if cancel.load(Ordering::Relaxed) {
                        break;
                    }
                }
                links
            };
            let starts: Vec<usize> = (0..slots).step_by(SLOTS).collect();
            for round in starts.chunks(tasks * 4) {
                if cancel.load(Ordering::Relaxed) {
                    return Err(IndexError::Cancelled);
                }
                let found: Vec<Links> = if tasks == 1 {
                    round.iter().map(|&from| stretch(from)).collect()
                } else {
                    round.par_iter().with_min_len(4).map(|&from| stretch(from)).collect()
                };
                found.into_iter().flatten().for_each(|(one, other)| linked.join(one, other));
                let done = round.last().map_or(1.0, |last| *last as f64 / slots as f64);
                progress((order as f64 + done) / copies.len() as f64);
            }
        }
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        let clusters = self.collect_clusters(&linked, end);
        Hamming::sound(&self.shared.options)?;
        Ok(clusters)
    }

    /// Clusters of the documents below `end`.
    fn collect_clusters(&self, linked: &Linked, end: u64) -> Vec<Cluster> {
        let mut members: AHashMap<u32, Vec<u64>> = AHashMap::new();
        let mut clusters: Vec<Cluster> = self.read(|ids| {
            for (&value, &at) in &linked.numbers {
                let ids_of = members.entry(linked.union.root(at)).or_default();
                ids.holders(value, usize::MAX, |id| ids_of.push(id));
            }
            let mut clusters: Vec<Vec<u64>> = members.into_values().collect();
            ids.shared(|value, holders| {
                if value.is_none_or(|value| !linked.numbers.contains_key(&value)) {
                    clusters.push(holders);
                }
            });
            clusters.into_iter().map(|ids| Cluster { ids }).collect()
        });
        for cluster in &mut clusters {
            cluster.ids.retain(|&id| id < end);
        }
        clusters.retain(|cluster| cluster.ids.len() > 1);
        for cluster in &mut clusters {
            cluster.ids.sort_unstable();
        }
        clusters.sort_unstable_by_key(|cluster| cluster.ids[0]);
        clusters
    }
}
