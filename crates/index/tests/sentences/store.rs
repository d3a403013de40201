//! The file: what was acknowledged is there again, and damage is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use simhash_index::IndexError;
use simhash_index::sentences::{
    Durability, SentenceIndex, SentenceItem, SentenceOptions, SentenceSearch, StoreOptions,
};
use simhash_index::{AddOptions, OnDuplicate, Window};
use simhash_store::FileError;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::common::Random;
use crate::live::windows;
use crate::map::item;

/// Where the first frame of a file begins.
const FRAMES: usize = 4096;

fn options(window: Option<Window>) -> StoreOptions {
    let mut options = SentenceOptions::default();
    options.window = window;
    let mut options = StoreOptions::new(options, "five sentences");
    // The same code path but for the flushes, which a test of thousands of calls can do without.
    options.durability = Durability::System;
    options
}

/// A few changes of every kind.
fn step(index: &SentenceIndex, random: &mut Random, at: u64) {
    let item = item(random, 150);
    let on_duplicate = [OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch][at as usize % 3];
    index.check_and_add_with(&item, AddOptions { at: Some(at), on_duplicate }).unwrap();
    if at.is_multiple_of(3) {
        index.similar(&item, Some(at)).unwrap();
        index.delete(random.below(at + 1)).unwrap();
    }
    if at % 40 == 39 && index.options().window.is_some() {
        index.expire(at - 30).unwrap();
    }
}

/// Both answer and go on alike.
fn assert_same(a: &SentenceIndex, b: &SentenceIndex, from: u64) {
    for at in from..from + 150 {
        let mut random = Random(at);
        let query = item(&mut random, 150);
        assert_eq!(
            a.search(&query, SentenceSearch::default()).unwrap(),
            b.search(&query, SentenceSearch::default()).unwrap()
        );
        let id = random.below(at);
        assert_eq!((a.group(id), a.has(id)), (b.group(id), b.has(id)), "id {id}");
        step(a, &mut random.clone_of(), at);
        step(b, &mut random.clone_of(), at);
        let (a, b) = (a.stats(), b.stats());
        assert_eq!((a.live, a.groups, a.sketches), (b.live, b.groups, b.sketches));
    }
}

trait CloneOf {
    fn clone_of(&self) -> Self;
}

impl CloneOf for Random {
    fn clone_of(&self) -> Self {
        Self(self.0)
    }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sentences");
    (folder, path)
}

#[test]
fn an_index_opened_again_answers_and_goes_on_as_if_it_had_stayed_open() {
    for window in windows() {
        let (_folder, path) = place();
        let stayed = SentenceIndex::new(&options(window).options).unwrap();
        for (part, compacts) in [false, true, false, true].into_iter().enumerate() {
            let opened = SentenceIndex::open_log(&path, &options(window)).unwrap();
            let mut random = Random(part as u64);
            for at in part as u64 * 400..part as u64 * 400 + 250 {
                step(&opened, &mut random.clone_of(), at);
                step(&stayed, &mut random, at);
            }
            if compacts {
                opened.compact().unwrap();
            }
            drop(opened);
            let opened = SentenceIndex::open_log(&path, &options(window)).unwrap();
            assert_same(&opened, &stayed, part as u64 * 400 + 250);
        }
    }
}

#[test]
fn a_saved_index_opens_as_it_was_and_the_saved_one_goes_on_alone() {
    for window in windows() {
        let (folder, path) = place();
        let index = SentenceIndex::new(&options(window).options).unwrap();
        let mut random = Random(5);
        for at in 0..500 {
            step(&index, &mut random, at);
        }
        index.save_log(&path, "five sentences").unwrap();
        let opened = SentenceIndex::open_log(&path, &options(None)).unwrap();
        assert_eq!(opened.options(), index.options(), "a file keeps its own options");
        assert_same(&opened, &index, 500);
        // Saved onto itself it is compacted; elsewhere it is copied; both hold the same.
        opened.save_log(&path, "").unwrap();
        let copy = folder.path().join("copy");
        opened.save_log(&copy, "").unwrap();
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&path).unwrap());
        drop(opened);
        assert_same(&SentenceIndex::open_log(&path, &options(None)).unwrap(), &index, 650);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside them");
    }
}

/// A small file with a whole and a few frames of changes, all before the mark.
fn sound(path: &Path) -> Vec<u8> {
    let mut random = Random(1);
    let window = Some(Window { max_age: Some(100), max_count: None });
    let index = SentenceIndex::open_log(path, &options(window)).unwrap();
    for at in 0..12 {
        step(&index, &mut random, at);
    }
    index.compact().unwrap();
    for at in 12..20 {
        step(&index, &mut random, at);
    }
    drop(index);
    fs::read(path).unwrap()
}

