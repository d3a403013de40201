//! The folder of an index with what runs leave in it: the record of one, and another that was about to count. Whatever its files hold,
//! checksums right or not, `verify` and both runs give an answer or an error; a byte changed under a wrong checksum is always an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::{
    DedupError, Duplicates, FileOptions, Input, Outputs, Progress, SavedIndex, Target,
    dedup_into_index,
};
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_sketch::ExtractorOptions;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{LazyLock, Mutex};

static NEVER: AtomicBool = AtomicBool::new(false);

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("simhash-fuzz-run-{}", std::process::id())).join(name)
}

fn run(index: &str, day: usize, progress: &dyn Fn(&Progress)) -> Result<(), DedupError> {
    let inputs = [Input::File(path(&format!("in-{day}")))];
    let outputs = Outputs {
        records: Some(Target::File(path(&format!("out-{day}")))),
        duplicates: Duplicates::Mark,
        ..Outputs::default()
    };
    let options = FileOptions::default();
    dedup_into_index(&path(index), &inputs, &outputs, &options, progress, &NEVER).map(drop)
}

/// What a folder holds.
type Files = BTreeMap<String, Vec<u8>>;

fn files(folder: &str) -> Files {
    let entries = fs::read_dir(path(folder)).expect("the folder is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.filter(|name| name != "LOCK");
    let read = |name: &String| fs::read(path(folder).join(name)).expect("a file");
    names.map(|name| (name.clone(), read(&name))).collect()
}

/// The files of an index with one run that counts, and one that is about to; and the output of that one.
static MADE: LazyLock<(Files, Vec<u8>)> = LazyLock::new(|| {
    let _ = fs::remove_dir_all(path(""));
    fs::create_dir(path("")).expect("the folder for temporary files can be written");
    for day in 0..2 {
        let line = |row: usize| {
            let text = "今天的天气很好我们去公园散步".repeat(row % 3 + 1);
            format!("{{\"id\":\"{day}-{row}\",\"text\":\"第{}条，{text}\"}}\n", row % 5 + day)
        };
        let lines: String = (0..14).map(line).collect();
        fs::write(path(&format!("in-{day}")), lines).expect("the folder can be written");
    }
    run("first", 0, &|_| {}).expect("a new folder");
    let halfway = Mutex::new(None);
    run("first", 1, &|_| {
        let mut halfway = halfway.lock().expect("nobody panics");
        if halfway.is_none() && path("first").join("COMMIT").exists() {
            *halfway = Some(files("first"));
        }
    })
    .expect("the second run counts");
    let halfway = halfway.into_inner().expect("nobody panics");
    let files = halfway.expect("a run says that it is about to count");
    assert!(files.keys().any(|name| name.starts_with("run-")), "{:?}", files.keys());
    (files, fs::read(path("out-1")).expect("the second run has written it"))
});

fn is_verified() -> bool {
    let saved = SavedIndex { path: path("index"), words: ExtractorOptions::default() };
    saved.verify(&NEVER).is_ok()
}

fn put(name: &str, bytes: &[u8]) {
    let (files, written) = &*MADE;
    let _ = fs::remove_dir_all(path("index"));
    fs::create_dir(path("index")).expect("the folder can be written");
    for (own, sound) in files {
        let bytes = if own == name { bytes } else { sound };
        fs::write(path("index").join(own), bytes).expect("the folder can be written");
    }
    fs::write(path("out-1"), written).expect("the folder can be written");
}

fuzz_target!(|input: (u8, u16, u8, Edits, &[u8])| {
    let (which, at, flip, edits, bytes) = input;
    let (files, _) = &*MADE;
    let file = files.iter().nth(usize::from(which) % files.len());
    let (name, sound) = file.expect("there are files");

    let mut damaged = sound.clone();
    let at = usize::from(at) % damaged.len();
    damaged[at] ^= flip;
    put(name, &damaged);
    assert_eq!(is_verified(), flip == 0, "{name} byte {at} with {flip}");

    let mut edited = sound.clone();
    edit(&mut edited, FRAMES, &edits);
    reseal(&mut edited, FRAMES);
    for bytes in [&edited[..], bytes] {
        put(name, bytes);
        let _ = is_verified();
        for day in 0..2 {
            let _ = run("index", day, &|_| {});
        }
    }
});
