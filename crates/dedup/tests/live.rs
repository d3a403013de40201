//! The index as a service against a list that is gone through from the front.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use simhash_dedup::Measure;
use simhash_dedup::online::{Checked, Document, OnlineIndex, Step, Stored, Texts, Verify};
use simhash_index::{
    AddOptions, Index, IndexError, IndexOptions, Item, Match, OnDuplicate, Outcome, Window,
};
use simhash_sketch::measure::{containment, cosine, edit_similarity, jaccard};
use simhash_sketch::{ALMOST_ONE, Fingerprinter, FingerprinterOptions, Numbers, Scratch, hamming};
use simhash_store::FileError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const ALL: Stored = Stored { keys: true, longest_text: Some(30) };

fn fingerprinter() -> Fingerprinter {
    Fingerprinter::new(&FingerprinterOptions::default()).unwrap()
}

fn online(max_distance: u32, window: Option<Window>, stored: Stored) -> OnlineIndex {
    let mut options = IndexOptions::default();
    options.max_distance = max_distance;
    options.window = window;
    OnlineIndex::new(Index::new(&options).unwrap(), fingerprinter(), stored)
}

fn document(index: &OnlineIndex, text: &str) -> Document {
    index.document(text, true, &mut Scratch::default())
}

fn checked(step: Step) -> Checked {
    match step {
        Step::Done(checked) => checked,
        Step::Text(id) => panic!("text of {id} is missing"),
    }
}

fn check(index: &OnlineIndex, text: &str, verify: Option<Verify>) -> Checked {
    let document = document(index, text);
    let none = |_| Texts::None;
    let step = index.check_and_add(&document, None, AddOptions::default(), verify, none);
    checked(step.unwrap())
}

/// A document of the model.
struct Row {
    item: Item,
    text: String,
    key: Option<String>,
    at: u64,
    /// Place in the queue of documents by age.
    turn: usize,
    alive: bool,
}

/// Everything in its plainest form.
struct Model {
    rows: Vec<Row>,
    max_distance: u32,
    window: Window,
    stored: Stored,
    latest: u64,
    turns: usize,
    by: Fingerprinter,
}

impl Model {
    fn alive(&self) -> impl Iterator<Item = (u64, &Row)> {
        (0..).zip(&self.rows).filter(|(_, row)| row.alive)
    }

