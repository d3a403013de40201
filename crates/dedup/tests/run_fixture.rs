//! What runs into an index left with release 0.2.0: a run that is done, and one that was killed when its outputs were on the disk and
//! had not got their names; and an index that repeats what keys were answered. Made by `__test__/fixtures/make-runs.mjs`; later releases
//! must answer the first run again, finish or undo the second, and repeat the answers.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions, Step, Texts};
use simhash_dedup::{
    DedupError, DedupOptions, Duplicates, FileOptions, IndexRun, Input, Method, Outputs,
    ReadOptions, SavedIndex, Target, dedup_into_index,
};
use simhash_index::AddOptions;
use simhash_sketch::{ExtractorOptions, Scratch};

mod sealed;

use sealed::{frames, seal};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Bytes of the path of the folder in which the runs were made: COMMIT names its outputs by their whole paths.
const LENGTH: usize = 120;
const STAGED: &str = ".out-2.jsonl.simhash-0.tmp";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/fixtures/0.2.0-runs").join(name)
}

struct Runs {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Runs {
    /// A copy in a folder whose path is as long, which COMMIT names.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path().to_str().unwrap().to_owned();
        let path = folder.path().join("x".repeat(LENGTH - 1 - above.len()));
        copy(&fixture("runs"), &path);
        fs::rename(path.join("staged-2.jsonl"), path.join(STAGED)).unwrap();
        let runs = Self { _folder: folder, path };
        let mut commit = fs::read(runs.commit()).unwrap();
        let plan = frames(&commit).into_iter().find(|frame| frame.name == "PLAN").unwrap();
        let content = &mut commit[plan.content.clone()];
        let named = format!("/{STAGED}");
        let at = content.windows(named.len()).position(|part| part == named.as_bytes()).unwrap();
        let old = content[at - LENGTH..at].to_vec();
        let mut count = 0;
        for at in 0..=content.len() - LENGTH {
            if content[at..at + LENGTH] == old[..] {
                content[at..at + LENGTH].copy_from_slice(runs.path.to_str().unwrap().as_bytes());
                count += 1;
            }
        }
        assert_eq!(count, 2, "the path of the staged file, and of the output");
        seal(&mut commit, &plan);
        fs::write(runs.commit(), commit).unwrap();
        runs
    }

    fn commit(&self) -> PathBuf {
        self.path.join("index/COMMIT")
    }

    fn saved(&self) -> SavedIndex {
        SavedIndex { path: self.path.join("index"), words: ExtractorOptions::default() }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }

    fn run(&self, day: usize) -> IndexRun {
        let method = Method::SimHash { max_distance: Method::MAX_DISTANCE };
        self.try_run(day, method).unwrap()
    }

    fn try_run(&self, day: usize, method: Method) -> Result<IndexRun, DedupError> {
        let dedup = DedupOptions { method, ..DedupOptions::default() };
        let options = FileOptions { dedup, ..FileOptions::default() };
        let outputs = Outputs {
            records: Some(Target::File(self.path.join(format!("out-{day}.jsonl")))),
            duplicates: Duplicates::Mark,
            ..Outputs::default()
        };
        let inputs = [Input::File(self.path.join(format!("in-{day}.jsonl")))];
        let index = self.saved().path;
        dedup_into_index(&index, &inputs, &outputs, &options, &|_| {}, &NEVER)
    }

    fn try_add(&self, day: usize) -> Result<(), DedupError> {
        let inputs = [Input::File(self.path.join(format!("in-{day}.jsonl")))];
        let options = ReadOptions::default();
        self.saved().add(&inputs, None, &options, &|_| {}, &NEVER).map(|_| ())
    }
}

