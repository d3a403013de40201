//! The documented rule, written down naively: no index, no caches, no batches, all pairs, all limits.

use simhash_dedup::{Cluster, Decision, DedupOptions, Keep, Key, Method};
use simhash_sketch::minhash::{MinHashOptions, MinHasher};
use simhash_sketch::sentences::MIN_LENGTH;
use simhash_sketch::{ALMOST_ONE, Fingerprinter, Numbers, Scratch, Unit};
use simhash_text::sentence::{Longest, SentenceOptions, SentenceScratch};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Everything the rule looks at in a document.
struct Known {
    /// Of its sentences.
    keys: Vec<u64>,
    signature: Vec<u32>,
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
            keys: sentences(text, options.method),
            signature: signature(&shingles, options.method),
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

    /// The rank of a candidate, by methods without keys.
    fn rank(&self, other: &Self, method: Method, least: Option<f64>) -> Option<u32> {
        match method {
            Method::SimHash { max_distance } => {
                self.distance(other).filter(|distance| *distance <= max_distance)
            }
            Method::BruteForce => {
                let similarity = jaccard(&self.shingles, &other.shingles);
                // As many steps as a rank has.
                #[expect(clippy::cast_sign_loss, reason = "a similarity is at most 1")]
                let rank = ((1.0 - similarity) * f64::from(u32::MAX)) as u32;
                (similarity >= least.unwrap_or(0.8) && similarity > 0.0).then_some(rank)
            }
            _ => None,
        }
    }
}

fn signature(shingles: &[u64], method: Method) -> Vec<u32> {
    let mut signature = Vec::new();
    if let Method::MinHash { plan } = method {
        let hashes = plan.unwrap().hashes();
        let options = MinHashOptions { hashes, ..MinHashOptions::default() };
        MinHasher::new(&options).unwrap().signature(shingles, &mut signature);
    }
    signature
}

/// The longest sentences.
fn sentences(text: &str, method: Method) -> Vec<u64> {
    let Method::Sentences { count } = method else { return Vec::new() };
    let options = SentenceOptions { count, min_length: MIN_LENGTH, ..SentenceOptions::default() };
    let found = &mut SentenceScratch::default();
    Longest::new(&options).of(text, found).iter().map(|one| one.hash).collect()
}

/// What is in the buckets: the positions of a band and those behind it, by the number of the band.
type Buckets = BTreeMap<(usize, Vec<u32>), Vec<usize>>;

/// A text's candidates by its bands, with their ranks, and whether a bucket was full. Puts it into the buckets.
fn by_bands(
    text: usize,
    signature: &[u32],
    buckets: &mut Buckets,
    options: &DedupOptions,
) -> (Vec<(u32, usize)>, bool) {
    let Method::MinHash { plan: Some(plan) } = options.method else { return (Vec::new(), false) };
    let mut cut = false;
    // By text: in how many buckets it was seen, in how many with room.
    let mut seen: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for band in 0..plan.bands {
        for level in 0..=plan.bands * plan.rows - plan.rows {
            if level > 8 || signature.is_empty() {
                break;
            }
            let positions: Vec<u32> = (0..plan.rows + level)
                .map(|at| signature[(band * plan.rows + at) % signature.len()])
                .collect();
            let bucket = buckets.entry((band, positions)).or_default();
            let holds = if level == 0 { options.max_bucket } else { options.max_bucket / 8 };
            let has_room = bucket.len() < holds.max(1);
            for &other in &*bucket {
                let (all, with_room) = seen.entry(other).or_default();
                *all += 1;
                *with_room += usize::from(has_room);
            }
            if has_room {
                bucket.push(text);
                break;
            }
            cut = true;
        }
    }
    let rank = |(all, with_room): (usize, usize)| {
        (plan.bands - with_room) * (plan.bands + 1) + plan.bands - all
    };
    (seen.into_iter().map(|(other, counts)| (rank(counts) as u32, other)).collect(), cut)
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
    let (graph, originals) = match options.cluster {
        Cluster::Representative => {
            let graph = Graph::new(&known, &order, options);
            let originals = represent(&known, &graph, &order);
            (graph, originals)
        }
        Cluster::Components => {
            let input: Vec<usize> = (0..known.len()).collect();
            let graph = Graph::new(&known, &input, options);
            let originals = connect(&known, &graph, &order);
            (graph, originals)
        }
    };
    let has_distance = matches!(options.method, Method::SimHash { .. });
    let decisions = (0..texts.len()).map(|place| {
        let index = place as u64;
        let of = originals[place];
        let truncated = graph.text_of(place).is_some_and(|text| graph.cut[text]);
        let fingerprint = None;
        if of == place {
            let (duplicate_of, similarity, distance) = (None, None, None);
            return Decision { index, duplicate_of, similarity, distance, truncated, fingerprint };
        }
        let (own, other) = (&known[place], &known[of]);
        let (similarity, distance) = if own.equals(other) {
            (Some(1.0), Some(0))
        } else {
            let verified = options.min_similarity.map(|_| own.similarity(other));
            (verified, own.distance(other))
        };
        let distance = distance.filter(|_| has_distance);
        let duplicate_of = Some(of as u64);
        Decision { index, duplicate_of, similarity, distance, truncated, fingerprint }
    });
    (decisions.collect(), graph.cut.iter().filter(|&&cut| cut).count() as u64)
}

