//! An index as a whole: made compact, saved, opened, kept by somebody else.

use super::NativeIndex;
use super::agree::Given;
use super::options::NativeIndexOptions;
use super::refusal::{opening, opening_at};
use super::shared::{Settings, Shared};
use crate::check::{number, whole};
use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::held::{Handle, NEVER};
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::{Object, Uint8Array};
use napi_derive::napi;
use simhash_dedup::live::{LiveIndex, LiveOptions, OpenOptions};
use simhash_index::sentences::SentenceIndex;
use simhash_store::directory::Directory;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is needed to open an index.
struct Opening {
    source: Source,
    given: Given,
    settings: Settings,
}

enum Source {
    /// A saved file, or the directory of an index.
    Path { path: PathBuf, how: OpenOptions, of_directory: Option<&'static str> },
    /// A whole, if there is one, and the changes since.
    Kept(Option<Vec<u8>>, Vec<Vec<u8>>),
}

impl Opening {
    fn new(source: Source, options: &NativeIndexOptions<'_>) -> Result<Self, Failure> {
        Ok(Self { source, given: Given::of(options)?, settings: Settings::of(options)? })
    }

    /// The index of a path.
    fn path(path: String, options: &NativeIndexOptions<'_>) -> Result<Self, Failure> {
        let (how, of_directory) = (options.directory()?, options.of_directory());
        Self::new(Source::Path { path: path.into(), how, of_directory }, options)
    }

    /// Whether opening has to wait for the disk.
    fn waits(&self) -> bool {
        matches!(&self.source, Source::Path { path, .. } if path.is_dir())
    }

    fn run(mut self, flag: &AtomicBool) -> Result<Shared, Failure> {
        let live = match self.source {
            Source::Path { path, of_directory, .. } if path.is_file() => {
                if let Some(option) = of_directory {
                    let why = "is for the folder of an index, and this is a file";
                    let message = format!("{option} {why}: {}", path.display());
                    return Err(Failure::new("ERR_INVALID_ARG_VALUE", message));
                }
                let saved = saved(&path, &self.given, flag)?;
                self.given.complete(&path, saved)?;
                let live = LiveIndex::open_file(&path, self.given.core(), flag).map_err(opening)?;
                self.given.agree(&path, live.options())?;
                live
            }
            Source::Path { path, how, .. } => {
                if Directory::look(&path).is_ok() {
                    let saved = saved(&path, &self.given, flag)?;
                    self.given.complete(&path, saved)?;
                } else {
                    // What is wrong with a folder that is there is told by who opens it.
                    self.given.make();
                }
                let mut agreed = Ok(());
                let mut accepts = |saved: &LiveOptions| {
                    agreed = self.given.agree(&path, saved);
                    agreed.is_ok()
                };
                let core = self.given.core();
                let live = LiveIndex::open_directory_if(&path, core, how, flag, &mut accepts);
                let live = live.map_err(|error| opening_at(&path, how, error))?;
                agreed?;
                live.ok_or_else(|| Failure::internal("an index was refused for no reason"))?
            }
            Source::Kept(whole, changes) => {
                LiveIndex::kept_elsewhere(self.given.core(), whole, changes)?
            }
        };
        if flag.load(Ordering::Relaxed) {
            return Err(Failure::cancelled());
        }
        Ok(Shared::new(live, &self.settings))
    }

    /// Opens on the pool.
    fn start<'env>(self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        Handle::opening(
            env,
            cancel,
            move |flag| self.run(flag),
            |held| NativeIndex { held: Arc::new(held) },
        )
    }
}

/// What a saved index says of itself.
fn saved(path: &Path, given: &Given, flag: &AtomicBool) -> Result<LiveOptions, Failure> {
    let words = &given.core().fingerprinter.extract;
    LiveOptions::of_saved(path, words, flag).map_err(opening)
}

/// The index of sentences whose changes are kept.
fn logged(shared: &Shared) -> Result<&SentenceIndex, Failure> {
    let missing = || Failure::internal("only an index of sentences has changes to keep");
    shared.live.sentences().ok_or_else(missing)
}