fn refusal(path: &Path, bytes: &[u8]) -> (u64, String) {
    fs::write(path, bytes).unwrap();
    match SentenceIndex::open_log(path, &options(None)).map(|index| index.len()) {
        Err(IndexError::File(FileError::Damaged { path: named, offset, reason })) => {
            assert_eq!(named, path);
            (offset, reason)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_cut_at_any_length_is_refused_with_the_place() {
    let (_folder, path) = place();
    let sound = sound(&path);
    assert!(sound.len() > FRAMES + 500);
    for length in 0..sound.len() {
        let (offset, reason) = refusal(&path, &sound[..length]);
        assert!(offset <= length as u64, "cut at {length}: {reason} at {offset}");
    }
}

#[test]
fn every_flipped_bit_is_refused_at_or_before_its_place() {
    let (_folder, path) = place();
    let sound = sound(&path);
    for at in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[at] ^= 1 << (at % 8);
        let (offset, reason) = refusal(&path, &flipped);
        assert!(offset <= at as u64 + 8, "byte {at}: {reason} at {offset}");
    }
}

/// A file of release 0.1, as far as anybody looks at it.
fn earlier() -> Vec<u8> {
    [&b"SIMHSEN\n\x01\0\0\0"[..], &[0x90; 5000]].concat()
}

#[test]
fn foreign_files_and_swapped_frames_are_refused() {
    let (_folder, path) = place();
    let sound = sound(&path);
    for foreign in [&b""[..], b"text", &b"{\"id\": 1}\n".repeat(1000), &b"SIMHASH\n".repeat(900)] {
        let (_, reason) = refusal(&path, foreign);
        assert!(!reason.is_empty());
    }
    let mut newer = sound.clone();
    newer[8] = 200;
    assert_eq!(refusal(&path, &newer), (0, "the checksum of the head is wrong".to_owned()));
    let sum = xxh3_64(&newer[..24]);
    newer[24..32].copy_from_slice(&sum.to_le_bytes());
    for (bytes, saved_by) in [(newer, "later release (format 200)"), (earlier(), "release 0.1")] {
        fs::write(&path, bytes).unwrap();
        let error = SentenceIndex::open_log(&path, &options(None)).unwrap_err();
        assert!(matches!(error, IndexError::File(FileError::Format { .. })), "{error}");
        assert!(error.to_string().contains(saved_by), "{error}");
    }
    // The last frame twice: whole by itself, but not in that place.
    let mut starts = vec![FRAMES];
    while starts[starts.len() - 1] < sound.len() {
        let at = starts[starts.len() - 1];
        let length = u64::from_le_bytes(sound[at + 8..at + 16].try_into().unwrap()) as usize;
        starts.push(at + 24 + length);
    }
    let (last, end) = (starts[starts.len() - 2], sound.len());
    let mut swapped = sound[..last].to_vec();
    swapped.extend(&sound[starts[starts.len() - 3]..last]);
    swapped.resize(end, 0);
    assert_eq!(refusal(&path, &swapped).0, last as u64);
}

#[test]
fn of_what_a_crash_left_behind_the_mark_whole_frames_count_and_the_rest_is_dropped() {
    let (_folder, path) = place();
    let mut durable = options(None);
    durable.durability = Durability::Commit;
    let index = SentenceIndex::open_log(&path, &durable).unwrap();
    index.add_at(SentenceItem::Sentences(vec![1, 2]), None).unwrap();
    let before = fs::read(&path).unwrap();
    index.add_at(SentenceItem::Sentences(vec![2, 3]), None).unwrap();
    let after = fs::read(&path).unwrap();
    drop(index);
    // A process killed between any two bytes: the frame in part, then the frame with the mark before it.
    for length in before.len()..=after.len() {
        let mut torn = after[..length].to_vec();
        torn[..FRAMES].copy_from_slice(&before[..FRAMES]);
        fs::write(&path, &torn).unwrap();
        let opened = SentenceIndex::open_log(&path, &durable).unwrap();
        let whole = length == after.len();
        assert_eq!(opened.len(), if whole { 2 } else { 1 }, "{length} bytes");
        // Opened once, the file is sound: it goes on, and cutting it is noticed.
        let id = opened.add_at(SentenceItem::Sentences(vec![3]), None).unwrap();
        assert_eq!((id, opened.group(id)), if whole { (2, Some(0)) } else { (1, Some(1)) });
        drop(opened);
        let now = fs::read(&path).unwrap();
        refusal(&path, &now[..now.len() - 1]);
    }
    // Zeros, as a file system leaves them after a power cut.
    let zeros = [before.as_slice(), &[0; 500]].concat();
    fs::write(&path, zeros).unwrap();
    assert_eq!(SentenceIndex::open_log(&path, &durable).unwrap().len(), 1);
    assert_eq!(fs::read(&path).unwrap().len(), before.len());
}

#[test]
fn a_file_has_one_index_at_a_time() {
    let (folder, path) = place();
    let index = SentenceIndex::open_log(&path, &options(None)).unwrap();
    let error = SentenceIndex::open_log(&path, &options(None)).unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Locked { .. })), "{error}");
    let other = SentenceIndex::new(&options(None).options).unwrap();
    assert!(matches!(other.save_log(&path, ""), Err(IndexError::File(FileError::Locked { .. }))));
    index.compact().unwrap();
    let error = SentenceIndex::open_log(&path, &options(None)).unwrap_err();
    assert!(error.to_string().contains("sentences"), "{error}");
    drop(index);
    assert!(SentenceIndex::open_log(&path, &options(None)).unwrap().is_empty());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn of_two_who_make_a_new_file_one_does_and_nothing_acknowledged_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..300 {
        let path = folder.path().join(format!("file {round}"));
        // Both begin at once, and nobody closes before both have tried.
        let (begin, tried) = (Barrier::new(2), Barrier::new(2));
        let run = |who: u64| {
            begin.wait();
            let opened = SentenceIndex::open_log(&path, &options(None));
            let added = match &opened {
                Ok(index) => {
                    for n in 0..3 {
                        index.add_at(SentenceItem::Sentences(vec![who << 8 | n]), None).unwrap();
                    }
                    3
                }
                Err(error) => {
                    assert!(matches!(error, IndexError::File(FileError::Locked { .. })), "{error}");
                    0
                }
            };
            tried.wait();
            added
        };
        let added = thread::scope(|scope| {
            let other = scope.spawn(|| run(1));
            run(2) + other.join().unwrap()
        });
        assert_eq!(added, 3, "exactly one has it");
        assert_eq!(SentenceIndex::open_log(&path, &options(None)).unwrap().len(), 3);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 300);
}

