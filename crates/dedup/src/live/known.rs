//! The documents of a live index as known ones of a run of deduplication.
//!
//! Texts are stored normalised, and normalising them again changes nothing. But sentences end at lines, which normalisation takes
//! away, so the hashes of sentences are those that the index has; and of equal texts alone it has nothing but hashes.

use std::ops::Range;

use simhash_index::exact::Text;
use simhash_index::sentences::SentenceItem;
use simhash_sketch::minhash::MinHashOptions;
use simhash_sketch::sentences::MIN_LENGTH;
use simhash_sketch::{FingerprinterOptions, MethodSketch, Prepared};
use simhash_text::sentence::SentenceHash;

use super::document::Search;
use super::engine::Engine;
use super::kind::Method as Kind;
use super::{Any, LiveIndex, LiveMethod};
use crate::error::DedupError;
use crate::method::default_plan;
use crate::{DedupOptions, Method};

/// A live document.
pub(crate) struct Known {
    pub(crate) id: u64,
    /// Normalised; empty where the index needs none.
    pub(crate) text: String,
    own: Own,
}

/// What the index knows that the text does not tell.
enum Own {
    Nothing,
    /// Hashes of its sentences; none where it is compared as a whole.
    Sentences(Option<Vec<u64>>),
    Text(Text),
}

impl Known {
    /// What was made of the text, with what the index knows better.
    pub(crate) fn correct(&self, prepared: &mut Prepared) {
        match &self.own {
            Own::Nothing => {}
            Own::Sentences(sentences) => {
                let sketch = |hashes: &Vec<u64>| MethodSketch::Sentences(hashes.as_slice().into());
                prepared.sketch = sentences.as_ref().map(sketch).unwrap_or_default();
                prepared.is_short = sentences.is_none() && !prepared.is_empty;
            }
            Own::Text(Text::Empty) => prepared.is_empty = true,
            Own::Text(Text::Hash(exact)) => {
                prepared.exact = *exact;
                prepared.is_empty = false;
            }
        }
    }
}

impl LiveIndex {
    /// The next live documents of these ids, at most so many, and no more when their texts have so many bytes.
    pub(crate) fn known(
        &self,
        ids: &mut Range<u64>,
        most: usize,
        bytes: usize,
    ) -> Result<Vec<Known>, DedupError> {
        let (mut all, mut held) = (Vec::new(), 0);
        while all.len() < most
            && held < bytes
            && let Some(id) = ids.next()
        {
            let known = match &self.any {
                Any::SimHash(engine) => engine.known(id, |_| Some(Own::Nothing)),
                Any::MinHash(engine) => engine.known(id, |_| Some(Own::Nothing)),
                Any::Sentences(engine) => engine.known(id, |index| {
                    Some(Own::Sentences(match index.item_of(id)? {
                        SentenceItem::Sentences(sentences) => Some(sentences),
                        SentenceItem::Exact(_) | SentenceItem::Empty => None,
                    }))
                }),
                Any::Exact(engine) => Ok(engine.index.item_of(id).map(|text| {
                    let (text, own) = (String::new(), Own::Text(text));
                    Known { id, text, own }
                })),
            };
            if let Some(known) = known? {
                held += known.text.len();
                all.push(known);
            }
        }
        Ok(all)
    }

    /// Refuses options by which deduplication decides otherwise than this index, which is the `argument` of a run.
    pub(crate) fn agree(
        &self,
        run: &DedupOptions,
        argument: &'static str,
    ) -> Result<(), DedupError> {
        let made = &self.options;
        let measure = |measure| format!("{measure:?}").to_lowercase();
        let mut all = vec![("method", made.method.name().to_owned(), run.method.name().to_owned())];
        if made.method != LiveMethod::Exact {
            let (own, least) = (made.verify, run.min_similarity);
            let verify = |on: Option<_>| on.map_or("false".to_owned(), measure);
            let similarity = |least: Option<f64>| least.unwrap_or(0.0).to_string();
            all.push((
                "verify",
                verify(own.map(|own| own.measure)),
                verify(least.map(|_| run.measure)),
            ));
            all.push(("min_similarity", similarity(own.map(|own| own.least)), similarity(least)));
            let most = |most: usize| most.to_string();
            all.push((
                "max_verifications",
                most(made.max_verifications),
                most(run.max_verifications),
            ));
        }
        // Of the same method, whose bands the least similarity decides about.
        if all.iter().all(|(_, made, given)| made == given) {
            all.extend(of_method(&made.method, run)?);
        }
        if let Some((option, made, given)) = all.into_iter().find(|(_, made, given)| made != given)
        {
            return Err(DedupError::Differs { argument, option, made, given });
        }
        let of_run = simhash_sketch::Fingerprinter::new(&run.fingerprinter)?.to_string();
        let own = self.fingerprinter().to_string();
        if own != of_run {
            let option = differing(&made.fingerprinter, &run.fingerprinter);
            return Err(DedupError::Differs { argument, option, made: own, given: of_run });
        }
        if made.stored.longest_text.is_none() && made.method != LiveMethod::Exact {
            return Err(not_stored(argument, "one without texts".into()));
        }
        Ok(())
    }
}

