//! What deduplication needs of a text, made once: the sketch of the method, the hash by which equal texts are found, and, where
//! texts are compared later, the normalised text and its features.
//!
//! A text is normalised once and cut into features once. Sets and vectors are made of the features that the sketch was made of,
//! and only of texts that are compared; so is what needs another cut, the long shingles ([`Shingles`](crate::Shingles)). Sentences are
//! split from the text as it was given, and normalised by themselves.

use crate::minhash::{MinHasher, band_keys};
use crate::sentences::SentenceSketcher;
use crate::{Fingerprinter, Outline, Scratch};
use simhash_text::feature::exact;
use simhash_text::{Cut, ExtractScratch, Features};

/// What a method remembers of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MethodSketch {
    /// Nothing: it asks for nothing, or the text has too little of it.
    #[default]
    None,
    /// The 64-bit `SimHash`.
    Fingerprint(u64),
    /// The `MinHash` signature.
    Signature {
        /// Its positions; none with [`Kept::Outline`].
        positions: Box<[u32]>,
        /// The keys of its bands, in order.
        keys: Box<[u64]>,
    },
    /// Hashes of the longest sentences, the longest first, distinct.
    Sentences(Box<[u64]>),
    /// The distinct feature hashes, ascending.
    Set(Box<[u64]>),
}

impl MethodSketch {
    /// Whether there is nothing to look others up by.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The fingerprint, where it is one.
    pub fn fingerprint(&self) -> Option<u64> {
        if let Self::Fingerprint(value) = self { Some(*value) } else { None }
    }
}

/// What is made of texts for a method.
#[derive(Clone, Debug)]
pub enum Sketcher {
    /// Nothing.
    None,
    /// Fingerprints.
    Fingerprint,
    /// Signatures and the keys of their bands.
    Signature {
        /// Makes signatures of at least `bands * rows` positions.
        hasher: MinHasher,
        /// Bands.
        bands: usize,
        /// Positions of each, at least 1.
        rows: usize,
    },
    /// Hashes of sentences.
    Sentences(SentenceSketcher),
    /// Sets of features.
    Set,
}

/// What is kept of a text beside its sketch, to be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing, and nobody asks for more than the sketch where there is one: `exact` and `is_empty` may then be those of no text.
    Sketch,
    /// Nothing.
    Nothing,
    /// The normalised text.
    Text,
    /// It, and the features where the sketch is made of them.
    Features,
    /// An outline of the features where the sketch is made of them, or where there is no sketch and the text is a short one; of a
    /// signature its keys alone.
    Outline,
}

/// A text that was gone over.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// XXH3-128 of the normalised text: equal for equal texts. Not where only the sketch was asked for ([`Kept::Sketch`]).
    pub exact: u128,
    /// The normalised text is empty: it matches nothing, not even another empty text.
    pub is_empty: bool,
    /// It says something, but too little for the method: it is compared by `exact` only.
    pub is_short: bool,
    /// What the method remembers of it.
    pub sketch: MethodSketch,
    /// What it is compared by.
    pub material: Material,
    /// What excludes most of those that it is not similar to, where it was asked for.
    pub outline: Outline,
}

/// What measures compare is made of this.
#[derive(Clone, Debug, Default)]
pub struct Material {
    text: Normalized,
    /// The features, where they were kept.
    pub features: Option<Features>,
}

/// The normalised text.
#[derive(Clone, Debug, Default)]
enum Normalized {
    #[default]
    NotKept,
    /// As it was given.
    Given,
    Other(Box<str>),
}

impl Material {
    /// The normalised text, where it was kept; `given` is what it was made of.
    pub fn text<'a>(&'a self, given: &'a str) -> Option<&'a str> {
        match &self.text {
            Normalized::NotKept => None,
            Normalized::Given => Some(given),
            Normalized::Other(text) => Some(text),
        }
    }

    /// The same, owned.
    pub fn into_text(self, given: &str) -> Option<Box<str>> {
        match self.text {
            Normalized::NotKept => None,
            Normalized::Given => Some(given.into()),
            Normalized::Other(text) => Some(text),
        }
    }
}

/// Bytes of a normalised text whose features are kept beside its fingerprint. Those of a longer one would take several times
/// its bytes; the fingerprint alone is made a block at a time, and what compares the text cuts it again.
const LONG: usize = 1 << 20;

/// Bytes of a normalised text that is cut for an outline alone: those of 64 ideographs. A longer one takes long to cut twice, and has fewer
/// candidates that it is not similar to.
const BOUNDED: usize = 3 * 64;

/// Bytes of a normalised text that is cut for an outline beside its fingerprint. Nearly every longer one has more features than an
/// outline holds.
const OUTLINED: usize = 16 << 10;

