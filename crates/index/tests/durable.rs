//! Every kind in a directory: opened again, checkpointed, cut off and followed, it is the index that it would be without.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use common::Random;
use simhash_index::bands::{BandIndex, BandItem, BandOptions, BandPlan, Bands, Signatures};
use simhash_index::durable::{self, Durability, DurableOptions, Kept};
use simhash_index::exact::{Equal, ExactIndex, ExactOptions, Text};
use simhash_index::live::{Kept as Beside, Later};
use simhash_index::sentences::{SentenceIndex, SentenceItem, SentenceMap, SentenceOptions};
use simhash_index::{
    AddOptions, Hamming, Index, IndexError, IndexOptions, Item, Live, OnDuplicate, Outcome, Whole,
    Window,
};
use simhash_store::directory::Directory;
use simhash_store::{Fields, FileError};

static NEVER: AtomicBool = AtomicBool::new(false);

/// A kind with items near each other.
trait Sample: Whole<Item: AsRef<<Self as simhash_index::Kind>::Item>> {
    fn make(window: Option<Window>) -> Live<Self>;
    fn item(random: &mut Random) -> Self::Item;
}

impl Sample for Hamming {
    fn make(window: Option<Window>) -> Index {
        let mut options = IndexOptions::default();
        options.window = window;
        Index::new(&options).unwrap()
    }

    fn item(random: &mut Random) -> Item {
        match random.below(12) {
            0 => Item::Empty,
            1 => Item::Exact(u128::from(random.below(5)) << 70 | 3),
            _ => {
                let (family, flips) = (random.below(60), random.below(7) as u32);
                random.near(family.wrapping_mul(0x9e37_79b9_7f4a_7c15), flips).into_item()
            }
        }
    }
}

trait IntoItem {
    fn into_item(self) -> Item;
}

impl IntoItem for u64 {
    fn into_item(self) -> Item {
        Item::Fingerprint(self)
    }
}

impl Sample for Bands {
    fn make(window: Option<Window>) -> BandIndex {
        let mut options = BandOptions::new(BandPlan::new(4, 2).unwrap());
        options.signatures = Some(Signatures { hashes: 8, threshold: 0.4 });
        options.window = window;
        BandIndex::new(&options).unwrap()
    }

    fn item(random: &mut Random) -> BandItem {
        let family = random.below(40) as u32;
        match random.below(12) {
            0 => BandItem::default(),
            1 => BandItem::exact(u128::from(random.below(5)) << 70 | 3),
            _ => (0..8)
                .map(|_| if random.below(4) == 0 { random.below(9) as u32 } else { family + 10 })
                .collect::<Vec<u32>>()
                .into(),
        }
    }
}

impl Sample for SentenceMap {
    fn make(window: Option<Window>) -> SentenceIndex {
        let mut options = SentenceOptions::default();
        options.window = window;
        SentenceIndex::new(&options).unwrap()
    }

    fn item(random: &mut Random) -> SentenceItem {
        match random.below(12) {
            0 => SentenceItem::Empty,
            1 => SentenceItem::Exact(u128::from(random.below(5)) << 70 | 3),
            count => SentenceItem::Sentences((0..=count % 5).map(|_| random.below(90)).collect()),
        }
    }
}

impl Sample for Equal {
    fn make(window: Option<Window>) -> ExactIndex {
        let mut options = ExactOptions::default();
        options.window = window;
        ExactIndex::new(&options).unwrap()
    }

    fn item(random: &mut Random) -> Text {
        match random.below(20) {
            0 => Text::Empty,
            _ => Text::Hash(u128::from(random.below(200)) << 64),
        }
    }
}

/// What a caller keeps beside the index: a word for some documents, and notes.
#[derive(Debug, Default, Clone, PartialEq)]
struct Words {
    words: BTreeMap<u64, Vec<u8>>,
    notes: Vec<Vec<u8>>,
}

/// An index in a directory, and what its caller keeps.
struct Held<K: Sample> {
    live: Live<K>,
    words: std::sync::Arc<std::sync::Mutex<Words>>,
    kept: Kept,
}

fn written(words: &Words, is_alive: &dyn Fn(u64) -> bool) -> Fields {
    let mut fields = Fields::default();
    let live: Vec<_> = words.words.iter().filter(|(id, _)| is_alive(**id)).collect();
    fields.number(live.len() as u64);
    for (&id, word) in live {
        fields.number(id);
        fields.text(std::str::from_utf8(word).unwrap());
    }
    fields.number(words.notes.len() as u64);
    for note in &words.notes {
        fields.text(std::str::from_utf8(note).unwrap());
    }
    fields
}

fn options(durability: Durability, checkpoint_bytes: u64) -> DurableOptions {
    let mut options = DurableOptions::default();
    (options.durability, options.checkpoint_bytes) = (durability, checkpoint_bytes);
    options
}

type Shared = std::sync::Arc<std::sync::Mutex<Words>>;

