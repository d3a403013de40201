//! Sorted columns against the live engine: the same lists, then the same decisions.

use super::candidates::{Candidates, Listed, Sketches, candidates};
use super::groups::Hashes;
use super::order::Order;
use super::{Columns, Groups, bands::Bands};
use crate::decide::{Comparer, Texts};
use crate::deduper::{Decision, Deduper};
use crate::error::DedupError;
use crate::keep::Key;
use crate::method::{self, Banding, Found, Method, MinHash, Sieve};
use crate::options::{Cluster, DedupOptions, Keep, Measure};
use crate::report::Summary;
use proptest::prelude::*;
use simhash_index::bands::BandPlan;
use simhash_sketch::{MethodSketch, Prepared, Scratch};
use simhash_store::Room;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The list of each text that has one, and who is truncated.
type Lists = BTreeMap<u32, (Vec<(u32, u32)>, bool)>;

#[derive(Debug)]
struct Given(Vec<String>);

impl Texts for Given {
    fn with_text(&self, number: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        read(&self.0[number as usize]);
        Ok(())
    }
}

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

/// Documents as they leave the first stage.
fn prepared(comparer: &Comparer, texts: &[String]) -> Vec<Prepared> {
    texts.iter().map(|text| comparer.outline(text, &mut Scratch::default())).collect()
}

fn masked(sketch: &MethodSketch, mask: u64) -> MethodSketch {
    match sketch {
        MethodSketch::Signature { positions, keys } => MethodSketch::Signature {
            positions: positions.clone(),
            keys: keys.iter().map(|key| key & mask).collect(),
        },
        other => other.clone(),
    }
}

fn entry(found: &Found) -> Option<(Vec<(u32, u32)>, bool)> {
    let near: Vec<(u32, u32)> =
        found.candidates.iter().map(|near| (near.number, near.rank)).collect();
    (found.cut || !near.is_empty()).then_some((near, found.cut))
}

/// By the live table or index, to which texts are added one by one or in batches.
fn live(
    mut sieve: Box<dyn Sieve>,
    texts: &Given,
    groups: &Groups,
    options: &DedupOptions,
    mask: u64,
    batch: usize,
) -> Lists {
    let comparer = Comparer::new(options, sieve.sketcher()).unwrap();
    let firsts: Vec<u32> = (0..groups.len()).collect();
    let (mut lists, mut known) = (Lists::new(), Vec::new());
    for texts_of_batch in firsts.chunks(batch) {
        let mut sketches = Vec::new();
        let before = known.len();
        for &text in texts_of_batch {
            let given = &texts.0[groups.first(text) as usize];
            let sketch = comparer.prepare(given, &mut Scratch::default()).sketch;
            if !sketch.is_none() {
                known.push(text);
                sketches.push(masked(&sketch, mask));
            }
        }
        let sketches: Vec<&MethodSketch> = sketches.iter().collect();
        let limit = options.max_verifications;
        let found = sieve.take(&sketches, limit, 1, &never()).unwrap();
        for (&text, mut found) in known[before..].iter().zip(found) {
            for near in &mut found.candidates {
                near.number = known[near.number as usize];
            }
            lists.extend(entry(&found).map(|entry| (text, entry)));
        }
    }
    lists
}

/// By sorted columns.
fn sorted(
    mut candidates: Box<dyn Candidates>,
    texts: &Given,
    groups: &Groups,
    options: &DedupOptions,
    mask: u64,
) -> Lists {
    let comparer = Comparer::new(options, candidates.sketcher()).unwrap();
    let gathering = candidates.gathering();
    // Blocks of one, two, three … documents.
    let (prepared, mut from) = (prepared(&comparer, &texts.0), 0);
    for most in 1.. {
        let block = prepared[from..].iter().take(most);
        let sketches: Vec<MethodSketch> =
            block.map(|prepared| masked(&prepared.sketch, mask)).collect();
        if sketches.is_empty() {
            break;
        }
        from += sketches.len();
        candidates.take(gathering.gather(sketches)).unwrap();
    }
    let sketches = Sketches { preparer: comparer.preparer(), texts };
    candidates.settle(groups, &sketches, options.threads, &never()).unwrap();
    let (mut lists, mut last) = (Lists::new(), None);
    loop {
        let next = candidates.next(options.max_verifications, options.threads, &never()).unwrap();
        if next.is_empty() {
            return lists;
        }
        for Listed { text, found } in next {
            assert!(last < Some(text), "in order");
            last = Some(text);
            lists.extend(entry(&found).map(|entry| (text, entry)));
        }
    }
}

