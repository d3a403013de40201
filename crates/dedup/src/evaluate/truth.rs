//! The exact truth of a small corpus, and a small corpus that has something to find.
//!
//! Truth: every pair of documents that reach a Jaccard similarity as verification takes it ([`Shingles`]), from an exact join
//! of their features: where texts are long enough to have long shingles too, these can only make a pair less similar, so the
//! join has every pair, and those that they tell apart are dropped. Documents with equal sets are one group.
//!
//! A random sample of a large corpus has next to no duplicates: of 2,000 among 588,442 titles a handful has its mate in the
//! sample too. So the documents near the sample are added to it, found exactly: the sample is indexed, and the corpus asks it.
//! Recall on such a sample is that of the whole corpus for pairs with a random document; rates of duplicates are not.

use super::labels::LabelledPair;
use crate::error::DedupError;
use crate::parallel;
use crate::verify::jaccard;
use simhash_index::overlap::{OverlapIndex, SetPair, Sets, pairs_at_least};
use simhash_sketch::{Fingerprinter, Scratch, Shingles};
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
    /// Memory: 8 bytes per feature and long shingle, and what [`pairs_at_least`] states. Time: that of the join, far below
    /// quadratic for thresholds of 0.5 and more; texts that have the same features and not the same long shingles are
    /// compared each with each.
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
        let (sets, long) = sets(texts, by, threads, cancel)?;
        let (mut equal, mut near) = (BTreeMap::<u32, Vec<u32>>::new(), Vec::new());
        pairs_at_least(&sets, least, threads, cancel, |found| {
            for pair in found {
                // Different sets never have similarity 1.
                if pair.similarity >= 1.0 {
                    equal.entry(pair.a).or_insert_with(|| vec![pair.a]).push(pair.b);
                } else {
                    near.push(*pair);
                }
            }
        })?;
        let mut truth = Self::default();
        let mut compare = |a: u32, b: u32, similarity: f64| {
            let [x, y] = [a, b].map(|document| long[document as usize].as_slice());
            let both = !x.is_empty() && !y.is_empty();
            let similarity = if both { similarity.min(jaccard(x, y)) } else { similarity };
            if similarity >= least {
                truth.pairs.push(LabelledPair { a: a.min(b), b: a.max(b), similarity });
            }
        };
        // Of those with the same features, the first with each set of long shingles: nearly always one.
        let mut firsts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (first, mut members) in equal {
            members.sort_unstable();
            let mut groups: BTreeMap<&[u64], Vec<u32>> = BTreeMap::new();
            for member in members {
                groups.entry(&long[member as usize]).or_default().push(member);
            }
            let mut variants: Vec<u32> = groups.values().map(|group| group[0]).collect();
            variants.sort_unstable();
            for (place, &a) in variants.iter().enumerate() {
                parallel::check(cancel)?;
                for &b in &variants[place + 1..] {
                    compare(a, b, 1.0);
                }
            }
            truth.groups.extend(groups.into_values().filter(|group| group.len() > 1));
            firsts.insert(first, variants);
        }
        for SetPair { a, b, similarity } in near {
            let [of_a, of_b] = [&a, &b].map(|document| {
                firsts.get(document).map_or(std::slice::from_ref(document), Vec::as_slice)
            });
            for &a in of_a {
                parallel::check(cancel)?;
                for &b in of_b {
                    compare(a, b, similarity);
                }
            }
        }
        truth.groups.sort_unstable();
        Ok(truth)
    }
}

/// Answers which documents of a corpus are near a sample of it.
pub struct Neighbourhood {
    fingerprinter: Fingerprinter,
    index: OverlapIndex,
    threads: usize,
}

impl Neighbourhood {
    /// Around `sample`, at Jaccard similarity `least` of the features, which is above 0 and at most 1.
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
        for set in sets(sample, by, threads, cancel)?.0.iter() {
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

/// Features of each text, and its long shingles.
fn sets(
    texts: &[&str],
    by: &Fingerprinter,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<(Sets, Vec<Vec<u64>>), DedupError> {
    let mut slots: Vec<_> = texts.iter().map(|&text| (text, Shingles::default())).collect();
    parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
        by.shingles_of(slot.0, scratch, &mut slot.1);
        Ok(())
    })?;
    let (mut sets, mut long) = (Sets::new(), Vec::with_capacity(slots.len()));
    for (_, shingles) in slots {
        sets.push(&shingles.features);
        long.push(shingles.long);
    }
    Ok((sets, long))
}
