//! An index that is one file: built of the documents of files, added to, asked. What is done with the index is in `indexed`; here it is
//! opened and saved.

use super::indexed::{add_files, search_files};
use crate::error::DedupError;
use crate::live::{LiveIndex, LiveOptions, Search};
use crate::options::ReadOptions;
use crate::read::Input;
use crate::report::{EdgeSummary, Progress, Summary};
use crate::write::{LineOutputs, Target, check_distinct};
use simhash_index::IndexError;
use simhash_sketch::ExtractorOptions;
use simhash_store::{Access, Draft, FileError};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A saved index, and what must be given to open it.
#[derive(Clone, Debug)]
pub struct IndexFile {
    /// Its file.
    pub path: PathBuf,
    /// The dictionary, stop words and idf table that it was made with; the rest is ignored.
    pub words: ExtractorOptions,
}

impl IndexFile {
    /// Makes an index of the documents of `inputs`, as [`add_files`] does. It appears in place of the file when all is done, or not at all.
    ///
    /// # Errors
    /// Those of [`LiveIndex::new`], [`add_files`] and [`Snapshot::write_file`](crate::live::Snapshot::write_file).
    pub fn build(
        &self,
        made: &LiveOptions,
        inputs: &[Input],
        rejects: Option<&Target>,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(Summary, LiveIndex), DedupError> {
        let mut made = made.clone();
        made.stored.keys = true;
        let live = LiveIndex::new(&made)?;
        self.fill(live, inputs, rejects, options, progress, cancel)
    }

    /// Adds the documents of `inputs`, as [`add_files`] does. The file is replaced when all is done, or stays as it was.
    ///
    /// # Errors
    /// Those of [`IndexFile::open`], [`add_files`] and [`Snapshot::write_file`](crate::live::Snapshot::write_file).
    pub fn add(
        &self,
        inputs: &[Input],
        rejects: Option<&Target>,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(Summary, LiveIndex), DedupError> {
        let live = self.open(cancel)?;
        self.fill(live, inputs, rejects, options, progress, cancel)
    }

    fn fill(
        &self,
        live: LiveIndex,
        inputs: &[Input],
        rejects: Option<&Target>,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(Summary, LiveIndex), DedupError> {
        let own = Target::File(self.path.clone());
        check_distinct(inputs.iter(), rejects.into_iter().chain([&own]))?;
        let leftovers = self.check_place()?;
        let keep = || live.snapshot().write_file(&self.path, cancel);
        let mut summary = add_files(inputs, rejects, &live, options, keep, progress, cancel)?;
        summary.leftovers.extend(leftovers);
        Ok((summary, live))
    }

    /// Writes what of the index is near each document of `inputs`, as [`search_files`] does.
    ///
    /// # Errors
    /// Those of [`IndexFile::open`] and [`search_files`].
    pub fn query(
        &self,
        inputs: &[Input],
        outputs: &LineOutputs,
        search: &Search,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(EdgeSummary, LiveIndex), DedupError> {
        let own = Input::File(self.path.clone());
        check_distinct(inputs.iter().chain([&own]), outputs.targets())?;
        let live = self.open(cancel)?;
        let summary = search_files(inputs, outputs, &live, search, options, progress, cancel)?;
        Ok((summary, live))
    }

    /// Reads and checks all of it.
    ///
    /// # Errors
    /// As [`LiveIndex::open_described`].
    pub fn open(&self, cancel: &AtomicBool) -> Result<LiveIndex, DedupError> {
        LiveIndex::open_described(&self.path, &self.words, cancel)
    }

    /// Whether a file can have the name, before anything is read; what killed runs had left beside it comes back.
    fn check_place(&self) -> Result<Vec<PathBuf>, DedupError> {
        let draft = Draft::new(&self.path, Access::Private);
        let draft = draft.map_err(|error| IndexError::from(FileError::from(error)))?;
        Ok(draft.leftovers().iter().map(|path| Path::new(path).to_owned()).collect())
    }
}
