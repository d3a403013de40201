//! Members as ranks by document frequency: the rarest first, ties by value.
//!
//! A member of one set alone can never be common. It counts for the set's size and takes the first places of the order,
//! but has no rank and is not stored: in ordinary text that is most of the members, and often the whole prefix.

use std::sync::atomic::AtomicBool;

use ahash::AHashMap;
use parking_lot::Mutex;

use super::{Sets, tasks};
use crate::IndexError;

/// A set among those that are joined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked<'a> {
    /// Its members, those of no other set included.
    pub(super) size: usize,
    /// Ranks of the members that other sets have too, ascending: the last of `size` places.
    pub(super) ranks: &'a [u32],
}

/// Sets as ranks: 4 bytes per member that several sets have, and 16 per set.
#[derive(Debug, Default)]
pub(super) struct RankedSets {
    ranks: Vec<u32>,
    /// Size and end of each set.
    sets: Vec<(u32, usize)>,
    /// Number of different ranks.
    pub(super) distinct: usize,
}

/// Members counted at a time, at most, so that counting needs little memory of its own: 32 MB per task.
const PART: usize = 4 << 20;
/// Sets per piece of work.
const PIECE: usize = 1024;

impl RankedSets {
    /// Ranks of the chosen sets, in the order in which they are chosen.
    pub(super) fn new(
        sets: &Sets,
        chosen: &[u32],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, IndexError> {
        let ranks = rank(sets, chosen, threads, cancel)?;
        let scratches = Mutex::<Vec<()>>::default();
        let pieces: Vec<&[u32]> = chosen.chunks(PIECE).collect();
        let ranked = tasks::each(pieces.len(), threads, cancel, &scratches, |piece, ()| {
            let mut part = Self::default();
            for &ordinal in pieces[piece] {
                let set = sets.get(ordinal as usize);
                let start = part.ranks.len();
                part.ranks.extend(set.iter().filter_map(|member| ranks.get(member)));
                part.ranks[start..].sort_unstable();
                part.sets.push((set.len() as u32, part.ranks.len()));
            }
            part
        })?;
        let mut all = Self { distinct: ranks.len(), ..Self::default() };
        all.ranks.reserve_exact(ranked.iter().map(|part| part.ranks.len()).sum());
        all.sets.reserve_exact(chosen.len());
        for part in ranked {
            let before = all.ranks.len();
            all.ranks.extend(part.ranks);
            all.sets.extend(part.sets.into_iter().map(|(size, end)| (size, before + end)));
        }
        Ok(all)
    }

    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    pub(super) fn size(&self, at: usize) -> usize {
        self.sets[at].0 as usize
    }

    pub(super) fn get(&self, at: usize) -> Ranked<'_> {
        let (size, end) = self.sets[at];
        let start = if at == 0 { 0 } else { self.sets[at - 1].1 };
        Ranked { size: size as usize, ranks: &self.ranks[start..end] }
    }
}

impl<'a> Ranked<'a> {
    /// The ranks among the first `length` places.
    pub(super) fn prefix(self, length: usize) -> &'a [u32] {
        &self.ranks[..length.saturating_sub(self.size - self.ranks.len())]
    }
}

/// The rank of every member that at least two of the chosen sets have.
fn rank(
    sets: &Sets,
    chosen: &[u32],
    threads: usize,
    cancel: &AtomicBool,
) -> Result<AHashMap<u64, u32>, IndexError> {
    // Members are hashes, so their top bits split them evenly; where they are not, a part is larger and nothing else.
    let bits = sets.members().len().div_ceil(PART).next_power_of_two().trailing_zeros().min(12);
    let part_of = |member: u64| member.checked_shr(64 - bits).unwrap_or(0) as usize;
    let scratches = Mutex::<Vec<Vec<u64>>>::default();
    let parts = tasks::each(1 << bits, threads, cancel, &scratches, |part, members| {
        members.clear();
        for &ordinal in chosen {
            let set = sets.get(ordinal as usize);
            let from = set.partition_point(|&member| part_of(member) < part);
            let of_part = set[from..].iter().take_while(|&&member| part_of(member) == part);
            members.extend(of_part);
        }
        members.sort_unstable();
        let groups = members.chunk_by(|a, b| a == b);
        let common = groups.filter(|group| group.len() > 1);
        common.map(|group| (group.len() as u32, group[0])).collect::<Vec<_>>()
    })?;
    let mut common: Vec<(u32, u64)> = parts.into_iter().flatten().collect();
    common.sort_unstable();
    Ok((0..).zip(common).map(|(rank, (_, member))| (member, rank)).collect())
}