/// The files of a folder, but the lock.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.append(&mut self::files(&path));
        } else if path.file_name().unwrap() != "LOCK" {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn keys(runs: &Runs) -> Vec<Option<String>> {
    let live = runs.saved().open(&NEVER).unwrap();
    (0..live.next_id()).map(|id| live.key_of(id)).collect()
}

fn some(keys: &[&str]) -> Vec<Option<String>> {
    keys.iter().map(|&key| Some(key.to_owned())).collect()
}

/// The same runs again are answered as they were, the second one by its record of now.
fn are_repeated(runs: &Runs, outputs: &[String; 2]) {
    for (day, expected) in (1..).zip(outputs) {
        fs::remove_file(runs.path.join(format!("out-{day}.jsonl"))).unwrap();
        let again = runs.run(day);
        assert!(again.repeated, "run {day}");
        assert_eq!(
            (again.summary.read, runs.read(&format!("out-{day}.jsonl"))),
            (4, expected.clone())
        );
    }
    assert_eq!(keys(runs), some(&["1-0", "1-2", "2-1", "2-3"]));
    runs.saved().verify(&NEVER).unwrap();
}

#[test]
fn a_run_that_was_about_to_count_is_finished_and_both_are_answered_again() {
    let runs = Runs::new();
    let outputs = [runs.read("out-1.jsonl"), runs.read(STAGED)];
    // Who only reads sees what counts.
    assert_eq!(keys(&runs), some(&["1-0", "1-2"]));
    let unsettled = runs.saved().verify(&NEVER).unwrap().unsettled.unwrap();
    assert_eq!(unsettled, [runs.path.join("out-2.jsonl")]);
    let live = runs.saved().compact(&NEVER).unwrap();
    assert!(live.settled().unwrap().counts);
    live.close().unwrap();
    drop(live);
    assert!(!runs.commit().exists() && !runs.path.join(STAGED).exists());
    assert_eq!(runs.read("out-2.jsonl"), outputs[1]);
    are_repeated(&runs, &outputs);
}

#[test]
fn who_is_refused_leaves_it_as_it_is() {
    let runs = Runs::new();
    // What a writer that opens the index would remove.
    fs::write(runs.path.join("index/log-0000000099"), "left").unwrap();
    let before = files(&runs.path);
    let error = runs.try_run(2, Method::Exact).unwrap_err();
    assert!(matches!(error, DedupError::Differs { option: "method", .. }), "{error}");
    assert!(files(&runs.path) == before, "a file has changed");
    let error = runs.try_add(9).unwrap_err();
    assert!(matches!(error, DedupError::Input { .. }), "{error}");
    assert!(files(&runs.path) == before, "a file has changed");
    assert!(runs.run(2).live.settled().unwrap().counts);
}

#[test]
fn who_fails_after_settling_it_says_what_came_of_it() {
    for counts in [true, false] {
        for adds in [true, false] {
            let runs = Runs::new();
            if !counts {
                fs::remove_file(runs.path.join(STAGED)).unwrap();
            }
            fs::write(runs.path.join("in-9.jsonl"), "x\n").unwrap();
            let method = Method::SimHash { max_distance: Method::MAX_DISTANCE };
            let done = if adds { runs.try_add(9) } else { runs.try_run(9, method).map(|_| ()) };
            let error = done.unwrap_err();
            assert!(!runs.commit().exists());
            let came = if counts { "it counts now" } else { "it was undone" };
            let message = error.to_string();
            assert!(message.contains(came) && message.contains("out-2.jsonl"), "{message}");
            let DedupError::AfterSettling { settled, source } = error else { panic!("{message}") };
            assert_eq!(
                (settled.counts, settled.outputs),
                (counts, vec![runs.path.join("out-2.jsonl")])
            );
            assert!(matches!(*source, DedupError::NoRecords { .. }), "{source}");
        }
    }
}

#[test]
fn one_whose_outputs_are_gone_is_undone_and_made_again() {
    let runs = Runs::new();
    let outputs = [runs.read("out-1.jsonl"), runs.read(STAGED)];
    fs::remove_file(runs.path.join(STAGED)).unwrap();
    let done = runs.run(2);
    assert!(!done.repeated);
    assert!(!runs.commit().exists());
    assert_eq!(runs.read("out-2.jsonl"), outputs[1]);
    are_repeated(&runs, &outputs);
}

#[test]
fn what_keys_were_answered_is_repeated_from_the_checkpoint_and_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    copy(&fixture("answers"), &path);
    let expected = fs::read_to_string(fixture("expected.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let options = LiveOptions::of_saved(&path, &ExtractorOptions::default(), &NEVER).unwrap();
    let how = OpenOptions { create: false, ..OpenOptions::default() };
    let live = LiveIndex::open_directory(&path, &options, how, &NEVER).unwrap();
    let told = expected["told"].as_array().unwrap();
    assert_eq!(told.len(), 7);
    for (row, told) in told.iter().enumerate() {
        let text = format!("与以前的都不同的第{row}篇");
        let document = live.document(&text, &mut Scratch::default());
        let how = AddOptions { at: Some(1_010), ..AddOptions::default() };
        let key = format!("key-{row}");
        let step = live.check_and_add(&document, Some(&key), how, |_| Texts::None).unwrap();
        let Step::Done(again) = step else { panic!("{step:?}") };
        // The document of this key was deleted: the key is new.
        assert_eq!(again.repeated, row != 2, "{key}");
        if again.repeated {
            // A number is read from JSON to the last digit but one.
            let rounded = |similarity: f64| (similarity * 1e12).round();
            let near = again
                .duplicate_of
                .map(|near| (near.id, near.similarity.map(rounded), u64::from(near.measure)));
            let before = told["duplicateOf"].as_u64().map(|id| {
                let distance = told["distance"].as_u64().unwrap();
                (id, told["similarity"].as_f64().map(rounded), distance)
            });
            assert_eq!((again.id, near), (told["id"].as_u64(), before), "{key}");
        }
    }
}
