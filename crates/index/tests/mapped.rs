//! An index opened from a mapped file answers and changes as one in memory; a damaged file gives no answer.
#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use common::{Model, Random};
use proptest::prelude::*;
use simhash_index::{
    AddOptions, Index, IndexError, IndexOptions, Item, OnDuplicate, PlanChoice, SearchOptions,
    Window,
};
use simhash_store::{Access, FileError};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// More than a chunk of ids, so that most are looked up in the file, and some that fill none.
const COUNT: u64 = 20_000;

fn options(plan: &str, window: Option<Window>) -> IndexOptions {
    let mut options = IndexOptions::default();
    options.plan = PlanChoice::Named(plan.to_owned());
    options.window = window;
    options
}

/// Every tenth a short text or nothing; the others fingerprints of which some are equal and many near each other.
fn item(random: &mut Random) -> Item {
    match random.below(20) {
        0 => Item::Exact(u128::from(random.below(300)) << 60),
        1 => Item::Empty,
        _ => {
            let base = random.below(5000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let flips = random.below(4) as u32;
            Item::Fingerprint(random.near(base, flips))
        }
    }
}

fn saved(index: &Index, folder: &TempDir) -> PathBuf {
    let path = folder.path().join(format!("{}.index", index.next_id()));
    let never = AtomicBool::new(false);
    index.snapshot().write_file((&path, Access::Private), "recipe", &never).unwrap();
    path
}

fn mapped(path: &Path) -> Result<Index, IndexError> {
    let (index, kept) = Index::open_mapped(path, Some("recipe"))?;
    assert!(kept.is_empty());
    Ok(index)
}

fn bytes(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.snapshot().write(&mut bytes, "recipe", &AtomicBool::new(false)).unwrap();
    bytes
}

/// Both do and answer the same.
fn same_change(one: &Index, other: &Index, random: &mut Random, at: u64) {
    match random.below(12) {
        0..3 => {
            let item = item(random);
            assert_eq!(one.add_at(item, Some(at)).unwrap(), other.add_at(item, Some(at)).unwrap());
        }
        3..6 => {
            let on_duplicate = match random.below(3) {
                0 => OnDuplicate::Skip,
                1 => OnDuplicate::Add,
                _ => OnDuplicate::Touch,
            };
            let (item, how) = (item(random), AddOptions { at: Some(at), on_duplicate });
            let (a, b) = (one.check_and_add_with(item, how), other.check_and_add_with(item, how));
            assert_eq!(a.unwrap(), b.unwrap(), "{item:?}");
        }
        6..10 => {
            let id = random.below(one.next_id());
            assert_eq!(one.delete(id).unwrap(), other.delete(id).unwrap(), "id {id}");
        }
        _ => same_search(one, other, item(random), random),
    }
}

fn same_search(one: &Index, other: &Index, item: Item, random: &mut Random) {
    let limit = [None, Some(1), Some(3)][random.below(3) as usize];
    let max_distance = [None, None, Some(0), Some(6), Some(14)][random.below(5) as usize];
    let search = SearchOptions { max_distance, limit };
    let (a, b) = (one.search(item, search), other.search(item, search));
    assert_eq!(a.unwrap(), b.unwrap(), "{item:?} {search:?}");
}

fn same_whole(one: &Index, other: &Index) {
    assert_eq!((one.len(), one.next_id()), (other.len(), other.next_id()));
    for id in 0..one.next_id() {
        assert_eq!(one.has(id), other.has(id), "id {id}");
        let all = SearchOptions::default();
        assert_eq!(one.search_id(id, all).unwrap(), other.search_id(id, all).unwrap(), "id {id}");
    }
    let cancel = AtomicBool::new(false);
    let clusters = |index: &Index| index.clusters(None, 1, &|_| (), &cancel).unwrap();
    assert_eq!(clusters(one), clusters(other));
    let pairs = |index: &Index| {
        let (mut under_way, mut all) = (index.pairs(None).unwrap(), Vec::new());
        while let Some(some) = under_way.next_batch(index, 1, &cancel).unwrap() {
            all.extend(some);
        }
        all.sort_unstable();
        all
    };
    assert_eq!(pairs(one), pairs(other));
}

#[test]
fn a_mapped_index_goes_on_as_the_saved_one_whatever_is_done() {
    let windows = [None, Some(Window { max_age: Some(30_000), max_count: Some(15_000) })];
    for (plan, window, seed) in
        [("k3-t6", windows[0], 1), ("k3-t11", windows[1], 2), ("k1-t2", windows[0], 3)]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(seed);
        let mut one = Index::new(&options(plan, window)).unwrap();
        for at in 0..COUNT {
            one.add_at(item(&mut random), Some(at)).unwrap();
            if at % 4 == 0 {
                one.delete(random.below(at + 1)).unwrap();
            }
        }
        let mut at = COUNT;
        // Each round opens what the round before has left: a file of an index that was itself mapped.
        for round in 0..3 {
            let path = saved(&one, &folder);
            let other = mapped(&path).unwrap();
            let stats = other.stats();
            assert!(stats.mapped_bytes > 0 && stats.table_bytes < stats.mapped_bytes / 4);
            assert_eq!(bytes(&other), std::fs::read(&path).unwrap(), "{plan}: saving is stable");
            let read = Index::open_file(&path, "recipe", &AtomicBool::new(false)).unwrap();
            assert_eq!(bytes(&read), std::fs::read(&path).unwrap());
            // What is published is unlinked while it is mapped.
            std::fs::remove_file(&path).unwrap();
            for step in 0..3000 {
                at += 1;
                same_change(&one, &other, &mut random, at);
                if step == 1500 && round > 0 {
                    other.compact();
                    assert_eq!(other.stats().mapped_bytes, 0, "a merge makes tables in memory");
                }
                if step % 500 == 0 {
                    let expired = window.map(|_| at - 14_000);
                    if let Some(before) = expired {
                        assert_eq!(one.expire(before).unwrap(), other.expire(before).unwrap());
                    }
                }
            }
            let items: Vec<Item> = (0..2000).map(|_| item(&mut random)).collect();
            let never = AtomicBool::new(false);
            let check = |index: &Index| {
                index.check_and_add_many(&items, &vec![at; 2000], OnDuplicate::Skip, 1, &never)
            };
            assert_eq!(check(&one).unwrap(), check(&other).unwrap());
            let search = |index: &Index| {
                index.search_many(&items, SearchOptions::default(), 1, &never).unwrap()
            };
            assert_eq!(search(&one), search(&other));
            same_whole(&one, &other);
            one = other;
        }
    }
}

