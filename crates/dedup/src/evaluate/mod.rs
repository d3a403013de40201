//! A result against labels: how much was found, and how much of what was reported is right.
//!
//! The problem with one number: very short and template-heavy corpora have clusters of hundreds, and counted by raw pairs one
//! such cluster outweighs all the rest; counted by chains, a wrong link can look harmless. So a result is looked at from four
//! sides, each blind to what another sees.
//!
//! | figure | counts | what it does not see |
//! |---|---|---|
//! | document recall | redundant documents that are linked to a true mate | wrong links |
//! | pair precision | reported links whose exact similarity, computed again from the texts, reaches the threshold | what is missing |
//! | pair recall | true pairs, each cluster counting as 50 at most | wrong links |
//! | B-cubed, adjusted Rand index | the two partitions as wholes | which link is wrong |
//!
//! Documents are numbers from 0; what is not named is alone. [`Labels`] are prepared once and hold for many results. What a
//! label means is in `labels`, what a result stands for in `reported`.
//!
//! Cost: `n log n` in documents, labels and links together, plus a merge of two shingle sets per link that is verified.
//!
//! Sources: Bagga and Baldwin, "Entity-based cross-document coreferencing using the vector space model", ACL 1998 (B-cubed);
//! Hubert and Arabie, "Comparing partitions", Journal of Classification 1985 (adjusted Rand index).

mod labels;
mod pairs;
mod partition;
mod reported;
mod similarity;
mod truth;

pub use labels::{LabelledPair, Labels};
pub use reported::Reported;
pub use similarity::{DocumentTexts, Verification};
pub use truth::{Neighbourhood, Truth};

use crate::error::DedupError;
use pairs::PairRecall;
use partition::Partitions;
use std::sync::atomic::AtomicBool;

/// How good a result is.
///
/// Shares are from 0 to 1. A recall of nothing is 1; a precision of nothing is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Documents, named or not.
    pub documents: u64,
    /// Documents beyond the first of each labelled cluster: those that could be removed.
    pub redundant: u64,
    /// Documents that the result names as duplicates: removed ones, and members of clusters after the first.
    pub removed: u64,
    /// Links that the result stands for, see [`Reported`].
    pub pairs: u64,
    /// Pairs that are labelled as different.
    pub apart: u64,
    /// Those of them that the result puts into one cluster.
    pub merged: u64,
    /// Share of redundant documents that are linked to a true mate, directly or by a chain.
    pub document_recall: f64,
    /// Removed documents by redundant ones, in each labelled cluster at most as many as are redundant there.
    pub removal_recall: f64,
    /// Share of true pairs that are in one cluster, a labelled cluster counting as its number of pairs, 50 at most: the
    /// expectation over as many random pairs of it.
    pub pair_recall: f64,
    /// Share of links between documents of one labelled cluster.
    pub labelled_precision: Option<f64>,
    /// What the texts say of the links.
    pub verified: Option<Verified>,
    /// B-cubed precision: for a random document, the share of its reported cluster that belongs there.
    pub bcubed_precision: f64,
    /// B-cubed recall: for a random document, the share of its labelled cluster that is with it.
    pub bcubed_recall: f64,
    /// Their harmonic mean.
    pub bcubed_f1: f64,
    /// Adjusted Rand index of the two partitions: 1 where they are equal, about 0 by chance.
    pub adjusted_rand: f64,
}

/// Shares of links whose similarity, computed from the texts, reaches a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// At least the threshold of the labels.
    pub precision: f64,
    /// At least a half: what is below has little in common.
    pub half_precision: f64,
    /// At least the threshold of the labels, of links between a member and the document that was kept.
    pub kept_precision: f64,
}

/// Scores a result.
///
/// # Errors
/// [`DedupError::Cancelled`] soon after `cancel` is set; only verification takes long enough to be.
pub fn evaluate(
    labels: &Labels,
    reported: &Reported,
    verification: Option<&Verification<'_>>,
    cancel: &AtomicBool,
) -> Result<Evaluation, DedupError> {
    let found = reported.partition(labels.documents());
    let links = reported.links(labels);
    let verified = match verification {
        Some(verification) => verification.of(&links, labels.least(), cancel)?,
        None => None,
    };
    let (labelled, removed) = (labels.partition(), reported.removed());
    let partitions = Partitions::of(labelled, &found);
    let together =
        |partition: &[u32], a: u32, b: u32| partition[a as usize] == partition[b as usize];
    let right = links.tree.iter().filter(|&&(a, b)| together(labelled, a, b)).count();
    let apart = labels.apart();
    Ok(Evaluation {
        documents: u64::from(labels.documents()),
        redundant: partitions.redundant,
        removed: removed.len() as u64,
        pairs: links.tree.len() as u64,
        apart: apart.len() as u64,
        merged: apart.iter().filter(|&&(a, b)| together(&found, a, b)).count() as u64,
        document_recall: partitions.document_recall(),
        removal_recall: partitions.removal_recall(labelled, &removed),
        pair_recall: PairRecall::of(labels, &found).share(),
        labelled_precision: ratio(right as u64, links.tree.len() as u64),
        verified,
        bcubed_precision: partitions.bcubed_precision,
        bcubed_recall: partitions.bcubed_recall,
        bcubed_f1: partitions.bcubed_f1(),
        adjusted_rand: partitions.adjusted_rand,
    })
}

/// A share; `None` of nothing.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// `n (n - 1) / 2`.
fn choose_two(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}
