//! The exact truth of a small corpus, and a small corpus that has something to find.
//!
//! Truth: every pair of documents that reach a similarity as verification takes it ([`Shingles::verified`]), from exact joins.
//! Two documents that both have long shingles are alike only if these are, so they are joined by them: of features, long texts
//! have many in common that are not alike. All others are joined by their features. Documents with equal sets, and in short ones
//! equal numbers, are one group.
//!
//! A random sample of a large corpus has next to no duplicates: of 2,000 among 588,442 titles a handful has its mate in the
//! sample too. So the documents near the sample are added to it, found exactly: the sample is indexed, and the corpus asks it.
//! Recall on such a sample is that of the whole corpus for pairs with a random document; rates of duplicates are not.

use super::labels::LabelledPair;
use crate::error::DedupError;
use crate::parallel;
use simhash_index::overlap::{OverlapIndex, Sets, pairs_at_least};
use simhash_sketch::measure::jaccard_at_least;
use simhash_sketch::{ALMOST_ONE, Fingerprinter, Scratch, Shingles};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// What is true of a corpus, in the form that [`Labels`](super::Labels) take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// Documents with equal sets, and in short ones equal numbers, two or more, ascending.
    pub groups: Vec<Vec<u32>>,
    /// Pairs of the first documents of groups, and of others, at the threshold or above.
    pub pairs: Vec<LabelledPair>,
}

impl Truth {
    /// All pairs of `texts` with a similarity by [`Measure::Auto`](crate::Measure) of at least `least`, which is above 0 and at most 1; a text without
    /// features resembles nothing.
    ///
    /// Memory: 16 bytes per feature and long shingle, and what [`pairs_at_least`] and [`OverlapIndex`] state. Time: that of
    /// the joins, far below quadratic for thresholds of 0.5 and more.
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
        let sets = shingles(texts, by, threads, cancel)?;
        let mut join = Join { sets: &sets, least, threads, cancel, truth: Self::default() };
        let all = 0..sets.len() as u32;
        let (long, short): (Vec<u32>, Vec<u32>) =
            all.partition(|&document| !sets[document as usize].long.is_empty());
        let long = join.within(&long, |sets| &sets.long, |sets| &sets.features)?;
        let short = join.within(&short, |sets| &sets.features, |sets| &sets.long)?;
        join.across(&long, &short)?;
        let mut truth = join.truth;
        truth.groups.sort_unstable();
        Ok(truth)
    }
}

/// A truth in the making.
struct Join<'a> {
    sets: &'a [Shingles],
    least: f64,
    threads: usize,
    cancel: &'a AtomicBool,
    truth: Truth,
}

impl Join<'_> {
    /// Finds groups and pairs among `documents`, ascending, all of which have long shingles or none of which has: those that
    /// are alike by `key` and, then, by all. Returns the first of each group and all others.
    fn within(
        &mut self,
        documents: &[u32],
        key: impl Fn(&Shingles) -> &[u64],
        other: impl Fn(&Shingles) -> &[u64],
    ) -> Result<Vec<u32>, DedupError> {
        let of = |document: u32| &self.sets[document as usize];
        let mut keys = Sets::new();
        for &document in documents {
            keys.push(key(of(document)));
        }
        let (mut equal, mut near) = (BTreeMap::<u32, Vec<u32>>::new(), Vec::new());
        pairs_at_least(&keys, self.least, self.threads, self.cancel, |found| {
            for pair in found {
                let [a, b] = [pair.a, pair.b].map(|at| documents[at as usize]);
                // Different sets never have a Jaccard similarity of 1.
                if pair.similarity >= 1.0 {
                    equal.entry(a).or_insert_with(|| vec![a]).push(b);
                } else {
                    near.push((a, b));
                }
            }
        })?;
        drop(keys);
        // Of those with equal keys, the first with each other set: but for what the ends of texts do, one.
        let mut firsts: BTreeMap<u32, Vec<u32>> =
            documents.iter().map(|&document| (document, vec![document])).collect();
        let mut candidates = Vec::new();
        for (first, mut members) in equal {
            members.sort_unstable();
            let mut groups: BTreeMap<(&[u64], Option<u64>), Vec<u32>> = BTreeMap::new();
            for member in members {
                firsts.remove(&member);
                let sets = of(member);
                groups.entry((other(sets), sets.numbers.class())).or_default().push(member);
            }
            let mut variants: Vec<u32> = groups.values().map(|group| group[0]).collect();
            variants.sort_unstable();
            for (place, &a) in variants.iter().enumerate() {
                candidates.extend(variants[place + 1..].iter().map(|&b| (a, b)));
            }
            self.truth.groups.extend(groups.into_values().filter(|group| group.len() > 1));
            firsts.insert(first, variants);
        }
        for (a, b) in near {
            candidates
                .extend(firsts[&a].iter().flat_map(|&a| firsts[&b].iter().map(move |&b| (a, b))));
        }
        self.compare(&candidates)?;
        Ok(firsts.into_values().flatten().collect())
    }

    /// Finds the pairs of a document with long shingles and one without, which only features compare.
    fn across(&mut self, long: &[u32], short: &[u32]) -> Result<(), DedupError> {
        let mut index = OverlapIndex::new(self.least)?;
        for &document in if long.is_empty() { &[] } else { short } {
            index.add(&self.sets[document as usize].features)?;
        }
        let mut found: Vec<_> = long.iter().map(|&document| (document, Vec::new())).collect();
        parallel::for_each(
            &mut found,
            self.threads,
            self.cancel,
            || (),
            |(), (document, near)| {
                *near = index.search(&self.sets[*document as usize].features, usize::MAX).matches;
                Ok(())
            },
        )?;
        for (document, near) in found {
            let candidates: Vec<_> =
                near.into_iter().map(|near| (document, short[near.ordinal as usize])).collect();
            self.compare(&candidates)?;
        }
        Ok(())
    }

    /// The similarity as verification takes it, where it is large enough.
    fn similarity(&self, a: &Shingles, b: &Shingles) -> Option<f64> {
        let least = self.least.min(ALMOST_ONE);
        let found = a.verified(b, |a, b| jaccard_at_least(a, b, self.least));
        found.filter(|found| *found >= least)
    }

    /// Adds those of these pairs that are similar enough.
    fn compare(&mut self, pairs: &[(u32, u32)]) -> Result<(), DedupError> {
        let mut slots: Vec<_> = pairs.iter().map(|&pair| (pair, None)).collect();
        parallel::for_each(
            &mut slots,
            self.threads,
            self.cancel,
            || (),
            |(), ((a, b), found)| {
                let [a, b] = [*a, *b].map(|document| &self.sets[document as usize]);
                *found = self.similarity(a, b);
                Ok(())
            },
        )?;
        self.truth.pairs.extend(slots.into_iter().filter_map(|((a, b), found)| {
            found.map(|similarity| LabelledPair { a: a.min(b), b: a.max(b), similarity })
        }));
        Ok(())
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
        for sets in shingles(sample, by, threads, cancel)? {
            index.add(&sets.features)?;
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

/// The sets of each text.
fn shingles(
    texts: &[&str],
    by: &Fingerprinter,
    threads: usize,
    cancel: &AtomicBool,
) -> Result<Vec<Shingles>, DedupError> {
    let mut slots: Vec<_> = texts.iter().map(|&text| (text, Shingles::default())).collect();
    parallel::for_each(&mut slots, threads, cancel, Scratch::default, |scratch, slot| {
        by.shingles_of(slot.0, scratch, &mut slot.1);
        Ok(())
    })?;
    Ok(slots.into_iter().map(|(_, sets)| sets).collect())
}
