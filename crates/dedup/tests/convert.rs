//! Saved indexes of release 0.1 as directories: each answers as that release did, damage is named with file and byte, and a conversion
//! that does not end leaves nothing under the name of the directory.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use simhash_dedup::DedupError;
use simhash_dedup::convert::{Converted, convert, read_old};
use simhash_dedup::live::{LiveIndex, LiveMethod, LiveOptions, OpenOptions, Search};
use simhash_index::IndexError;
use simhash_sketch::minhash::Scheme;
use simhash_sketch::{ExtractorOptions, Scratch};
use simhash_store::FileError;
use simhash_store::directory::Directory;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

static NEVER: AtomicBool = AtomicBool::new(false);

const FILES: [(&str, &str); 4] = [
    ("fingerprints", "simhash"),
    ("signatures", "minhash"),
    ("sentences", "sentences"),
    ("cli", "simhash"),
];

fn fixture(release: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures");
    root.join(release).join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(fixture("0.1.0", &format!("{name}.index"))).unwrap()
}

fn words() -> ExtractorOptions {
    ExtractorOptions::default()
}

fn converted(old: &Path, directory: &Path) -> Result<Converted, DedupError> {
    convert(old, directory, &words(), &NEVER)
}

/// The signatures of release 0.1.
fn permutations() -> LiveMethod {
    let mut method = LiveMethod::minhash();
    if let LiveMethod::MinHash { minhash, .. } = &mut method {
        minhash.scheme = Scheme::Permutations;
    }
    method
}

fn open(directory: &Path, method: &str) -> LiveIndex {
    let method = match method {
        "simhash" => LiveMethod::simhash(),
        "minhash" => LiveMethod::minhash(),
        "permutations" => permutations(),
        "sentences" => LiveMethod::sentences(),
        _ => LiveMethod::Exact,
    };
    let options = LiveOptions { method, ..LiveOptions::default() };
    let how = OpenOptions { create: false, ..OpenOptions::default() };
    LiveIndex::open_directory(directory, &options, how, &NEVER).unwrap()
}

/// Where damage was named, of bytes that are not those of a saved index.
fn named(bytes: &[u8]) -> Option<u64> {
    match read_old(&mut &*bytes, bytes.len() as u64, &words()) {
        Ok(None) => None,
        Ok(Some((index, torn))) => {
            panic!("{} documents and {torn} torn bytes of {} bytes", index.len(), bytes.len())
        }
        Err(DedupError::Index(IndexError::File(FileError::Damaged { offset, .. }))) => Some(offset),
        Err(other) => panic!("{other}"),
    }
}

fn expected() -> Value {
    serde_json::from_slice(&fs::read(fixture("0.1.0", "expected.json")).unwrap()).unwrap()
}

/// What an index finds for each text, as release 0.1 wrote it.
fn answers(index: &LiveIndex, texts: &[String]) -> Vec<Vec<(u64, u64)>> {
    let mut scratch = Scratch::default();
    let found = texts.iter().map(|text| {
        let document = index.document(text, &mut scratch);
        let found = index.search(&document, &Search::default()).unwrap();
        found.matches.iter().map(|near| (near.id, u64::from(near.measure))).collect::<Vec<_>>()
    });
    found.collect()
}

fn texts(expected: &Value) -> Vec<String> {
    serde_json::from_value(expected["texts"].clone()).unwrap()
}

/// The same as the file of answers has it.
fn told(expected: &Value, name: &str, measure: &str) -> Vec<Vec<(u64, u64)>> {
    let all = expected[name]["matches"].as_array().unwrap();
    let number = |near: &Value, name: &str| near[name].as_u64().unwrap();
    let row = |row: &Value| {
        let row = row.as_array().unwrap();
        row.iter().map(|near| (number(near, "id"), number(near, measure))).collect()
    };
    all.iter().map(row).collect()
}