#[napi]
impl NativeIndex {
    /// Makes everything as small as it can be, beside the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn compact<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start_beside(0, env, cancel, |shared, flag| {
            shared.live.compact(flag)?;
            Ok(shared.live.checkpoint(flag)?)
        })
    }

    /// Writes the index as it is at this call to a file, beside the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn save<'env>(
        &self,
        env: &'env Env,
        path: String,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let path = PathBuf::from(path);
        let snapshot = self.held.look(|shared| Ok(shared.live.snapshot()))?;
        self.held.start_beside(1, env, cancel, move |_, flag| Ok(snapshot.write_file(&path, flag)?))
    }

    /// Writes the index as it is at this call to a directory, beside the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn snapshot<'env>(
        &self,
        env: &'env Env,
        path: String,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let path = PathBuf::from(path);
        let snapshot = self.held.look(|shared| Ok(shared.live.snapshot()))?;
        self.held
            .start_beside(1, env, cancel, move |_, flag| Ok(snapshot.write_directory(&path, flag)?))
    }

    /// Waits until the disk has all changes, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn flush<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, _| Ok(shared.live.flush()?))
    }

    /// Makes visible what the writer of the directory has changed since; false: it has to be opened again.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn refresh<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, _| Ok(shared.live.refresh()?))
    }

    /// Flushes everything and lets go of the directory, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn release<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.release(env, cancel)
    }

    /// How far the caller has come.
    #[napi(catch_unwind)]
    pub fn position(&self) -> js::Result<Option<f64>> {
        self.held.look(|shared| Ok(shared.live.position().map(number)))
    }

    /// Takes an id away, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn delete_async<'env>(
        &self,
        env: &'env Env,
        id: f64,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let id = whole(id, "id")?;
        self.held.start(env, cancel, move |shared, _| Ok(shared.live.delete(id)?))
    }

    /// Takes away what is older than a time, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    pub fn expire_async<'env>(
        &self,
        env: &'env Env,
        before: f64,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let before = whole(before, "before")?;
        self.held.start(env, cancel, move |shared, _| Ok(number(shared.live.expire(before)?)))
    }

    /// Reads a saved index here and now.
    #[napi(catch_unwind)]
    pub fn open_sync(env: Env, path: String, options: NativeIndexOptions<'_>) -> js::Result<Self> {
        let opening = caught(|| {
            let mut opening = Opening::path(path, &options)?;
            if let Source::Path { how, .. } = &mut opening.source {
                // A folder is not made here.
                how.create = false;
            }
            if opening.waits() {
                let why = "opening the folder of an index waits for the disk; use Index.open, which returns a promise";
                return Err(Failure::new("ERR_SIMHASH_ASYNC_ONLY", why));
            }
            Ok(opening)
        })?;
        let shared = caught(|| opening.run(&NEVER))?;
        Ok(Self { held: Arc::new(Handle::opened(env, shared)) })
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeIndex>")]
    pub fn open<'env>(
        env: &'env Env,
        path: String,
        options: NativeIndexOptions<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        caught(|| Opening::path(path, &options))?.start(env, cancel)
    }

    /// The index of sentences that kept changes lead to, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeIndex>")]
    pub fn kept<'env>(
        env: &'env Env,
        options: NativeIndexOptions<'_>,
        whole: Option<Uint8Array>,
        changes: Vec<Uint8Array>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let whole = whole.map(|whole| whole.to_vec());
        let changes = changes.iter().map(|changes| changes.to_vec()).collect();
        let source = Source::Kept(whole, changes);
        caught(|| Opening::new(source, &options))?.start(env, cancel)
    }

    /// What was changed since the last call.
    #[napi(catch_unwind, ts_return_type = "Uint8Array")]
    pub fn take_changes(&self) -> js::Result<Column<u8>> {
        let changes = self.held.look(|shared| Ok(logged(shared)?.take_changes()))?;
        Ok(Column(changes))
    }

    /// The whole, in place of all changes so far.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array>")]
    pub fn whole<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, _| Ok(Column(logged(shared)?.whole())))
    }
}