#[test]
fn a_saved_index_is_the_index_at_the_call_while_others_add() {
    let (folder, path) = place();
    let index = SentenceIndex::open_log(&path, &options(None)).unwrap();
    let documents = |n: u64| SentenceItem::Sentences(vec![n, (1 << 50) | (n / 3)]);
    let (rounds, each) = (30, 100);
    // The other thread is this far ahead at most, so that it is still adding in every round.
    let (allowed, acknowledged) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..rounds * each {
                while allowed.load(Ordering::SeqCst) <= n {
                    thread::yield_now();
                }
                index.add_at(documents(n), None).unwrap();
                acknowledged.store(n + 1, Ordering::SeqCst);
            }
        });
        for round in 1..=rounds {
            allowed.store(round * each, Ordering::SeqCst);
            let before = acknowledged.load(Ordering::SeqCst);
            let snapshot = index.snapshot_log();
            // One addition at most was under way when the snapshot was asked for.
            let after = acknowledged.load(Ordering::SeqCst) + 1;
            while acknowledged.load(Ordering::SeqCst) < round * each {
                thread::yield_now();
            }
            let copy = folder.path().join(format!("copy {round}"));
            index.save_log_snapshot(snapshot, &copy, "").unwrap();
            let opened = SentenceIndex::open_log(&copy, &options(None)).unwrap();
            let size = opened.len();
            assert!((before..=after).contains(&size), "{size} of {before} to {after}");
            assert!((0..size).all(|id| opened.group(id) == Some(id / 3 * 3)));
        }
    });
}

#[test]
fn a_tail_that_a_crash_tore_is_cut_off_and_reported_and_damage_changes_nothing() {
    let (folder, path) = place();
    let index = SentenceIndex::open_log(&path, &options(None)).unwrap();
    let mut ends = vec![fs::metadata(&path).unwrap().len() as usize];
    for n in 0..30 {
        index.add_at(SentenceItem::Sentences(vec![n, n << 30]), None).unwrap();
        ends.push(index.stats().file_bytes as usize);
    }
    // What another process finds after kill -9.
    let killed = fs::read(&path).unwrap();
    let copy = folder.path().join("copy");
    let frame = ends[12]..ends[13];
    for at in frame.clone() {
        let mut flipped = killed.clone();
        flipped[at] ^= 1 << (at % 8);
        let (offset, reason) = refusal(&copy, &flipped);
        assert_eq!(offset, frame.start as u64, "byte {at}: {reason}");
        assert!(fs::read(&copy).unwrap() == flipped, "nothing is cut off");
    }
    fs::write(&copy, &killed[..ends[30] - 5]).unwrap();
    let opened = SentenceIndex::open_log(&copy, &options(None)).unwrap();
    let torn = (ends[30] - ends[29] - 5) as u64;
    assert_eq!((opened.len(), opened.stats().torn_bytes), (29, torn));
    drop(opened);
    assert_eq!(fs::read(&copy).unwrap().len(), ends[29]);
    let opened = SentenceIndex::open_log(&copy, &options(None)).unwrap();
    assert_eq!((opened.len(), opened.stats().torn_bytes), (29, 0));
}