#[test]
fn each_file_answers_as_it_did() {
    let (folder, expected) = (tempfile::tempdir().unwrap(), expected());
    let texts = texts(&expected);
    for ((name, method), measure) in FILES.into_iter().zip(["distance", "bands", "shared"]) {
        let (old, directory) =
            (fixture("0.1.0", &format!("{name}.index")), folder.path().join(name));
        let before = fs::read(&old).unwrap();
        let size = expected[name]["size"].as_u64().unwrap();
        let done = converted(&old, &directory).unwrap();
        assert_eq!((done.method, done.documents, done.torn_bytes), (method, size, 0), "{name}");
        assert_eq!(fs::read(&old).unwrap(), before);
        let index = open(&directory, if method == "minhash" { "permutations" } else { method });
        assert_eq!((index.len(), index.next_id()), (size, texts.len() as u64), "{name}");
        assert!(index.window().is_some(), "{name}");
        let (mut found, mut told) = (answers(&index, &texts), told(&expected, name, measure));
        if name == "fingerprints" {
            // A stored text that is equal comes first now, others as near behind it.
            for row in found.iter_mut().chain(&mut told) {
                row.sort_by_key(|&(id, distance)| (distance, id));
            }
        }
        assert_eq!(found, told, "{name}");
        // It goes on.
        let document = index.document(&texts[0], &mut Scratch::default());
        assert_eq!(index.add(&document, None, Some(2_000)).unwrap(), texts.len() as u64);
    }
}

#[test]
fn keys_and_texts_come_along() {
    let folder = tempfile::tempdir().unwrap();
    let (expected, directory) = (expected(), folder.path().join("index"));
    converted(&fixture("0.1.0", "fingerprints.index"), &directory).unwrap();
    let index = open(&directory, "simhash");
    let texts = texts(&expected);
    let keys = expected["fingerprints"]["keys"].as_array().unwrap();
    for (id, key) in (0..).zip(keys) {
        assert_eq!(index.key_of(id).as_deref(), key.as_str(), "id {id}");
        if let Some(key) = key.as_str() {
            assert_eq!(index.id_of(key), Some(id));
        }
    }
    let short = texts.iter().position(|text| text == "收到").unwrap() as u64;
    assert_eq!(index.text_of(short).as_deref(), Some("收到"));
    assert!(
        !index
            .search(&index.document(&texts[30], &mut Scratch::default()), &Search::default())
            .unwrap()
            .matches
            .is_empty()
    );
}

#[test]
fn the_ids_of_the_command_line_become_keys() {
    let (folder, expected) = (tempfile::tempdir().unwrap(), expected());
    let directory = folder.path().join("index");
    let done = converted(&fixture("0.1.0", "cli.index"), &directory).unwrap();
    assert_eq!(done.documents, 303);
    let index = open(&directory, "simhash");
    let sample = fixture("..", "../examples/sample.jsonl");
    let (sample, mut scratch) = (fs::read_to_string(sample).unwrap(), Scratch::default());
    let lines: Vec<Value> = expected["cli"]
        .as_str()
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 303);
    for (record, line) in sample.lines().zip(&lines) {
        let record: Value = serde_json::from_str(record).unwrap();
        assert_eq!(record["id"], line["id"]);
        let document = index.document(record["text"].as_str().unwrap(), &mut scratch);
        let found = index.search(&document, &Search::default()).unwrap();
        let found: Vec<(String, u64)> = found
            .matches
            .iter()
            // A short text is known by the hash of all of it.
            .inspect(|near| assert!(!near.verified || near.similarity == Some(1.0)))
            .map(|near| (index.key_of(near.id).unwrap(), near.measure.into()))
            .collect();
        let told: Vec<(String, u64)> = line["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|near| {
                (near["id"].as_str().unwrap().to_owned(), near["distance"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(found, told, "{}", record["id"]);
    }
}

/// A copy of the index of the command line, with its ids.
fn copied(folder: &Path) -> (PathBuf, PathBuf) {
    let (index, ids) = (folder.join("cli.index"), folder.join("cli.index.ids.jsonl"));
    fs::copy(fixture("0.1.0", "cli.index"), &index).unwrap();
    fs::copy(fixture("0.1.0", "cli.index.ids.jsonl"), &ids).unwrap();
    (index, ids)
}

#[test]
fn damaged_ids_are_named_and_missing_ones_are_no_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (index, ids) = copied(folder.path());
    let whole = fs::read(&ids).unwrap();
    let directory = folder.path().join("made");
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&ids, bytes).unwrap();
        match converted(&index, &directory).unwrap_err() {
            DedupError::Index(IndexError::File(FileError::Damaged { path, offset, .. })) => {
                assert_eq!(path, ids, "{what}");
                assert!(offset <= bytes.len() as u64, "{what}");
            }
            other => panic!("{what}: {other}"),
        }
        assert!(!directory.exists());
    };
    for at in (0..whole.len() - 1).step_by(7) {
        refused(&whole[..at], &format!("cut at {at}"));
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        refused(&flipped, &format!("byte {at}"));
    }
    fs::remove_file(&ids).unwrap();
    assert_eq!(converted(&index, &directory).unwrap().documents, 303);
    assert_eq!(open(&directory, "simhash").key_of(0), None);
}

