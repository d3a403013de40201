//! The order in which an index in a directory asks the file system for things: nothing is named by a manifest before the disk has it,
//! nothing is removed before the disk has the manifest that no longer names it, and nothing is answered under commit before the disk has
//! it. In a process of its own: all of its calls are recorded.
#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions};
use simhash_index::durable::{Durability, DurableOptions};
use simhash_store::log::FRAMES;
use simhash_store::record::{self, Call};

mod model;

use model::{NEVER, code, document, methods, options};

fn open(path: &Path, options: &LiveOptions) -> LiveIndex {
    let mut durable = DurableOptions::default();
    durable.durability = Durability::Commit;
    let how = OpenOptions { durable, ..OpenOptions::default() };
    LiveIndex::open_directory(path, options, how, &NEVER).unwrap()
}

/// The disk, as far as it has been told to keep something.
#[derive(Default)]
struct Disk {
    /// Bytes of each file that it has; none once something was written behind that.
    flushed: BTreeMap<u64, Option<u64>>,
    /// Which file has which name.
    names: BTreeMap<PathBuf, u64>,
    /// Names that it may not have yet.
    unflushed: BTreeSet<PathBuf>,
    /// The last log whose frames were written.
    log: Option<u64>,
    /// Manifests that were named so far.
    manifests: usize,
}

fn is_named(path: &Path, begin: &str) -> bool {
    path.file_name().unwrap().to_string_lossy().starts_with(begin)
}

fn number(path: &Path) -> u64 {
    path.file_name().unwrap().to_string_lossy().split_once('-').unwrap().1.parse().unwrap()
}

impl Disk {
    fn has(&self, file: u64) -> bool {
        self.flushed.get(&file).copied().flatten().is_some()
    }

    /// Names of one kind, the latest first.
    fn newest(&self, kind: &str) -> Option<&PathBuf> {
        self.names.keys().filter(|path| is_named(path, kind)).max_by_key(|path| number(path))
    }

    fn take(&mut self, call: &Call) {
        match call {
            Call::Write(file, at) => {
                if *at < FRAMES {
                    assert!(
                        self.has(*file),
                        "a mark is written before the disk has what it counts"
                    );
                }
                self.flushed.insert(*file, None);
                self.log = Some(*file);
            }
            Call::Flush(file, length) => drop(self.flushed.insert(*file, Some(*length))),
            Call::Name(file, path) => {
                assert!(self.has(*file), "{} is named before the disk has it", path.display());
                if is_named(path, "MANIFEST") {
                    self.manifests += 1;
                    let kept: Vec<_> =
                        self.unflushed.iter().filter(|path| !is_named(path, ".")).collect();
                    assert!(
                        kept.is_empty(),
                        "the manifest may name {kept:?}, which a power cut may take"
                    );
                    // The first one says that the index is being made.
                    assert_eq!(self.newest("checkpoint-").is_some(), self.manifests > 1);
                }
                self.names.insert(path.clone(), *file);
                self.unflushed.insert(path.clone());
            }
            Call::FlushFolder(folder) => {
                self.unflushed.retain(|path| path.parent() != Some(folder.as_path()));
            }
            Call::Remove(path) => {
                let counts = ["checkpoint-", "log-"].into_iter().find(|kind| is_named(path, kind));
                if counts.is_some() {
                    let manifest =
                        self.names.keys().find(|path| is_named(path, "MANIFEST")).unwrap();
                    assert!(
                        !self.unflushed.contains(manifest),
                        "{} goes before the manifest is there",
                        path.display()
                    );
                    let checkpoint = self.newest("checkpoint-").unwrap();
                    assert!(
                        number(path) < number(checkpoint),
                        "{} goes before what replaces it is there",
                        path.display()
                    );
                }
                self.names.remove(path);
                self.unflushed.remove(path);
            }
        }
    }
}

/// A name that came, or with a dash one that went.
fn step(call: &Call) -> Option<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    match call {
        Call::Name(_, path) => Some(name(path)).filter(|name| !name.starts_with('.')),
        Call::Remove(path) => {
            Some(format!("-{}", name(path))).filter(|name| !name.starts_with("-."))
        }
        _ => None,
    }
}

#[test]
fn nothing_counts_before_the_disk_has_it() {
    for method in methods() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(method);
        record::start();
        let (mut disk, mut seen) = (Disk::default(), 0);
        let mut look = |disk: &mut Disk| {
            let calls = record::so_far();
            calls[seen..].iter().for_each(|call| disk.take(call));
            seen = calls.len();
        };
        let index = open(&folder.path().join("index"), &options);
        look(&mut disk);
        assert_eq!(disk.manifests, 2);
        for round in 0..3 {
            for number in 0..5 {
                let text = code(round * 5 + number, 20);
                index.add(&document(&index, &text), None, None).unwrap();
                look(&mut disk);
                // It was answered: frame and mark are there.
                assert!(disk.has(disk.log.unwrap()), "{method}: an answer before the disk has it");
            }
            let before = record::so_far().len();
            index.checkpoint(&NEVER).unwrap();
            let calls = record::so_far();
            look(&mut disk);
            // The next log, the manifest with both, the checkpoint, the manifest with these two alone, and only then the others go.
            let steps: Vec<String> = calls[before..].iter().filter_map(step).collect();
            let number = round + 2;
            let expected = [
                format!("log-{number:010}"),
                "MANIFEST".to_owned(),
                format!("checkpoint-{number:010}"),
                "MANIFEST".to_owned(),
            ];
            assert_eq!(steps[..4], expected, "{method}");
            assert!(steps[4..].iter().all(|step| step.starts_with('-')), "{method}: {steps:?}");
            assert_eq!(steps.len(), 6, "{method}: {steps:?}");
        }
        index.snapshot().write_directory(&folder.path().join("backup"), &NEVER).unwrap();
        let mut backup = Disk::default();
        let own = |call: &&Call| match call {
            Call::Name(_, path) | Call::Remove(path) | Call::FlushFolder(path) => {
                path.starts_with(folder.path().join("backup"))
            }
            _ => true,
        };
        record::so_far()[seen..].iter().filter(own).for_each(|call| backup.take(call));
        assert_eq!(backup.manifests, 2, "{method}");
        drop(index);
    }
}
