//! A text is gone over once: normalised once, cut into features once, its bands hashed once, whatever is done with it then.
//!
//! Only what is compared with new documents and was not kept for it is made again, of older documents' texts and of records of
//! files, and the long shingles of long texts, which nothing needs but a comparison.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use simhash_dedup::live::{
    Document, LiveIndex, LiveMethod, LiveOptions, Room, Step, Stored, Texts, Verify,
};
use simhash_dedup::{
    Cluster, Decision, DedupOptions, Deduper, FileOptions, Input, Measure, Method, Outputs,
    dedup_files,
};
use simhash_index::{AddOptions, OnDuplicate, PlanChoice};
use simhash_sketch::{FingerprinterOptions, Scratch, Unit, Weighting};
use simhash_text::counters::{BAND_KEYS, CUT, CUT_LONG, CUT_SENTENCES, NORMALIZED};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard};

/// The counters are those of the process.
static ALONE: Mutex<()> = Mutex::new(());

#[derive(Debug, Default, PartialEq, Eq)]
struct Work {
    normalized: u64,
    cut: u64,
    cut_long: u64,
    cut_sentences: u64,
    band_keys: u64,
}

impl Work {
    /// What was done since the last look.
    fn done() -> Self {
        Self {
            normalized: NORMALIZED.take(),
            cut: CUT.take(),
            cut_long: CUT_LONG.take(),
            cut_sentences: CUT_SENTENCES.take(),
            band_keys: BAND_KEYS.take(),
        }
    }
}

fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Work::done();
    alone
}

/// Random numbers of 24 bits.
fn random(seed: u32) -> impl Iterator<Item = u32> {
    let mut state = u64::from(seed) * 2 + 1;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 40) as u32
    })
}

/// A text of so many ideographs that resembles no other, and changes where it is normalised.
fn text(number: u32, length: usize) -> String {
    let ideograph = |random: u32| char::from_u32(0x4e00 + random % 20_000);
    let ideographs: String = random(number).take(length).filter_map(ideograph).collect();
    format!("Ｎ{ideographs}。")
}

/// Pairs of near-duplicates: of each the second has one character more than the first.
fn pairs(from: u32, count: u32, length: usize) -> Vec<String> {
    let pair = |number| [text(number, length), format!("{}完", text(number, length))];
    (from..from + count).flat_map(pair).collect()
}

/// Forty of eight words.
fn of_words(number: u32) -> String {
    const WORDS: [&str; 8] = ["北京", "交通", "新闻", "发布", "进展", "城市", "建设", "情况"];
    random(number).take(40).map(|random| WORDS[random as usize % 8]).collect()
}

fn push(deduper: &mut Deduper, texts: &[String]) -> Vec<Decision> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    deduper.push(&texts, &AtomicBool::new(false)).unwrap()
}

fn duplicates(decisions: &[Decision]) -> usize {
    decisions.iter().filter(|decision| decision.duplicate_of.is_some()).count()
}

const METHODS: [Method; 4] = [
    Method::MinHash { plan: None },
    Method::SimHash { max_distance: 8 },
    Method::BruteForce,
    Method::Sentences { count: 5 },
];
const MEASURES: [Measure; 5] =
    [Measure::Auto, Measure::Jaccard, Measure::Containment, Measure::Edit, Measure::Cosine];

fn band_keys(method: Method, documents: u64) -> u64 {
    if matches!(method, Method::MinHash { .. }) { 24 * documents } else { 0 }
}

/// Of a batch without anything before it.
fn of_one_batch(options: &DedupOptions, texts: &[String]) -> (usize, Work) {
    let mut deduper = Deduper::new(options).unwrap();
    Work::done();
    let found = duplicates(&push(&mut deduper, texts));
    (found, Work::done())
}