#[test]
fn an_older_index_counts_with_the_ids_up_to_its_seal() {
    let folder = tempfile::tempdir().unwrap();
    let (index, ids) = copied(folder.path());
    // As `index add` left it when it was killed between its two files: further ids, whose seal is of an index that never came.
    let mut more = fs::read(&ids).unwrap();
    more.extend(b"\"x1\"\n\"x2\"\n");
    fs::write(&ids, &more).unwrap();
    let directory = folder.path().join("made");
    assert_eq!(converted(&index, &directory).unwrap().documents, 303);
    assert_eq!(open(&directory, "simhash").id_of("x1"), None);
}

#[test]
fn every_cut_is_damage_with_its_place() {
    for (name, _) in FILES {
        let whole = bytes(name);
        let step = if whole.len() > 10_000 { 41 } else { 3 };
        let all =
            (0..whole.len()).filter(|at| at % step == 0 || *at < 300 || whole.len() - at < 60);
        for at in all {
            let place = named(&whole[..at]);
            assert!(
                place.map_or(at < 16, |place| place <= at as u64),
                "{name} cut at {at}: {place:?}"
            );
        }
        let more = [&whole[..], b"x"].concat();
        if name != "sentences" {
            assert_eq!(named(&more), Some(whole.len() as u64), "{name}");
        }
    }
}

#[test]
fn every_flipped_byte_is_damage_at_or_before_it() {
    for (name, _) in FILES {
        let whole = bytes(name);
        let step = if whole.len() > 10_000 { 43 } else { 5 };
        for at in (0..whole.len()).filter(|at| at % step == 0 || *at < 300) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            let place = named(&flipped);
            // A changed magic or format is no file of release 0.1; that the file is refused is seen below.
            assert!(
                place.map_or(at < 16, |place| place <= at as u64),
                "{name} byte {at}: {place:?}"
            );
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (old, directory) = (folder.path().join("old"), folder.path().join("made"));
    for (name, _) in FILES {
        for at in 0..16 {
            let mut flipped = bytes(name);
            flipped[at] ^= 2;
            fs::write(&old, &flipped).unwrap();
            match converted(&old, &directory).unwrap_err() {
                DedupError::Index(IndexError::File(FileError::Damaged { path, .. })) => {
                    assert_eq!(path, old);
                }
                other => panic!("{name} byte {at}: {other}"),
            }
        }
    }
}

/// Every section of an index of fingerprints or signatures: where it begins, and where its checksum is.
fn sections(whole: &[u8], magic: &[u8]) -> Vec<(usize, usize)> {
    let mut at = whole.windows(8).position(|bytes| bytes == magic).unwrap() + 16;
    let mut all = Vec::new();
    while at < whole.len() {
        let length = u64::from_le_bytes(whole[at + 8..at + 16].try_into().unwrap()) as usize;
        all.push((at, at + 16 + length));
        at += 24 + length;
    }
    all
}

#[test]
fn what_contradicts_itself_under_right_checksums_is_named_or_harmless() {
    for (name, magic) in [("fingerprints", b"SIMHIDX\n"), ("signatures", b"SIMHBND\n")] {
        let whole = bytes(name);
        let mut refused = 0;
        for (start, end) in sections(&whole, magic) {
            for at in (start + 16..end).step_by(((end - start) / 24).max(1)) {
                let mut changed = whole.clone();
                changed[at] ^= 0x41;
                let sum = xxh3_64(&changed[start..end]);
                changed[end..end + 8].copy_from_slice(&sum.to_le_bytes());
                match read_old(&mut &*changed, changed.len() as u64, &words()) {
                    Ok(found) => assert!(found.is_some()),
                    Err(DedupError::Index(IndexError::File(FileError::Damaged {
                        offset, ..
                    }))) => {
                        assert!(offset <= changed.len() as u64);
                        refused += 1;
                    }
                    Err(other) => panic!("{name} byte {at}: {other}"),
                }
            }
        }
        assert!(refused > 20, "{name}: {refused}");
    }
}

/// A frame of changes for the end of a file of sentences.
fn frame(at: usize, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u64).to_le_bytes().to_vec();
    bytes.extend(2_u64.to_le_bytes());
    bytes.extend(body);
    let sum = xxh3_64_with_seed(&bytes, at as u64);
    bytes.extend(sum.to_le_bytes());
    bytes
}