/// Two documents, how they relate, and whether a limit cut the candidates of the later one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) similarity: Option<f64>,
    pub(crate) distance: Option<u32>,
    pub(crate) truncated: bool,
}

/// Every edge of documents taken in input order; each copy with the first of its text.
pub(crate) fn oracle_pairs(texts: &[&str], options: &DedupOptions) -> Vec<Pair> {
    let fingerprinter = Fingerprinter::new(&options.fingerprinter).unwrap();
    let scratch = &mut Scratch::default();
    let known: Vec<Known> =
        texts.iter().map(|text| Known::of(text, options, &fingerprinter, scratch)).collect();
    let graph = Graph::new(&known, &(0..texts.len()).collect::<Vec<_>>(), options);
    let has_distance = matches!(options.method, Method::SimHash { .. });
    let mut pairs = Vec::new();
    for b in 0..texts.len() {
        let Some(text) = graph.text_of(b) else { continue };
        let truncated = graph.cut[text];
        let pair = |a, similarity, distance: Option<u32>| {
            let distance = distance.filter(|_| has_distance);
            Pair { a, b, similarity, distance, truncated }
        };
        if graph.first[text] != b {
            pairs.push(pair(graph.first[text], Some(1.0), Some(0)));
            continue;
        }
        for other in (0..text).filter(|&other| graph.edges.contains_key(&(text, other))) {
            let a = graph.first[other];
            let similarity = options.min_similarity.map(|_| known[a].similarity(&known[b]));
            pairs.push(pair(a, similarity, known[a].distance(&known[b])));
        }
    }
    pairs
}

/// The different texts, and which of them are edges.
struct Graph {
    /// By document.
    texts: Vec<Option<usize>>,
    /// By text: its first document.
    first: Vec<usize>,
    /// By text: a limit cut its candidates.
    cut: Vec<bool>,
    /// By two texts: how good the edge is, the larger the better.
    edges: BTreeMap<(usize, usize), f64>,
}

