//! What a disk may hold after a power cut, from the recorded calls and the files as they were after each of them.
//!
//! A file has what was flushed, and any of what was written since, the last of it in part; a sector of a log's marks is written whole. A
//! folder has the names that were flushed, and any of the changes since, in any order: a rename is one change.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use simhash_store::log::FRAMES;
use simhash_store::record::{self, Call};

/// Every file of a folder, by its path.
pub(crate) type Files = BTreeMap<PathBuf, Arc<[u8]>>;

/// Changes of which all combinations are tried; of more, those that came before one, and all but one.
const MOST: usize = 5;

/// A power cut: after which call, and what the disk has.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) after: String,
    pub(crate) files: Files,
}

impl Cut {
    /// Has a folder hold these files and no others.
    pub(crate) fn put(&self, root: &Path) {
        put(root, &self.files);
    }
}

pub(crate) fn put(root: &Path, files: &Files) {
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    for (path, bytes) in files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Does this, which changes files below a folder alone: every cut meanwhile, and those after it.
pub(crate) fn cuts(root: &Path, work: impl FnOnce()) -> (Vec<Cut>, Vec<Cut>) {
    let disk = Arc::new(Mutex::new(Disk::new(root)));
    let (watched, seen) = (Arc::clone(&disk), root.to_owned());
    let mut number = 0;
    record::watched(Box::new(move |call| {
        number += 1;
        let mut disk = watched.lock().unwrap();
        disk.take(call, &seen);
        disk.cut(&format!("call {number}, {call:?}"));
    }));
    work();
    record::stop();
    let mut disk = Arc::into_inner(disk).unwrap().into_inner().unwrap();
    let before = std::mem::take(&mut disk.cuts);
    disk.told.clear();
    disk.cut("the end");
    (before, disk.cuts)
}

/// A change of the names of a folder.
struct Renamed {
    gone: Vec<PathBuf>,
    put: Option<(PathBuf, usize)>,
}

#[derive(Default)]
struct Content {
    flushed: Arc<[u8]>,
    /// It has never been flushed: nothing of it may be there.
    is_new: bool,
    /// What it was after each write since.
    written: Vec<Arc<[u8]>>,
}

struct Disk {
    flushed: BTreeMap<PathBuf, usize>,
    renamed: Vec<Renamed>,
    contents: Vec<Content>,
    /// Names now, with the numbers that the file system has for files; it gives them again when a file has gone.
    names: BTreeMap<PathBuf, u64>,
    /// Which content a number stands for now.
    current: BTreeMap<u64, usize>,
    /// Files that were flushed and have no name yet.
    unnamed: BTreeMap<u64, u64>,
    cuts: Vec<Cut>,
    told: BTreeSet<Files>,
}

fn look(folder: &Path, found: &mut BTreeMap<PathBuf, (u64, Arc<[u8]>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            look(&path, found);
        } else if entry.file_name() != "LOCK" {
            found.insert(path.clone(), (about.ino(), fs::read(path).unwrap().into()));
        }
    }
}

impl Disk {
    fn new(root: &Path) -> Self {
        let mut disk = Self {
            flushed: BTreeMap::new(),
            renamed: Vec::new(),
            contents: Vec::new(),
            names: BTreeMap::new(),
            current: BTreeMap::new(),
            unnamed: BTreeMap::new(),
            cuts: Vec::new(),
            told: BTreeSet::new(),
        };
        let mut found = BTreeMap::new();
        look(root, &mut found);
        for (path, (number, bytes)) in found {
            disk.current.insert(number, disk.contents.len());
            disk.flushed.insert(path.clone(), disk.contents.len());
            disk.names.insert(path, number);
            disk.contents.push(Content { flushed: bytes, ..Content::default() });
        }
        disk
    }

