//! What is known to be true.
//!
//! Two statements are enough:
//!
//! - a **group**: all its documents are duplicates of each other. A cluster of a labelled corpus is one, and so is a set of
//!   equal texts. Groups that share a document are one group.
//! - a **pair** with a similarity (1 and 0 where a person said yes or no): at the threshold or above, the documents of the two
//!   groups are duplicates; below, the two documents are known to be different, unless a chain of duplicates connects them. A
//!   pair that is stated again counts once, with its highest similarity.
//!
//! The true pairs are those inside a group, and those between two groups that a pair links. The labelled clusters are the
//! components of both. So "exact groups and all pairs at 0.8 or more" is stated as it was computed, and needs no list of the
//! pairs of a thousand equal texts.

use crate::error::DedupError;
use simhash_index::Union;

/// Two documents and how similar they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledPair {
    /// One document.
    pub a: u32,
    /// The other one.
    pub b: u32,
    /// 0 to 1.
    pub similarity: f64,
}

/// Labels of a corpus, prepared.
///
/// Memory: 12 bytes per document and 16 per pair.
#[derive(Clone, Debug)]
pub struct Labels {
    least: f64,
    /// By document: the lowest document of its group.
    group: Vec<u32>,
    /// By document: the lowest document of its cluster.
    cluster: Vec<u32>,
    /// Between groups (their lowest documents, the lower first), each once, the most similar first.
    pairs: Vec<LabelledPair>,
    /// Pairs of documents of different clusters, the lower first, each once.
    apart: Vec<(u32, u32)>,
}

impl Labels {
    /// Labels over documents `0..documents`; pairs count as duplicates from similarity `least`.
    ///
    /// # Errors
    /// [`DedupError::OutOfRange`] for a document that there is not, or a similarity outside 0 to 1.
    pub fn new(
        documents: u32,
        groups: &[Vec<u32>],
        pairs: &[LabelledPair],
        least: f64,
    ) -> Result<Self, DedupError> {
        let named = groups.iter().flatten().copied();
        check(named.chain(pairs.iter().flat_map(|pair| [pair.a, pair.b])), documents, "labels")?;
        for similarity in pairs.iter().map(|pair| pair.similarity).chain([least]) {
            if !(0.0..=1.0).contains(&similarity) {
                let expected = "a similarity from 0 to 1";
                let value = similarity.to_string();
                return Err(DedupError::OutOfRange { argument: "labels", value, expected });
            }
        }
        let equal = Union::new(documents);
        for group in groups {
            for members in group.windows(2) {
                equal.join(members[0], members[1]);
            }
        }
        let group = equal.roots();
        let clusters = Union::new(documents);
        for (document, &first) in (0..).zip(&group) {
            clusters.join(document, first);
        }
        let linked = between_groups(&group, pairs);
        for pair in linked.iter().filter(|pair| pair.similarity >= least) {
            clusters.join(pair.a, pair.b);
        }
        let cluster = clusters.roots();
        let mut apart: Vec<(u32, u32)> = pairs
            .iter()
            .map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)))
            .filter(|&(a, b)| cluster[a as usize] != cluster[b as usize])
            .collect();
        apart.sort_unstable();
        apart.dedup();
        Ok(Self { least, group, cluster, pairs: linked, apart })
    }

    /// How many documents there are.
    pub fn documents(&self) -> u32 {
        self.group.len() as u32
    }

    /// The similarity from which a pair is a pair of duplicates.
    pub fn least(&self) -> f64 {
        self.least
    }

    pub(super) fn partition(&self) -> &[u32] {
        &self.cluster
    }

    pub(super) fn group(&self) -> &[u32] {
        &self.group
    }

    /// The most similar first.
    pub(super) fn pairs(&self) -> &[LabelledPair] {
        &self.pairs
    }

    /// Pairs of documents that are labelled as different.
    pub(super) fn apart(&self) -> &[(u32, u32)] {
        &self.apart
    }
}

/// Every number is below `documents`.
pub(super) fn check(
    mut named: impl Iterator<Item = u32>,
    documents: u32,
    argument: &'static str,
) -> Result<(), DedupError> {
    match named.find(|&document| document >= documents) {
        None => Ok(()),
        Some(document) => Err(DedupError::OutOfRange {
            argument,
            value: document.to_string(),
            expected: "numbers below the number of documents",
        }),
    }
}

fn between_groups(group: &[u32], stated: &[LabelledPair]) -> Vec<LabelledPair> {
    let mut pairs: Vec<LabelledPair> = stated
        .iter()
        .map(|&LabelledPair { a, b, similarity }| {
            let (a, b) = (group[a as usize], group[b as usize]);
            LabelledPair { a: a.min(b), b: a.max(b), similarity }
        })
        .filter(|pair| pair.a != pair.b)
        .collect();
    let downwards = |x: &LabelledPair, y: &LabelledPair| y.similarity.total_cmp(&x.similarity);
    pairs.sort_unstable_by(|x, y| (x.a, x.b).cmp(&(y.a, y.b)).then(downwards(x, y)));
    pairs.dedup_by_key(|pair| (pair.a, pair.b));
    pairs.sort_by(downwards);
    pairs
}