#[test]
fn a_document_of_a_batch_is_gone_over_once_by_every_method_and_measure() {
    let _alone = alone();
    for method in METHODS {
        for measure in MEASURES {
            // Equal texts and single ones among them.
            let mut texts = pairs(0, 50, 100);
            texts.extend((1_000..1_050).map(|number| text(number, 100)));
            texts.extend(texts.clone().into_iter().take(20));
            let documents = texts.len() as u64;
            let options = DedupOptions { method, measure, ..DedupOptions::default() };
            let (found, work) = of_one_batch(&options, &texts);
            assert_eq!(found, 70, "{method:?} {measure:?}");
            // The features of no sketch; of the pairs they are compared.
            let by_sentences = matches!(method, Method::Sentences { .. });
            let cut = match measure {
                _ if !by_sentences => documents,
                Measure::Edit => 0,
                _ => 100,
            };
            let expected = Work {
                normalized: documents,
                cut,
                cut_sentences: if by_sentences { documents } else { 0 },
                band_keys: band_keys(method, documents),
                cut_long: 0,
            };
            assert_eq!(work, expected, "{method:?} {measure:?}");
        }
    }
}

#[test]
fn features_that_no_sketch_needs_are_cut_for_a_comparison_only() {
    let _alone = alone();
    // Two sentences, of which one is equal.
    let near = |number| [0, 1].map(|end| format!("{}{}", text(number, 100), text(end, 20)));
    let mut texts: Vec<String> = (10..40).flat_map(near).collect();
    texts.extend((1_000..1_050).map(|number| text(number, 100)));
    let method = Method::Sentences { count: 1 };
    for measure in MEASURES {
        let options = DedupOptions { method, measure, ..DedupOptions::default() };
        let (_, work) = of_one_batch(&options, &texts);
        let compared = if measure == Measure::Edit { 0 } else { 60 };
        let expected =
            Work { normalized: 110, cut: compared, cut_sentences: 110, ..Work::default() };
        assert_eq!(work, expected, "{measure:?}");
    }
    let options = DedupOptions { method: Method::Exact, ..DedupOptions::default() };
    let (_, work) = of_one_batch(&options, &texts);
    assert_eq!(work, Work { normalized: 110, ..Work::default() });
}

#[test]
fn long_shingles_are_cut_once_for_those_that_reach_a_comparison() {
    let _alone = alone();
    for method in &METHODS[..3] {
        let mut texts = pairs(0, 20, 600);
        texts.extend((1_000..1_030).map(|number| text(number, 600)));
        let options = DedupOptions { method: *method, ..DedupOptions::default() };
        let (found, work) = of_one_batch(&options, &texts);
        assert_eq!(found, 20);
        let (band_keys, cut_sentences) = (band_keys(*method, 70), 0);
        let expected = Work { normalized: 70, cut: 70, cut_long: 40, cut_sentences, band_keys };
        assert_eq!(work, expected, "{method:?}");
    }
}

#[test]
fn words_keywords_and_binary_features_are_cut_once_too() {
    let _alone = alone();
    let mut keywords = FingerprinterOptions::preset("jieba-tfidf").unwrap();
    keywords.min_features = Some(1);
    let mut words = FingerprinterOptions::default();
    words.extract.unit = Unit::Words;
    let mut binary = FingerprinterOptions::default();
    binary.extract.weighting = Some(Weighting::Binary);
    for fingerprinter in [keywords, words, binary] {
        for method in &METHODS[..3] {
            for measure in MEASURES {
                let (fingerprinter, method) = (fingerprinter.clone(), *method);
                let options =
                    DedupOptions { fingerprinter, method, measure, ..DedupOptions::default() };
                let texts: Vec<String> = (0..60).map(of_words).collect();
                let (_, work) = of_one_batch(&options, &texts);
                assert_eq!((work.normalized, work.cut), (60, 60), "{options:?}");
                assert_eq!(work.band_keys, band_keys(method, 60));
            }
        }
    }
}

#[test]
fn without_verification_nothing_is_made_for_it() {
    let _alone = alone();
    for method in METHODS {
        let options = DedupOptions { method, min_similarity: None, ..DedupOptions::default() };
        let (_, work) = of_one_batch(&options, &pairs(0, 50, 600));
        let by_sentences = matches!(method, Method::Sentences { .. });
        assert_eq!(work.normalized, 100, "{method:?}");
        assert_eq!(
            (work.cut, work.cut_long),
            (if by_sentences { 0 } else { 100 }, 0),
            "{method:?}"
        );
    }
}