fn keep(words: &Shared) -> impl FnMut(Beside<'_>) -> Result<(), FileError> + use<> {
    let words = std::sync::Arc::clone(words);
    move |kept| {
        let mut words = words.lock().unwrap();
        match kept {
            Beside::Beside(id, word) => drop(words.words.insert(id, word.to_vec())),
            Beside::Note(note) => words.notes.push(note.to_vec()),
            Beside::Deleted(_) => {}
        }
        Ok(())
    }
}

/// What a checkpoint holds, in memory.
fn read<K: Sample>(
    directory: &Directory,
    manifest: &simhash_store::directory::Manifest,
    mmap: bool,
) -> Result<(Live<K>, Shared), IndexError> {
    let (live, mut kept) = durable::read::<K>(directory, manifest, "recipe", mmap, &NEVER)?;
    let words = Shared::default();
    for _ in 0..kept.number()? {
        let (id, word) = (kept.number()?, kept.text()?.as_bytes().to_vec());
        words.lock().unwrap().words.insert(id, word);
    }
    for _ in 0..kept.number()? {
        words.lock().unwrap().notes.push(kept.text()?.as_bytes().to_vec());
    }
    kept.end()?;
    Ok((live, words))
}

fn open<K: Sample>(
    path: &Path,
    window: Option<Window>,
    (how, mmap): (DurableOptions, bool),
) -> Result<Held<K>, IndexError> {
    let (directory, manifest) = Directory::claim(path, true)?;
    let beside = |words: &Shared| {
        let words = std::sync::Arc::clone(words);
        move || -> Later {
            let copied = words.lock().unwrap().clone();
            Box::new(move |alive| written(&copied, &|id| alive.has(id)))
        }
    };
    let Some(manifest) = manifest else {
        let (live, words) = (K::make(window), Shared::default());
        let kept = durable::create(&live, directory, "recipe", beside(&words), how)?;
        return Ok(Held { live, words, kept });
    };
    let (live, words) = read::<K>(&directory, &manifest, mmap)?;
    let logs = durable::replay(&live, &directory, &manifest, &mut keep(&words))?;
    let kept = durable::start(&live, directory, &manifest, logs, "recipe", beside(&words), how)?;
    Ok(Held { live, words, kept })
}

/// One step of a run, drawn from `random`: the same on every index.
fn step<K: Sample>(live: &Live<K>, words: &Shared, random: &mut Random, at: u64) -> String
where
    Outcome<K::Match>: PartialEq,
{
    let time = live.window().map(|_| at);
    let first = K::item(random);
    let (kind, number) = (random.below(14), random.below(live.next_id() + 2));
    match kind {
        0..4 => format!("{:?}", live.add_at(&first, time).unwrap()),
        4..7 => {
            let on_duplicate =
                [OnDuplicate::Skip, OnDuplicate::Add, OnDuplicate::Touch][random.below(3) as usize];
            let how = AddOptions { at: time, on_duplicate };
            format!("{:?}", live.check_and_add_with(&first, how).unwrap())
        }
        7..9 => format!("{:?}", live.delete(number).unwrap()),
        9 => {
            let many: Vec<_> = (0..random.below(40)).map(|_| K::item(random)).collect();
            let times = vec![at; if time.is_some() { many.len() } else { 0 }];
            format!("{:?}", live.add_many(&many, &times, &NEVER).unwrap())
        }
        10 => {
            let many: Vec<_> = (0..random.below(40)).map(|_| K::item(random)).collect();
            let times = vec![at; if time.is_some() { many.len() } else { 0 }];
            let skip = OnDuplicate::Skip;
            format!("{:?}", live.check_and_add_many(&many, &times, skip, 1, &NEVER).unwrap())
        }
        11 => {
            let word = format!("word {at}").into_bytes();
            let mut writer = live.writer().unwrap();
            writer.advance(time).unwrap();
            // Under the lock of what is kept: a checkpoint sees both or none.
            let mut words = words.lock().unwrap();
            let id = writer.add_beside(&first, || word.clone()).unwrap();
            words.words.insert(id, word);
            drop(words);
            writer.position(at).unwrap();
            writer.keep().unwrap();
            format!("{id}")
        }
        12 => {
            let note = format!("note {at}").into_bytes();
            let mut writer = live.writer().unwrap();
            writer.note_beside(|| note.clone()).unwrap();
            words.lock().unwrap().notes.push(note);
            writer.keep().unwrap();
            String::new()
        }
        _ if time.is_some() => format!("{:?}", live.expire(at.saturating_sub(30)).unwrap()),
        _ => String::new(),
    }
}

/// All that can be asked of an index.
fn all<K: Sample>(live: &Live<K>, words: &Shared) -> String {
    let mut random = Random(99);
    let mut found = format!("{} {} {:?}", live.len(), live.next_id(), live.position());
    for id in 0..live.next_id() {
        found.push(if live.has(id) { '1' } else { '0' });
    }
    for _ in 0..60 {
        let item = K::item(&mut random);
        let _ = write!(found, "{:?}", live.search(&item, K::Search::default()).unwrap());
    }
    let mut words = words.lock().unwrap().clone();
    words.words.retain(|&id, _| live.has(id));
    format!("{found} {words:?}")
}

