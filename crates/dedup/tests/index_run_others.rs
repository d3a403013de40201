//! Runs into an index beside what others have: their files, folders and indexes stay, and what cannot be decided alike is refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod daily;

use daily::{Days, NEVER, all, outputs, tree};
use simhash_dedup::live::{LiveIndex, LiveOptions, OnSameKey, OpenOptions, Stored};
use simhash_dedup::{
    DedupError, FileOptions, Input, Outputs, Progress, SavedIndex, Target, dedup_into_index,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn into(
    days: &Days,
    index: &Path,
    inputs: &[&Path],
    output: Option<&Path>,
    progress: &dyn Fn(&Progress),
) -> Result<simhash_dedup::IndexRun, DedupError> {
    let records = output.map(|path| Target::File(path.to_owned()));
    let outputs = Outputs { records, ..Outputs::default() };
    let inputs: Vec<Input> = inputs.iter().map(|path| Input::File(path.to_path_buf())).collect();
    let _ = days;
    dedup_into_index(index, &inputs, &outputs, &FileOptions::default(), progress, &NEVER)
}

#[test]
fn an_index_that_decides_by_keys_or_stores_cut_texts_is_refused() {
    let days = Days::new(1);
    for (name, on_same_key, longest, says) in [
        ("repeating", OnSameKey::Repeat, 1 << 24, "add"),
        ("replacing", OnSameKey::Replace, 1 << 24, "add"),
        ("cutting", OnSameKey::Add, 64 << 10, "16777216"),
    ] {
        let stored = Stored { keys: true, longest_text: Some(longest) };
        let options = LiveOptions { stored, on_same_key, ..LiveOptions::default() };
        let options = LiveOptions { max_verifications: 1000, ..options };
        let path = days.path(name);
        let how = OpenOptions::default();
        let live = LiveIndex::open_directory(&path, &options, how, &NEVER).unwrap();
        live.close().unwrap();
        let before = tree(&path, &["LOCK"]);
        let error = days.run_into(name, 0, &FileOptions::default(), &|_| {}).unwrap_err();
        assert!(error.to_string().contains(says), "{name}: {error}");
        assert_eq!(tree(&path, &["LOCK"]), before);
    }
}

#[test]
fn a_run_is_known_by_what_it_reads_however_its_files_are_called() {
    let days = Days::new(2);
    let (out, index) = (days.path("all"), days.index());
    let (one, two) = (days.input(0), days.input(1));
    let first = into(&days, &index, &[&one, &two], Some(&out), &|_| {}).unwrap();
    let (written, held) = (fs::read(&out).unwrap(), all(&index));
    let beside = days.folder().join(".").join("in-0");
    let again = into(&days, &index, &[&beside, &two], Some(&out), &|_| {}).unwrap();
    assert_eq!((again.name, again.repeated), (first.name, true));
    assert_eq!((fs::read(&out).unwrap(), all(&index)), (written, held));
}

#[test]
fn no_output_lies_in_the_folder_of_the_index_that_is_made() {
    let days = Days::new(1);
    for name in ["MANIFEST", "log-0000000001", "COMMIT", "out"] {
        let (index, input) = (days.path("new"), days.input(0));
        let error = into(&days, &index, &[&input], Some(&index.join(name)), &|_| {}).unwrap_err();
        assert!(!index.exists(), "{name}: {error}");
    }
    // Nor does a backup.
    days.run_with(0, &FileOptions::default(), &|_| {}).unwrap();
    let saved: SavedIndex = days.saved();
    let inner = days.index().join("backup");
    assert!(saved.snapshot(&inner, &NEVER).is_err());
    assert!(!inner.exists());
}

#[test]
fn a_folder_that_somebody_made_stays_when_the_run_fails() {
    let days = Days::new(1);
    let own = days.path("own");
    fs::create_dir(&own).unwrap();
    let bad = days.path("bad");
    fs::write(&bad, "x\n").unwrap();
    assert!(into(&days, &own, &[&bad], None, &|_| {}).is_err());
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
    assert!(into(&days, &days.path("none"), &[&bad], None, &|_| {}).is_err());
    assert!(!days.path("none").exists());
}

/// Everything as it is when COMMIT has its name and no output has its own: what a kill would leave then.
fn about_to_count(days: &Days, out: &Path) -> BTreeMap<String, Vec<u8>> {
    let (index, input) = (days.index(), days.input(0));
    let seen = RefCell::new(None);
    let look = |_: &Progress| {
        if index.join("COMMIT").exists() && seen.borrow().is_none() {
            *seen.borrow_mut() = Some(tree(&days.folder(), &["LOCK"]));
        }
    };
    into(days, &index, &[&input], Some(out), &look).unwrap();
    seen.into_inner().unwrap()
}

/// Puts the folder back as it was.
fn put_back(days: &Days, files: &BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(days.folder()).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    for (path, bytes) in files {
        let path = days.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn what_somebody_has_put_under_the_name_of_an_output_since_stays() {
    let days = Days::new(2);
    let out = days.path("out");
    let left = about_to_count(&days, &out);
    let written = fs::read(&out).unwrap();
    // Nobody has: the next opening finishes the run.
    put_back(&days, &left);
    assert!(!out.exists());
    let later = days.run_with(1, &FileOptions::default(), &|_| {}).unwrap();
    assert!(later.live.settled().unwrap().counts);
    assert_eq!(fs::read(&out).unwrap(), written);
    // Somebody has: the run does not count, and the file stays.
    put_back(&days, &left);
    fs::write(&out, "mine").unwrap();
    let later = days.run_with(1, &FileOptions::default(), &|_| {}).unwrap();
    assert!(!later.live.settled().unwrap().counts);
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    assert!(later.summary.kept > 0);
    assert!(!outputs(&days, 1).is_empty());
}

#[test]
fn a_dry_run_settles_nothing() {
    let days = Days::new(2);
    let out = days.path("out");
    let left = about_to_count(&days, &out);
    put_back(&days, &left);
    let dry = FileOptions { dry_run: true, ..FileOptions::default() };
    let error = days.run_with(1, &dry, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("a run was killed"), "{error}");
    assert_eq!(tree(&days.folder(), &["LOCK"]), left);
}