/// Every document of the file leaves, copies of old fingerprints come: nothing of the file counts any more.
#[test]
fn a_mapped_index_outlives_all_that_was_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let one = Index::new(&options("k3-t6", None)).unwrap();
    let mut random = Random(5);
    let items: Vec<Item> = (0..COUNT).map(|_| item(&mut random)).collect();
    one.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
    let other = mapped(&saved(&one, &folder)).unwrap();
    for id in 0..COUNT {
        // A copy before the last of its kind leaves, or after.
        let copy = items[random.below(COUNT) as usize];
        if id % 3 == 0 {
            assert_eq!(one.add(copy).unwrap(), other.add(copy).unwrap());
        }
        assert!(one.delete(id).unwrap() && other.delete(id).unwrap());
        if id % 3 == 1 {
            assert_eq!(one.check_and_add(copy).unwrap(), other.check_and_add(copy).unwrap());
        }
    }
    same_whole(&one, &other);
    assert_eq!(one.oldest_id(), other.oldest_id());
    // The directory of a table has the size that its inputs called for, dead ones among them, and which these were depends on
    // when merges ran. From the second merge of everything on there are none.
    let fresh = Item::Fingerprint(random.next());
    for index in [&one, &other] {
        index.compact();
        index.add(fresh).unwrap();
        index.compact();
    }
    assert_eq!(bytes(&one).len(), bytes(&other).len());
    let again = mapped(&saved(&other, &folder)).unwrap();
    same_whole(&one, &again);
}