/// Features from which on a signature is made of distinct ones only: sorting so many costs less than hashing what a text of this
/// length may repeat.
const MANY: usize = 1 << 16;

/// Texts to [`Prepared`] ones, with every choice made beforehand. Cheap to clone, shared by threads.
#[derive(Clone, Debug)]
pub struct Preparer {
    by: Fingerprinter,
    sketcher: Sketcher,
}

impl Preparer {
    /// Sketches of this kind, of the features of `by`.
    pub fn new(by: Fingerprinter, sketcher: Sketcher) -> Self {
        Self { by, sketcher }
    }

    /// What makes the features.
    pub fn fingerprinter(&self) -> &Fingerprinter {
        &self.by
    }

    /// What sketches are made.
    pub fn sketcher(&self) -> &Sketcher {
        &self.sketcher
    }

    /// Goes over a text.
    ///
    /// Cost: one pass for each of normalisation, hash and features, and the sketch; once `scratch` has grown, no allocation but
    /// for what comes back.
    pub fn prepare(&self, text: &str, kept: Kept, scratch: &mut Scratch) -> Prepared {
        let Scratch { normalize, extract, hashes, positions, sentences } = scratch;
        let by_sentences = match &self.sketcher {
            Sketcher::Sentences(sketcher) => {
                let found = sketcher.sentences(text, sentences);
                let hashes = || found.iter().map(|sentence| sentence.hash).collect();
                (!found.is_empty()).then(|| MethodSketch::Sentences(hashes()))
            }
            _ => None,
        };
        if kept == Kept::Sketch && by_sentences.is_some() {
            // Sentences are normalised by themselves: nothing of the whole text is needed.
            return Prepared { sketch: by_sentences.unwrap_or_default(), ..Prepared::default() };
        }
        let normal = self.by.normalizer().apply(text, normalize);
        let own = match kept {
            Kept::Sketch | Kept::Nothing | Kept::Outline => Normalized::NotKept,
            _ if std::ptr::eq(normal, text) => Normalized::Given,
            _ => Normalized::Other(normal.into()),
        };
        let mut material = Material { text: own, features: None };
        let features = (kept == Kept::Features).then_some(&mut material.features);
        let outlines = kept == Kept::Outline;
        let mut outline = Outline::default();
        let sketch = match &self.sketcher {
            Sketcher::None => {
                if outlines && normal.len() <= BOUNDED {
                    outline = Outline::of(self.cut(normal, extract, None).hashes(hashes));
                }
                None
            }
            Sketcher::Fingerprint => {
                let is_cut = match kept {
                    Kept::Features => normal.len() <= LONG,
                    Kept::Outline => normal.len() <= OUTLINED,
                    _ => false,
                };
                let sums = if is_cut {
                    let cut = self.cut(normal, extract, features);
                    if outlines {
                        outline = Outline::of(cut.hashes(hashes));
                    }
                    self.by.sums_of(cut)
                } else {
                    self.by.sums(normal, extract)
                };
                sums.map(|sums| MethodSketch::Fingerprint(sums.fingerprint()))
            }
            Sketcher::Signature { hasher, bands, rows } => {
                let cut = self.cut(normal, extract, features);
                // In text order, and often more than once: a signature is the same, and sorting costs more than it saves.
                let all = cut.hashes(hashes);
                if outlines {
                    outline = Outline::of(all);
                }
                match all {
                    many if many.len() > MANY => {
                        let set = Features::from(cut).into_set();
                        hasher.signature(&set, positions);
                    }
                    few => hasher.signature(few, positions),
                }
                band_keys(*bands, *rows, positions, hashes);
                let positions: &[u32] = if outlines { &[] } else { positions };
                let (positions, keys) = (positions.into(), hashes.as_slice().into());
                (!hashes.is_empty()).then_some(MethodSketch::Signature { positions, keys })
            }
            Sketcher::Sentences(_) => by_sentences,
            Sketcher::Set => {
                let set = Features::from(self.cut(normal, extract, features)).into_set();
                if outlines {
                    outline = Outline::of(&set);
                }
                (!set.is_empty()).then(|| MethodSketch::Set(set.into()))
            }
        };
        let is_empty = normal.is_empty();
        let is_short = sketch.is_none() && !is_empty && !matches!(self.sketcher, Sketcher::None);
        let sketch = sketch.unwrap_or_default();
        Prepared { exact: exact(normal), is_empty, is_short, sketch, material, outline }
    }

    /// The features of a normalised text.
    fn cut<'a>(
        &self,
        text: &str,
        scratch: &'a mut ExtractScratch,
        kept: Option<&mut Option<Features>>,
    ) -> Cut<'a> {
        let cut = self.by.extractor().cut(text, scratch);
        if let Some(kept) = kept {
            *kept = Some(cut.into());
        }
        cut
    }
}