    fn stored_text<'a>(&self, row: &'a Row) -> Option<&'a str> {
        let fits = |text: &str| text.chars().count() <= self.stored.longest_text.unwrap() as usize;
        Some(row.text.as_str()).filter(|text| fits(text))
    }

    fn similarity(&self, measure: Measure, a: &str, b: &str) -> f64 {
        let mut scratch = Scratch::default();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let (mut v, mut w) = (Vec::new(), Vec::new());
        match measure {
            Measure::Auto if a == b => 1.0,
            Measure::Edit => edit_similarity(a, b),
            Measure::Cosine => {
                self.by.vector(a, &mut scratch, &mut v);
                self.by.vector(b, &mut scratch, &mut w);
                cosine(&v, &w)
            }
            measure => {
                self.by.shingles(a, &mut scratch, &mut x);
                self.by.shingles(b, &mut scratch, &mut y);
                match measure {
                    Measure::Containment => containment(&x, &y),
                    Measure::Auto => {
                        let [a, b] = [a, b].map(|text| {
                            Numbers::of(self.by.normalize(text, &mut Scratch::default()))
                        });
                        (jaccard(&x, &y) * a.factor(b)).min(ALMOST_ONE)
                    }
                    _ => jaccard(&x, &y),
                }
            }
        }
    }

    fn advance(&mut self, at: u64) -> u64 {
        self.latest = self.latest.max(at);
        let before = self.window.max_age.map_or(0, |age| self.latest.saturating_sub(age));
        self.rows.iter_mut().for_each(|row| row.alive &= row.at >= before);
        self.latest
    }

    fn add(&mut self, item: Item, text: String, key: Option<String>, at: u64) -> u64 {
        let most = self.window.max_count.unwrap_or(u64::MAX);
        while self.alive().count() as u64 + 1 > most {
            let ages = self.alive().map(|(id, row)| (row.turn, id));
            let (_, oldest) = ages.min().unwrap();
            self.rows[oldest as usize].alive = false;
        }
        self.turns += 1;
        self.rows.push(Row { item, text, key, at, turn: self.turns, alive: true });
        self.rows.len() as u64 - 1
    }

    fn near(&self, item: Item, text: &str, verify: Verify) -> Option<(Match, Option<f64>)> {
        if item == Item::Empty {
            return None;
        }
        if let Some((id, _)) = self.alive().find(|(_, row)| row.item == item)
            && matches!(item, Item::Exact(_))
        {
            return Some((Match { id, distance: 0 }, Some(1.0)));
        }
        let Item::Fingerprint(value) = item else {
            let short = self.alive().filter(|(_, row)| matches!(row.item, Item::Exact(_)));
            let near = short.filter_map(|(id, row)| {
                let other = self.stored_text(row)?;
                let similarity = self.similarity(verify.measure, text, other);
                let alike = edit_similarity(text, other).min(similarity) >= verify.least;
                alike.then_some((id, similarity))
            });
            let mut near: Vec<_> = near.collect();
            near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let (id, similarity) = near.first().copied()?;
            return Some((Match { id, distance: 0 }, Some(similarity)));
        };
        let mut near: Vec<Match> = self
            .alive()
            .filter_map(|(id, row)| match row.item {
                Item::Fingerprint(other) => {
                    Some(Match { id, distance: hamming::distance(value, other) })
                }
                _ => None,
            })
            .filter(|near| near.distance <= self.max_distance)
            .collect();
        near.sort_by_key(|near| (near.distance, near.id));
        near.into_iter().find_map(|near| {
            let Some(other) = self.stored_text(&self.rows[near.id as usize]) else {
                return Some((near, None));
            };
            let similarity = self.similarity(verify.measure, text, other);
            (similarity >= verify.least).then_some((near, Some(similarity)))
        })
    }
}

/// Short ones, titles, and some that are too long to be stored; with families that differ by an edit or two.
fn texts() -> impl Strategy<Value = String> {
    let symbol =
        || prop::sample::select("甲乙丙丁戊己庚辛壬癸子丑寅卯".chars().collect::<Vec<_>>());
    let base = prop::sample::select(vec![
        "甲乙丙丁戊",
        "子丑寅卯甲乙丙",
        "甲乙丙丁戊己庚辛壬癸子丑寅卯",
        "癸壬辛庚己戊丁丙乙甲卯寅丑子甲丙戊庚壬子寅",
        "甲丙戊庚壬子寅乙丁己辛癸丑卯甲丁庚癸卯丙己壬丑戊辛子乙甲丙戊",
        "",
    ]);
    (base, prop::collection::vec((any::<prop::sample::Index>(), symbol()), 0..3)).prop_map(
        |(base, edits)| {
            let mut text: Vec<char> = base.chars().collect();
            for (at, symbol) in edits.into_iter().filter(|_| !base.is_empty()) {
                let at = at.index(text.len());
                text[at] = symbol;
            }
            text.into_iter().collect()
        },
    )
}

