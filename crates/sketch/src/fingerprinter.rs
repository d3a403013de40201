//! The fingerprinter: text in, sketch out, with every choice made beforehand.

use crate::accumulate::Sums;
use crate::distinct::DistinctAtLeast;
use simhash_text::segment::SegmentScratch;
use simhash_text::sentence::SentenceScratch;
use simhash_text::{
    Cut, ExtractScratch, Extractor, ExtractorOptions, Feature, Features, NormalizeScratch,
    Normalizer, OptionsError, Token, TopK, Unit, Weighting, Whitespace, feature,
};
use std::fmt;

/// Options of [`Fingerprinter::new`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FingerprinterOptions {
    /// Steps before features are taken. Default: NFKC, case folding, white space.
    pub normalize: Normalizer,
    /// Features. Default: counted, two ideographs or five letters each.
    pub extract: ExtractorOptions,
    /// Fewest distinct features for a fingerprint; 0 or 1 fingerprints every text that has a feature.
    /// Default: [`Extractor::min_features`].
    pub min_features: Option<usize>,
}

impl FingerprinterOptions {
    /// The steps before features are taken: of words that are cut already ([`Unit::Tokens`]) the white space stays that
    /// [`Whitespace::Auto`] takes from between Chinese ones.
    pub fn normalizer(&self) -> Normalizer {
        let mut normalizer = self.normalize.clone();
        if self.extract.unit == Unit::Tokens && normalizer.whitespace == Whitespace::Auto {
            normalizer.whitespace = Whitespace::Collapse;
        }
        normalizer
    }

    /// Options by name, to be used as they are or changed:
    ///
    /// * `auto`: the default options;
    /// * `chars`: counted pairs of characters, in every script;
    /// * `jieba-tfidf`: the 30 heaviest keywords of Python jieba's `extract_tags`, no normalisation.
    ///
    /// # Errors
    /// [`OptionsError::Invalid`] for an unknown name.
    pub fn preset(name: &str) -> Result<Self, OptionsError> {
        match name {
            "auto" => Ok(Self::default()),
            "chars" => Ok(Self {
                extract: ExtractorOptions { unit: Unit::Chars, ..ExtractorOptions::default() },
                ..Self::default()
            }),
            "jieba-tfidf" => Ok(Self {
                normalize: Normalizer::OFF,
                extract: ExtractorOptions {
                    unit: Unit::Jieba,
                    weighting: Some(Weighting::TfIdf),
                    top_k: Some(TopK::Count(30)),
                    ..ExtractorOptions::default()
                },
                min_features: None,
            }),
            _ => Err(OptionsError::Invalid {
                argument: "preset",
                value: name.to_owned(),
                expected: "auto, chars or jieba-tfidf".to_owned(),
            }),
        }
    }

