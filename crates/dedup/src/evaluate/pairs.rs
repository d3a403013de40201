//! Recall of pairs, each labelled cluster counting as 50 pairs at most.
//!
//! 353 copies of one poem are 62,128 pairs, more than all other clusters of that corpus together. The share of pairs found in a
//! cluster is therefore taken exactly, and weighs as many pairs as the cluster has, but no more than the cap.

use super::choose_two;
use super::labels::Labels;

/// Pairs that one cluster weighs at most: the cap under which the corpora of this project are scored, large enough that a
/// cluster of ten still counts in full (45 pairs).
const CAP: u64 = 50;

/// Per labelled cluster: its true pairs, and how many of them are found.
pub(super) struct PairRecall {
    total: Vec<u64>,
    hit: Vec<u64>,
}

impl PairRecall {
    pub(super) fn of(labels: &Labels, found: &[u32]) -> Self {
        let documents = labels.documents() as usize;
        let mut recall = Self { total: vec![0; documents], hit: vec![0; documents] };
        let spread = Spread::of(labels.group(), found);
        for parts in spread.parts.chunk_by(|a, b| a.group == b.group) {
            let cluster = labels.partition()[parts[0].group as usize];
            let size: u64 = parts.iter().map(|part| part.count).sum();
            let hit = parts.iter().map(|part| choose_two(part.count)).sum();
            recall.count(cluster, choose_two(size), hit);
        }
        for pair in labels.pairs().iter().take_while(|pair| pair.similarity >= labels.least()) {
            let (a, b) = (spread.of_group(pair.a), spread.of_group(pair.b));
            let size = |parts: &[Part]| parts.iter().map(|part| part.count).sum::<u64>();
            let (fewer, more) = if a.len() <= b.len() { (a, b) } else { (b, a) };
            let both = fewer.iter().map(|part| {
                let same = more.binary_search_by_key(&part.found, |other| other.found);
                same.map_or(0, |at| part.count * more[at].count)
            });
            let cluster = labels.partition()[pair.a as usize];
            recall.count(cluster, size(a) * size(b), both.sum());
        }
        recall
    }

    fn count(&mut self, cluster: u32, total: u64, hit: u64) {
        self.total[cluster as usize] += total;
        self.hit[cluster as usize] += hit;
    }

    pub(super) fn share(&self) -> f64 {
        let (mut found, mut all) = (0.0, 0.0);
        for (&total, &hit) in self.total.iter().zip(&self.hit).filter(|&(&total, _)| total > 0) {
            let weight = total.min(CAP) as f64;
            found += weight * hit as f64 / total as f64;
            all += weight;
        }
        if all > 0.0 { found / all } else { 1.0 }
    }
}

/// So many documents of a group are in one reported cluster.
struct Part {
    group: u32,
    found: u32,
    count: u64,
}

/// How the groups are spread over reported clusters: parts by group, then cluster.
struct Spread {
    parts: Vec<Part>,
}

impl Spread {
    fn of(group: &[u32], found: &[u32]) -> Self {
        let mut keys: Vec<(u32, u32)> = group.iter().copied().zip(found.iter().copied()).collect();
        keys.sort_unstable();
        let parts = keys.chunk_by(|a, b| a == b).map(|same| {
            let (group, found) = same[0];
            Part { group, found, count: same.len() as u64 }
        });
        Self { parts: parts.collect() }
    }

    fn of_group(&self, group: u32) -> &[Part] {
        let from = self.parts.partition_point(|part| part.group < group);
        let len = self.parts[from..].partition_point(|part| part.group == group);
        &self.parts[from..from + len]
    }
}