#[test]
fn an_older_document_is_gone_over_once_more_when_it_is_compared() {
    let _alone = alone();
    for method in &METHODS[..3] {
        let mut deduper =
            Deduper::new(&DedupOptions { method: *method, ..DedupOptions::default() }).unwrap();
        let older: Vec<String> = (0..60).map(|number| text(number, 100)).collect();
        let newer: Vec<String> =
            (0..20).flat_map(|number| ["完", "了"].map(|end| text(number, 100) + end)).collect();
        Work::done();
        push(&mut deduper, &older);
        let expected =
            Work { normalized: 60, cut: 60, band_keys: band_keys(*method, 60), ..Work::default() };
        assert_eq!(Work::done(), expected, "{method:?}");
        assert_eq!(duplicates(&push(&mut deduper, &newer)), 40);
        // Twenty of them, each compared with two new ones.
        let expected =
            Work { normalized: 60, cut: 60, band_keys: band_keys(*method, 40), ..Work::default() };
        assert_eq!(Work::done(), expected, "{method:?}");
    }
}

/// More of them than there is room for, all near each other by their fingerprints: what each is made of is known by then.
#[test]
fn texts_on_one_subject_are_cut_a_few_times_each_however_many_are_compared() {
    const TEXTS: u32 = 900;
    let _alone = alone();
    let subject = text(0, 60).repeat(100);
    let texts: Vec<String> =
        (1..=TEXTS).map(|number| format!("{subject}{}", text(number, 3_000))).collect();
    let method = Method::SimHash { max_distance: 16 };
    let decide = |min_similarity| {
        let options = DedupOptions { method, min_similarity, ..DedupOptions::default() };
        let mut deduper = Deduper::new(&options).unwrap();
        Work::done();
        let found: usize = texts.chunks(30).map(|some| duplicates(&push(&mut deduper, some))).sum();
        (found, Work::done())
    };
    // Nearly every one has most others as candidates.
    assert!(decide(None).0 > TEXTS as usize * 9 / 10);
    let (found, work) = decide(Some(0.8));
    assert_eq!(found, 0);
    // Once for the sketch, and once or twice when they are first compared.
    assert!(work.cut <= 3 * u64::from(TEXTS), "{}", work.cut);
    assert!(work.cut_long <= 3 * u64::from(TEXTS), "{}", work.cut_long);
}

#[test]
fn keys_of_more_positions_are_hashed_once_too() {
    let _alone = alone();
    // Of equal features, so that all texts meet in all buckets. The first 8 find room in that of a whole band, the next 8 each in
    // that of one position more than the one before, and the others in none of the nine.
    let crowd: Vec<String> = (0..300).map(|number| "甲乙".repeat(10 + number)).collect();
    let options = DedupOptions { max_bucket: 8, ..DedupOptions::default() };
    let (found, work) = of_one_batch(&options, &crowd);
    assert_eq!(found, 299);
    assert_eq!(work.band_keys, 24 * (300 + (1..=8).sum::<u64>() + 8 * (300 - 16)));
}

#[test]
fn components_go_over_a_text_once_and_once_more_to_report_it() {
    let _alone = alone();
    for method in &METHODS[..3] {
        let options = DedupOptions {
            method: *method,
            cluster: Cluster::Components,
            ..DedupOptions::default()
        };
        let mut deduper = Deduper::new(&options).unwrap();
        Work::done();
        push(&mut deduper, &pairs(0, 30, 100));
        let expected =
            Work { normalized: 60, cut: 60, band_keys: band_keys(*method, 60), ..Work::default() };
        assert_eq!(Work::done(), expected, "{method:?}");
        assert_eq!(duplicates(&deduper.finish(&AtomicBool::new(false)).unwrap()), 30);
        // Both of each pair; no band is looked for.
        let expected = Work { normalized: 60, cut: 60, ..Work::default() };
        assert_eq!(Work::done(), expected, "{method:?}");
    }
}

/// Of one thread that reads a file and writes nothing.
fn of_a_dry_run(path: &Path, dedup: DedupOptions) -> (u64, Work) {
    let dedup = DedupOptions { threads: 1, ..dedup };
    let options = FileOptions { dedup, dry_run: true, ..FileOptions::default() };
    let (inputs, outputs) = ([Input::File(path.to_owned())], Outputs::default());
    let cancel = AtomicBool::new(false);
    Work::done();
    let summary = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel).unwrap();
    (summary.duplicates, Work::done())
}

