//! A saved index, opened by what its file says of itself.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use simhash_index::IndexError;
use simhash_sketch::minhash::{MinHashOptions, Scheme};
use simhash_sketch::{ExtractorOptions, FingerprinterOptions};
use simhash_store::directory::Directory;
use simhash_store::{FileError, Input, head, saved};
use simhash_text::sentence::SentenceHash;

use super::directory::TRIES;
use super::{LiveIndex, LiveMethod, LiveOptions, OpenOptions};
use crate::SPECIFICATION;
use crate::error::DedupError;

/// Options by the words that recipes begin them with, and what their absence there means.
const WORDS: [(&str, &str, &str); 15] = [
    ("minhash", "scheme", ""),
    ("seed", "seed", ""),
    ("minLength", "minLength", ""),
    ("hash", "hash", ""),
    ("features", "features", ""),
    ("ngram", "ngram", "that of the features"),
    ("weighting", "weighting", ""),
    ("topK", "topK", "all"),
    ("segmenter", "segmenter", "own"),
    ("no", "hmm", "true"),
    ("dictionary", "dictionary", "none"),
    ("stopWords", "stopWords", "none"),
    ("idf", "idf", "none"),
    ("minFeatures", "minFeatures", ""),
    ("normalize", "normalize", ""),
];

/// What to say of a file that is something else.
const ADVICE: &str = "name a file that holds one";

impl LiveIndex {
    /// Opens a saved index of any method with the options that it states: a file, or a folder to be read only. Of dictionary, stop
    /// words and idf table it has digests alone: those that it was made with are given in `words`.
    ///
    /// # Errors
    /// As [`LiveIndex::open_file`] and [`LiveIndex::open_directory`]: [`FileError::Mismatch`] where `words` are others.
    pub fn open_described(
        path: &Path,
        words: &ExtractorOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let options = LiveOptions::of_saved(path, words, cancel)?;
        if path.is_dir() {
            let how = OpenOptions { create: false, read_only: true, ..OpenOptions::default() };
            return Self::open_directory(path, &options, how, cancel);
        }
        Self::open_file(path, &options, cancel)
    }

    /// What makes sketches of texts, in words, as its files say it.
    pub fn made_by(&self) -> String {
        self.options.recipe(self.fingerprinter())
    }
}

impl LiveOptions {
    /// What must be known to open a saved index, which is a file or a folder.
    ///
    /// # Errors
    /// As [`LiveOptions::of_file`].
    pub fn of_saved(
        path: &Path,
        words: &ExtractorOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        if !path.is_dir() {
            return Self::of_file(path, words, cancel);
        }
        for _ in 0..TRIES {
            let (directory, manifest) = Directory::look(path).map_err(IndexError::from)?;
            let checkpoint = directory.checkpoint(manifest.checkpoint);
            match Self::of_file(&checkpoint, words, cancel) {
                // Its writer has replaced it meanwhile.
                Err(_) if directory.manifest().ok().flatten().as_ref() != Some(&manifest) => {}
                read => return read,
            }
        }
        Err(DedupError::Stopped)
    }

    /// What must be known to open a saved index, from the head of its file: method, fingerprinter, and what makes its sketches.
    ///
    /// # Errors
    /// [`FileError`]s in [`DedupError::Index`], [`DedupError::Cancelled`].
    pub fn of_file(
        path: &Path,
        words: &ExtractorOptions,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let head = saved::open(path, cancel, |input, length| -> Result<_, IndexError> {
            Ok(Input::new(input, length).about(ADVICE)?)
        });
        let (kind, recipe) = head.map_err(|error| error.in_file(path))?;
        Self::described(&kind, &recipe, words).map_err(|error| match error {
            DedupError::Index(error) => error.in_file(path).into(),
            other => other,
        })
    }