impl<K: Kind> Engine<K> {
    fn known(
        &self,
        id: u64,
        own: impl FnOnce(&simhash_index::Live<K>) -> Option<Own>,
    ) -> Result<Option<Known>, DedupError> {
        if !self.index.has(id) {
            return Ok(None);
        }
        if let Some(text) = self.text_of(id) {
            return Ok(own(&self.index).map(|own| Known { id, text, own }));
        }
        // An empty text is not stored either: it is nowhere found, not even by itself.
        let how = K::candidates(&self.index, &Search::default(), 1, None);
        let is_found =
            self.index.search_id(id, how)?.is_some_and(|found| !found.matches.is_empty());
        if is_found || self.store.read().long(id).is_some() {
            let value = format!("one whose document {id} is longer than what is stored");
            return Err(not_stored("known", value));
        }
        Ok(None)
    }
}

fn not_stored(argument: &'static str, value: String) -> DedupError {
    let expected = "an index that stores the texts of all its documents";
    DedupError::Option { argument, value, expected }
}

/// Options of the method, of the index and of the run.
fn of_method(
    made: &LiveMethod,
    run: &DedupOptions,
) -> Result<Vec<(&'static str, String, String)>, DedupError> {
    let plain = MinHashOptions::default();
    Ok(match (made, run.method) {
        (LiveMethod::SimHash { max_distance: own, .. }, Method::SimHash { max_distance }) => {
            let own = own.unwrap_or(Method::default_distance(run.min_similarity.is_some()));
            vec![("max_distance", own.to_string(), max_distance.to_string())]
        }
        (LiveMethod::MinHash { plan: own, minhash, .. }, Method::MinHash { plan }) => {
            let of_run = match plan {
                Some(plan) => plan,
                None => default_plan(run.min_similarity, plain.hashes)?,
            };
            let own = own.unwrap_or(of_run);
            vec![
                ("bands", own.bands.to_string(), of_run.bands.to_string()),
                ("rows", own.rows.to_string(), of_run.rows.to_string()),
                ("scheme", minhash.scheme.name().to_owned(), plain.scheme.name().to_owned()),
                ("seed", minhash.seed.to_string(), plain.seed.to_string()),
            ]
        }
        (
            LiveMethod::Sentences { count: own, min_length, hash, common },
            Method::Sentences { count },
        ) => {
            let common = common.map_or(1.0, |common| common.share);
            let usual = SentenceHash::default();
            vec![
                ("sentences", own.to_string(), count.to_string()),
                ("min_length", min_length.to_string(), MIN_LENGTH.to_string()),
                ("hash", format!("{hash:?}").to_lowercase(), format!("{usual:?}").to_lowercase()),
                ("common.share", common.to_string(), 1.0.to_string()),
            ]
        }
        _ => Vec::new(),
    })
}

/// The option by which two fingerprinters differ.
fn differing(a: &FingerprinterOptions, b: &FingerprinterOptions) -> &'static str {
    let (one, other) = (&a.extract, &b.extract);
    let all = [
        ("normalize", a.normalizer() == b.normalizer()),
        ("features", one.unit == other.unit),
        ("ngram", one.ngram == other.ngram),
        ("weighting", one.weighting == other.weighting),
        ("top_k", one.top_k == other.top_k),
        ("segmenter", one.segmenter == other.segmenter),
        ("hmm", one.hmm == other.hmm),
        ("dictionary", one.dictionary == other.dictionary),
        ("stop_words", one.stop_words == other.stop_words),
        ("idf", one.idf == other.idf),
    ];
    all.iter().find(|(_, same)| !same).map_or("min_features", |(option, _)| option)
}
