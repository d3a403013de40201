//! The components that near pairs connect, without listing the pairs.
//!
//! Small buckets are compared throughout and what is near is linked. A large bucket is left alone where its members
//! are one component already; else it is cut like any other, and where cutting does not pay, grown: a member is
//! compared with what is *left* of the bucket, and whatever is near leaves it, together with all that is known to
//! belong to it. So c fingerprints that are near each other cost about c comparisons, not c².
//!
//! That is exact: a component of the bucket is finished when each of its members has been compared with all that was
//! left, and nothing left was near.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::forest::Forest;
use super::table::Table;
use super::walk::Walk;
use super::{Join, tasks};
use crate::{IndexError, scan};

/// Components of two ordinals or more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clusters {
    members: Vec<u32>,
    /// End of each cluster in `members`.
    ends: Vec<usize>,
}

impl Clusters {
    /// How many clusters.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The clusters by their lowest member; members ascend.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, &to)| &self.members[from..to])
    }

    fn new(join: &Join, forest: &Forest) -> Self {
        let distinct = &join.distinct;
        let roots: Vec<u32> = (0..distinct.len() as u32).map(|rank| forest.root(rank)).collect();
        let mut sizes = vec![0u32; roots.len()];
        let mut lowest = vec![u32::MAX; roots.len()];
        for (&root, &ordinal) in roots.iter().zip(&distinct.ordinals) {
            let low = &mut lowest[root as usize];
            *low = ordinal.min(*low);
            sizes[root as usize] += 1;
        }
        for &(rank, _) in &distinct.copies {
            sizes[roots[rank as usize] as usize] += 1;
        }
        // By lowest member, then member.
        let copies = distinct.copies.iter().map(|&(rank, ordinal)| (roots[rank as usize], ordinal));
        let firsts = roots.iter().copied().zip(distinct.ordinals.iter().copied());
        let mut listed: Vec<(u32, u32)> = firsts
            .chain(copies)
            .filter(|&(root, _)| sizes[root as usize] > 1)
            .map(|(root, ordinal)| (lowest[root as usize], ordinal))
            .collect();
        listed.sort_unstable();
        let mut clusters = Self::default();
        for cluster in listed.chunk_by(|a, b| a.0 == b.0) {
            clusters.members.extend(cluster.iter().map(|member| member.1));
            clusters.ends.push(clusters.members.len());
        }
        clusters
    }
}

impl Join {
    /// All clusters linked by chains of pairs. `progress` gets the parts of tables done and how many there are, from
    /// any thread. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// [`IndexError::Cancelled`].
    pub fn clusters(
        &self,
        threads: usize,
        cancel: &AtomicBool,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Clusters, IndexError> {
        let forest = Forest::new(self.distinct.len());
        let done = AtomicU64::new(0);
        let mut table = None;
        for number in 0..self.tables.masks.len() {
            let made = self.make(number, table.take(), threads, cancel)?;
            tasks::each(self.parts(number), threads, cancel, |part| {
                self.link_part(&made, part, &forest, cancel);
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, self.steps());
            })?;
            table = Some(made);
        }
        tasks::live(cancel)?;
        Ok(Clusters::new(self, &forest))
    }

    fn link_part(&self, table: &Table, part: usize, forest: &Forest, cancel: &AtomicBool) {
        let group = table.group(&self.distinct, part);
        let mut walk = Walk::new(&self.tables, table.number(), group);
        let rank = |value| self.distinct.rank(value);
        let mut near = Vec::new();
        while !cancel.load(Ordering::Relaxed) {
            // At the end there is no frame left.
            walk.place();
            let Some(frame) = walk.frame() else { return };
            let Some((from, to)) = frame.large() else {
                near.clear();
                frame.small(self.distance, &mut near);
                for &(one, other) in &near {
                    let (one, other) = (frame.rank(one, rank), frame.rank(other, rank));
                    forest.link(one, other);
                }
                continue;
            };
            let bucket: Vec<(u32, u64)> = (from..to)
                .map(|at| (forest.root(frame.rank(at as u32, rank)), frame.group.values[at]))
                .collect();
            let joined = bucket.iter().all(|member| member.0 == bucket[0].0);
            if joined {
                frame.skip();
            } else if !walk.cut(&self.tables) {
                grow(bucket, self.distance, forest, cancel);
                if let Some(frame) = walk.frame() {
                    frame.skip();
                }
            }
        }
    }
}

/// Links the components of a bucket, whose members come with the roots they had.
fn grow(mut bucket: Vec<(u32, u64)>, distance: u32, forest: &Forest, cancel: &AtomicBool) {
    // Members of one component lie together, so that they leave together.
    bucket.sort_unstable();
    let mut left: Vec<u64> = bucket.iter().map(|member| member.1).collect();
    let mut roots: Vec<u32> = bucket.iter().map(|member| member.0).collect();
    let mut edge = Vec::new();
    while let Some(&root) = roots.last() {
        let from = roots.partition_point(|&other| other < root);
        roots.truncate(from);
        edge.extend(left.drain(from..));
        while let Some(member) = edge.pop() {
            if left.is_empty() || cancel.load(Ordering::Relaxed) {
                return;
            }
            let mut reached = Vec::new();
            scan::within(&left, member, distance, |place, _| reached.push(roots[place]));
            if reached.is_empty() {
                continue;
            }
            reached.dedup();
            for &other in &reached {
                forest.link(root, other);
            }
            let mut kept = 0;
            for place in 0..left.len() {
                if reached.binary_search(&roots[place]).is_ok() {
                    edge.push(left[place]);
                } else {
                    left[kept] = left[place];
                    roots[kept] = roots[place];
                    kept += 1;
                }
            }
            left.truncate(kept);
            roots.truncate(kept);
        }
    }
}