/// The other one tells what they are made of, where they differ in a few passages.
#[test]
fn of_long_near_copies_in_a_file_only_the_original_is_cut_again() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let original = text(0, 600);
    let copy = |number: u32| format!("{}{original}{}", text(number, 5), text(number + 40, 3));
    let copies: Vec<String> = (1..=30).map(copy).collect();
    let texts = [vec![original], copies].concat();
    let lines = texts.iter().map(|text| format!("{{\"text\":\"{text}\"}}\n"));
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    for method in &METHODS[..2] {
        for cluster in [Cluster::Representative, Cluster::Components] {
            let options = DedupOptions { method: *method, cluster, ..DedupOptions::default() };
            let (found, Work { cut, cut_long, .. }) = of_a_dry_run(&path, options);
            assert_eq!(found, 30);
            assert_eq!((cut, cut_long), (31 + 1, 1), "{method:?} {cluster:?}");
        }
    }
}

/// Two thirds of each are the same, so that all are candidates. Sets are made of the first alone, which others will be compared with: bitmaps
/// of the features exclude the rest before.
#[test]
fn long_candidates_of_a_file_that_are_unlike_each_other_are_cut_again_once_and_no_more() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let common = text(99, 400);
    let lines = (0..30).map(|number| format!("{{\"text\":\"{common}{}\"}}\n", text(number, 200)));
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let clusters = [Cluster::Representative, Cluster::Components];
    let weightings = [Weighting::Count, Weighting::Binary];
    for (cluster, weighting) in clusters.into_iter().flat_map(|one| weightings.map(|w| (one, w))) {
        let mut options = DedupOptions { cluster, ..DedupOptions::default() };
        options.fingerprinter.extract.weighting = Some(weighting);
        let (found, Work { cut, cut_long, .. }) = of_a_dry_run(&path, options);
        assert_eq!(found, 0);
        assert_eq!(cut, 30 + 30, "{cluster:?} {weighting:?}");
        assert!(cut_long <= 1, "{cluster:?}: {cut_long}");
    }
}

/// Those of a stream are decided as they come, those of a file when all have come: of these, what is compared is cut again.
#[test]
fn a_record_is_gone_over_once_and_one_of_a_file_once_more_when_it_is_compared() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let record = |text: &String| format!("{{\"text\":\"{text}\"}}\n");
    let apart = (50..150).map(|number| text(number, 100));
    for (texts, compared) in [(pairs(0, 50, 100), 100), (apart.collect(), 0)] {
        let lines: String = texts.iter().map(record).collect();
        std::fs::write(&path, &lines).unwrap();
        for method in &METHODS[..3] {
            let stream = Input::stream("stream", std::io::Cursor::new(lines.clone()));
            for (input, again) in [(stream, 0), (Input::File(path.clone()), compared)] {
                let mut options = FileOptions { dry_run: true, ..FileOptions::default() };
                options.dedup.method = *method;
                let (inputs, outputs) = ([input], Outputs::default());
                let cancel = AtomicBool::new(false);
                Work::done();
                let summary = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel).unwrap();
                assert_eq!(summary.duplicates, compared / 2);
                let expected = Work {
                    normalized: 100 + again,
                    cut: 100 + again,
                    band_keys: band_keys(*method, 100),
                    ..Work::default()
                };
                assert_eq!(Work::done(), expected, "{method:?}");
            }
        }
    }
}

/// The methods of a live index.
fn live_methods() -> [LiveMethod; 4] {
    [LiveMethod::minhash(), LiveMethod::simhash(), LiveMethod::sentences(), LiveMethod::Exact]
}

fn live(method: LiveMethod, verify: Option<Verify>, longest_text: Option<u32>) -> LiveIndex {
    let stored = Stored { keys: false, longest_text };
    LiveIndex::new(&LiveOptions { method, verify, stored, ..LiveOptions::default() }).unwrap()
}

/// How many of the texts were duplicates.
fn check(index: &LiveIndex, texts: &[String]) -> usize {
    let mut scratch = Scratch::default();
    let is_duplicate = |text: &&String| {
        let document = index.document(text, &mut scratch);
        let none = |_| Texts::None;
        let step = index.check_and_add(&document, None, AddOptions::default(), none).unwrap();
        let Step::Done(checked) = step else { panic!("no text is asked for") };
        checked.duplicate_of.is_some()
    };
    texts.iter().filter(is_duplicate).count()
}

