//! How similar two texts really are: a sketch only proposes, these measures decide.
//!
//! | measure | of what | suits |
//! |---|---|---|
//! | [`jaccard`] | sets of feature hashes | texts of every length |
//! | [`containment`] | the same | one text inside another |
//! | [`edit_similarity`] | normalised text, by code points | slips of the pen in names and titles, where numbers do not matter |
//! | [`cosine`] | features with weights | keywords, where rare words say more |
//!
//! All are symmetric and lie in [0, 1]; equal texts have 1, two empty ones 0: an empty text resembles nothing. The forms
//! `…_at_least` give the same value to the last bit where it reaches a threshold and stop early where it cannot. Sums are of
//! integers, so the values are the same on every machine.

mod cosine;
mod edit;
mod sets;
mod texts;

pub use cosine::{cosine, cosine_at_least};
pub use edit::{edit_similarity, edit_similarity_at_least, levenshtein, levenshtein_within};
pub(crate) use sets::ratio;
pub use sets::{containment, jaccard, jaccard_at_least, overlap, overlap_at_least};
pub use texts::{cosine_of_texts, of_texts};
