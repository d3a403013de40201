//! The folder of an index: whatever its files hold, it opens to an index that can be used, or to an error; a byte changed before the
//! mark of its log, in its checkpoint or in its manifest is always an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::live::{
    LiveIndex, LiveMethod, LiveOptions, OnSameKey, OpenOptions, Search, Stored, Texts,
};
use simhash_fuzz::{Edits, edit};
use simhash_index::{AddOptions, Window};
use simhash_sketch::Scratch;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

const NAMES: [&str; 3] = ["MANIFEST", "checkpoint-0000000002", "log-0000000002"];

fn options(method: u8) -> LiveOptions {
    let method = match method % 4 {
        0 => LiveMethod::minhash(),
        1 => LiveMethod::simhash(),
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
    LiveIndex::open_directory(&path(), &options(method), OpenOptions::default(), &NEVER).ok()
}

fn add(index: &LiveIndex, rows: std::ops::Range<u64>) {
    let mut scratch = Scratch::default();
    for row in rows {
        let text = format!("第{}条，{}。", row % 17, "今天的天气很好我们去公园散步".repeat((row % 3) as usize));
        let document = index.document(&text, &mut scratch);
        let _ = index.add(&document, Some(&row.to_string()), Some(row));
        // A copy, whose answer is remembered.
        let how = AddOptions { at: Some(row), ..AddOptions::default() };
        let _ = index.check_and_add(&document, Some(&format!("{row} again")), how, |_| Texts::None);
    }
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
    (0..4).map(files).collect()
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
    let (method, which) = (method % 4, usize::from(which) % NAMES.len());
    let sound = &KEPT[usize::from(method)];

    let mut damaged = sound.clone();
    let at = usize::from(at) % damaged[which].len();
    damaged[which][at] ^= flip;
    write(&damaged);
    assert_eq!(open(method).is_some(), flip == 0, "{} byte {at} with {flip}", NAMES[which]);

    let mut edited = sound.clone();
    edit(&mut edited[which], 0, &edits);
    let mut any = sound.clone();
    any[which] = bytes.to_vec();
    for files in [edited, any] {
        write(&files);
        if let Some(index) = open(method) {
            add(&index, 50..60);
            let document = index.document("第3条，", &mut Scratch::default());
            let found = index.search(&document, &Search::default()).map(|found| found.matches);
            assert!(found.is_ok_and(|found| found.iter().all(|near| index.has(near.id))));
        }
    }
});
