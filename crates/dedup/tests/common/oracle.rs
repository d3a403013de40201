//! The documented rule, written down naively: no index, no caches, no batches, all pairs.

use simhash_dedup::{Cluster, Decision, DedupOptions, Keep, Key, Method};
use simhash_index::bands::band_keys;
use simhash_sketch::minhash::{MinHashOptions, MinHasher};
use simhash_sketch::sentences::MIN_LENGTH;
use simhash_sketch::{ALMOST_ONE, Fingerprinter, Numbers, Scratch, Unit};
use simhash_text::sentence::{Longest, SentenceOptions, SentenceScratch};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Everything the rule looks at in a document.
struct Known {
    /// Of bands or sentences.
    keys: Vec<u64>,
    normalised: String,
    fingerprint: Option<u64>,
    shingles: BTreeSet<u64>,
    /// Of five characters, where the text is long and Chinese or of numbers and features are chosen by script.
    long: BTreeSet<String>,
}

/// Whether features are chosen by script: neither named nor given a length.
fn by_script(options: &DedupOptions) -> bool {
    let extract = &options.fingerprinter.extract;
    extract.unit == Unit::Auto && extract.ngram.is_none()
}

fn fives(text: &str) -> BTreeSet<String> {
    let characters: Vec<char> = text.chars().collect();
    let ideographs = characters.iter().filter(|&&c| c >= '\u{3000}').count();
    let digits = characters.iter().filter(|c| c.is_ascii_digit()).count();
    let windows = characters.windows(5).map(|window| window.iter().collect());
    if ideographs + 2 * digits < 400 { BTreeSet::new() } else { windows.collect() }
}

fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let (both, either) = (a.intersection(b).count(), a.union(b).count());
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

impl Known {
    fn of(
        text: &str,
        options: &DedupOptions,
        fingerprinter: &Fingerprinter,
        scratch: &mut Scratch,
    ) -> Self {
        let fingerprint = fingerprinter.sketch(text, scratch).fingerprint;
        let mut shingles = Vec::new();
        fingerprinter.shingles(text, scratch, &mut shingles);
        let normalised = fingerprinter.normalize(text, scratch).to_owned();
        Self {
            keys: keys(text, &shingles, options.method),
            long: if by_script(options) { fives(&normalised) } else { BTreeSet::new() },
            normalised,
            fingerprint,
            shingles: shingles.into_iter().collect(),
        }
    }

    fn equals(&self, other: &Self) -> bool {
        self.normalised == other.normalised && !self.normalised.is_empty()
    }

    fn distance(&self, other: &Self) -> Option<u32> {
        Some((self.fingerprint? ^ other.fingerprint?).count_ones())
    }

    fn similarity(&self, other: &Self) -> f64 {
        let mut similarity = jaccard(&self.shingles, &other.shingles);
        if !self.long.is_empty() && !other.long.is_empty() {
            similarity = similarity.min(jaccard(&self.long, &other.long));
        }
        let [a, b] = [self, other].map(|known| Numbers::of(&known.normalised));
        (similarity * a.factor(b)).min(ALMOST_ONE)
    }

    /// The rank of a candidate.
    fn rank(&self, other: &Self, method: Method, least: Option<f64>) -> Option<u32> {
        match method {
            Method::SimHash { max_distance } => {
                self.distance(other).filter(|distance| *distance <= max_distance)
            }
            Method::MinHash { .. } | Method::Sentences { .. } => {
                let most = match method {
                    Method::Sentences { count } => count,
                    _ => self.keys.len(),
                };
                let shared = self.keys.iter().filter(|key| other.keys.contains(key)).count();
                (shared > 0).then(|| (most - shared) as u32)
            }
            Method::BruteForce => {
                let similarity = jaccard(&self.shingles, &other.shingles);
                // As many steps as a rank has.
                #[expect(clippy::cast_sign_loss, reason = "a similarity is at most 1")]
                let rank = ((1.0 - similarity) * f64::from(u32::MAX)) as u32;
                (similarity >= least.unwrap_or(0.8) && similarity > 0.0).then_some(rank)
            }
            Method::Exact => None,
            other => panic!("no oracle for {other:?}"),
        }
    }
}

/// The keys of a document's bands, or its longest sentences.
fn keys(text: &str, shingles: &[u64], method: Method) -> Vec<u64> {
    match method {
        Method::MinHash { plan } => {
            let plan = plan.unwrap();
            let hashes = plan.hashes();
            let options = MinHashOptions { hashes, ..MinHashOptions::default() };
            let (mut signature, mut keys) = (Vec::new(), Vec::new());
            MinHasher::new(&options).unwrap().signature(shingles, &mut signature);
            band_keys(plan, &signature, &mut keys);
            keys
        }
        Method::Sentences { count } => {
            let options =
                SentenceOptions { count, min_length: MIN_LENGTH, ..SentenceOptions::default() };
            let found = &mut SentenceScratch::default();
            Longest::new(&options).of(text, found).iter().map(|one| one.hash).collect()
        }
        _ => Vec::new(),
    }
}

/// A number of a test: all of them are whole.
fn whole(key: &Key) -> i128 {
    match key {
        Key::Number(number) => *number as i128,
        Key::Integer(number) => number.to_string().parse().unwrap(),
        Key::Text(_) | Key::Missing => panic!("no number"),
    }
}