    /// The options of a recipe, which is what a [`Fingerprinter`] says of itself. Words of the user's own, of which it has digests alone,
    /// are those given here. `None` where it is no recipe.
    pub fn of_recipe(recipe: &str, words: &ExtractorOptions) -> Option<Self> {
        let own = ExtractorOptions {
            dictionary: words.dictionary.clone(),
            stop_words: words.stop_words.clone(),
            idf: words.idf.clone(),
            ..ExtractorOptions::default()
        };
        let mut options = Self { extract: own, ..Self::default() };
        for part in recipe.split(", ") {
            match part.split_once(' ') {
                Some(("minFeatures", least)) => options.min_features = Some(least.parse().ok()?),
                Some(("normalize", steps)) => options.normalize = Normalizer::of_recipe(steps)?,
                _ if options.extract.take_recipe(part) => {}
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Text to [`Sketch`]. Cheap to clone, shared by threads.
#[derive(Clone, Debug)]
pub struct Fingerprinter {
    normalizer: Normalizer,
    extractor: Extractor,
    min_features: usize,
}

/// Reusable memory of a fingerprinter; one per thread.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) normalize: NormalizeScratch,
    pub(crate) extract: ExtractScratch,
    pub(crate) hashes: Vec<u64>,
    pub(crate) positions: Vec<u32>,
    pub(crate) sentences: SentenceScratch,
}

impl Scratch {
    /// The memory of [`cut`](simhash_text::segment::cut).
    pub fn segment(&mut self) -> &mut SegmentScratch {
        self.extract.segment()
    }
}

/// What is kept of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// The 64-bit `SimHash`; `None` when the text has fewer distinct features than a Hamming distance needs. Such a text must
    /// be compared by `exact`.
    pub fingerprint: Option<u64>,
    /// XXH3-128 of the normalised text: equal for equal texts.
    pub exact: u128,
    /// The normalised text is empty: it matches nothing, not even another empty text.
    pub empty: bool,
}

impl Fingerprinter {
    /// A fingerprinter for these options.
    ///
    /// # Errors
    /// As [`Extractor::new`]; [`OptionsError::Invalid`] where white space is removed that is between [`Unit::Tokens`]. Words of a
    /// dictionary, stop words and idf table are normalised like the text.
    pub fn new(options: &FingerprinterOptions) -> Result<Self, OptionsError> {
        let normalizer = options.normalizer();
        if options.extract.unit == Unit::Tokens && normalizer.whitespace == Whitespace::Remove {
            return Err(OptionsError::Invalid {
                argument: "normalize",
                value: "whitespace remove".to_owned(),
                expected: "of white space that stays: it is between the tokens".to_owned(),
            });
        }
        let extractor = Extractor::for_normalized(&options.extract, &normalizer)?;
        let min_features = options.min_features.unwrap_or_else(|| extractor.min_features());
        Ok(Self { normalizer, extractor, min_features })
    }

    /// A fingerprinter with the options of a preset; see [`FingerprinterOptions::preset`].
    ///
    /// # Errors
    /// [`OptionsError::Invalid`] for an unknown name.
    pub fn preset(name: &str) -> Result<Self, OptionsError> {
        Self::new(&FingerprinterOptions::preset(name)?)
    }

    /// The sketch of `text`.
    ///
    /// Cost: one pass for each of normalisation, hash and features; no allocation once `scratch` has grown, for characters.
    pub fn sketch(&self, text: &str, scratch: &mut Scratch) -> Sketch {
        let text = self.normalizer.apply(text, &mut scratch.normalize);
        let fingerprint = self.sums(text, &mut scratch.extract).map(|sums| sums.fingerprint());
        Sketch { fingerprint, exact: feature::exact(text), empty: text.is_empty() }
    }

    /// Whether a text that is normalised already has no fingerprint.
    pub fn is_short(&self, text: &str, scratch: &mut Scratch) -> bool {
        self.sums(text, &mut scratch.extract).is_none()
    }

    /// The sums of a normalised text; `None` when it has no feature or fewer than `min_features`.
    pub(crate) fn sums(&self, text: &str, scratch: &mut ExtractScratch) -> Option<Sums> {
        let mut sums = Sums::default();
        let mut distinct = DistinctAtLeast::new(self.min_features);
        let counted = self.extractor.hash_blocks(text, scratch, |hashes| {
            distinct.see(hashes.iter().copied());
            sums.add_hashes(hashes);
        });
        if !counted {
            let features = self.extractor.features(text, scratch);
            distinct.see(features.iter().map(|feature| feature.hash));
            sums.add_features(features);
        }
        (sums.total() > 0 && distinct.reached()).then_some(sums)
    }

    /// The same of features that have been cut.
    pub(crate) fn sums_of(&self, cut: Cut<'_>) -> Option<Sums> {
        let (mut sums, mut distinct) = (Sums::default(), DistinctAtLeast::new(self.min_features));
        match cut {
            Cut::Counted(hashes) => {
                distinct.see(hashes.iter().copied());
                sums.add_hashes(hashes);
            }
            Cut::Weighted { all, heaviest } => {
                distinct.see(all[..heaviest].iter().map(|feature| feature.hash));
                sums.add_features(&all[..heaviest]);
            }
        }
        (sums.total() > 0 && distinct.reached()).then_some(sums)
    }

    /// `text` after normalisation, borrowed when nothing changes.
    pub fn normalize<'a>(&self, text: &'a str, scratch: &'a mut Scratch) -> &'a str {
        self.normalizer.apply(text, &mut scratch.normalize)
    }

    /// Replaces `out` with the distinct feature hashes of the normalised text, ascending: the set that Jaccard compares.
    pub fn shingles(&self, text: &str, scratch: &mut Scratch, out: &mut Vec<u64>) {
        let text = self.normalizer.apply(text, &mut scratch.normalize);
        self.extractor.shingles(text, out);
    }

    /// All features of a text that is normalised already.
    pub fn features_of_normalized(&self, text: &str) -> Features {
        self.extractor.features_of(text)
    }

    /// Replaces `out` with the distinct features of the normalised text and their weights, by ascending hash: the vector
    /// whose angle is the cosine similarity. Not cut by `top_k`.
    pub fn vector(&self, text: &str, scratch: &mut Scratch, out: &mut Vec<Feature>) {
        let text = self.normalizer.apply(text, &mut scratch.normalize);
        self.extractor.vector(text, &mut scratch.extract, out);
    }

    /// The same of a text that is normalised already.
    pub fn vector_of_normalized(&self, text: &str) -> Vec<Feature> {
        let mut vector = Vec::new();
        self.extractor.vector(text, &mut ExtractScratch::default(), &mut vector);
        vector
    }

    /// What the fingerprint of `text` is made of, after normalisation: each distinct feature once, heaviest first.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        self.extractor.tokens(self.normalizer.apply(text, &mut NormalizeScratch::default()))
    }

    pub(crate) fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    pub(crate) fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// Fewest distinct features for a fingerprint.
    pub fn min_features(&self) -> usize {
        self.min_features
    }
}

/// The recipe: the options in words, every default spelled out. Equal recipes make equal fingerprints, so an index that is
/// saved with its recipe can refuse to be searched with another.
impl fmt::Display for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { normalizer, extractor, min_features } = self;
        write!(f, "{extractor}, minFeatures {min_features}, normalize {normalizer}")
    }
}
