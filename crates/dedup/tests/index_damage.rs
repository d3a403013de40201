//! Damage to every kind of file of an index in a folder, by every method. What is flipped, cut, missing, foreign or of another place is named
//! with its file and nothing opens shorter; what somebody has changed under right checksums is an error with its file, or an index that
//! can be used. Nothing panics, and nothing is allocated because a file says so.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use simhash_dedup::live::{LiveIndex, LiveOptions, OnSameKey, OpenOptions, Search, Stored, Texts};
use simhash_dedup::{DedupError, FileOptions, SavedIndex};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_index::{AddOptions, IndexError, Window};
use simhash_sketch::ExtractorOptions;
use simhash_store::FileError;
use simhash_store::directory::{Directory, Manifest};

mod daily;
mod model;
mod sealed;

use daily::{Days, tree};
use model::{NEVER, code, document, methods, options};
use sealed::{MARKS, frames, marks, seal, seal_mark};

/// The largest piece of memory that was asked for.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// What an index of these few documents may ask for at once: what is read at a time is a mebibyte.
const MOST: usize = 24 << 20;

struct Watched;

// SAFETY: everything is passed on to the allocator of the system.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: what the caller promises is promised on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// With `SIMHASH_LONG` every byte and every length, else some of each file.
fn step(length: usize, some: usize) -> usize {
    if std::env::var_os("SIMHASH_LONG").is_some() { 1 } else { 1 + length / some }
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state ^ *state >> 29
}

/// The index of a method in a folder, closed: checkpoint 2 and log 2, keys and texts, answers that are remembered, and a window.
struct Made {
    folder: tempfile::TempDir,
    options: LiveOptions,
    files: BTreeMap<String, Vec<u8>>,
    /// Files that the folder had before its second checkpoint.
    earlier: BTreeMap<String, Vec<u8>>,
}

fn text(row: usize) -> String {
    match row % 7 {
        0 => "短".to_owned(),
        1 => String::new(),
        2 => code(row % 3, 60),
        _ => code(row % 9, 14),
    }
}

fn given(method: &str) -> LiveOptions {
    let window = Some(Window { max_age: Some(1_000), max_count: Some(25) });
    // Some texts are longer than what is stored.
    let stored = Stored { keys: true, longest_text: Some(120) };
    LiveOptions { stored, window, on_same_key: OnSameKey::Repeat, ..options(method) }
}

fn fill(index: &LiveIndex, rows: std::ops::Range<usize>) {
    for row in rows {
        let document = document(index, &text(row));
        let (key, how) =
            (format!("键{row}"), AddOptions { at: Some(row as u64), ..Default::default() });
        index.check_and_add(&document, Some(&key), how, |_| Texts::None).unwrap();
        index.add(&document, Some(&format!("又{row}")), Some(row as u64)).unwrap();
    }
}

fn open(path: &Path, options: &LiveOptions, read_only: bool) -> Result<LiveIndex, DedupError> {
    let mut durable = DurableOptions::default();
    durable.durability = Durability::None;
    let how = OpenOptions { create: false, read_only, mmap: false, durable };
    LiveIndex::open_directory(path, options, how, &NEVER)
}

impl Made {
    fn new(method: &str) -> Self {
        let (folder, options) = (tempfile::tempdir().unwrap(), given(method));
        let path = folder.path().join("index");
        let index =
            LiveIndex::open_directory(&path, &options, OpenOptions::default(), &NEVER).unwrap();
        fill(&index, 0..9);
        index.flush().unwrap();
        let earlier = tree(&path, &["LOCK"]);
        index.checkpoint(&NEVER).unwrap();
        fill(&index, 9..15);
        index.delete(12).unwrap();
        index.expire(2).unwrap();
        index.close().unwrap();
        drop(index);
        let files = tree(&path, &["LOCK"]);
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["MANIFEST", "checkpoint-0000000002", "log-0000000002"]);
        Self { folder, options, files, earlier }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// The sound files, but this one.
    fn put(&self, name: &str, bytes: Option<&[u8]>) {
        let path = self.path();
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        for (own, sound) in &self.files {
            if let Some(bytes) = if own == name { bytes } else { Some(&sound[..]) } {
                fs::write(path.join(own), bytes).unwrap();
            }
        }
    }