    fn take(&mut self, call: &Call, root: &Path) {
        let mut found = BTreeMap::new();
        look(root, &mut found);
        self.current.retain(|number, _| found.values().any(|(known, _)| known == number));
        for (number, bytes) in found.values() {
            let is_flushed = match call {
                Call::Flush(file, _) => file == number,
                _ => false,
            };
            let at = *self.current.entry(*number).or_insert_with(|| {
                let length = self.unnamed.remove(number);
                let mut content = Content { is_new: true, ..Content::default() };
                if length == Some(bytes.len() as u64) {
                    content = Content { flushed: Arc::clone(bytes), ..Content::default() };
                }
                self.contents.push(content);
                self.contents.len() - 1
            });
            let content = &mut self.contents[at];
            if is_flushed {
                *content = Content { flushed: Arc::clone(bytes), ..Content::default() };
            } else if content.written.last().unwrap_or(&content.flushed) != bytes {
                content.written.push(Arc::clone(bytes));
            }
        }
        if let Call::Flush(file, length) = call
            && !self.current.contains_key(file)
        {
            self.unnamed.insert(*file, *length);
        }
        let mut gone: Vec<(PathBuf, u64)> = Vec::new();
        for (path, number) in &self.names {
            if !found.contains_key(path) {
                gone.push((path.clone(), *number));
            }
        }
        for (path, (number, _)) in &found {
            if self.names.get(path) != Some(number) {
                let from: Vec<PathBuf> = gone
                    .iter()
                    .filter(|(_, known)| known == number)
                    .map(|(path, _)| path.clone())
                    .collect();
                gone.retain(|(_, known)| known != number);
                let put = Some((path.clone(), self.current[number]));
                self.renamed.push(Renamed { gone: from, put });
            }
        }
        for (path, _) in gone {
            self.renamed.push(Renamed { gone: vec![path], put: None });
        }
        self.names = found.into_iter().map(|(path, (number, _))| (path, number)).collect();
        if let Call::FlushFolder(folder) = call {
            let is_in = |change: &Renamed| {
                let path = change.put.as_ref().map_or_else(|| &change.gone[0], |(path, _)| path);
                path.parent() == Some(folder)
            };
            let (flushed, left) = std::mem::take(&mut self.renamed).into_iter().partition(is_in);
            self.renamed = left;
            let flushed: Vec<Renamed> = flushed;
            for change in &flushed {
                change.make(&mut self.flushed);
            }
        }
    }

    /// Notes what there may be after a cut now, as far as it has not been there yet.
    fn cut(&mut self, after: &str) {
        for chosen in choices(self.renamed.len()) {
            let mut names = self.flushed.clone();
            for (change, _) in self.renamed.iter().zip(&chosen).filter(|(_, is_made)| **is_made) {
                change.make(&mut names);
            }
            let mut all = vec![Files::new()];
            for (path, at) in &names {
                let contents = self.contents[*at].choices();
                all = all
                    .into_iter()
                    .flat_map(|files| {
                        contents.iter().map(move |bytes| {
                            let mut files = files.clone();
                            files.insert(path.clone(), Arc::clone(bytes));
                            files
                        })
                    })
                    .collect();
            }
            for files in all {
                if self.told.insert(files.clone()) {
                    self.cuts.push(Cut { after: after.to_owned(), files });
                }
            }
        }
    }
}

impl Renamed {
    fn make(&self, names: &mut BTreeMap<PathBuf, usize>) {
        for path in &self.gone {
            names.remove(path);
        }
        if let Some((path, at)) = &self.put {
            names.insert(path.clone(), *at);
        }
    }
}

/// Which of so many changes have been made.
fn choices(count: usize) -> Vec<Vec<bool>> {
    if count <= MOST {
        return (0..1_usize << count)
            .map(|bits| (0..count).map(|at| bits >> at & 1 == 1).collect())
            .collect();
    }
    let before = (0..=count).map(|till| (0..count).map(|at| at < till).collect());
    let but_one = (0..count).map(|one| (0..count).map(|at| at != one).collect());
    before.chain(but_one).collect()
}

impl Content {
    fn choices(&self) -> Vec<Arc<[u8]>> {
        let versions: Vec<&Arc<[u8]>> = [&self.flushed].into_iter().chain(&self.written).collect();
        let writes: Vec<(usize, &[u8])> =
            versions.windows(2).map(|pair| changed(pair[0], pair[1])).collect();
        let mut all = Vec::new();
        for chosen in choices(writes.len()) {
            let made: Vec<_> = writes
                .iter()
                .zip(&chosen)
                .filter(|(_, is)| **is)
                .map(|(write, _)| *write)
                .collect();
            let Some(((at, last), before)) = made.split_last() else {
                all.push(Arc::clone(&self.flushed));
                continue;
            };
            let of = |bytes: &[u8]| {
                let mut content = self.flushed.to_vec();
                for (at, bytes) in before.iter().copied().chain([(*at, bytes)]) {
                    content.resize(content.len().max(at + bytes.len()), 0);
                    content[at..at + bytes.len()].copy_from_slice(bytes);
                }
                Arc::from(content)
            };
            all.push(of(last));
            if self.is_new || *at as u64 >= FRAMES {
                all.push(of(&last[..last.len() / 2]));
            }
        }
        all
    }
}

/// The bytes that differ, and where.
fn changed<'a>(from: &[u8], to: &'a [u8]) -> (usize, &'a [u8]) {
    let is_other = |at: &usize| from.get(*at) != to.get(*at);
    let first = (0..to.len()).find(is_other).unwrap_or(to.len());
    let last = (first..to.len()).rev().find(is_other).map_or(first, |last| last + 1);
    (first, &to[first..last])
}