#[derive(Debug, Clone)]
enum Step_ {
    Add(String, Option<u8>, u64),
    Check(String, Option<u8>, u64, Verify, OnDuplicate),
    Delete(u64),
    Expire(u64),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step_>> {
    let key = || prop::option::of(0..12_u8);
    let measure =
        prop::sample::select(vec![Measure::Auto, Measure::Jaccard, Measure::Edit, Measure::Cosine]);
    let least = prop::sample::select(vec![0.3, 0.6, 0.8, 0.9, 1.0]);
    let verify = (measure, least).prop_map(|(measure, least)| Verify { measure, least });
    let duplicate =
        prop::sample::select(vec![OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch]);
    let step = prop_oneof![
        2 => (texts(), key(), 0..4_u64).prop_map(|(text, key, on)| Step_::Add(text, key, on)),
        8 => (texts(), key(), 0..4_u64, verify, duplicate)
            .prop_map(|(text, key, on, verify, duplicate)| {
                Step_::Check(text, key, on, verify, duplicate)
            }),
        1 => (0..40_u64).prop_map(Step_::Delete),
        1 => (0..60_u64).prop_map(Step_::Expire),
        1 => Just(Step_::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_operations_agree_with_the_plain_list(
        steps in steps(),
        max_age in prop::option::of(5..60_u64),
        max_count in prop::option::of(1..20_u64),
        max_distance in 0..=16_u32,
    ) {
        let window = Window { max_age, max_count };
        let mut index = online(max_distance, Some(window), ALL);
        let by = fingerprinter();
        let mut model =
            Model { rows: Vec::new(), max_distance, window, stored: ALL, latest: 0, turns: 0, by };
        let mut now = 0;
        for step in steps {
            match step {
                Step_::Add(text, key, on) => {
                    now += on;
                    let key = key.map(|key| format!("键{key}"));
                    let document = document(&index, &text);
                    let at = model.advance(now);
                    let expected = model.add(document.item, text, key.clone(), at);
                    prop_assert_eq!(index.add(&document, key.as_deref(), Some(now)), Ok(expected));
                }
                Step_::Check(text, key, on, verify, on_duplicate) => {
                    now += on;
                    let key = key.map(|key| format!("键{key}"));
                    let document = document(&index, &text);
                    let how = AddOptions { at: Some(now), on_duplicate };
                    let none = |_| Texts::None;
                    let step =
                        index.check_and_add(&document, key.as_deref(), how, Some(verify), none);
                    let at = model.advance(now);
                    let found = model.near(document.item, &text, verify);
                    if let (Some((near, _)), OnDuplicate::Touch) = (found, on_duplicate) {
                        model.turns += 1;
                        let row = &mut model.rows[near.id as usize];
                        (row.at, row.turn) = (at, model.turns);
                    }
                    let adds = found.is_none() || on_duplicate == OnDuplicate::Add;
                    let id = adds.then(|| model.add(document.item, text, key, at));
                    let outcome = Outcome { id, duplicate_of: found.map(|(near, _)| near), truncated: false };
                    let similarity = found.and_then(|(_, similarity)| similarity);
                    prop_assert_eq!(step, Ok(Step::Done(Checked { outcome, similarity })));
                }
                Step_::Delete(id) => {
                    let row = model.rows.get_mut(id as usize);
                    let expected = row.is_some_and(|row| std::mem::replace(&mut row.alive, false));
                    prop_assert_eq!(index.delete(id).unwrap(), expected);
                }
                Step_::Expire(before) => {
                    let old = model.rows.iter_mut().filter(|row| row.alive && row.at < before);
                    let gone = old.map(|row| row.alive = false).count() as u64;
                    prop_assert_eq!(index.expire(before), Ok(gone));
                }
                Step_::Reopen => {
                    let mut bytes = Vec::new();
                    index.save(&mut bytes).unwrap();
                    index = OnlineIndex::open(&mut bytes.as_slice(), fingerprinter()).unwrap();
                    prop_assert_eq!(index.stored(), ALL);
                }
            }
            for (id, row) in (0..).zip(&model.rows) {
                let key = row.key.clone().filter(|_| row.alive);
                prop_assert_eq!(index.key_of(id), key);
                let text = model.stored_text(row).filter(|text| row.alive && !text.is_empty());
                prop_assert_eq!(index.text_of(id), text.map(str::to_owned));
            }
            for key in (0..13).map(|key| format!("键{key}")) {
                let mut with = model.alive().filter(|(_, row)| row.key.as_ref() == Some(&key));
                prop_assert_eq!(index.id_of(&key), with.next_back_id());
            }
        }
    }
}

trait Last {
    fn next_back_id(&mut self) -> Option<u64>;
}

impl<'a, I: Iterator<Item = (u64, &'a Row)>> Last for I {
    fn next_back_id(&mut self) -> Option<u64> {
        self.last().map(|(id, _)| id)
    }
}

#[test]
fn of_two_similar_texts_at_once_exactly_one_is_kept() {
    const ROUNDS: usize = 100_000;
    let index = online(16, None, Stored { keys: true, longest_text: Some(100) });
    let round = AtomicUsize::new(0);
    let kept: Vec<AtomicUsize> = (0..ROUNDS).map(|_| AtomicUsize::new(0)).collect();
    // Numbers are far from each other as texts: five characters out of four thousand.
    let code = |number: usize| -> String {
        let mut state = number as u64;
        (0..5)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                char::from_u32(0x4e00 + (state >> 52) as u32).unwrap()
            })
            .collect()
    };
    thread::scope(|scope| {
        for own in 0..2usize {
            let (index, round, kept) = (&index, &round, &kept);
            scope.spawn(move || {
                for (number, kept) in kept.iter().enumerate() {
                    let verify = Verify { measure: Measure::Edit, least: 0.8 };
                    // Short texts by edit distance, and every other time long ones by fingerprint and text.
                    let text = if number % 2 == 0 {
                        format!("{}{own}", code(number))
                    } else {
                        let body: String = (0..6).map(|part| code(number * 6 + part)).collect();
                        format!("{body}{own}")
                    };
                    // Both begin a round together: the second to arrive opens it.
                    let arrived = round.fetch_add(1, Ordering::SeqCst);
                    while arrived % 2 == 0 && round.load(Ordering::SeqCst) < 2 * (number + 1) {
                        thread::yield_now();
                    }
                    if check(index, &text, Some(verify)).outcome.id.is_some() {
                        kept.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let wrong: Vec<usize> =
        (0..ROUNDS).filter(|&number| kept[number].load(Ordering::SeqCst) != 1).collect();
    assert!(wrong.is_empty(), "{} rounds, the first {:?}", wrong.len(), wrong.first());
    assert_eq!(index.index().len(), ROUNDS as u64);
}

#[test]
fn a_missing_text_is_asked_for_and_nothing_has_changed() {
    let index = online(16, None, Stored::default());
    let long = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥";
    let other = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉亥戌";
    assert_eq!(check(&index, long, None).outcome.id, Some(0));
    let document = document(&index, other);
    let ask = |texts: &dyn Fn(u64) -> Texts<'static>| {
        let verify = Some(Verify { measure: Measure::Edit, least: 0.9 });
        index.check_and_add(&document, None, AddOptions::default(), verify, texts).unwrap()
    };
    assert_eq!(ask(&|_| Texts::Ask), Step::Text(0));
    assert_eq!(index.index().len(), 1);
    let near = checked(ask(&|_| Texts::Known("甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥")));
    assert_eq!(near.outcome.duplicate_of.map(|near| near.id), Some(0));
    assert!(near.similarity.is_some_and(|similarity| similarity > 0.9));
    // Without a text the distance alone decides, and there is no similarity to tell.
    let blind = checked(ask(&|_| Texts::None));
    assert_eq!((blind.outcome.duplicate_of.map(|near| near.id), blind.similarity), (Some(0), None));
    // A text that is another one: no duplicate.
    let unlike = checked(ask(&|_| Texts::Known("完全不同的一篇文章")));
    assert_eq!(unlike.outcome, Outcome::added(1));
}

#[test]
fn a_batch_decides_as_one_by_one() {
    let texts: Vec<String> = (0..600)
        .map(|number| {
            let variant = ["", "了", "吗"][number % 3];
            format!("第{}号通知今日发布请注意查收{variant}", number / 3 * 7919)
        })
        .collect();
    let verify = Some(Verify { measure: Measure::Auto, least: 0.85 });
    let single = online(12, None, ALL);
    let one: Vec<Checked> = texts.iter().map(|text| check(&single, text, verify)).collect();
    assert!(one.iter().filter(|checked| checked.outcome.id.is_none()).count() > 100);
    let batched = online(12, None, ALL);
    let documents: Vec<Document> = texts.iter().map(|text| document(&batched, text)).collect();
    let keys: Vec<Option<String>> = (0..600).map(|row| Some(row.to_string())).collect();
    let (skip, go) = (OnDuplicate::Skip, AtomicBool::new(false));
    let many = batched.check_and_add_many(&documents, &keys, &[], skip, verify, &go);
    assert_eq!(many.as_ref(), Ok(&one));
    for (row, checked) in one.iter().enumerate() {
        assert_eq!(batched.id_of(&row.to_string()), checked.outcome.id);
    }
    let raised = AtomicBool::new(true);
    let cancelled = batched.check_and_add_many(&documents, &keys, &[], skip, verify, &raised);
    assert_eq!(cancelled, Err(IndexError::Cancelled));
}

#[test]
fn memory_of_keys_and_texts_follows_the_window() {
    let window = Window { max_age: None, max_count: Some(20_000) };
    let index = online(3, Some(window), ALL);
    let mut most = (0, 0);
    for number in 0..200_000_u64 {
        let text = format!("短{number}");
        let verify = (number == 0).then(Verify::default);
        let document = document(&index, &text);
        if verify.is_some() {
            check(&index, "起", verify);
        }
        index.add(&document, Some(&format!("key-{number}")), None).unwrap();
        if number % 1_000 == 999 {
            let (keys, texts) = index.bytes();
            most = (most.0.max(keys), most.1.max(texts));
        }
    }
    assert_eq!(index.id_of("key-100"), None);
    assert_eq!(index.id_of("key-199999"), Some(200_000));
    // Twice what 20,000 documents need: 4 + 10 + 57 bytes for a key, 4 + 9 and a list of about 150 for a text.
    assert!(most.0 < 2 * 20_000 * 71 && most.1 < 2 * 20_000 * 163, "{most:?}");
}

#[test]
fn one_key_for_all_documents_costs_what_is_alive() {
    let index = online(3, Some(Window { max_age: None, max_count: Some(100) }), ALL);
    let by_key = document(&index, "同一把钥匙");
    for _ in 0..50_000 {
        index.add(&by_key, Some("k"), None).unwrap();
    }
    assert_eq!(index.id_of("k"), Some(49_999));
    assert!(index.delete(49_999).unwrap());
    assert_eq!(index.id_of("k"), Some(49_998));
    assert!(index.bytes().0 < 200_000, "{}", index.bytes().0);
}

#[test]
fn every_damage_to_keys_and_texts_is_named() {
    let index = online(3, None, ALL);
    for number in 0..5 {
        let document = document(&index, &format!("短文{number}"));
        index.add(&document, Some(&format!("键{number}")), None).unwrap();
    }
    let mut bytes = Vec::new();
    index.save(&mut bytes).unwrap();
    assert!(OnlineIndex::open(&mut bytes.as_slice(), fingerprinter()).is_ok());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let opened = OnlineIndex::open(&mut damaged.as_slice(), fingerprinter());
        assert!(matches!(opened, Err(IndexError::File(FileError::Damaged { .. }))), "byte {at}");
        let cut = OnlineIndex::open(&mut &bytes[..at], fingerprinter());
        assert!(matches!(cut, Err(IndexError::File(FileError::Damaged { .. }))), "cut at {at}");
    }
}

#[test]
fn a_file_names_what_made_it_and_without_keys_and_texts_it_is_that_of_the_index_inside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let never = AtomicBool::new(false);
    let recipe = fingerprinter().to_string();
    for stored in [Stored::default(), ALL] {
        let index = online(3, Some(Window::default()), stored);
        let text = "床前明月光，疑是地上霜。举头望明月，低头思故乡。";
        let key = stored.keys.then_some("李白");
        index.add(&document(&index, text), key, Some(1)).unwrap();
        index.snapshot().write_file(&path, &never).unwrap();
        let opened = OnlineIndex::open_file(&path, fingerprinter(), &never).unwrap();
        assert_eq!((opened.index().len(), opened.stored()), (1, stored));
        assert_eq!(
            (opened.key_of(0).as_deref(), opened.index().window()),
            (key, index.index().window())
        );
        let inside = Index::open_file(&path, &recipe, &never);
        if stored == ALL {
            let error = inside.unwrap_err().to_string();
            assert!(error.contains("file") && error.contains("keys or texts (some)"), "{error}");
        } else {
            assert_eq!(inside.unwrap().len(), 1);
        }
        let other = FingerprinterOptions { min_features: Some(7), ..Default::default() };
        let other = Fingerprinter::new(&other).unwrap();
        let error = OnlineIndex::open_file(&path, other.clone(), &never).unwrap_err();
        let IndexError::File(FileError::Mismatch { path: named, option, saved, given }) = error
        else {
            panic!("{error}")
        };
        assert_eq!((named, option), (path.clone(), "fingerprinter"));
        assert_eq!((saved, given), (recipe.clone(), other.to_string()));
    }
    let raised = AtomicBool::new(true);
    let index = online(3, None, ALL);
    assert_eq!(index.snapshot().write_file(&path, &raised), Err(IndexError::Cancelled));
    let opened = OnlineIndex::open_file(&path, fingerprinter(), &raised);
    assert_eq!(opened.unwrap_err(), IndexError::Cancelled);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(OnlineIndex::open_file(&path, fingerprinter(), &never).is_ok(), "as it was");
}

/// Keys and texts belong to the moment of the fingerprints: that of the call.
#[test]
fn a_snapshot_has_the_keys_and_texts_of_its_moment() {
    let index = online(3, Some(Window { max_age: Some(1_000_000), max_count: None }), ALL);
    let add = |number: u64, key: &str| {
        let document = document(&index, &format!("短{number}"));
        index.add(&document, Some(key), Some(number)).unwrap()
    };
    for number in 0..3000 {
        assert_eq!(add(number, &format!("key {}", number % 2000)), number);
    }
    let mut expected = Vec::new();
    index.save(&mut expected).unwrap();
    let snapshot = index.snapshot();
    // An earlier use of a key, many later ones, and enough deletions for chunks to be looked through.
    assert!(index.delete(2500).unwrap());
    for number in 3000..6000 {
        add(number, "key 7");
    }
    assert_eq!(index.expire(2900).unwrap(), 2899);
    let mut written = Vec::new();
    snapshot.write(&mut written, &AtomicBool::new(false)).unwrap();
    let opened = OnlineIndex::open(&mut written.as_slice(), fingerprinter()).unwrap();
    assert_eq!(opened.index().len(), 3000);
    for number in 0..3000_u64 {
        assert_eq!(opened.key_of(number), Some(format!("key {}", number % 2000)));
        assert_eq!(opened.text_of(number), Some(format!("短{number}")));
    }
    let ids = ["key 7", "key 500", "key 1500"].map(|key| opened.id_of(key));
    assert_eq!(ids, [Some(2007), Some(2500), Some(1500)]);
    assert!(written == expected);
}

/// A batch under way, of any kind, ends after single calls that came later.
#[test]
fn a_single_call_is_done_while_a_batch_is_under_way() {
    let go = AtomicBool::new(false);
    let index = online(3, None, ALL);
    let documents: Vec<Document> =
        (0..60_000).map(|number| document(&index, &format!("短{number}"))).collect();
    let empty = document(&index, "");
    for check in [false, true] {
        let before = index.index().len();
        let (ids, single) = thread::scope(|scope| {
            let batch = scope.spawn(|| {
                if !check {
                    return index
                        .add_many(&documents, &[], &[], &AtomicBool::new(false))
                        .unwrap()
                        .iter()
                        .collect();
                }
                let add = OnDuplicate::Add;
                let all = index.check_and_add_many(&documents, &[], &[], add, None, &go).unwrap();
                all.iter().filter_map(|checked| checked.outcome.id).collect::<Vec<u64>>()
            });
            while index.index().len() == before {
                thread::yield_now();
            }
            let single = index.add(&empty, Some("single"), None).unwrap();
            assert!(index.delete(single).unwrap());
            (batch.join().unwrap(), single)
        });
        assert_eq!(ids.len(), documents.len());
        // A call that waited for the batch would have come after it.
        assert!(single < ids[ids.len() - 1], "{single}");
        assert!(!ids.contains(&single));
        for (&id, document) in ids.iter().zip(&documents).step_by(997) {
            assert_eq!(index.text_of(id).as_deref(), document.text.as_deref());
        }
    }
}