#[cfg(unix)]
#[test]
fn links_modes_and_sockets_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, path) = place();
    let link = folder.path().join("link");
    symlink("sentences", &link).unwrap();
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    // The link leads nowhere yet.
    let index = SentenceIndex::open_log(&link, &options(None)).unwrap();
    index.add_at(SentenceItem::Sentences(vec![1]), None).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    index.compact().unwrap();
    assert_eq!((link.is_symlink(), mode()), (true, 0o600));
    drop(index);
    let other = SentenceIndex::new(&options(None).options).unwrap();
    other.save_log(&link, "five sentences").unwrap();
    assert_eq!((link.is_symlink(), mode()), (true, 0o600));
    assert!(SentenceIndex::open_log(&path, &options(None)).unwrap().is_empty());

    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let error = other.save_log(&socket, "").unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Write { .. })), "{error}");
    assert!(error.to_string().contains("it is a socket"), "{error}");
    let error = SentenceIndex::open_log(&socket, &options(None)).unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Read { .. })), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn another_recipe_and_a_file_that_is_missing_are_named() {
    let (folder, path) = place();
    drop(SentenceIndex::open_log(&path, &options(None)).unwrap());
    let other = StoreOptions::new(SentenceOptions::default(), "six");
    let error = SentenceIndex::open_log(&path, &other).unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Mismatch { .. })), "{error}");
    assert!(error.to_string().contains("(five sentences)") && error.to_string().contains("(six)"));
    let mut existing = options(None);
    existing.create = false;
    let missing = folder.path().join("none");
    let error = SentenceIndex::open_log(&missing, &existing).unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Read { .. })), "{error}");
    let nowhere = folder.path().join("no").join("folder");
    let error = SentenceIndex::open_log(&nowhere, &options(None)).unwrap_err();
    assert!(matches!(error, IndexError::File(FileError::Write { .. })), "{error}");
    let long = StoreOptions::new(SentenceOptions::default(), "x".repeat(2049));
    let error = SentenceIndex::open_log(&missing, &long).unwrap_err();
    assert!(matches!(error, IndexError::Sentences { .. }), "{error}");
}

#[test]
fn a_file_of_a_window_stays_as_large_as_the_window() {
    let (_folder, path) = place();
    let window = Some(Window { max_age: None, max_count: Some(1000) });
    let index = SentenceIndex::open_log(&path, &options(window)).unwrap();
    let mut largest = 0;
    for round in 0..100u64 {
        let fresh = |at| SentenceItem::Sentences(vec![round << 20 | at]);
        let items: Vec<SentenceItem> = (0..2000).map(fresh).collect();
        let times: Vec<u64> = (round * 2000..(round + 1) * 2000).collect();
        index.add_many(&items, &times, &false.into()).unwrap();
        largest = largest.max(index.stats().file_bytes);
    }
    // At most 4 * 1,000 + 65,536 changes of 10 bytes on average, and the last batch.
    assert!(largest < 80_000 * 10, "{largest} bytes");
    assert_eq!(fs::metadata(&path).unwrap().len(), index.stats().file_bytes);
}

#[test]
fn changes_kept_elsewhere_lead_to_the_same_index() {
    for window in windows() {
        let options = options(window).options;
        let index = SentenceIndex::kept_elsewhere(&options, None, []).unwrap();
        let (mut whole, mut kept) = (None, Vec::new());
        let mut random = Random(3);
        for at in 0..400 {
            step(&index, &mut random, at);
            if at == 200 {
                whole = Some(index.whole());
                kept.clear();
            }
            kept.push(index.take_changes());
        }
        let again = SentenceIndex::kept_elsewhere(&options, whole, kept).unwrap();
        assert_same(&again, &index, 400);
    }
    let damaged = SentenceIndex::kept_elsewhere(&options(None).options, None, [vec![9]]);
    assert!(matches!(damaged, Err(IndexError::File(FileError::Damaged { .. }))));
}