#[test]
fn the_live_index_goes_over_a_text_once_by_every_method() {
    let _alone = alone();
    for method in live_methods() {
        let index = live(method.clone(), None, None);
        check(&index, &pairs(0, 50, 100));
        let work = Work::done();
        let (cut, keys) = match method {
            LiveMethod::MinHash { .. } => (100, 24 * 100),
            LiveMethod::SimHash { .. } => (100, 0),
            _ => (0, 0),
        };
        let by_sentence = matches!(method, LiveMethod::Sentences { .. });
        let found = (work.cut, work.cut_sentences, work.band_keys);
        assert_eq!(found, (cut, if by_sentence { 100 } else { 0 }, keys), "{method:?}");
        // Sentences are normalised by themselves, and nothing is asked of the whole text.
        assert_eq!(work.normalized, if by_sentence { 0 } else { 100 }, "{method:?}");
    }
}

#[test]
fn the_live_index_with_texts_cuts_a_stored_text_again_for_each_comparison() {
    let _alone = alone();
    for measure in MEASURES {
        for method in [LiveMethod::minhash(), LiveMethod::simhash(), LiveMethod::sentences()] {
            let verify = Some(Verify { measure, least: 0.8 });
            let index = live(method.clone(), verify, Some(10_000));
            assert_eq!(check(&index, &pairs(0, 50, 300)), 50);
            let work = Work::done();
            let again = if measure == Measure::Edit { 0 } else { 50 };
            // Sentences are no features: a text is cut into these when it is compared.
            let sketched = if matches!(method, LiveMethod::Sentences { .. }) { again } else { 100 };
            let found = (work.normalized, work.cut);
            assert_eq!(found, (100, sketched + again), "{method:?} {measure:?}");
        }
    }
}

#[test]
fn the_live_index_with_texts_does_not_cut_the_stored_text_of_a_long_near_copy() {
    let _alone = alone();
    for measure in [Measure::Auto, Measure::Jaccard] {
        for method in [LiveMethod::minhash(), LiveMethod::simhash(), LiveMethod::sentences()] {
            let verify = Some(Verify { measure, least: 0.8 });
            let index = live(method.clone(), verify, Some(10_000));
            assert_eq!(check(&index, &pairs(0, 20, 600)), 20);
            let work = Work::done();
            // Those that are compared, which are new, and all for their sketches.
            let cut = if matches!(method, LiveMethod::Sentences { .. }) { 20 } else { 40 };
            assert_eq!((work.cut, work.cut_long), (cut, 20), "{method:?} {measure:?}");
        }
    }
}

#[test]
fn a_short_text_of_the_live_index_is_normalised_once() {
    let _alone = alone();
    let index = live(LiveMethod::simhash(), Some(Verify::default()), Some(1_000));
    let texts: Vec<String> = (0..40).map(|number| text(number, 5)).collect();
    assert_eq!(check(&index, &texts), 0);
    assert_eq!(Work::done().normalized, 40);
    assert_eq!(check(&index, &texts), 40);
    assert_eq!(Work::done().normalized, 40);
}

/// Documents that may not keep their features are cut again, and decided in the same way.
#[test]
fn a_batch_without_room_for_features_is_decided_as_any() {
    let texts: Vec<String> = (0..300)
        .map(|number| {
            format!(
                "第{}章 春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少？{}",
                number % 40,
                number % 3
            )
        })
        .collect();
    let _alone = alone();
    let decide = |bytes| {
        let method =
            LiveMethod::SimHash { max_distance: Some(12), plan: PlanChoice::Auto, capacity: None };
        let index = live(method, Some(Verify::default()), Some(90));
        let (room, mut scratch) = (Room::new(bytes), Scratch::default());
        let documents: Vec<Document> =
            texts.iter().map(|text| index.document_in(text, &room, &mut scratch)).collect();
        assert_eq!(Work::done().cut, 300);
        let (skip, go) = (OnDuplicate::Skip, AtomicBool::new(false));
        let checked = index.check_and_add_many(&documents, &[], &[], skip, 1, &go).unwrap();
        (checked, Work::done().cut)
    };
    let (all, cut) = decide(64 << 20);
    assert!(all.iter().any(|checked| checked.duplicate_of.is_some()));
    for room in [0, 20_000] {
        let (checked, again) = decide(room);
        assert!(checked == all && again > cut, "{again} beside {cut}");
    }
}
