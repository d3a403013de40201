//! A live index for one run: its changes count together with the outputs of the run, see [`durable::Run`].

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use simhash_index::IndexError;
use simhash_index::durable::{self, DurableOptions, Record, Settled};
use simhash_store::directory::Directory;
use simhash_store::{FileError, Section, Staged};

use super::directory::Held;
use super::image::Source;
use super::{Any, LiveIndex, LiveMethod, LiveOptions, OnSameKey, Stored, Verify};
use crate::Method;
use crate::error::DedupError;
use crate::options::DedupOptions;

/// Most bytes of a text that an index stores: so many that what deduplication compares is there.
pub(crate) const LONGEST_TEXT: u32 = 1 << 24;

impl LiveOptions {
    /// Those of an index that decides as a run of deduplication does.
    ///
    /// # Errors
    /// [`DedupError::Option`] for a method that has no live index.
    pub(crate) fn of_run(run: &DedupOptions) -> Result<Self, DedupError> {
        let mut method = match run.method {
            Method::SimHash { .. } => LiveMethod::simhash(),
            Method::MinHash { .. } => LiveMethod::minhash(),
            Method::Sentences { .. } => LiveMethod::sentences(),
            Method::Exact => LiveMethod::Exact,
            Method::BruteForce => {
                let expected = "minhash, simhash, sentences or exact: it has no index";
                let (argument, value) = ("method", run.method.name().to_owned());
                return Err(DedupError::Option { argument, value, expected });
            }
        };
        match (&mut method, run.method) {
            (LiveMethod::SimHash { max_distance, .. }, Method::SimHash { max_distance: most }) => {
                *max_distance = Some(most);
            }
            (LiveMethod::MinHash { plan, .. }, Method::MinHash { plan: own }) => *plan = own,
            (LiveMethod::Sentences { count, .. }, Method::Sentences { count: own }) => *count = own,
            _ => {}
        }
        let measured = |least| Verify { measure: run.measure, least };
        Ok(Self {
            method,
            fingerprinter: run.fingerprinter.clone(),
            verify: run.min_similarity.map(measured),
            max_verifications: run.max_verifications,
            stored: Stored { keys: true, longest_text: Some(LONGEST_TEXT) },
            ..Self::default()
        })
    }
}

impl LiveIndex {
    /// Opens the index of a directory for one run: its changes are in memory alone until [`LiveIndex::commit`]. Of one that `accepts`
    /// refuses nothing has changed, as with [`LiveIndex::open_directory_if`].
    ///
    /// # Errors
    /// As [`LiveIndex::open_directory`] without `create`; those of `accepts`.
    pub(crate) fn open_run(
        path: &Path,
        options: &LiveOptions,
        accepts: impl FnOnce(&Self) -> Result<(), DedupError>,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let claimed = Directory::claim(path, false).map_err(IndexError::from)?;
        let (directory, Some(manifest)) = claimed else {
            let what = std::io::Error::other("it holds an index that was never finished");
            return Err(IndexError::from(FileError::unreadable(what).in_file(path)).into());
        };
        let mut live =
            Self::read(Source::Directory(&directory, &manifest, false, cancel), options)?;
        accepts(&live)?;
        let run = each!(&live.any, engine => {
            let (logs, settled) = engine.replay(&directory, &manifest)?;
            live.settled = settled;
            durable::Run::begin(&engine.index, directory, &manifest, logs)
        });
        live.directory = Some(Held::Aside(live.with_settled(run)?));
        live.path = Some(path.to_owned());
        Ok(live)
    }

    fn run(&self) -> Option<&durable::Run> {
        if let Some(Held::Aside(run)) = &self.directory { Some(run) } else { None }
    }

    /// What a run of this name left.
    ///
    /// # Errors
    /// [`FileError`]s in [`DedupError::Index`].
    pub(crate) fn record(&self, name: &str) -> Result<Option<Section>, DedupError> {
        Ok(self.run().map_or(Ok(None), |run| run.record(name))?)
    }

    /// Where a run of this name leaves what it was.
    pub(crate) fn record_path(&self, name: &str) -> PathBuf {
        self.path.as_deref().unwrap_or(Path::new("")).join(name)
    }

    /// What opening it has found of a run that was killed while it was about to count.
    pub fn settled(&self) -> Option<&Settled> {
        self.settled.as_ref()
    }

    /// An error of what comes after opening names a run that this has settled: it is said nowhere else.
    pub(crate) fn with_settled<T, E: Into<DedupError>>(
        &self,
        done: Result<T, E>,
    ) -> Result<T, DedupError> {
        done.map_err(|error| error.into().after_settling(self.settled()))
    }

    /// Refuses an index that decides otherwise than a run does, whatever its options: by keys, or without whole texts.
    pub(crate) fn check_run(&self, argument: &'static str) -> Result<(), DedupError> {
        let (made, given) = (self.options.on_same_key, OnSameKey::Add);
        if made != given {
            let (made, given) = (made.name().to_owned(), given.name().to_owned());
            return Err(DedupError::Differs { argument, option: "on_same_key", made, given });
        }
        let stored = self.options.stored.longest_text.unwrap_or(0);
        if self.options.method != LiveMethod::Exact && stored < LONGEST_TEXT {
            let value = format!("one that stores texts of at most {stored} bytes");
            let expected = "an index that stores texts of up to 16777216 bytes, as index build and a first run make it";
            return Err(DedupError::Option { argument, value, expected });
        }
        Ok(())
    }

    /// Removes the index with its directory, which was made for a run that failed before its commit.
    /// `folder`: the folder goes too.
    pub(crate) fn discard(&mut self, folder: bool) {
        if let Some(Held::Aside(run)) = self.directory.take() {
            run.discard(folder);
        }
    }

    /// Lets others open the directory, after a run that had nothing to commit.
    pub(crate) fn let_go(&mut self) {
        self.directory = None;
    }

    /// Has what was changed since [`LiveIndex::open_run`] count, together with outputs that `publish` gives their names, see
    /// [`durable::Run::commit`]. Then it lets go of the directory, after a checkpoint if one is due.
    ///
    /// # Errors
    /// Those of `publish`, [`FileError`]s in [`DedupError::Index`].
    pub(crate) fn commit(
        &mut self,
        outputs: Vec<Staged>,
        record: Option<Record>,
        publish: impl FnOnce() -> Result<(), DedupError>,
        told: &dyn Fn(),
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let recipe = self.options.recipe(self.fingerprinter());
        let hashes = self.options.hashes();
        let Some(Held::Aside(mut run)) = self.directory.take() else { return publish() };
        let counts = each!(&self.any, engine => {
            run.commit(&engine.index, outputs, record, publish, told)
        });
        if let Err(error) = counts {
            if !run.is_pending() {
                self.directory = Some(Held::Aside(run));
            }
            return Err(error);
        }
        let kept = each!(&self.any, engine => {
            run.end(&engine.index, &recipe, engine.beside(hashes), DurableOptions::default())?
        });
        let stats = kept.stats();
        if stats.log_bytes >= stats.log_bytes_limit {
            // The run counts. What is not written now is written by the next one.
            let _ = kept.checkpoint(cancel);
        }
        Ok(kept.close()?)
    }
}
