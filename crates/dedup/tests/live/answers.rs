//! The live index of documents against a list that is gone through from the front, by every method.

use proptest::prelude::*;
use simhash_dedup::live::{
    Checked, Document, LiveIndex, LiveMethod, LiveOptions, Near, Search, Step, Stored, Texts,
    Verify,
};
use simhash_dedup::{DedupError, Measure};
use simhash_index::{AddOptions, IndexError, MAX_SKEW, OnDuplicate, PlanChoice, Window};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::model::{
    Model, NEVER, check, checked, code, connected, document, methods, options, saved,
};

/// Short ones, titles, and some that are too long to be stored; with families that differ by an edit or two.
fn texts() -> impl Strategy<Value = String> {
    let symbol =
        || prop::sample::select("甲乙丙丁戊己庚辛壬癸子丑寅卯。".chars().collect::<Vec<_>>());
    let base = prop::sample::select(vec![
        "甲乙丙丁戊",
        "一",
        "子丑寅卯甲乙丙",
        "甲乙丙丁戊己庚辛壬癸子丑寅卯",
        "癸壬辛庚己戊丁丙乙。甲卯寅丑子甲丙戊庚壬子寅",
        "甲丙戊庚壬子寅。乙丁己辛癸丑卯甲。丁庚癸卯丙己壬丑戊辛子乙甲丙戊",
        "甲丙戊庚壬子寅。乙丁己辛癸丑卯甲。\n丁庚癸卯丙己壬丑戊辛子乙甲丙戊",
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
    Check(String, Option<u8>, u64, OnDuplicate),
    Search(String, bool, usize),
    Delete(u64),
    Expire(u64),
    Pairs,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step_>> {
    let key = || prop::option::of(0..12_u8);
    let duplicate =
        prop::sample::select(vec![OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch]);
    let step = prop_oneof![
        2 => (texts(), key(), 0..4_u64).prop_map(|(text, key, on)| Step_::Add(text, key, on)),
        8 => (texts(), key(), 0..4_u64, duplicate)
            .prop_map(|(text, key, on, duplicate)| Step_::Check(text, key, on, duplicate)),
        3 => (texts(), any::<bool>(), 0..9_usize)
            .prop_map(|(text, verified, limit)| Step_::Search(text, verified, limit)),
        1 => (0..40_u64).prop_map(Step_::Delete),
        1 => (0..60_u64).prop_map(Step_::Expire),
        1 => Just(Step_::Pairs),
        1 => Just(Step_::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

fn verifications() -> impl Strategy<Value = Option<Verify>> {
    let measure =
        prop::sample::select(vec![Measure::Auto, Measure::Jaccard, Measure::Edit, Measure::Cosine]);
    let least = prop::sample::select(vec![0.3, 0.6, 0.8, 0.9, 1.0]);
    prop::option::weighted(
        0.8,
        (measure, least).prop_map(|(measure, least)| Verify { measure, least }),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_operations_agree_with_the_plain_list(
        method in prop::sample::select(methods()),
        steps in steps(),
        verify in verifications(),
        longest_text in prop::option::weighted(0.8, prop::sample::select(vec![60_u32, 65_536])),
        max_age in prop::option::of(5..60_u64),
        max_count in prop::option::of(1..20_u64),
    ) {
        let window = Window { max_age, max_count };
        let stored = Stored { keys: true, longest_text };
        let given = LiveOptions { verify, stored, window: Some(window), ..options(method) };
        let mut index = LiveIndex::new(&given).unwrap();
        let mut model = Model::new(index.options().clone());
        let mut now = 0;
        for step in steps {
            match step {
                Step_::Add(text, key, on) => {
                    now += on;
                    let key = key.map(|key| format!("键{key}"));
                    model.advance(now);
                    let expected = model.add(&text, key.clone());
                    let id = index.add(&document(&index, &text), key.as_deref(), Some(now)).unwrap();
                    prop_assert_eq!(id, expected);
                }
                Step_::Check(text, key, on, on_duplicate) => {
                    now += on;
                    let key = key.map(|key| format!("键{key}"));
                    let how = AddOptions { at: Some(now), on_duplicate };
                    let none = |_| Texts::None;
                    let document = document(&index, &text);
                    let step = index.check_and_add(&document, key.as_deref(), how, none).unwrap();
                    model.advance(now);
                    let found = model.best(&text);
                    if let (Some(near), OnDuplicate::Touch) = (found, on_duplicate) {
                        model.touch(near.id);
                    }
                    let adds = found.is_none() || on_duplicate == OnDuplicate::Add;
                    let id = adds.then(|| model.add(&text, key));
                    prop_assert_eq!(checked(step), Checked { id, duplicate_of: found, ..Checked::default() });
                }
                Step_::Search(text, verified, limit) => {
                    let how = Search { verified, limit: Some(limit), ..Search::default() };
                    let found = index.search(&document(&index, &text), &how).unwrap();
                    let mut expected = model.near(&text, verified);
                    prop_assert_eq!(found.truncated, expected.len() > limit);
                    expected.truncate(limit);
                    prop_assert_eq!(found.matches, expected);
                }
                Step_::Delete(id) => {
                    prop_assert_eq!(index.delete(id).unwrap(), model.delete(id));
                }
                Step_::Expire(before) => {
                    prop_assert_eq!(index.expire(before).unwrap(), model.expire(before));
                }
                Step_::Pairs => {
                    let pairs = index.pairs(&Search::default()).unwrap();
                    let (mut pairs, mut found) = (pairs, Vec::new());
                    let kept = longest_text.is_some() || !matches!(given.method, LiveMethod::MinHash { .. });
                    while kept && let Some(more) = index.next_pairs(&mut pairs, 2, &NEVER).unwrap() {
                        found.extend(more.iter().map(|pair| (pair.a, pair.b.id)));
                    }
                    // Where all texts are known: the pairs that a look at each document finds.
                    if longest_text == Some(65_536) || method == "exact" {
                        let expected = model.pairs();
                        if method == "simhash" && verify.is_none() {
                            // Tables joined: of a group of neighbours every pair.
                            let clusters = index.clusters(&Search::default(), 2, &NEVER, |_| ());
                            prop_assert_eq!(clusters.unwrap().clusters, connected(&expected));
                            prop_assert!(expected.iter().all(|pair| found.contains(pair)));
                        } else {
                            prop_assert_eq!(found, expected);
                        }
                    }
                }
                Step_::Reopen => {
                    let bytes = saved(&index);
                    index = LiveIndex::open(&mut bytes.as_slice(), &options(method)).unwrap();
                    prop_assert_eq!(index.options().stored, model.options.stored);
                    prop_assert_eq!(index.options().verify, verify);
                    // The plan that was chosen is known by its name then.
                    if method != "simhash" {
                        prop_assert_eq!(&index.options().method, &model.options.method);
                    }
                    prop_assert_eq!(index.window(), Some(window));
                }
            }
            for (id, row) in (0..).zip(&model.rows) {
                prop_assert_eq!(index.has(id), row.alive);
                prop_assert_eq!(index.key_of(id), row.key.clone().filter(|_| row.alive));
                let text = model.stored_text(row).filter(|text| row.alive && !text.is_empty());
                prop_assert_eq!(index.text_of(id), text.map(str::to_owned));
            }
            for key in (0..13).map(|key| format!("键{key}")) {
                prop_assert_eq!(index.id_of(&key), model.id_of(&key));
            }
        }
    }
}

#[test]
fn of_two_similar_texts_at_once_exactly_one_is_kept() {
    const ROUNDS: usize = 20_000;
    for method in methods() {
        let index = LiveIndex::new(&options(method)).unwrap();
        let round = AtomicUsize::new(0);
        let kept: Vec<AtomicUsize> = (0..ROUNDS).map(|_| AtomicUsize::new(0)).collect();
        thread::scope(|scope| {
            for own in 0..2usize {
                let (index, round, kept) = (&index, &round, &kept);
                scope.spawn(move || {
                    for (number, kept) in kept.iter().enumerate() {
                        let copy = matches!(index.options().method, LiveMethod::Exact);
                        let last = if copy { 0 } else { own };
                        let text = format!("{}。{}", code(number, 60), ["前", "后"][last]);
                        // Both begin a round together: the second to arrive opens it.
                        let arrived = round.fetch_add(1, Ordering::SeqCst);
                        while arrived % 2 == 0 && round.load(Ordering::SeqCst) < 2 * (number + 1) {
                            thread::yield_now();
                        }
                        if check(index, &text).id.is_some() {
                            kept.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        let wrong: Vec<usize> =
            (0..ROUNDS).filter(|&number| kept[number].load(Ordering::SeqCst) != 1).collect();
        assert!(
            wrong.is_empty(),
            "{method}: {} rounds, the first {:?}",
            wrong.len(),
            wrong.first()
        );
        assert_eq!(index.len(), ROUNDS as u64);
    }
}

#[test]
fn a_missing_text_is_asked_for_and_nothing_has_changed() {
    let verify = Some(Verify { measure: Measure::Edit, least: 0.9 });
    let plan = PlanChoice::Auto;
    let method = LiveMethod::SimHash { max_distance: Some(16), plan, capacity: None };
    let given = LiveOptions { method, verify, stored: Stored::NOTHING, ..LiveOptions::default() };
    let index = LiveIndex::new(&given).unwrap();
    let long = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥";
    let other = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉亥戌";
    assert_eq!(check(&index, long).id, Some(0));
    let document = document(&index, other);
    let ask = |texts: &dyn Fn(u64) -> Texts<'static>| {
        index.check_and_add(&document, None, AddOptions::default(), texts).unwrap()
    };
    assert_eq!(ask(&|_| Texts::Ask), Step::Texts(vec![0]));
    assert_eq!(index.len(), 1);
    let near = checked(ask(&|_| Texts::Known("甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥")));
    let near = near.duplicate_of.unwrap();
    assert!(near.id == 0 && near.verified && near.similarity.is_some_and(|found| found > 0.9));
    // Without a text the distance alone decides, and there is no similarity to tell.
    let blind = checked(ask(&|_| Texts::None)).duplicate_of.unwrap();
    assert_eq!((blind.id, blind.similarity, blind.verified), (0, None, false));
    // A text that is another one: no duplicate.
    let unlike = checked(ask(&|_| Texts::Known("完全不同的一篇文章")));
    assert_eq!(unlike, Checked { id: Some(1), ..Checked::default() });
}

#[test]
fn a_text_too_long_to_be_stored_counts_unverified_by_its_signature() {
    let given = LiveOptions {
        stored: Stored { keys: false, longest_text: Some(100) },
        ..LiveOptions::default()
    };
    let index = LiveIndex::new(&given).unwrap();
    let long = code(1, 400);
    let near = format!("{long}{}", code(2, 5));
    let half = format!("{}{}", &long[..600], code(3, 200));
    let twice = LiveIndex::new(&given).unwrap();
    for text in [&long, &near, &half] {
        twice.add(&document(&twice, text), None, None).unwrap();
    }
    let clusters = twice.clusters(&Search::default(), 1, &NEVER, |_| ()).unwrap();
    assert_eq!(clusters.clusters, [[0, 1]], "pairs of long texts are those of their signatures");
    for reopened in [false, true] {
        let index = if reopened {
            LiveIndex::open(&mut saved(&index).as_slice(), &given).unwrap()
        } else {
            assert_eq!(check(&index, &long).id, Some(0));
            LiveIndex::open(&mut saved(&index).as_slice(), &given).unwrap()
        };
        let found = check(&index, &near).duplicate_of.unwrap();
        assert!(!found.verified && found.similarity.is_some_and(|found| found > 0.9));
        assert_eq!(check(&index, &half).duplicate_of, None);
        assert_eq!(index.text_of(0), None);
    }
}

#[test]
fn a_batch_decides_as_one_by_one() {
    let texts: Vec<String> = (0..600)
        .map(|number| {
            let variant = ["", "了", "吗"][number % 3];
            format!("第{}号通知：{}。今日发布请注意查收{variant}", number / 3, code(number / 3, 30))
        })
        .collect();
    for method in methods() {
        let single = LiveIndex::new(&options(method)).unwrap();
        let one: Vec<Checked> = texts.iter().map(|text| check(&single, text)).collect();
        let least = if method == "exact" { 0 } else { 100 };
        let found = one.iter().filter(|checked| checked.id.is_none()).count();
        assert!(found >= least, "{method} {found}");
        let keyed = Stored { keys: true, ..Stored::default() };
        let batched = LiveIndex::new(&LiveOptions { stored: keyed, ..options(method) }).unwrap();
        let documents: Vec<Document> = texts.iter().map(|text| document(&batched, text)).collect();
        let keys: Vec<Option<String>> = (0..600).map(|row| Some(row.to_string())).collect();
        let skip = OnDuplicate::Skip;
        let many = batched.check_and_add_many(&documents, &keys, &[], skip, 2, &NEVER).unwrap();
        assert_eq!(many, one);
        for (row, checked) in one.iter().enumerate() {
            assert_eq!(batched.id_of(&row.to_string()), checked.id);
        }
        let how = Search { limit: Some(5), ..Search::default() };
        let found = batched.search_many(&documents, &how, 2, &NEVER).unwrap();
        for (document, found) in documents.iter().zip(found) {
            assert_eq!(batched.search(document, &how).unwrap(), found);
        }
        let raised = AtomicBool::new(true);
        let cancelled = batched.check_and_add_many(&documents, &keys, &[], skip, 2, &raised);
        assert!(matches!(cancelled, Err(DedupError::Cancelled)));
    }
}

/// A document that leaves while others are compared is no match, whatever has become of its text.
#[test]
fn a_search_names_nobody_unverified_while_documents_leave() {
    let window = Some(Window { max_age: None, max_count: Some(300) });
    let index = LiveIndex::new(&LiveOptions { window, ..options("sentences") }).unwrap();
    let text = |number: usize| format!("人人都有这一句话在里面。{}。", code(number, 40));
    for number in 0..300 {
        index.add(&document(&index, &text(number)), None, None).unwrap();
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 300..6000 {
                index.add(&document(&index, &text(number)), None, None).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        while !done.load(Ordering::SeqCst) {
            let found = index.search(&document(&index, &text(7_000)), &Search::default()).unwrap();
            assert_eq!(found.matches, []);
        }
    });
}

#[test]
fn forty_thousand_copies_are_paired_with_the_first_only() {
    for method in methods().into_iter().filter(|method| *method != "exact") {
        let index = LiveIndex::new(&options(method)).unwrap();
        let copy = document(&index, &code(1, 60));
        let documents = vec![copy; 40_000];
        index.add_many(&documents, &[], &[], &NEVER).unwrap();
        index.add(&document(&index, &format!("{}后", code(1, 60))), None, None).unwrap();
        let (mut pairs, mut count) = (index.pairs(&Search::default()).unwrap(), 0);
        while let Some(found) = index.next_pairs(&mut pairs, 0, &NEVER).unwrap() {
            assert!(found.iter().all(|pair| pair.a == 0));
            count += found.len();
        }
        let near = index.search(&documents[0], &Search::default()).unwrap().matches.len();
        assert!(near >= 40_000 && (39_999..=40_000).contains(&count), "{method} {near} {count}");
        assert!(pairs.truncated().is_empty(), "{method}");
    }
}

/// A batch under way, of any kind, ends after single calls that came later: it is long enough for a thread to be awake before its
/// end, and is cancelled as soon as the single call is done. One that waited for the batch would find it whole.
#[test]
fn a_single_call_is_done_while_a_batch_is_under_way() {
    const COUNT: usize = 400_000;
    let mut documents: Vec<Document> = Vec::new();
    for method in methods() {
        let index = LiveIndex::new(&options(method)).unwrap();
        // Few texts many times: what they are does not matter, and so many different ones would take long to prepare.
        let few: Vec<Document> =
            (0..1_000).map(|number| document(&index, &format!("短{number}"))).collect();
        documents.clear();
        documents.extend(few.iter().cycle().take(COUNT).cloned());
        let other = document(&index, "另一");
        let between = |check: bool| {
            let first = index.add(&other, None, None).unwrap();
            let before = index.len();
            let flag = AtomicBool::new(false);
            let (batch, single) = thread::scope(|scope| {
                let batch = scope.spawn(|| {
                    if !check {
                        return index.add_many(&documents, &[], &[], &flag).map(drop);
                    }
                    let add = OnDuplicate::Add;
                    index.check_and_add_many(&documents, &[], &[], add, 1, &flag).map(drop)
                });
                while index.len() == before {
                    thread::yield_now();
                }
                let single = index.add(&other, None, None).unwrap();
                flag.store(true, Ordering::SeqCst);
                (batch.join().unwrap(), single)
            });
            let last = index.add(&other, None, None).unwrap();
            let batched = (first + 1..last).filter(|id| *id != single);
            for (row, id) in batched.enumerate().step_by(997) {
                let text = (method != "exact").then(|| format!("短{}", row % 1_000));
                assert_eq!(index.text_of(id), text);
            }
            for id in [first, single, last] {
                assert_eq!(index.text_of(id), (method != "exact").then(|| "另一".to_owned()));
                assert!(index.delete(id).unwrap());
            }
            let added = index.len() + 1 - before;
            match batch {
                Err(DedupError::Index(IndexError::CancelledAfter { items })) => {
                    assert_eq!(added, items, "{method}");
                    true
                }
                Ok(()) => {
                    assert_eq!(added, COUNT as u64, "{method}");
                    false
                }
                Err(error) => panic!("{method}: {error}"),
            }
        };
        assert!((0..3).any(|_| between(false)), "{method}");
        assert!((0..3).any(|_| between(true)), "{method}");
    }
}

#[test]
fn bare_items_are_for_the_index_of_their_method() {
    let bare = |method| LiveOptions { stored: Stored::NOTHING, verify: None, ..options(method) };
    let by_default = LiveOptions { method: LiveMethod::simhash(), ..bare("simhash") };
    let simhash = LiveIndex::new(&by_default).unwrap();
    assert_eq!(
        simhash.options().method,
        LiveMethod::SimHash { max_distance: Some(3), plan: PlanChoice::Auto, capacity: None }
    );
    assert_eq!(simhash.add(&Document::fingerprint(7), None, None).unwrap(), 0);
    let near = simhash.search(&Document::fingerprint(6), &Search::default()).unwrap().matches;
    assert_eq!(near, [Near { id: 0, similarity: None, verified: false, measure: 1 }]);
    let minhash = LiveIndex::new(&bare("minhash")).unwrap();
    let item = Document::signature((0..128).collect());
    assert_eq!(minhash.add(&item, None, None).unwrap(), 0);
    let near = minhash.search(&item, &Search::default()).unwrap().matches;
    assert_eq!((near[0].similarity, near[0].verified), (Some(1.0), false));
    assert!(matches!(simhash.add(&item, None, None), Err(DedupError::Option { .. })));
    assert!(minhash.add(&Document::signature(vec![1]), None, None).is_err());
    let late = u64::MAX / 2;
    assert!(late > MAX_SKEW && simhash.add(&Document::fingerprint(1), None, Some(late)).is_ok());
}