/// What is added and deleted while an index is being sealed for saving: fingerprints that are in no table, and tables with
/// fingerprints that nobody holds.
#[test]
fn an_index_saved_under_change_is_mapped_at_one_of_its_moments() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::new(&IndexOptions::default()).unwrap();
    let mut random = Random(11);
    let values: Vec<u64> = (0..150_000).map(|_| random.next()).collect();
    let stop = AtomicBool::new(false);
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        scope.spawn(|| {
            for (id, &value) in (0u64..).zip(&values) {
                assert_eq!(index.add(Item::Fingerprint(value)).unwrap(), id);
                if id >= 1000 && id % 2 == 0 {
                    assert!(index.delete(id - 1000).unwrap());
                }
            }
            stop.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        let mut paths = Vec::new();
        while !stop.load(std::sync::atomic::Ordering::SeqCst) {
            let path = folder.path().join(paths.len().to_string());
            let never = AtomicBool::new(false);
            index.snapshot().write_file((&path, Access::Private), "recipe", &never).unwrap();
            paths.push(path);
        }
        paths
    });
    let count = paths.len();
    for path in paths {
        let opened = mapped(&path).unwrap();
        let next = opened.next_id();
        for id in (0..next).filter(|id| id % 61 == 0 || id + 1100 > next) {
            let gone = id % 2 == 0 && id + 1000 < next;
            let undecided = id % 2 == 0 && id + 1001 == next;
            let query = Item::Fingerprint(values[id as usize]);
            let found = opened.search(query, SearchOptions::default()).unwrap().matches;
            let found: Vec<u64> = found.iter().map(|found| found.id).collect();
            assert!(undecided || found == if gone { vec![] } else { vec![id] }, "{count}: {id}");
        }
        // What comes again is found once, whatever the tables of the file know of it.
        for id in (next.saturating_sub(3000)..(next + 3000).min(values.len() as u64)).step_by(7) {
            let item = Item::Fingerprint(values[id as usize]);
            let before = opened.search(item, SearchOptions::default()).unwrap().matches.len();
            let added = opened.add(item).unwrap();
            let found = opened.search(item, SearchOptions::default()).unwrap().matches;
            assert_eq!(found.len(), before + 1, "{id}");
            assert!(opened.delete(added).unwrap());
        }
        opened.compact();
        assert_eq!(opened.stats().dead, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Against brute force, by few fingerprints with many holders each.
    #[test]
    fn a_mapped_index_equals_the_model(
        seed: u64,
        kinds in 1..40_u64,
        steps in prop::collection::vec((0..9_u8, any::<u64>()), 1..250),
    ) {
        let mut random = Random(seed);
        let base = random.next();
        let fingerprint = move |kind: u64| {
            let flips = (kind % 4) as u32;
            Item::Fingerprint(Random(kind).near(base.rotate_left((kind / 4 * 16) as u32), flips))
        };
        let (mut model, index) = (Model::default(), Index::new(&IndexOptions::default()).unwrap());
        // Of the ids in the file all but some are dead, and a few are in no whole chunk.
        let items: Vec<Item> = (0..8192 + seed % 40).map(|id| match id % 128 {
            0 => fingerprint(random.below(kinds)),
            1 => Item::Exact(u128::from(id)),
            _ => Item::Empty,
        }).collect();
        index.add_many(&items, &[], &AtomicBool::new(false)).unwrap();
        for &item in &items {
            model.add(item);
        }
        for _ in 0..30 {
            let id = random.below(64) * 128;
            prop_assert_eq!(index.delete(id).unwrap(), model.delete(id));
        }
        let folder = tempfile::tempdir().unwrap();
        let index = mapped(&saved(&index, &folder)).unwrap();
        for (what, which) in steps {
            let item = fingerprint(which % kinds);
            match what {
                0 => prop_assert_eq!(index.add(item).unwrap(), model.add(item)),
                1 => prop_assert_eq!(index.check_and_add(item).unwrap(), model.check_and_add(item, 3)),
                2..5 => {
                    let id = which % (items.len() as u64 / 128 + 1) * 128;
                    prop_assert_eq!(index.delete(id).unwrap(), model.delete(id));
                }
                5 => {
                    let id = which % model.items.len() as u64;
                    prop_assert_eq!(index.delete(id).unwrap(), model.delete(id));
                }
                6 if which % 10 == 0 => index.compact(),
                _ => {
                    let limit = (which % 5 + 1) as usize;
                    let distance = (which % 7) as u32;
                    let search = SearchOptions { max_distance: Some(distance), limit: Some(limit) };
                    let found = index.search(item, search).unwrap();
                    prop_assert_eq!(found, model.search(item, distance, limit));
                }
            }
        }
        prop_assert_eq!(index.len(), model.items.iter().filter(|item| item.1).count() as u64);
    }
}

fn small() -> Index {
    let index = Index::new(&IndexOptions::default()).unwrap();
    let mut random = Random(5);
    for id in 0..9000 {
        index.add(if id % 50 == 0 { Item::Fingerprint(7) } else { item(&mut random) }).unwrap();
    }
    index
}

/// A flipped byte is an error with its place, of opening or of the call that touches its block; else it was not touched.
#[test]
fn no_answer_comes_from_a_block_that_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let index = small();
    let path = saved(&index, &folder);
    let bytes = std::fs::read(&path).unwrap();
    let all = SearchOptions::default();
    let queries: Vec<Item> = (0..60).map(|seed| item(&mut Random(seed))).collect();
    let answers: Vec<_> = queries.iter().map(|&item| index.search(item, all).unwrap()).collect();
    let damage = |error: &IndexError, at: usize| match error {
        IndexError::File(FileError::Damaged { path: named, offset, .. }) => {
            assert!(*named == path && *offset <= at as u64 + 8, "byte {at}, {offset} named");
        }
        IndexError::File(FileError::Format { .. }) => assert!(at < 32),
        other => panic!("byte {at}: {other}"),
    };
    let (mut at_opening, mut at_touch, mut untouched, mut unseen) = (0, 0, 0, 0);
    for at in (0..bytes.len()).step_by(997).chain(bytes.len() - 40..bytes.len()).chain(0..40) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&path, &flipped).unwrap();
        let opened = match mapped(&path) {
            Ok(opened) => opened,
            Err(error) => {
                damage(&error, at);
                at_opening += 1;
                continue;
            }
        };
        let mut damaged = false;
        for (&item, answer) in queries.iter().zip(&answers) {
            match opened.search(item, all) {
                Ok(found) => assert!(!damaged && found == *answer, "byte {at}"),
                Err(error) => {
                    damage(&error, at);
                    damaged = true;
                }
            }
        }
        if damaged {
            // From then on nothing is answered, added, deleted or saved.
            let never = AtomicBool::new(false);
            assert!(opened.add(Item::Empty).is_err() && opened.delete(1).is_err());
            assert!(opened.check_and_add(queries[0]).is_err());
            assert!(opened.search_many(&queries, all, 1, &never).is_err());
            assert!(opened.add_many(&queries, &[], &never).is_err());
            assert!(opened.pairs(None).is_err() && opened.search_id(2, all).is_err());
            assert!(opened.clusters(None, 1, &|_| (), &never).is_err());
            let error = opened.save(&mut Vec::new()).unwrap_err();
            damage(&error, at);
            at_touch += 1;
        } else {
            untouched += 1;
        }
        // What checks all finds it, wherever it lies but between frames.
        let verified = opened.verify(&AtomicBool::new(false));
        let saved = opened.save(&mut Vec::new());
        match &verified {
            Ok(()) => assert!(saved.is_ok()),
            Err(error) => {
                damage(error, at);
                assert!(saved.is_err());
            }
        }
        let frames = |name: &[u8; 4]| bytes.windows(4).position(|four| four == name).unwrap();
        if at > frames(b"VALS") + 100 && at < frames(b"HOLD") - 100 && verified.is_ok() {
            // The heads, padding and checksums of frames, and their sums, which opening has read.
            unseen += 1;
        }
        match saved {
            Ok(()) => assert!(opened.compact_until(&AtomicBool::new(false)).is_ok()),
            Err(error) => damage(&error, at),
        }
    }
    assert!(at_opening > 40 && at_touch > 50, "{at_opening} {at_touch} {untouched}");
    assert!(unseen < 10, "{unseen} changes that nobody sees");
}