/// Where columns lie: in memory, or in files whose pages are let go of at every look.
struct Lying {
    room: Room,
    _folder: Option<tempfile::TempDir>,
}

fn lying(spilled: bool) -> Lying {
    let folder = spilled.then(|| tempfile::tempdir().unwrap());
    let room = folder.as_ref().map(|folder| Room::bounded(0, folder.path()).unwrap());
    Lying { room: room.unwrap_or_default(), _folder: folder }
}

fn groups_of(texts: &Given, backwards: bool, room: &Room) -> Groups {
    let (comparer, _) = Columns::new(&DedupOptions::default()).unwrap();
    let prepared = prepared(&comparer, &texts.0);
    let mut hashes = Hashes::new(room).unwrap();
    for one in &prepared {
        hashes.push((!one.is_empty).then_some(one.exact)).unwrap();
    }
    let count = prepared.len() as u32;
    let order = if backwards { Order::Backwards(count) } else { Order::Input(count) };
    Groups::new(&hashes, &order, None, room, 1, &never()).unwrap()
}

/// Chains of edits of few bases, copies, and empty texts.
fn texts(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Given> {
    let bases = [
        "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况",
        "今天下午上海市召开新闻发布会介绍城市交通建设的最新进展情况",
        "the quick brown fox jumps over the lazy dog near the river bank. it never comes back here",
        "短文",
        "",
    ];
    // So long that two of them are told apart by the passages in which they differ, with features that repeat.
    let long: String = (0..300).filter_map(|n| char::from_u32(0x4e00 + n * 7)).collect();
    let long = long + &bases[0].repeat(4);
    let bases = [bases.map(str::to_owned).as_slice(), &[long]].concat();
    let step = (0..bases.len() * 3, any::<prop::sample::Index>(), "[甲乙丙0-9a]");
    proptest::collection::vec(step, len).prop_map(move |steps| {
        let mut texts: Vec<String> = Vec::new();
        for (base, at, new) in steps {
            // Two of three are an edit of an earlier one, or a copy.
            let before = bases.get(base).map_or_else(
                || texts.get(at.index(texts.len().max(1))).cloned().unwrap_or_default(),
                String::clone,
            );
            let mut text: Vec<char> = before.chars().collect();
            if !text.is_empty() && new != "a" {
                let place = at.index(text.len());
                text[place] = new.chars().next().unwrap();
            }
            texts.push(text.into_iter().collect());
        }
        Given(texts)
    })
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1usize), Just(2), Just(3), Just(9), Just(1_000)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Few bits of keys, so that bands, levels and texts meet in buckets by accident.
    #[test]
    fn lists_by_bands_are_those_of_the_live_table(
        texts in texts(0..90),
        (bands, rows) in (1usize..9, 1usize..5),
        (limit, bucket) in (limit(), limit()),
        bits in prop_oneof![Just(64u32), Just(6), Just(3), Just(0)],
        (backwards, batch, threads) in (any::<bool>(), 1usize..50, 0usize..3),
        spilled in prop::bool::weighted(0.3),
    ) {
        let lying = lying(spilled);
        let options = DedupOptions {
            max_verifications: limit,
            max_bucket: bucket,
            threads,
            ..DedupOptions::default()
        };
        let mut rule = Banding::new(&options, Some(BandPlan { bands, rows })).unwrap();
        let options = DedupOptions {
            method: Method::MinHash { plan: Some(BandPlan { bands, rows }) },
            ..options
        };
        // Of the highest, which the table sees.
        rule.mask = !u64::MAX.checked_shr(bits).unwrap_or_default();
        let groups = groups_of(&texts, backwards, &lying.room);
        let expected =
            live(Box::new(MinHash::new(rule.clone())), &texts, &groups, &options, rule.mask, batch);
        let bands = Bands::new(rule.clone(), &lying.room).unwrap();
        let got = sorted(Box::new(bands), &texts, &groups, &options, rule.mask);
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn lists_of_every_method_are_those_of_the_live_index(
        texts in texts(0..60),
        method in every_method(),
        (limit, bucket) in (limit(), limit()),
        (backwards, batch) in (any::<bool>(), 1usize..50),
        spilled in prop::bool::weighted(0.3),
    ) {
        let lying = lying(spilled);
        let mut options = DedupOptions {
            method,
            max_verifications: limit,
            max_bucket: bucket,
            ..DedupOptions::default()
        };
        options.fingerprinter.min_features = Some(0);
        let groups = groups_of(&texts, backwards, &lying.room);
        let sieve = method::sieve(&options).unwrap();
        let expected = live(sieve, &texts, &groups, &options, u64::MAX, batch);
        let got =
            sorted(candidates(&options, &lying.room).unwrap(), &texts, &groups, &options, u64::MAX);
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn decisions_are_those_of_the_live_engine(
        texts in texts(0..80),
        options in options(),
        keys in proptest::collection::vec((0u8..4).prop_map(|key| Key::Number(key.into())), 80),
        spilled in prop::bool::weighted(0.3),
    ) {
        compare(&texts, &keys, &options, spilled);
    }
}

fn every_method() -> impl Strategy<Value = Method> {
    prop_oneof![
        Just(Method::default()),
        (1usize..20, 1usize..5)
            .prop_map(|(bands, rows)| Method::MinHash { plan: Some(BandPlan { bands, rows }) }),
        (0u32..=16).prop_map(|max_distance| Method::SimHash { max_distance }),
        (1usize..4).prop_map(|count| Method::Sentences { count }),
        Just(Method::BruteForce),
        Just(Method::Exact),
    ]
}

fn options() -> impl Strategy<Value = DedupOptions> {
    let cluster = prop_oneof![Just(Cluster::Representative), Just(Cluster::Components)];
    let field = |largest| Keep::Field { path: "date".into(), largest };
    let keep = prop_oneof![
        2 => Just(Keep::First),
        1 => Just(Keep::Last),
        1 => Just(Keep::Longest),
        1 => any::<bool>().prop_map(field),
    ];
    let similarity = prop_oneof![Just(None), (0.0f64..=1.0).prop_map(Some), Just(Some(0.8))];
    let measure = prop_oneof![
        3 => Just(Measure::Auto),
        1 => Just(Measure::Jaccard),
        1 => Just(Measure::Containment),
        1 => Just(Measure::Edit),
        1 => Just(Measure::Cosine),
    ];
    let limits = (limit(), limit());
    (every_method(), cluster, keep, similarity, measure, limits, 0usize..4).prop_map(
        |(method, cluster, keep, min_similarity, measure, (limit, bucket), threads)| DedupOptions {
            method,
            cluster,
            keep,
            min_similarity,
            measure,
            max_verifications: limit,
            max_bucket: bucket,
            threads,
            ..DedupOptions::default()
        },
    )
}

/// What both engines say of documents.
fn compare(texts: &Given, keys: &[Key], options: &DedupOptions, spilled: bool) {
    let lying = lying(spilled);
    let given: Vec<&str> = texts.0.iter().map(String::as_str).collect();
    let mut deduper = Deduper::new(options).unwrap();
    let mut expected: Vec<Decision> =
        deduper.push_keyed(&given, &keys[..given.len()], &never()).unwrap();
    expected.extend(deduper.finish(&never()).unwrap());
    let (comparer, mut columns) = Columns::within(options, &lying.room).unwrap();
    let mut sketches = Vec::new();
    for (place, text) in given.iter().enumerate() {
        let key = match options.keep {
            Keep::Longest => Key::length(text),
            _ => keys[place].clone(),
        };
        let mut prepared = comparer.outline(text, &mut Scratch::default());
        sketches.push(std::mem::take(&mut prepared.sketch));
        columns.push(&prepared, &key).unwrap();
        if place % 7 == 6 || place + 1 == given.len() {
            let sketches = columns.gathering().gather(std::mem::take(&mut sketches));
            columns.take(sketches).unwrap();
        }
    }
    let settled = columns.settle(comparer, texts, &mut |_| {}, None, &never()).unwrap();
    let all = 0..settled.len();
    let mut relations = settled.relations(all.clone(), texts, &never()).unwrap().into_iter();
    assert_eq!(settled.len() as usize, expected.len());
    for (document, expected) in all.zip(&expected) {
        let original = settled.original(document);
        assert_eq!(original.map(u64::from), expected.duplicate_of, "{document} by {options:?}");
        let relation = original.and_then(|_| relations.next());
        let (similarity, distance) =
            relation.map_or((None, None), |relation| (relation.similarity, relation.distance));
        assert_eq!(similarity, expected.similarity, "{document} by {options:?}");
        assert_eq!(distance, expected.distance, "{document} by {options:?}");
    }
    let counts =
        |s: &Summary| (s.read, s.kept, s.duplicates, s.clusters, s.empty, s.short, s.truncated);
    assert_eq!(counts(&settled.summary), counts(&deduper.summary()), "{options:?}");
}

/// A crowd of texts that share bands with everybody, with copies of them between, and one text that all resemble.
fn crowd(len: usize) -> Given {
    let base = "城市交通建设的最新进展情况今天上午由北京市政府在新闻发布会上向媒体作了详细介绍并回答了记者的提问";
    let mut texts: Vec<String> = Vec::with_capacity(len);
    let mut random = 1u64;
    while texts.len() < len {
        let mut text: Vec<char> = base.chars().collect();
        for _ in 0..random % 9 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let place = (random >> 33) as usize % text.len();
            text[place] = char::from_u32(0x4e00 + (random >> 50) as u32 % 500).unwrap();
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(3);
        texts.push(text.iter().collect());
        if random >> 62 == 0 {
            let copy = texts[(random >> 20) as usize % texts.len()].clone();
            texts.push(copy);
        }
    }
    texts.truncate(len);
    Given(texts)
}

#[test]
fn a_crowd_of_thousands_is_decided_as_by_the_live_engine() {
    let keys = vec![Key::Missing; 5_000];
    for cluster in [Cluster::Representative, Cluster::Components] {
        for keep in [Keep::First, Keep::Longest] {
            let options = DedupOptions { cluster, keep, ..DedupOptions::default() };
            let rare = DedupOptions { max_bucket: 8, max_verifications: 20, ..options.clone() };
            for (options, spilled) in [(options, false), (rare.clone(), false), (rare, true)] {
                compare(&crowd(5_000), &keys, &options, spilled);
            }
        }
    }
}

/// Joined, or where everybody is near everybody looked up one after the other; some joined and some looked up is what the tests with few texts see.
#[test]
fn a_crowd_of_fingerprints_is_decided_as_by_the_live_engine() {
    let keys = vec![Key::Missing; 1_500];
    for max_distance in [0, 3, 8, 16] {
        let method = Method::SimHash { max_distance };
        for cluster in [Cluster::Representative, Cluster::Components] {
            let options = DedupOptions { method, cluster, ..DedupOptions::default() };
            let rare = DedupOptions { max_verifications: 20, ..options.clone() };
            for (options, spilled) in [(options, false), (rare.clone(), false), (rare, true)] {
                compare(&crowd(1_500), &keys, &options, spilled);
            }
        }
    }
}

#[test]
fn many_copies_are_one_text() {
    let copies = Given(vec![
        "今天上午北京市召开新闻发布会介绍最新进展".to_owned();
        20_000
    ]);
    for spilled in [false, true] {
        compare(&copies, &vec![Key::Missing; 20_000], &DedupOptions::default(), spilled);
    }
}