/// The best first, as the keep rule says.
fn order(texts: &[&str], keys: &[Key], keep: &Keep) -> Vec<usize> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    match keep {
        Keep::First | Keep::Chosen => {}
        Keep::Last => order.reverse(),
        Keep::Longest => {
            order.sort_by_key(|&place| std::cmp::Reverse(texts[place].chars().count()));
        }
        Keep::Field { largest, .. } => order.sort_by(|&a, &b| {
            let compared = match (keys.get(a), keys.get(b)) {
                (Some(Key::Text(a)), Some(Key::Text(b))) => a.cmp(b),
                (Some(Key::Number(_) | Key::Integer(_)), Some(Key::Text(_))) => Ordering::Less,
                (Some(Key::Text(_)), Some(Key::Number(_) | Key::Integer(_))) => Ordering::Greater,
                (
                    Some(a @ (Key::Number(_) | Key::Integer(_))),
                    Some(b @ (Key::Number(_) | Key::Integer(_))),
                ) => whole(a).cmp(&whole(b)),
                (None | Some(Key::Missing), None | Some(Key::Missing)) => return Ordering::Equal,
                (None | Some(Key::Missing), _) => return Ordering::Greater,
                (_, None | Some(Key::Missing)) => return Ordering::Less,
            };
            if *largest { compared.reverse() } else { compared }
        }),
    }
    order
}

/// The decisions, and how many lists of candidates were cut.
pub(crate) fn oracle(texts: &[&str], options: &DedupOptions) -> (Vec<Decision>, u64) {
    oracle_keyed(texts, &[], options)
}

/// The same of documents with keys.
pub(crate) fn oracle_keyed(
    texts: &[&str],
    keys: &[Key],
    options: &DedupOptions,
) -> (Vec<Decision>, u64) {
    let fingerprinter = Fingerprinter::new(&options.fingerprinter).unwrap();
    let scratch = &mut Scratch::default();
    let known: Vec<Known> =
        texts.iter().map(|text| Known::of(text, options, &fingerprinter, scratch)).collect();
    let order = order(texts, keys, &options.keep);
    let (originals, truncated) = match options.cluster {
        Cluster::Representative => represent(&known, &order, options),
        Cluster::Components => connect(&known, &order, options),
    };
    let has_distance = matches!(options.method, Method::SimHash { .. });
    let decisions = (0..texts.len()).map(|place| {
        let index = place as u64;
        let of = originals[place];
        if of == place {
            return Decision { index, duplicate_of: None, similarity: None, distance: None };
        }
        let (own, other) = (&known[place], &known[of]);
        let (similarity, distance) = if own.equals(other) {
            (Some(1.0), Some(0))
        } else {
            let verified = options.min_similarity.map(|_| own.similarity(other));
            (verified, own.distance(other))
        };
        let distance = distance.filter(|_| has_distance);
        Decision { index, duplicate_of: Some(of as u64), similarity, distance }
    });
    (decisions.collect(), truncated)
}

/// The candidates of a document among others, best first, and whether the list was cut.
fn candidates(
    known: &[Known],
    place: usize,
    others: &[usize],
    options: &DedupOptions,
) -> (Vec<usize>, bool) {
    let mut near: Vec<(u32, usize)> = others
        .iter()
        .filter_map(|&other| {
            Some((known[place].rank(&known[other], options.method, options.min_similarity)?, other))
        })
        .collect();
    // Stable: of equal rank the one that was taken in first.
    near.sort_by_key(|(rank, _)| *rank);
    let cut = near.len() > options.max_verifications;
    near.truncate(options.max_verifications);
    (near.into_iter().map(|(_, other)| other).collect(), cut)
}

/// Each document in order against those kept before it; by document, whom it duplicates.
fn represent(known: &[Known], order: &[usize], options: &DedupOptions) -> (Vec<usize>, u64) {
    let mut originals: Vec<usize> = (0..known.len()).collect();
    let (mut kept, mut truncated) = (Vec::<usize>::new(), 0);
    for &place in order {
        let own = &known[place];
        if own.normalised.is_empty() {
            continue;
        }
        let mut of = kept.iter().copied().find(|&other| own.equals(&known[other]));
        if of.is_none() {
            let (near, cut) = candidates(known, place, &kept, options);
            let Some(least) = options.min_similarity else {
                match near.first() {
                    Some(&nearest) => originals[place] = nearest,
                    None => kept.push(place),
                }
                continue;
            };
            truncated += u64::from(cut);
            let mut best: Option<(f64, usize)> = None;
            for other in near {
                let similarity = own.similarity(&known[other]);
                let age = |place: usize| kept.iter().position(|&kept| kept == place);
                let better = best.is_none_or(|(most, oldest)| {
                    similarity > most || (similarity >= most && age(other) < age(oldest))
                });
                if similarity >= least && better {
                    best = Some((similarity, other));
                }
            }
            of = best.map(|(_, other)| other);
        }
        match of {
            Some(of) => originals[place] = of,
            None => kept.push(place),
        }
    }
    (originals, truncated)
}

/// All matches joined; by document, the best of what it is connected with.
fn connect(known: &[Known], order: &[usize], options: &DedupOptions) -> (Vec<usize>, u64) {
    let mut label: Vec<usize> = (0..known.len()).collect();
    let mut join = |a: usize, b: usize| {
        let (from, to) = (label[a], label[b]);
        label.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
    };
    let (mut taken, mut truncated) = (Vec::<usize>::new(), 0);
    for (place, own) in known.iter().enumerate() {
        if own.normalised.is_empty() {
            continue;
        }
        if let Some(&equal) = taken.iter().find(|&&other| own.equals(&known[other])) {
            join(place, equal);
            continue;
        }
        let (near, cut) = candidates(known, place, &taken, options);
        truncated += u64::from(cut);
        for other in near {
            if options.min_similarity.is_none_or(|least| own.similarity(&known[other]) >= least) {
                join(place, other);
            }
        }
        taken.push(place);
    }
    let best = |label_of: usize| *order.iter().find(|&&place| label[place] == label_of).unwrap();
    ((0..known.len()).map(|place| best(label[place])).collect(), truncated)
}