/// A file whose checksums are right and whose contents are not: an error or an answer, never a panic, and verification finds it.
#[test]
fn a_file_that_contradicts_itself_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let index = small();
    let path = saved(&index, &folder);
    let bytes = std::fs::read(&path).unwrap();
    let never = AtomicBool::new(false);
    let resealed = resealed(&bytes);
    assert!(resealed.iter().any(|(name, _)| name == b"TABL"));
    let mut random = Random(77);
    let mut refused = 0;
    for (name, frame) in resealed {
        let blocks = [b"VALS", b"TABL", b"HOLD", b"COPY"].contains(&&name);
        for _ in 0..10 {
            let mut frame = Reseal { bytes: bytes.clone(), ..frame.clone() };
            let at = frame.words.start + 8 * random.below(frame.words.len() as u64 / 8) as usize;
            let word = match random.below(3) {
                0 => random.next(),
                1 => {
                    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
                        ^ 1 << random.below(64)
                }
                _ => u64::MAX,
            };
            if bytes[at..at + 8] == word.to_le_bytes() {
                continue;
            }
            frame.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            frame.seal();
            std::fs::write(&path, &frame.bytes).unwrap();
            assert!(Index::open_file(&path, "recipe", &never).is_err() || name != *b"TABL");
            let opened = match mapped(&path) {
                Ok(opened) => opened,
                Err(error) => {
                    assert!(!blocks && matches!(error, IndexError::File(_)), "{error}");
                    continue;
                }
            };
            for seed in 0..30 {
                let item = item(&mut Random(seed));
                let _ = (opened.search(item, SearchOptions::default()), opened.add(item));
                let _ = opened.delete(seed * 100);
            }
            let _ = opened.pairs(Some(1)).map(drop);
            // An id that has no fingerprint has a word too, which is not looked at.
            let found = mapped(&path).unwrap().verify(&never);
            refused += usize::from(found.is_err());
            assert!(
                found.is_err() || !blocks || name == *b"VALS",
                "{} at {at}",
                name.escape_ascii()
            );
        }
    }
    assert!(refused > 60);
}