#[test]
fn only_an_incomplete_last_frame_of_sentences_is_a_torn_tail() {
    let whole = bytes("sentences");
    let read =
        |bytes: &[u8]| read_old(&mut &*bytes, bytes.len() as u64, &words()).map(Option::unwrap);
    let (before, _) = read(&whole).unwrap();
    // An addition of an empty text, behind the mark: whole frames count.
    let one = frame(whole.len(), &[2, 0]);
    let two = frame(whole.len() + one.len(), &[2, 0]);
    let all = [&whole[..], &one, &two].concat();
    assert_eq!(read(&all).unwrap().0.next_id(), before.next_id() + 2);
    for cut in 1..two.len() {
        let (index, torn) = read(&all[..all.len() - cut]).unwrap();
        assert_eq!((index.next_id(), torn), (before.next_id() + 1, (two.len() - cut) as u64));
    }
    for at in whole.len()..all.len() {
        // A length that leads beyond the end cannot be told from a frame that was cut there.
        let in_length = |from: usize| (from..from + 8).contains(&at);
        if in_length(whole.len()) || in_length(whole.len() + one.len()) {
            continue;
        }
        let mut flipped = all.clone();
        flipped[at] ^= 8;
        assert!(named(&flipped).is_some_and(|place| place <= at as u64), "byte {at}");
    }
}

#[test]
fn files_of_this_release_become_directories_and_later_ones_are_refused_by_format() {
    let folder = tempfile::tempdir().unwrap();
    for (name, method) in
        [("fingerprints", "simhash"), ("signatures", "minhash"), ("equal", "exact")]
    {
        let (old, directory) =
            (fixture("0.2.0", &format!("{name}.index")), folder.path().join(name));
        let made = converted(&old, &directory).unwrap();
        let saved = LiveIndex::open_described(&old, &words(), &NEVER).unwrap();
        assert_eq!((made.method, made.documents), (method, saved.len()));
        let index = open(&directory, method);
        for id in 0..saved.next_id() {
            assert_eq!(index.text_of(id), saved.text_of(id));
            assert_eq!(index.key_of(id), saved.key_of(id));
        }
    }
    let mut later = fs::read(fixture("0.2.0", "equal.index")).unwrap();
    later[8] = 4;
    let sum = xxh3_64(&later[..24]);
    later[24..32].copy_from_slice(&sum.to_le_bytes());
    let old = folder.path().join("later");
    fs::write(&old, &later).unwrap();
    match converted(&old, &folder.path().join("made")).unwrap_err() {
        DedupError::Index(IndexError::File(FileError::Format { path, found: 4 })) => {
            assert_eq!(path, old);
        }
        other => panic!("{other}"),
    }
    assert!(!folder.path().join("made").exists());
}