    /// The options of an index of this method that is saved with this recipe.
    ///
    /// # Errors
    /// [`FileError::Mismatch`] where this release knows no such options, or follows another version of the specification.
    pub(crate) fn described(
        method: &str,
        recipe: &str,
        words: &ExtractorOptions,
    ) -> Result<Self, DedupError> {
        let (version, _) = head::version(recipe);
        if version != SPECIFICATION {
            let (saved, given) = (version.to_string(), SPECIFICATION.to_string());
            let mismatch = FileError::mismatch(head::SPECIFICATION, saved, given);
            return Err(IndexError::from(mismatch).into());
        }
        Self::of_recipe(method, recipe, words).ok_or_else(|| {
            let known = "a method and options that this release knows";
            let mismatch = FileError::mismatch("method", format!("{method}: {recipe}"), known);
            IndexError::from(mismatch).into()
        })
    }

    /// The options of a recipe, which is what an index of this method is saved with.
    fn of_recipe(method: &str, recipe: &str, words: &ExtractorOptions) -> Option<Self> {
        let (_, recipe) = head::version(recipe);
        let (method, features) = match method {
            "simhash" => (LiveMethod::simhash(), recipe),
            "minhash" => {
                let (own, features) = recipe.strip_prefix("minhash ")?.split_once("; ")?;
                let (scheme, seed) = own.split_once(", seed ")?;
                let (scheme, seed) = (Scheme::named(scheme).ok()?, seed.parse().ok()?);
                let mut method = LiveMethod::minhash();
                if let LiveMethod::MinHash { minhash, .. } = &mut method {
                    *minhash = MinHashOptions { scheme, seed, ..minhash.clone() };
                }
                (method, features)
            }
            "sentences" => {
                let (own, features) = recipe.strip_prefix("minLength ")?.split_once("; ")?;
                let (shortest, own) = own.split_once(", hash ")?;
                let named = own.split_once(", ")?.0;
                let mut method = LiveMethod::sentences();
                if let LiveMethod::Sentences { min_length, hash, .. } = &mut method {
                    *min_length = shortest.parse().ok()?;
                    let hashes = [SentenceHash::Xxh3, SentenceHash::Md5];
                    *hash = hashes.into_iter().find(|hash| hash.name() == named)?;
                }
                (method, features)
            }
            "exact" => (LiveMethod::Exact, recipe.strip_prefix("equal texts; ")?),
            _ => return None,
        };
        let fingerprinter = FingerprinterOptions::of_recipe(features, words)?;
        Some(Self { method, fingerprinter, ..Self::default() })
    }
}

/// A refusal of a whole recipe, by the first option that differs.
pub(super) fn by_option(error: FileError) -> FileError {
    let FileError::Mismatch { path, option, saved, given } = error else { return error };
    let differing = WORDS.iter().find_map(|&(word, option, absent)| {
        let [was, is] = [&saved, &given].map(|recipe| value(recipe, word));
        (was != is).then(|| {
            let said = |value: Option<&str>| match value {
                None => absent.to_owned(),
                Some("hmm") => "false".to_owned(),
                Some(value) => value.to_owned(),
            };
            FileError::mismatch(option, said(was), said(is)).in_file(&path)
        })
    });
    differing.unwrap_or(FileError::Mismatch { path, option, saved, given })
}

