//! Inputs that change under a run: a named error in every mode, and nothing is published.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use flate2::Compression;
use flate2::write::GzEncoder;
use simhash_dedup::{
    Cluster, Duplicates, FileOptions, Input, Keep, Outputs, Progress, Stage, Target, dedup_files,
};
use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

fn ways() -> Vec<(String, FileOptions)> {
    let keeps =
        [Keep::First, Keep::Last, Keep::Longest, Keep::Field { path: "n".into(), largest: true }];
    let mut ways = Vec::new();
    for keep in keeps {
        for cluster in [Cluster::Representative, Cluster::Components] {
            let mut options = FileOptions::default();
            let name = format!("{keep:?}, {cluster:?}");
            (options.dedup.keep, options.dedup.cluster) = (keep.clone(), cluster);
            ways.push((name, options));
        }
    }
    ways
}

/// How an input changes.
#[derive(Clone, Copy, Debug)]
enum Change {
    Truncate,
    Append,
    Replace,
    Rewrite,
    Remove,
}

const CHANGES: [Change; 5] =
    [Change::Truncate, Change::Append, Change::Replace, Change::Rewrite, Change::Remove];

impl Change {
    fn make(self, input: &Path) {
        let content = fs::read(input).unwrap();
        match self {
            Self::Truncate => {
                File::options().write(true).open(input).unwrap().set_len(40).unwrap();
            }
            Self::Append => {
                let mut file = OpenOptions::new().append(true).open(input).unwrap();
                file.write_all(&content).unwrap();
            }
            Self::Replace => {
                let other = input.with_extension("other");
                fs::write(&other, &content).unwrap();
                // As a copy that keeps its times would be.
                age(&other);
                fs::rename(&other, input).unwrap();
            }
            Self::Rewrite => {
                let mut file = OpenOptions::new().write(true).open(input).unwrap();
                file.write_all(&content).unwrap();
            }
            Self::Remove => fs::remove_file(input).unwrap(),
        }
    }
}

/// Last written long ago, so that whatever is written now has another time.
fn age(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    file.set_modified(time).unwrap();
}

fn content(gzip: bool) -> Vec<u8> {
    let line = |n| format!("{{\"n\":{n},\"text\":\"第{}号公告于{}发布\"}}\n", n / 2, n / 2 * 7919);
    let lines = (0..200).map(line).collect::<Vec<_>>().concat();
    if !gzip {
        return lines.into_bytes();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(lines.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_input_that_changes_is_an_error_in_every_mode_and_nothing_is_published() {
    for (name, options) in ways() {
        for change in CHANGES {
            for (stage, gzip, duplicates) in [
                (Stage::Dedup, false, Duplicates::Remove),
                (Stage::Finish, false, Duplicates::Mark),
                (Stage::Finish, true, Duplicates::Remove),
            ] {
                let what = format!("{change:?} at {stage:?}, gzip {gzip}: {name}");
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path();
                let target = |name: &str| Some(Target::File(path.join(name)));
                let (first, second) = (path.join("in"), path.join("second"));
                for input in [&first, &second] {
                    fs::write(input, content(gzip)).unwrap();
                    age(input);
                }
                fs::write(path.join("out"), "precious").unwrap();
                let outputs = Outputs {
                    records: target("out"),
                    clusters: target("clusters"),
                    rejects: target("rejects"),
                    duplicates,
                    ..Outputs::default()
                };
                let made = Cell::new(false);
                let report = |progress: &Progress| {
                    if progress.stage == stage && !made.replace(true) {
                        change.make(&second);
                    }
                };
                let inputs = [Input::File(first.clone()), Input::File(second.clone())];
                let cancel = AtomicBool::new(false);
                let error = dedup_files(&inputs, &outputs, &options, &report, &cancel)
                    .expect_err(&format!("no error: {what}"));
                assert!(made.get(), "{what}");
                assert!(
                    matches!(error, simhash_dedup::DedupError::InputChanged { .. }),
                    "{what}: {error}"
                );
                assert_eq!(error.path(), Some(&*second), "{what}");
                assert_eq!(fs::read_to_string(path.join("out")).unwrap(), "precious", "{what}");
                assert!(
                    !path.join("clusters").exists() && !path.join("rejects").exists(),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn an_input_that_is_only_read_is_none_that_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("in"), content(false)).unwrap();
    for (_, options) in ways() {
        let report = |_: &Progress| drop(fs::read(path.join("in")).unwrap());
        let outputs =
            Outputs { records: Some(Target::File(path.join("out"))), ..Outputs::default() };
        let inputs = [Input::File(path.join("in"))];
        dedup_files(&inputs, &outputs, &options, &report, &AtomicBool::new(false)).unwrap();
    }
}
