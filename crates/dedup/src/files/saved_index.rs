//! A saved index: a folder, or a file that is only read. What is done with its documents is in `indexed`; here it is made, opened,
//! checked and handed on.

use super::indexed::{self, Filled, Filling, check_keys, fill, search_files};
use crate::error::DedupError;
use crate::live::run::LONGEST_TEXT;
use crate::live::{LiveIndex, LiveOptions, OpenOptions, Search};
use crate::options::ReadOptions;
use crate::read::Input;
use crate::report::{EdgeSummary, Progress, Summary};
use crate::write::{LineOutputs, Output, Outputs, Target, Wanted, Written, check_distinct};
use simhash_index::{IndexError, durable};
use simhash_sketch::ExtractorOptions;
use simhash_store::directory::Directory;
use simhash_store::{FileError, folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A saved index, and what must be given to open it.
#[derive(Clone, Debug)]
pub struct SavedIndex {
    /// Its folder. For [`SavedIndex::query`], [`SavedIndex::open`], [`SavedIndex::verify`] and [`SavedIndex::export`] it may be a file.
    pub path: PathBuf,
    /// The dictionary, stop words and idf table that it was made with; the rest is ignored.
    pub words: ExtractorOptions,
}

/// What [`SavedIndex::verify`] found.
#[derive(Debug)]
pub struct Verified {
    /// The index.
    pub live: LiveIndex,
    /// Outputs of a run that was killed while it was about to count: who opens the folder for writing finishes it, or undoes it.
    pub unsettled: Option<Vec<PathBuf>>,
}

impl SavedIndex {
    /// Makes an index of the documents of `inputs`, in order, copies too; their ids are its keys. The folder appears when all is done,
    /// or not at all. It must not be there, or be empty. Of the summary `kept` are the documents.
    ///
    /// Runs on the calling thread and the current rayon pool; `progress` is called on the calling thread, at most 20 times a second.
    ///
    /// # Errors
    /// Those of [`LiveIndex::new`], [`dedup_files`](crate::dedup_files) and
    /// [`Snapshot::write_directory`](crate::live::Snapshot::write_directory).
    pub fn build(
        &self,
        made: &LiveOptions,
        inputs: &[Input],
        rejects: Option<&Target>,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(Summary, LiveIndex), DedupError> {
        self.check_outside(rejects)?;
        Directory::check_free(&self.path).map_err(IndexError::from)?;
        let mut made = made.clone();
        made.stored.keys = true;
        // As much as runs compare, see `dedup_into_index`.
        made.stored.longest_text = made.stored.longest_text.map(|_| LONGEST_TEXT);
        let live = LiveIndex::new(&made)?;
        let filling = indexed::open(inputs, rejects, options, cancel)?;
        let Filled { mut summary, rejects } = fill(filling, &live, progress)?;
        let unfinished = Directory::unfinished(&self.path);
        live.snapshot().write_directory(&self.path, cancel)?;
        summary.leftovers = Output::commit(rejects)?;
        summary.leftovers.extend(unfinished);
        Ok((summary, live))
    }

    /// Adds the documents of `inputs`, as [`SavedIndex::build`] does: all of them in one commit, together with the rejects, or none.
    ///
    /// # Errors
    /// Those of [`LiveIndex::open_directory`] and [`dedup_files`](crate::dedup_files).
    pub fn add(
        &self,
        inputs: &[Input],
        rejects: Option<&Target>,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(Summary, LiveIndex), DedupError> {
        self.check_outside(rejects)?;
        let how = LiveOptions::of_saved(&self.path, &self.words, cancel)?;
        let filling = indexed::open(inputs, rejects, options, cancel)?;
        let mut live = LiveIndex::open_run(&self.path, &how, check_keys, cancel)?;
        let added = add(&mut live, filling, progress, cancel);
        Ok((live.with_settled(added)?, live))
    }

    /// Writes a JSON line for each document of `inputs`, in order, with the documents of the index that are near it, as
    /// [`match_files`](crate::match_files) writes them; each copy that the index holds is a match of its own. A writer may go on
    /// meanwhile.
    ///
    /// # Errors
    /// Those of [`SavedIndex::open`], [`dedup_files`](crate::dedup_files) and [`LiveIndex::search_many`].
    pub fn query(
        &self,
        inputs: &[Input],
        outputs: &LineOutputs,
        search: &Search,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(EdgeSummary, LiveIndex), DedupError> {
        let wanted = Wanted::Lines(outputs, Written::JsonLines);
        self.ask(inputs, wanted, search, options, progress, cancel)
    }

    /// Writes the documents of `inputs`, in order, without those that a document of the index is near, or all of them with marks, as
    /// [`decontaminate_files`](crate::decontaminate_files) writes them. A writer may go on meanwhile.
    ///
    /// # Errors
    /// Those of [`SavedIndex::query`]; [`DedupError::Option`] beside a clusters file.
    pub fn decontaminate(
        &self,
        inputs: &[Input],
        outputs: &Outputs,
        search: &Search,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(EdgeSummary, LiveIndex), DedupError> {
        self.ask(inputs, Wanted::records(outputs)?, search, options, progress, cancel)
    }

    fn ask(
        &self,
        inputs: &[Input],
        wanted: Wanted<'_>,
        search: &Search,
        options: &ReadOptions,
        progress: &dyn Fn(&Progress),
        cancel: &AtomicBool,
    ) -> Result<(EdgeSummary, LiveIndex), DedupError> {
        wanted.check_names()?;
        self.check_outside(wanted.targets())?;
        let own = Input::File(self.path.clone());
        check_distinct(inputs.iter().chain([&own]), wanted.targets())?;
        let live = self.open(cancel)?;
        let summary = search_files(inputs, wanted, &live, search, options, progress, cancel)?;
        Ok((summary, live))
    }

    /// Reads and checks all of it, as it is now; of a folder a writer may go on meanwhile.
    ///
    /// # Errors
    /// As [`LiveIndex::open_described`].
    pub fn open(&self, cancel: &AtomicBool) -> Result<LiveIndex, DedupError> {
        LiveIndex::open_described(&self.path, &self.words, cancel)
    }

    /// Reads everything with its checksums, and checks what belongs together: files against the manifest, logs against each other,
    /// ids against keys and texts, what runs have left.
    ///
    /// # Errors
    /// As [`SavedIndex::open`]: file and byte of the first damage.
    pub fn verify(&self, cancel: &AtomicBool) -> Result<Verified, DedupError> {
        let live = self.open(cancel)?;
        live.check_documents(cancel)?;
        let unsettled = if self.path.is_dir() {
            let (directory, manifest) = Directory::look(&self.path).map_err(IndexError::from)?;
            durable::check_runs(&directory, &manifest)?
        } else {
            None
        };
        Ok(Verified { live, unsettled })
    }

    /// Gives back the space of what has left, and writes a checkpoint: the folder is as small as it can be, and opened in the
    /// shortest time.
    ///
    /// # Errors
    /// Those of [`LiveIndex::open_directory`], [`LiveIndex::compact`] and [`LiveIndex::checkpoint`].
    pub fn compact(&self, cancel: &AtomicBool) -> Result<LiveIndex, DedupError> {
        let options = LiveOptions::of_saved(&self.path, &self.words, cancel)?;
        let how = OpenOptions { create: false, ..OpenOptions::default() };
        let live = LiveIndex::open_directory(&self.path, &options, how, cancel)?;
        let compacted = || {
            live.compact(cancel)?;
            live.checkpoint(cancel)?;
            live.close()
        };
        live.with_settled(compacted())?;
        Ok(live)
    }

    /// Writes the index as it is now to a folder of its own, which must not be there, or be empty; a writer may go on meanwhile. What
    /// killed runs had left in that folder comes back.
    ///
    /// # Errors
    /// Those of [`SavedIndex::open`] and [`Snapshot::write_directory`](crate::live::Snapshot::write_directory).
    pub fn snapshot(
        &self,
        to: &Path,
        cancel: &AtomicBool,
    ) -> Result<(Vec<PathBuf>, LiveIndex), DedupError> {
        Directory::check_free(to).map_err(IndexError::from)?;
        self.check_outside([&Target::File(to.to_owned())])?;
        let live = self.open(cancel)?;
        let unfinished = Directory::unfinished(to);
        live.snapshot().write_directory(to, cancel)?;
        Ok((unfinished, live))
    }

    /// Refuses an output among the files of the index.
    pub(super) fn check_outside<'a>(
        &self,
        outputs: impl IntoIterator<Item = &'a Target>,
    ) -> Result<(), DedupError> {
        // Of a folder that is not there yet, what it will be.
        let will_be = || {
            let name = self.path.file_name()?;
            Some(fs::canonicalize(folder::of(&self.path)).ok()?.join(name))
        };
        let Some(own) = fs::canonicalize(&self.path).ok().or_else(will_be) else { return Ok(()) };
        let is_file = own.is_file();
        for path in outputs.into_iter().filter_map(Target::path) {
            let is_within = |of: &Path| {
                let whole = fs::canonicalize(of).or_else(|_| std::path::absolute(of));
                whole.is_ok_and(|of| of.starts_with(&own))
            };
            if !is_file && (is_within(path) || is_within(folder::of(path))) {
                let what = "it lies in the folder of the index; name another folder";
                let what = std::io::Error::new(std::io::ErrorKind::InvalidInput, what);
                return Err(IndexError::from(FileError::unwritable(what).in_file(path)).into());
            }
        }
        Ok(())
    }
}

/// Adds what is read, in one commit with the rejects.
fn add(
    live: &mut LiveIndex,
    filling: Filling<'_>,
    progress: &dyn Fn(&Progress),
    cancel: &AtomicBool,
) -> Result<Summary, DedupError> {
    let Filled { mut summary, mut rejects } = fill(filling, live, progress)?;
    let staged = rejects.as_mut().map(Output::staged).transpose()?.flatten();
    let leftovers = &mut summary.leftovers;
    let publish = || {
        *leftovers = Output::commit(rejects)?;
        Ok(())
    };
    live.commit(staged.into_iter().collect(), None, publish, &|| {}, cancel)?;
    Ok(summary)
}