/// What a recipe says behind a word.
fn value<'a>(recipe: &'a str, word: &str) -> Option<&'a str> {
    let mut parts = recipe.split("; ").flat_map(|part| part.split(", "));
    parts.find_map(|part| part.strip_prefix(word)?.strip_prefix(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simhash_sketch::Fingerprinter;
    use simhash_text::{Normalizer, Segmenter, TopK, Unit, Weighting};

    #[test]
    fn the_options_of_a_recipe_have_that_recipe() {
        let jieba = ExtractorOptions { unit: Unit::Jieba, ..ExtractorOptions::default() };
        let tfidf = Some(Weighting::TfIdf);
        let extracts = [
            ExtractorOptions::default(),
            ExtractorOptions { ngram: Some(3), ..ExtractorOptions::default() },
            ExtractorOptions {
                unit: Unit::Words,
                weighting: Some(Weighting::Binary),
                ..ExtractorOptions::default()
            },
            ExtractorOptions { weighting: tfidf, top_k: Some(TopK::Half), ..jieba.clone() },
            ExtractorOptions { top_k: Some(TopK::Count(9)), hmm: Some(false), ..jieba.clone() },
            ExtractorOptions {
                weighting: Some(Weighting::Count),
                segmenter: Segmenter::JiebaRs,
                ..jieba
            },
        ];
        let mut methods = vec![LiveMethod::simhash(), LiveMethod::minhash(), LiveMethod::Exact];
        for (least, own) in [(10, SentenceHash::Xxh3), (0, SentenceHash::Md5)] {
            let mut method = LiveMethod::sentences();
            if let LiveMethod::Sentences { min_length, hash, .. } = &mut method {
                (*min_length, *hash) = (least, own);
            }
            methods.push(method);
        }
        let minhash = MinHashOptions {
            scheme: Scheme::OnePermutation,
            seed: u64::MAX,
            ..MinHashOptions::default()
        };
        let (plan, signatures, bucket_limit) = (None, None, 7);
        methods.push(LiveMethod::MinHash { plan, minhash, signatures, bucket_limit });
        for extract in extracts {
            for (normalize, min_features) in [
                (Normalizer::default(), None),
                (Normalizer::web(), Some(0)),
                (Normalizer::OFF, Some(12)),
            ] {
                let extract = extract.clone();
                let fingerprinter = FingerprinterOptions { normalize, extract, min_features };
                let by = Fingerprinter::new(&fingerprinter).unwrap();
                for method in &methods {
                    let (method, fingerprinter) = (method.clone(), fingerprinter.clone());
                    let options = LiveOptions { method, fingerprinter, ..LiveOptions::default() };
                    let recipe = options.recipe(&by);
                    let words = ExtractorOptions::default();
                    let read = LiveOptions::of_recipe(options.method.name(), &recipe, &words);
                    let read = read.unwrap_or_else(|| panic!("{recipe}"));
                    let made = Fingerprinter::new(&read.fingerprinter).unwrap();
                    assert_eq!(read.recipe(&made), recipe);
                    assert_eq!(read.method.name(), options.method.name());
                }
            }
        }
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let named =
            |saved: &str, given: &str| match by_option(FileError::mismatch("all", saved, given)) {
                FileError::Mismatch { option, saved, given, .. } => (option, saved, given),
                other => panic!("{other}"),
            };
        let both = |option, saved: &str, given: &str| (option, saved.to_owned(), given.to_owned());
        let chars = "minhash fast-similarity, seed 0; features chars, ngram 3, minFeatures 12, normalize nfkc";
        for (given, expected) in [
            (chars.replace("seed 0", "seed 1"), both("seed", "0", "1")),
            (chars.replace("chars, ngram 3", "auto"), both("features", "chars", "auto")),
            (chars.replace(", ngram 3", ""), both("ngram", "3", "that of the features")),
            (chars.replace("nfkc", "nfkc + case"), both("normalize", "nfkc", "nfkc + case")),
            (chars.replace(", minF", ", no hmm, minF"), both("hmm", "true", "false")),
            (chars.replace(", minF", ", dictionary 9a, minF"), both("dictionary", "none", "9a")),
            ("other".to_owned(), both("scheme", "fast-similarity", "")),
        ] {
            assert_eq!(named(chars, &given), expected);
        }
        // Two whole recipes where no word of them is known.
        assert_eq!(named("a", "b"), both("all", "a", "b"));
    }

    #[test]
    fn other_words_are_no_recipe() {
        let words = ExtractorOptions::default();
        for (method, recipe) in [
            ("simhash", ""),
            ("simhash", "features auto, weighting none"),
            ("minhash", "features auto, weighting count, minFeatures 4, normalize nothing"),
            ("exact", "features auto, weighting count, minFeatures 4, normalize nothing"),
            ("sentences", "minLength x, hash xxh3, normalize nothing; features auto"),
            ("band", "equal texts; features auto"),
        ] {
            assert!(LiveOptions::of_recipe(method, recipe, &words).is_none(), "{recipe}");
        }
    }
}