/// A file of so many fingerprints, as release 0.1 wrote it without tables.
fn large(count: u64) -> Vec<u8> {
    let cli = bytes("cli");
    let begin = cli.windows(8).position(|bytes| bytes == b"SIMHIDX\n").unwrap() + 16;
    let (plan, plan_end) = sections(&cli, b"SIMHIDX\n")[0];
    assert_eq!(plan, begin);
    let mut out = cli[..plan_end + 8].to_vec();
    let mut section = |name: &[u8; 4], body: &[u8]| {
        let from = out.len();
        out.extend(name);
        out.extend([0; 4]);
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(body);
        let sum = xxh3_64(&out[from..]);
        out.extend(sum.to_le_bytes());
    };
    let mut records = 0_u64.to_le_bytes().to_vec();
    records.extend(count.to_le_bytes());
    records.extend(vec![3; count as usize]);
    for id in 0..count {
        records.extend((id + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    }
    section(b"RECS", &records);
    section(b"TEXT", &[]);
    section(b"AGES", &[0; 8]);
    section(b"TABS", &[]);
    section(b"END!", &[]);
    out
}

#[test]
fn a_name_that_is_taken_stays_and_a_flag_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (old, directory) = (fixture("0.1.0", "fingerprints.index"), folder.path().join("made"));
    let raised = AtomicBool::new(true);
    let error = convert(&old, &directory, &words(), &raised).unwrap_err();
    assert!(matches!(error, DedupError::Cancelled), "{error}");
    assert!(!directory.exists());

    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("mine"), "x").unwrap();
    let taken = converted(&old, &directory).unwrap_err();
    assert!(matches!(taken, DedupError::Index(IndexError::File(FileError::Write { .. }))));
    assert!(taken.to_string().contains("mine"), "{taken}");
    assert_eq!(fs::read(directory.join("mine")).unwrap(), b"x");
    fs::remove_file(directory.join("mine")).unwrap();
    // An empty folder is as good as none.
    converted(&old, &directory).unwrap();
    let before = fs::read(directory.join("MANIFEST")).unwrap();
    assert!(converted(&old, &directory).is_err());
    assert_eq!(fs::read(directory.join("MANIFEST")).unwrap(), before);
    assert!(
        converted(&directory, &folder.path().join("other"))
            .unwrap_err()
            .to_string()
            .contains("folder")
    );
}

fn rounds() -> u32 {
    if std::env::var_os("SIMHASH_LONG").is_some() { 200 } else { 10 }
}

#[test]
fn a_conversion_that_is_killed_leaves_the_old_file_and_no_half_directory() {
    const NAME: &str = "a_conversion_that_is_killed_leaves_the_old_file_and_no_half_directory";
    const COUNT: u64 = 60_000;
    if let Ok(folder) = std::env::var("SIMHASH_CHILD") {
        let folder = Path::new(&folder);
        converted(&folder.join("old"), &folder.join("made")).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (old, directory) = (folder.path().join("old"), folder.path().join("made"));
    let whole = large(COUNT);
    fs::write(&old, &whole).unwrap();
    let mut killed = 0;
    for round in 0..rounds() {
        let _ = fs::remove_dir_all(&directory);
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", NAME, "--nocapture"]).env("SIMHASH_CHILD", folder.path());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // As soon as so many files are there.
        let files = |path: &Path| fs::read_dir(path).map_or(0, Iterator::count);
        let wanted = round as usize % 5;
        while files(&directory) < wanted && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(50));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(fs::read(&old).unwrap() == whole, "round {round}");
        if !Directory::is_there(&directory).unwrap() {
            killed += 1;
            assert_eq!(converted(&old, &directory).unwrap().documents, COUNT);
        }
        assert_eq!(open(&directory, "simhash").len(), COUNT, "round {round}");
    }
    assert!(killed > 0, "no round was killed in the middle");
}
