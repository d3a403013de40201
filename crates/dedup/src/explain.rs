//! Why two texts are duplicates, or are not: what the engine decides, and what it looked at.

use crate::deduper::Deduper;
use crate::error::DedupError;
use crate::method;
use crate::options::DedupOptions;
use crate::verify::Evidence;
use simhash_sketch::{Fingerprinter, Kept, MethodSketch, Preparer, Scratch};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

/// What [`Deduper`] decides of two texts, and what of it their sketches and texts show.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, named at every use")]
pub struct Verdict {
    /// Whether the second is a duplicate of the first.
    pub duplicates: bool,
    /// Whether the normalised texts are equal and not empty.
    pub equal: bool,
    /// Whether one of them says nothing after normalisation.
    pub empty: bool,
    /// Whether one of them says too little for the method: they are compared by equality alone.
    pub short: bool,
    /// Similarity by the measure of the options, 0 to 1; `None` where nothing is verified.
    pub similarity: Option<f64>,
    /// Hamming distance, by [`Method::SimHash`](crate::Method::SimHash) where both have a fingerprint.
    pub distance: Option<u32>,
    /// By [`Method::MinHash`](crate::Method::MinHash) how many bands are equal, of how many; by
    /// [`Method::Sentences`](crate::Method::Sentences) how many sentences, of those that are looked at. Without one they are not compared.
    pub shared: Option<(u32, u32)>,
}

/// Decides two texts as deduplication does.
///
/// # Errors
/// Those of [`Deduper::new`].
pub fn verdict(options: &DedupOptions, a: &str, b: &str) -> Result<Verdict, DedupError> {
    let decisions = {
        let (mut deduper, cancel) = (Deduper::new(options)?, AtomicBool::new(false));
        let mut decisions = deduper.push(&[a, b], &cancel)?;
        decisions.extend(deduper.finish(&cancel)?);
        decisions
    };
    let sieve = method::sieve(options)?;
    let by = Fingerprinter::new(&options.fingerprinter)?;
    let preparer = Preparer::new(by.clone(), sieve.sketcher());
    let mut scratch = Scratch::default();
    let [first, second] = [a, b].map(|text| preparer.prepare(text, Kept::Nothing, &mut scratch));
    let empty = first.is_empty || second.is_empty;
    let equal = !empty && first.exact == second.exact;
    let similarity = options.min_similarity.filter(|_| options.method != crate::Method::Exact);
    let similarity = similarity.map(|_| {
        let evidence = |text: &str, scratch: &mut Scratch| {
            Evidence::new(by.normalize(text, scratch), None, options.measure, &by)
        };
        let [a, b] = [a, b].map(|text| evidence(text, &mut scratch));
        if equal { 1.0 } else { a.similarity(&b, options.measure, 0.0).unwrap_or_default() }
    });
    let (mut distance, mut shared) = (None, None);
    match (&first.sketch, &second.sketch) {
        (MethodSketch::Fingerprint(a), MethodSketch::Fingerprint(b)) => {
            distance = Some((a ^ b).count_ones());
        }
        (MethodSketch::Signature { keys: a, .. }, MethodSketch::Signature { keys: b, .. }) => {
            let equal = a.iter().zip(b.iter()).filter(|(a, b)| a == b).count();
            shared = Some((equal as u32, a.len() as u32));
        }
        (MethodSketch::Sentences(a), MethodSketch::Sentences(b)) => {
            let (a, b) = (a.iter().collect::<BTreeSet<_>>(), b.iter().collect::<BTreeSet<_>>());
            let most = a.len().max(b.len());
            shared = Some((a.intersection(&b).count() as u32, most as u32));
        }
        _ => {}
    }
    let duplicates = decisions.iter().any(|decision| decision.duplicate_of.is_some());
    let short = first.is_short || second.is_short;
    Ok(Verdict { duplicates, equal, empty, short, similarity, distance, shared })
}
