//! Documents to decisions: the rule, and how it is carried out.
//!
//! 1. An empty normalised text is alone: its document is kept and matches nothing.
//! 2. Documents are **taken** in input order; for [`Cluster::Representative`] in the order of keeping. **Texts** are the different
//!    non-empty normalised texts, numbered 0, 1, 2, … by the first document that has them. The sketch of a text is that of this
//!    document.
//! 3. **Candidates** of a text t are earlier texts: `list(t)`, what the method ([`crate::method`]) proposes among *all* texts before
//!    t, kept or not, each with a rank. `MinHash` of B bands of R rows: per band, a bucket for the key of its R positions,
//!    level 0, holds `max_bucket` texts; one for the key of v positions more (cyclic), level v ≤ min(8, B·R − R), an eighth of
//!    that, at least 1. From level 0 on t sees all that is in its bucket, is put into it unless it is full, and else goes on
//!    to the next level. Seen in a buckets, of which s were not full, the rank is `(B − s)(B + 1) + B − a`. Sentences: of each
//!    of its n at most t sees the oldest `max_bucket` texts that have it; the rank is n less the number through which the other
//!    is seen. Others: all within the distance or above the threshold; the rank is the distance. Of more than M = `max_verifications`
//!    the oldest ⌊M / 4⌋ are candidates and, of the others, the best by rank, then number. Where one of these limits
//!    took something away, t is **truncated**, and so are the decisions of all documents that have it.
//! 4. Two texts are **neighbours** where one is in the list of the other. An **edge** is a pair of neighbours whose similarity
//!    reaches the threshold; without verification, every pair of neighbours.
//! 5. [`Cluster::Components`]: what edges connect is one cluster, and the first of its documents in the order of keeping is kept.
//! 6. [`Cluster::Representative`]: a document whose text is kept already is a duplicate of that one, similarity 1. Otherwise the
//!    neighbours of its text that are kept by now are compared: the most similar edge wins, ties go to the text with the lowest
//!    number (without verification: least rank, then lowest number). Without an edge the document is kept, and its text with it.
//!
//! So every limit is a function of the documents in their order: neither the cluster mode nor what is kept changes a list. The
//! kept texts of 6 are the lexicographically first independent set of the graph. A later copy of a duplicate is decided
//! anew: it stays a duplicate, but a text that was kept since may be more similar. A member of a representative's cluster
//! resembles the kept document itself, never only another member: clusters do not chain.
//!
//! Why the order of keeping: in a crowd of near-equal texts lists reach the oldest only, and those must be the ones that are kept.
//! Of 3,000 texts that differ in a number only one is kept, whatever the rule; with lists in input order 615 of them would
//! be by [`Keep::Last`](crate::Keep::Last). And why a quarter for the oldest: the nearest of a large crowd are duplicates themselves.
//!
//! # How
//!
//! ```text
//! take       numbers; candidates among the texts before it                       parallel
//! represent  similarities to what was kept before the batch in parallel,
//!            then in order: similarities to what was kept within it, choose      one thread, short lists
//! connect    similarities to all candidates, joined as they are found            parallel
//! edges      similarities to all candidates, handed on by batch                  parallel
//! ```
//!
//! Lists are dropped after each batch: of the candidates of a text all are decided, and a duplicate stays one. A text that is
//! kept is noted as *pending* with those of its candidates that are duplicates, and compared with them only if another
//! document of theirs comes.
//!
//! `connect` gives the answer of the rule because what a set of edges connects does not depend on the order in which they are
//! found. A candidate that is connected already is skipped, which keeps many near-equal texts from being compared with each
//! other.
//!
//! `edges` gives the graph itself, of documents taken in input order: 5 and 6 applied to it give the clusters (without
//! verification 6 by a method with a distance, which is the rank; edges do not say that of other methods).

mod arrive;
mod comparer;
mod connect;
mod edges;
mod equal;
mod lists;
mod represent;
mod side;
mod taken;
mod verifier;

use crate::error::DedupError;
use crate::method::{self, Sieve};
use crate::options::{Cluster, DedupOptions};
pub(crate) use comparer::Comparer;
pub(crate) use edges::{Edge, Edges};
use represent::Representatives;
pub(crate) use side::Side;
use simhash_index::Union;
use simhash_sketch::Prepared;
pub(crate) use taken::ALONE;
use taken::Taken;

/// A document of a batch.
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) prepared: Prepared,
}

/// Texts, found again by number.
pub(crate) trait Texts: Sync {
    /// Calls `read` with the text of this number.
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError>;

    /// About how many bytes it has, without reading it; 0 where nobody knows.
    fn bytes(&self, _number: u32) -> usize {
        0
    }
}

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    /// The number of its text, or [`ALONE`].
    pub(crate) text: u32,
    pub(crate) outcome: Outcome,
    /// A limit cut the candidates of its text.
    pub(crate) truncated: bool,
}

/// Kept, or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Kept under the next number, unless it is empty: an empty one is never referred to.
    New { empty: bool },
    /// Duplicate of the kept document with this number.
    Duplicate { of: u32, relation: Relation },
}

/// How a duplicate relates to another document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Relation {
    /// `None` without verification.
    pub(crate) similarity: Option<f64>,
    /// `None` for methods without a distance.
    pub(crate) distance: Option<u32>,
}

/// Documents per batch: within a batch each document may be a candidate of each later one, so the cost per document
/// grows with the batch (2,048 fingerprints are one microsecond of scanning; 2 million candidates are 16 MB).
pub(crate) const BATCH_DOCUMENTS: usize = 2_048;

/// The state: what is known of the texts taken in so far.
///
/// Memory per different text: 24 to 40 bytes (its exact hash), 4 for `sketched`, a bit, what the method states, and 4 for
/// components or what `Representatives` states. And the bounded cache.
pub(crate) struct Decider {
    options: DedupOptions,
    sieve: Box<dyn Sieve>,
    comparer: Comparer,
    taken: Taken,
    representatives: Representatives,
    components: Option<Union>,
}

impl Decider {
    pub(crate) fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        options.check()?;
        let components = options.cluster == Cluster::Components;
        let sieve = method::sieve(options)?;
        Ok(Self {
            options: options.clone(),
            comparer: Comparer::new(options, sieve.sketcher())?,
            sieve,
            taken: Taken::default(),
            representatives: Representatives::default(),
            components: components.then(Union::default),
        })
    }

    pub(crate) fn comparer(&self) -> &Comparer {
        &self.comparer
    }

    pub(crate) fn options(&self) -> &DedupOptions {
        &self.options
    }

    /// Bytes held for the texts taken in: by the method, by the map of equal texts, by numbers and states. Texts and the
    /// bounded cache are not among them.
    pub(crate) fn bytes(&self) -> u64 {
        let components = self.components.as_ref().map_or(0, Union::bytes);
        let states = self.representatives.bytes() + components;
        (self.sieve.bytes() + self.taken.bytes() + states) as u64
    }

    /// Texts whose candidates were cut.
    pub(crate) fn truncated(&self) -> u64 {
        self.taken.truncated
    }

    /// Whether a limit cut the candidates of the text with this number, or [`ALONE`].
    pub(crate) fn is_truncated(&self, text: u32) -> bool {
        text != ALONE && self.taken.is_cut(text)
    }

    /// What is connected, where components are wanted.
    pub(crate) fn components(&self) -> Option<&Union> {
        self.components.as_ref()
    }
}