const STEPS: u64 = 160;

fn twins<K: Sample>(window: Option<Window>)
where
    Outcome<K::Match>: PartialEq,
{
    for seed in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let (mut random, mut chance) = (Random(seed), Random(seed + 1000));
        let (twin, twin_words) = (K::make(window), Shared::default());
        let durability =
            [Durability::None, Durability::Commit, Durability::Interval(Duration::from_millis(1))]
                [seed as usize % 3];
        // Small enough that some checkpoints are written by themselves.
        let how = (options(durability, if seed < 3 { 600 } else { 1 << 20 }), seed % 2 == 0);
        let mut held = open::<K>(&path, window, how).unwrap();
        for at in 1..STEPS {
            let mut same = Random(random.0);
            let expected = step(&twin, &twin_words, &mut same, at);
            let got = step(&held.live, &held.words, &mut random, at);
            assert_eq!(got, expected, "seed {seed}, step {at}");
            held.kept.committed().unwrap();
            match chance.below(12) {
                0 => {
                    drop(held);
                    held = open(&path, window, how).unwrap();
                }
                1 => held.kept.checkpoint(&NEVER).unwrap(),
                2 => {
                    held.kept.close().unwrap();
                    drop(held);
                    held = open(&path, window, how).unwrap();
                    assert_eq!(held.kept.stats().torn_bytes, 0);
                }
                _ => {}
            }
            if at % 16 == 0 {
                assert_eq!(
                    all(&held.live, &held.words),
                    all(&twin, &twin_words),
                    "seed {seed}, step {at}"
                );
            }
        }
        drop(held);
        let held = open::<K>(&path, window, how).unwrap();
        assert_eq!(
            all(&held.live, &held.words),
            all(&twin, &twin_words),
            "seed {seed}, at the end"
        );
        // One checkpoint, one log, and nothing else.
        held.kept.checkpoint(&NEVER).unwrap();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 4);
    }
}

fn windows() -> [Option<Window>; 3] {
    [
        None,
        Some(Window { max_age: Some(40), max_count: None }),
        Some(Window { max_age: None, max_count: Some(30) }),
    ]
}

#[test]
fn fingerprints_opened_again_are_what_they_would_be() {
    windows().into_iter().for_each(twins::<Hamming>);
}

#[test]
fn signatures_opened_again_are_what_they_would_be() {
    windows().into_iter().for_each(twins::<Bands>);
}

#[test]
fn sentences_opened_again_are_what_they_would_be() {
    windows().into_iter().for_each(twins::<SentenceMap>);
}

#[test]
fn equal_texts_opened_again_are_what_they_would_be() {
    windows().into_iter().for_each(twins::<Equal>);
}

/// Waits until the keeper has made it so; fails after a minute.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}: not within a minute");
}

/// Bytes of all files of a folder. The keeper may remove one between the listing and the look at it.
fn taken(path: &Path) -> u64 {
    let bytes = |entry: std::io::Result<fs::DirEntry>| match entry.unwrap().metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
        about => about.unwrap().len(),
    };
    fs::read_dir(path).unwrap().map(bytes).sum()
}

#[test]
fn the_space_of_documents_that_have_left_returns_by_itself() {
    const ALL: u64 = 100_000;
    let window = Some(Window { max_age: Some(10), max_count: None });
    // By the length of its logs no checkpoint would ever be due.
    let how = (options(Durability::None, 1 << 40), false);
    let folder = tempfile::tempdir().unwrap();
    for reopened in [false, true] {
        let path = folder.path().join(format!("reopened {reopened}"));
        let mut held = open::<Hamming>(&path, window, how).unwrap();
        let items: Vec<_> =
            (0..ALL).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).into_item()).collect();
        let times: Vec<_> = (0..ALL).map(|n| if n < ALL / 3 { 100 } else { 105 }).collect();
        held.live.add_many(&items, &times, &NEVER).unwrap();
        held.kept.checkpoint(&NEVER).unwrap();
        let full = taken(&path);
        assert!(full > 1 << 20, "{full}");

        // A third of them is gone: what is on the disk stays as it is.
        assert_eq!(held.live.expire(104).unwrap(), ALL / 3);
        if reopened {
            held.kept.close().unwrap();
            assert!(taken(&path) >= full);
            drop(held);
            held = open(&path, window, how).unwrap();
        }
        for id in ALL / 3..=ALL / 2 {
            held.live.delete(id).unwrap();
        }
        until("half of it returns", || taken(&path) < full * 6 / 10);
        assert_eq!(held.live.expire(106).unwrap(), ALL - ALL / 2 - 1);
        until("all of it returns", || taken(&path) < full / 10);
        drop(held);
        assert!(open::<Hamming>(&path, window, how).unwrap().live.is_empty());
    }
}