/// A frame in the bytes of a file, and the words in it; a frame of blocks has sums behind it.
#[derive(Clone)]
struct Reseal {
    bytes: Vec<u8>,
    frame: usize,
    words: std::ops::Range<usize>,
    blocks: bool,
}

impl Reseal {
    /// Makes all checksums right again.
    fn seal(&mut self) {
        let Self { bytes, frame, words, blocks } = self;
        let end = words.end;
        if !*blocks {
            let sum = xxh3_64_with_seed(&bytes[*frame..end], *frame as u64);
            bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
            return;
        }
        let sums = end + 8;
        for (block, from) in words.clone().step_by(1 << 16).enumerate() {
            let to = (from + (1 << 16)).min(end);
            let sum = xxh3_64_with_seed(&bytes[from..to], from as u64);
            let at = sums + 32 + block * 8;
            bytes[at..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
        let sums_end = sums + 32 + words.len().div_ceil(1 << 16) * 8;
        for (from, to) in [(*frame, end), (sums, sums_end)] {
            let sum = xxh3_64_with_seed(&bytes[from..to], from as u64);
            bytes[to..to + 8].copy_from_slice(&sum.to_le_bytes());
        }
    }
}

/// Every frame behind the head that is not empty, but the sums.
fn resealed(bytes: &[u8]) -> Vec<([u8; 4], Reseal)> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let mut frames: Vec<([u8; 4], usize, usize)> = Vec::new();
    let mut at = 32;
    while at < bytes.len() {
        let length = number(at + 8);
        frames.push((bytes[at..at + 4].try_into().unwrap(), at, at + 16 + length));
        at += 24 + length;
    }
    let of = |two: &[([u8; 4], usize, usize)]| {
        let ((name, frame, end), blocks) = (two[0], two[1].0 == *b"SUMS");
        let first = if blocks { (frame + 16).next_multiple_of(64) } else { frame + 16 };
        (name, Reseal { bytes: Vec::new(), frame, words: first..end, blocks })
    };
    let frames = frames[1..]
        .windows(2)
        .map(of)
        .filter(|(name, frame)| !frame.words.is_empty() && name != b"SUMS");
    frames.collect()
}

#[test]
fn a_cut_file_is_refused_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(&small(), &folder);
    let bytes = std::fs::read(&path).unwrap();
    for length in (0..bytes.len()).step_by(4999).chain(bytes.len() - 100..bytes.len()) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        match mapped(&path).unwrap_err() {
            IndexError::File(FileError::Damaged { path: named, offset, .. }) => {
                assert!(named == path && offset <= length as u64);
            }
            other => panic!("{length}: {other}"),
        }
    }
    std::fs::write(&path, [&bytes[..], b"more"].concat()).unwrap();
    assert!(mapped(&path).unwrap_err().to_string().contains("follows the end"));
    std::fs::write(&path, &bytes).unwrap();
    let other = Index::open_mapped(&path, Some("another"));
    assert!(matches!(other, Err(IndexError::File(FileError::Mismatch { .. }))));
}

#[test]
fn an_empty_index_and_one_without_fingerprints_are_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::new(&IndexOptions::default()).unwrap();
    let opened = mapped(&saved(&index, &folder)).unwrap();
    assert!(opened.is_empty());
    assert_eq!(opened.add(Item::Fingerprint(0)).unwrap(), 0);
    for id in 0..9000 {
        index.add(Item::Exact(u128::from(id % 100 == 0))).unwrap();
    }
    let opened = mapped(&saved(&index, &folder)).unwrap();
    same_whole(&index, &opened);
    for id in 0..9000 {
        assert!(opened.delete(id).unwrap());
    }
    assert!(opened.is_empty() && opened.add(Item::Empty).unwrap() == 9000);
}