    /// With this in place of a file the folder is refused, and the error names that file, or another one that says whose it is.
    fn refused(&self, name: &str, bytes: Option<&[u8]>, read_only: bool, what: &str) -> FileError {
        if let Some(bytes) = bytes.filter(|_| read_only) {
            fs::write(self.path().join(name), bytes).unwrap();
        } else {
            self.put(name, bytes);
        }
        match open(&self.path(), &self.options, read_only) {
            Err(DedupError::Index(IndexError::File(error))) => error,
            Err(other) => panic!("{name} {what}: {other}"),
            Ok(index) => panic!("{name} {what}: opened with {} documents", index.len()),
        }
    }
}

fn path_of(error: &FileError) -> PathBuf {
    match error {
        FileError::Read { path, .. }
        | FileError::Damaged { path, .. }
        | FileError::Format { path, .. }
        | FileError::Mismatch { path, .. } => path.clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn every_flipped_byte_and_every_cut_is_named_and_nothing_opens_shorter() {
    for method in methods() {
        let made = Made::new(method);
        for (name, sound) in &made.files {
            made.put(name, Some(sound));
            let path = made.path().join(name);
            for at in (0..sound.len()).step_by(step(sound.len(), 250)) {
                // The writer's opening is another one; so is that of a reader, who looks at wrong marks again and again.
                let is_mark = name.starts_with("log-") && (MARKS..MARKS + 1_024).contains(&at);
                let read_only = if is_mark { at % 16 == 0 } else { at % 5 > 0 };
                let mut flipped = sound.clone();
                flipped[at] ^= 1 << (at % 8);
                let error = made.refused(name, Some(&flipped), read_only, &format!("byte {at}"));
                assert_eq!(path_of(&error), path, "{method}, byte {at}: {error}");
                let is_damage =
                    matches!(error, FileError::Damaged { .. } | FileError::Format { .. });
                assert!(is_damage, "{method}, {name}, byte {at}: {error}");
                let error = made.refused(name, Some(&sound[..at]), read_only, &format!("cut {at}"));
                assert_eq!(path_of(&error), path, "{method}, cut at {at}: {error}");
                assert!(matches!(error, FileError::Damaged { .. }), "{method}, cut {at}: {error}");
            }
        }
        made.put("", None);
        assert!(open(&made.path(), &made.options, false).is_ok());
    }
    assert!(LARGEST.load(Ordering::Relaxed) < MOST, "{LARGEST:?}");
}

#[test]
fn files_that_are_missing_foreign_or_of_another_place_are_named() {
    let all: Vec<Made> = methods().into_iter().map(Made::new).collect();
    for (at, made) in all.iter().enumerate() {
        let twin = Made::new(methods()[at]);
        let other = &all[(at + 1) % all.len()];
        for name in made.files.keys() {
            let named = |error: FileError, what: &str| {
                // A manifest is found out by the first file that is not its own.
                let file = if name == "MANIFEST" && ["twin", "other"].contains(&what) {
                    "checkpoint-0000000002"
                } else {
                    name.as_str()
                };
                let said = error.to_string();
                let expected = match (name.as_str(), what) {
                    // Without one it is no folder of an index.
                    ("MANIFEST", "missing") => made.path(),
                    _ => made.path().join(file),
                };
                assert_eq!(path_of(&error), expected, "{what}: {said}");
                said
            };
            for read_only in [true, false] {
                let refused = |bytes: Option<&[u8]>, what: &str| {
                    made.put("", None);
                    named(made.refused(name, bytes, read_only, what), what)
                };
                refused(None, "missing");
                refused(Some(b""), "empty");
                refused(Some(b"PK\x03\x04 something else entirely"), "foreign");
                refused(Some(&vec![0xff; 9_000]), "all ones");
                refused(Some(&vec![0; 9_000]), "zeros");
                let said = refused(Some(&twin.files[name]), "twin");
                assert!(said.contains("another index"), "{said}");
                refused(Some(&other.files[name]), "other");
                // A file of this very index under the name of another one.
                let earlier = match name.split_once('-') {
                    Some((kind, _)) => &made.earlier[&format!("{kind}-0000000001")],
                    None => &made.files["log-0000000002"],
                };
                let said = refused(Some(earlier), "of another place");
                assert!(name == "MANIFEST" || said.contains("this is file 1"), "{said}");
                // Something that is no file.
                made.put(name, None);
                fs::create_dir(made.path().join(name)).unwrap();
                assert!(open(&made.path(), &made.options, read_only).is_err(), "{name}");
            }
        }
    }
}

/// Of an index whose process was killed while it wrote checkpoint 2: logs 1 and 2 count.
#[test]
fn a_manifest_of_other_numbers_is_refused_and_no_file_goes() {
    for method in methods() {
        let (made, twin) = (Made::new(method), Made::new(method));
        let [own, foreign] = [&made, &twin].map(|made| Directory::look(&made.path()).unwrap().1);
        let options = LiveOptions { window: None, ..given(method) };
        let (folder, how) = (tempfile::tempdir().unwrap(), OpenOptions::default());
        let path = folder.path().join("index");
        let index = LiveIndex::open_directory(&path, &options, how, &NEVER).unwrap();
        fill(&index, 0..9);
        index.flush().unwrap();
        let mut files = tree(&path, &["LOCK"]);
        index.checkpoint(&NEVER).unwrap();
        fill(&index, 9..15);
        index.flush().unwrap();
        let (whole, own) =
            (index.len(), Manifest { identity: Directory::look(&path).unwrap().1.identity, ..own });
        let log = "log-0000000002";
        files.insert(log.to_owned(), fs::read(path.join(log)).unwrap());
        drop(index);
        // No manifest names these, and they may be all that is left of something.
        for name in ["checkpoint-0000000009", "log-0000000009", "run-0123456789abcdef", "COMMIT"] {
            files.insert(name.to_owned(), b"left".to_vec());
        }
        let put = |manifest: &Manifest| {
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).unwrap();
            for (name, bytes) in &files {
                fs::write(path.join(name), bytes).unwrap();
            }
            let (held, _) = Directory::look(&path).unwrap();
            held.publish(manifest).unwrap();
        };
        let numbers: [(u64, &[u64]); 6] =
            [(1, &[1]), (1, &[1, 2]), (1, &[1, 2, 3]), (2, &[2]), (7, &[7, 8]), (0, &[])];
        for (checkpoint, logs) in numbers {
            for from in [&foreign, &own] {
                if from == &own && checkpoint == 1 && logs.len() < 3 {
                    continue;
                }
                let what = format!("{method}, checkpoint {checkpoint}, logs {logs:?}");
                put(&Manifest { checkpoint, logs: logs.to_vec(), ..from.clone() });
                let before = tree(&path, &["LOCK"]);
                let error = open(&path, &options, false).unwrap_err().to_string();
                let is_foreign = from == &foreign && checkpoint == 1;
                assert_eq!(error.contains("another index"), is_foreign, "{what}: {error}");
                let saved = SavedIndex { path: path.clone(), words: ExtractorOptions::default() };
                saved.compact(&NEVER).unwrap_err();
                let after = tree(&path, &["LOCK"]);
                assert!(before.keys().eq(after.keys()), "{what}: {:?} is left", after.keys());
                assert!(!is_foreign || before == after, "{what}");
            }
        }
        // Its own is put back, and what runs have left of it is none of this test's.
        put(&Manifest { checkpoint: 1, logs: vec![1, 2], ..own });
        fs::remove_file(path.join("COMMIT")).unwrap();
        assert_eq!(open(&path, &options, false).unwrap().len(), whole, "{method}");
        let left = tree(&path, &["LOCK"]);
        assert!(left.contains_key(log) && !left.contains_key("log-0000000009"), "{left:?}");
    }
}

/// A change of some bytes of a content: now a number, now a bit, now all ones, now a small number.
fn change(bytes: &mut [u8], state: &mut u64) {
    let width = [8, 4, 1][random(state) as usize % 3].min(bytes.len());
    let at = (random(state) as usize % (bytes.len() - width + 1)) / width * width;
    let word = match random(state) % 4 {
        0 => random(state),
        1 => {
            bytes[at] ^= 1 << (random(state) % 8);
            return;
        }
        2 => u64::MAX,
        _ => random(state) % 70,
    };
    bytes[at..at + width].copy_from_slice(&word.to_le_bytes()[..width]);
}

/// All that can be done with an index; nothing of it panics.
fn used(index: &LiveIndex) {
    for id in 0..40 {
        let _ = (index.key_of(id), index.text_of(id), index.has(id));
    }
    for row in 0..12 {
        let document = document(index, &text(row));
        if let Ok(found) = index.search(&document, &Search::default()) {
            assert!(found.matches.iter().all(|near| index.has(near.id)));
        }
        let how = AddOptions { at: Some(40 + row as u64), ..Default::default() };
        let key = format!("键{}", row * 3);
        let _ = index.check_and_add(&document, Some(&key), how, |_| Texts::None);
        let _ = index.delete(row as u64 * 2);
    }
    let _ = index.expire(44);
    let _ = (index.stats(), index.bytes(), index.len());
    let _ = index.clusters(&Search::default(), 1, &NEVER, |_| {});
    let _ = index.compact(&NEVER);
    let _ = index.checkpoint(&NEVER);
    let _ = index.close();
}

#[test]
fn what_was_changed_under_right_checksums_is_named_or_can_be_used() {
    let rounds = if std::env::var_os("SIMHASH_LONG").is_some() { 400 } else { 8 };
    for method in methods() {
        let made = Made::new(method);
        let (mut state, mut refused, mut opened) = (7, 0, 0);
        let mut tried = |name: &str, bytes: &[u8], what: &str| {
            made.put(name, Some(bytes));
            let words = ExtractorOptions::default();
            let saved = SavedIndex { path: made.path(), words };
            let sound = saved.verify(&NEVER).is_ok();
            match open(&made.path(), &made.options, false) {
                Ok(index) => {
                    opened += 1;
                    used(&index);
                }
                // Options under a right checksum are those that the index was made with, as far as anybody can know: who gives others is
                // refused, and who gives none can use it.
                Err(DedupError::Index(IndexError::File(FileError::Mismatch { .. }))) if sound => {
                    used(
                        &LiveIndex::open_described(
                            &made.path(),
                            &ExtractorOptions::default(),
                            &NEVER,
                        )
                        .unwrap(),
                    );
                    refused += 1;
                }
                Err(DedupError::Index(IndexError::File(error))) => {
                    assert!(!sound, "{method}, {what}: verified, and refused: {error}");
                    assert!(path_of(&error).starts_with(made.path()), "{method}, {what}: {error}");
                    refused += 1;
                }
                Err(other) => panic!("{method}, {what}: {other}"),
            }
            assert!(LARGEST.load(Ordering::Relaxed) < MOST, "{method}, {what}: {LARGEST:?}");
        };
        for (name, sound) in &made.files {
            for frame in frames(sound) {
                for round in 0..rounds {
                    let mut bytes = sound.clone();
                    for _ in 0..=round % 3 {
                        change(&mut bytes[frame.content.clone()], &mut state);
                    }
                    seal(&mut bytes, &frame);
                    tried(name, &bytes, &format!("{} of {name}, round {round}", frame.name));
                }
            }
        }
        let (log, sound) = made.files.last_key_value().unwrap();
        for at in marks() {
            for round in 0..rounds {
                let mut bytes = sound.clone();
                change(&mut bytes[at..at + 8], &mut state);
                seal_mark(&mut bytes, at);
                tried(log, &bytes, &format!("mark of {log}, round {round}"));
            }
        }
        assert!(refused > 20 && opened > 10, "{method}: {refused} refused, {opened} opened");
    }
}

#[test]
fn a_log_that_is_said_to_end_earlier_or_later_is_damage_or_whole() {
    let made = Made::new("exact");
    let whole = open(&made.path(), &made.options, true).unwrap().len();
    let (log, sound) = made.files.last_key_value().unwrap();
    for end in (0..sound.len() as u64 + 600).step_by(step(sound.len(), 400)) {
        let mut bytes = sound.clone();
        for at in marks() {
            bytes[at..at + 8].copy_from_slice(&end.to_le_bytes());
            seal_mark(&mut bytes, at);
        }
        made.put(log, Some(&bytes));
        match open(&made.path(), &made.options, false) {
            Ok(index) => assert_eq!(index.len(), whole, "a log that counts to byte {end}"),
            Err(DedupError::Index(IndexError::File(FileError::Damaged { path, .. }))) => {
                assert_eq!(path, made.path().join(log));
            }
            Err(other) => panic!("{end}: {other}"),
        }
    }
}

/// The record of a run, and one that was about to count.
#[test]
fn what_runs_leave_is_named_or_harmless_under_right_checksums() {
    let days = Days::new(2);
    days.run_with(0, &FileOptions::default(), &|_| {}).unwrap();
    let halfway = days.path("halfway");
    let seen = AtomicUsize::new(0);
    let copy = |_: &simhash_dedup::Progress| {
        if days.index().join("COMMIT").exists() && seen.fetch_add(1, Ordering::Relaxed) == 0 {
            fs::create_dir(&halfway).unwrap();
            for (name, bytes) in tree(&days.index(), &["LOCK"]) {
                fs::write(halfway.join(name), bytes).unwrap();
            }
        }
    };
    days.run_with(1, &FileOptions::default(), &copy).unwrap();
    let files = tree(&halfway, &[]);
    let names: Vec<&String> = files.keys().filter(|name| !name.contains("-00000")).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let put = |name: &str, bytes: &[u8]| {
        fs::remove_dir_all(&halfway).unwrap();
        fs::create_dir(&halfway).unwrap();
        for (own, sound) in &files {
            fs::write(halfway.join(own), if own == name { bytes } else { &sound[..] }).unwrap();
        }
    };
    let saved = SavedIndex { path: halfway.clone(), words: ExtractorOptions::default() };
    let (mut state, mut refused) = (11, 0);
    for (name, sound) in
        files.iter().filter(|(name, _)| *name == "COMMIT" || name.starts_with("run-"))
    {
        for frame in frames(sound) {
            for _ in 0..step(1, 1) * 30 {
                let mut bytes = sound.clone();
                change(&mut bytes[frame.content.clone()], &mut state);
                seal(&mut bytes, &frame);
                put(name, &bytes);
                let _ = saved.verify(&NEVER);
                // Both the run that was made, and the one that was about to count.
                for day in 0..2 {
                    let run = days.run_into("halfway", day, &FileOptions::default(), &|_| {});
                    if let Err(error) = run {
                        refused += 1;
                        assert!(error.to_string().contains("halfway"), "{}: {error}", frame.name);
                    }
                }
                assert!(LARGEST.load(Ordering::Relaxed) < 4 * MOST, "{}: {LARGEST:?}", frame.name);
            }
        }
    }
    assert!(refused > 10, "{refused}");
}
