//! The exact truth of a small corpus, and a small corpus that has something to find.
//!
//! Truth: every pair of documents whose feature sets reach a Jaccard similarity, from an exact join. Equal sets are one group.
//!
//! A random sample of a large corpus has next to no duplicates: of 2,000 among 588,442 titles a handful has its mate in the
//! sample too. So the documents near the sample are added to it, found exactly: the sample is indexed, and the corpus asks it.
//! Recall on such a sample is that of the whole corpus for pairs with a random document; rates of duplicates are not.

use super::labels::LabelledPair;
use crate::error::DedupError;
use crate::parallel;
use simhash_index::overlap::{OverlapIndex, Sets, pairs_at_least};
use simhash_sketch::{Fingerprinter, Scratch};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// What is true of a corpus, in the form that [`Labels`](super::Labels) take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// Documents with equal sets, two or more, ascending.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of the first documents of groups, and of others, at the threshold or above.
    pub pairs: Vec<LabelledPair>,
}

impl Truth {
    /// All pairs of `texts` with a Jaccard similarity of at least `least`, which is above 0 and at most 1; a text without
    /// features resembles nothing.
    ///
    /// Memory: 8 bytes per feature, and what [`pairs_at_least`] states. Time: that of the join, far below quadratic for
    /// thresholds of 0.5 and more.
    ///
    /// # Errors
    /// [`DedupError::Index`] for a threshold outside its range; [`DedupError::Cancelled`].
    pub fn of(
        texts: &[&str],
        by: &Fingerprinter,
        least: f64,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let sets = sets(texts, by, threads, cancel)?;
        let mut equal: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut pairs = Vec::new();
        pairs_at_least(&sets, least, threads, cancel, |found| {
            for pair in found {
                // Different sets never have similarity 1.
                if pair.similarity >= 1.0 {
                    equal.entry(pair.a).or_insert_with(|| vec![pair.a]).push(pair.b);
                } else {
                    let (a, b, similarity) = (pair.a, pair.b, pair.similarity);
                    pairs.push(LabelledPair { a, b, similarity });
                }
            }
        })?;
        let mut groups: Vec<Vec<u32>> = equal.into_values().collect();
        for group in &mut groups {
            group.sort_unstable();
        }
        Ok(Self { groups, pairs })
    }
}

/// Answers which documents of a corpus are near a sample of it.
pub struct Neighbourhood {
    fingerprinter: Fingerprinter,
    index: OverlapIndex,
    threads: usize,
}

impl Neighbourhood {
    /// Around `sample`, at Jaccard similarity `least`, which is above 0 and at most 1.
    ///
    /// # Errors
    /// [`DedupError::Index`] for a threshold outside its range; [`DedupError::Cancelled`].
    pub fn new(
        sample: &[&str],
        by: &Fingerprinter,
        least: f64,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let mut index = OverlapIndex::new(least)?;
        for set in sets(sample, by, threads, cancel)?.iter() {
            index.add(set)?;
        }
        Ok(Self { fingerprinter: by.clone(), index, threads })
    }

    /// For each text whether a document of the sample is near it. A document of the sample is near itself, unless it has
    /// no features.
    ///
    /// # Errors
    /// [`DedupError::Cancelled`].
    pub fn near(&self, texts: &[&str], cancel: &AtomicBool) -> Result<Vec<bool>, DedupError> {
        let mut slots: Vec<_> = texts.iter().map(|&text| (text, false)).collect();
        let scratch = <(Scratch, Vec<u64>)>::default;
        parallel::for_each(&mut slots, self.threads, cancel, scratch, |(scratch, set), slot| {
            self.fingerprinter.shingles(slot.0, scratch, set);
            slot.1 = !self.index.search(set, 1).matches.is_empty();
            Ok(())
        })?;
        Ok(slots.into_iter().map(|(_, near)| near).collect())
    }
}

fn sets(
    texts: &[&str],
    by: &Fingerprinter,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Sets, DedupError> {
    let mut slots: Vec<_> = texts.iter().map(|&text| (text, Vec::new())).collect();
    parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
        by.shingles(slot.0, scratch, &mut slot.1);
        Ok(())
    })?;
    let mut sets = Sets::new();
    for (_, set) in &slots {
        sets.push(set);
    }
    Ok(sets)
}
