//! The folder of an index: whatever its files hold, checksums right or not, it opens to an index that can be used, or to an error; a byte
//! changed before the mark of its log, in its checkpoint or in its manifest is always an error. Of a checkpoint that is mapped it may be one
//! when it is met: until then answers are those of the sound index.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::live::{
    LiveIndex, LiveMethod, LiveOptions, OnSameKey, OpenOptions, Search, Stored, Texts,
};
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_index::{AddOptions, Window};
use simhash_sketch::Scratch;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

const NAMES: [&str; 3] = ["MANIFEST", "checkpoint-0000000002", "log-0000000002"];

/// The last of them is the second, mapped.
const METHODS: u8 = 5;
const MAPPED: u8 = 4;

fn options(method: u8) -> LiveOptions {
    let method = match method {
        0 => LiveMethod::minhash(),
        1 | MAPPED => LiveMethod::simhash(),
        2 => LiveMethod::sentences(),
        _ => LiveMethod::Exact,
    };
    let stored = Stored { keys: true, ..Stored::default() };
    let window = Some(Window { max_age: None, max_count: Some(30) });
    let on_same_key = OnSameKey::Repeat;
    LiveOptions { method, stored, on_same_key, window, ..LiveOptions::default() }
}

fn path() -> PathBuf {
    std::env::temp_dir().join(format!("simhash-fuzz-{}.index", std::process::id()))
}

fn open(method: u8) -> Option<LiveIndex> {
    let how = OpenOptions { mmap: method == MAPPED, ..OpenOptions::default() };
    LiveIndex::open_directory(&path(), &options(method), how, &NEVER).ok()
}

fn text(row: u64) -> String {
    format!("第{}条，{}。", row % 17, "今天的天气很好我们去公园散步".repeat(row as usize % 3))
}

fn add(index: &LiveIndex, rows: std::ops::Range<u64>) {
    let mut scratch = Scratch::default();
    for row in rows {
        let document = index.document(&text(row), &mut scratch);
        let _ = index.add(&document, Some(&row.to_string()), Some(row));
        // A copy, whose answer is remembered.
        let how = AddOptions { at: Some(row), ..AddOptions::default() };
        let _ = index.check_and_add(&document, Some(&format!("{row} again")), how, |_| Texts::None);
    }
}

/// Ids of what is near some texts; none where that is damage.
fn near(index: &LiveIndex) -> Vec<Option<Vec<u64>>> {
    let near = |row| {
        let document = index.document(&text(row), &mut Scratch::default());
        let found = index.search(&document, &Search::default()).ok()?.matches;
        assert!(found.iter().all(|near| index.has(near.id)));
        Some(found.iter().map(|near| near.id).collect())
    };
    (0..17).map(near).collect()
}

/// The files of an index of each method.
static KEPT: LazyLock<Vec<Vec<Vec<u8>>>> = LazyLock::new(|| {
    let files = |method| {
        let _ = fs::remove_dir_all(path());
        let index = open(method).expect("a new folder");
        add(&index, 0..25);
        index.checkpoint(&NEVER).expect("the folder can be written");
        add(&index, 25..40);
        index.flush().expect("the folder can be written");
        let read = |name: &str| fs::read(path().join(name)).expect("the file is there");
        let files = NAMES.map(read).to_vec();
        drop(index);
        files
    };
    (0..METHODS).map(|method| files(if method == MAPPED { 1 } else { method })).collect()
});

/// What the index that is mapped answers.
static NEAR: LazyLock<Vec<Option<Vec<u64>>>> = LazyLock::new(|| {
    write(&KEPT[usize::from(MAPPED)]);
    near(&open(1).expect("the files are sound"))
});

fn write(files: &[Vec<u8>]) {
    let _ = fs::remove_dir_all(path());
    fs::create_dir(path()).expect("the folder for temporary files can be written");
    for (name, bytes) in NAMES.iter().zip(files) {
        fs::write(path().join(name), bytes).expect("the folder can be written");
    }
}

fuzz_target!(|input: (u8, u8, u16, u8, Edits, &[u8])| {
    let (method, which, at, flip, edits, bytes) = input;
    let (method, which) = (method % METHODS, usize::from(which) % NAMES.len());
    let sound = &KEPT[usize::from(method)];

    let mut damaged = sound.clone();
    let at = usize::from(at) % damaged[which].len();
    damaged[which][at] ^= flip;
    let expected = (method == MAPPED).then(|| &*NEAR);
    write(&damaged);
    match (open(method), expected) {
        (Some(index), Some(expected)) => {
            let mut answers = near(&index).into_iter().zip(expected);
            assert!(answers.all(|(own, sound)| own == *sound || own.is_none() && flip != 0));
        }
        (index, _) => {
            assert_eq!(index.is_some(), flip == 0, "{} byte {at} with {flip}", NAMES[which]);
        }
    }

    let mut edited = sound.clone();
    edit(&mut edited[which], FRAMES, &edits);
    reseal(&mut edited[which], FRAMES);
    let mut any = sound.clone();
    any[which] = bytes.to_vec();
    for files in [edited, any] {
        write(&files);
        if let Some(index) = open(method) {
            add(&index, 50..60);
            let answers = near(&index);
            assert!(method == MAPPED || answers.iter().all(Option::is_some));
        }
    }
});