impl Graph {
    /// Of documents that are taken in this order.
    fn new(known: &[Known], order: &[usize], options: &DedupOptions) -> Self {
        let mut first: Vec<usize> = Vec::new();
        let mut texts = vec![None; known.len()];
        for &place in order {
            let own = &known[place];
            if own.normalised.is_empty() {
                continue;
            }
            let equal = first.iter().position(|&other| known[other].equals(own));
            if equal.is_none() {
                first.push(place);
            }
            texts[place] = equal.or(Some(first.len() - 1));
        }
        let mut graph = Self { texts, cut: Vec::new(), edges: BTreeMap::new(), first };
        let mut buckets = Buckets::new();
        for text in 0..graph.first.len() {
            let (list, cut) = graph.list(text, known, &mut buckets, options);
            graph.cut.push(cut);
            for (rank, other) in list {
                let quality = match options.min_similarity {
                    None => -f64::from(rank),
                    Some(least) => {
                        let of = |text: usize| &known[graph.first[text]];
                        let similarity = of(text).similarity(of(other));
                        if similarity < least {
                            continue;
                        }
                        similarity
                    }
                };
                graph.edges.insert((text, other), quality);
                graph.edges.insert((other, text), quality);
            }
        }
        graph
    }

    fn text_of(&self, document: usize) -> Option<usize> {
        self.texts[document]
    }

    /// The candidates of a text among all texts before it, with their ranks, and whether a limit cut them.
    fn list(
        &self,
        text: usize,
        known: &[Known],
        buckets: &mut Buckets,
        options: &DedupOptions,
    ) -> (Vec<(u32, usize)>, bool) {
        let own = &known[self.first[text]];
        let of = |text: usize| &known[self.first[text]];
        let mut cut = false;
        let mut near: Vec<(u32, usize)> = match options.method {
            Method::MinHash { .. } => {
                let (near, full) = by_bands(text, &own.signature, buckets, options);
                cut = full;
                near
            }
            Method::Sentences { count: most } => {
                let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
                for key in &own.keys {
                    let has = (0..text).filter(|&other| of(other).keys.contains(key));
                    let has: Vec<usize> = has.collect();
                    cut |= has.len() > options.max_bucket;
                    for &other in has.iter().take(options.max_bucket) {
                        *seen.entry(other).or_default() += 1;
                    }
                }
                seen.into_iter().map(|(other, keys)| ((most - keys) as u32, other)).collect()
            }
            method => (0..text)
                .filter_map(|other| {
                    Some((own.rank(of(other), method, options.min_similarity)?, other))
                })
                .collect(),
        };
        let most = options.max_verifications;
        if near.len() > most {
            cut = true;
            near.sort_unstable_by_key(|&(_, other)| other);
            let mut rest = near.split_off(most / 4);
            rest.sort_unstable();
            near.extend(&rest[..most - most / 4]);
        }
        (near, cut)
    }
}

/// Each document in the order of keeping; by document, whom it duplicates.
fn represent(known: &[Known], graph: &Graph, order: &[usize]) -> Vec<usize> {
    let mut originals: Vec<usize> = (0..known.len()).collect();
    // Text and document.
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for &place in order {
        let Some(text) = graph.text_of(place) else { continue };
        if let Some(&(_, of)) = kept.iter().find(|&&(other, _)| other == text) {
            originals[place] = of;
            continue;
        }
        let mut best: Option<(f64, usize, usize)> = None;
        for &(other, of) in &kept {
            let Some(&quality) = graph.edges.get(&(text, other)) else { continue };
            let better = best.is_none_or(|(most, lowest, _)| {
                quality > most || (quality >= most && other < lowest)
            });
            if better {
                best = Some((quality, other, of));
            }
        }
        match best {
            Some((_, _, of)) => originals[place] = of,
            None => kept.push((text, place)),
        }
    }
    originals
}

/// All edges joined; by document, the best of what it is connected with.
fn connect(known: &[Known], graph: &Graph, order: &[usize]) -> Vec<usize> {
    let mut label: Vec<usize> = (0..graph.first.len()).collect();
    for &(a, b) in graph.edges.keys() {
        let (from, to) = (label[a], label[b]);
        label.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
    }
    let label_of = |place: usize| graph.text_of(place).map(|text| label[text]);
    let best = |place: usize| match label_of(place) {
        None => place,
        own => *order.iter().find(|&&other| label_of(other) == own).unwrap(),
    };
    (0..known.len()).map(best).collect()
}
