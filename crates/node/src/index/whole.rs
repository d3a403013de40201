//! An index as a whole: made compact, saved, opened, kept by somebody else.

use super::NativeIndex;
use super::agree::Given;
use super::options::NativeIndexOptions;
use super::shared::{Settings, Shared};
use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::held::{Handle, NEVER};
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::{Object, Uint8Array};
use napi_derive::napi;
use simhash_dedup::live::LiveIndex;
use simhash_index::sentences::{Durability, SentenceIndex};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is needed to open an index.
struct Opening {
    source: Source,
    given: Given,
    settings: Settings,
}

enum Source {
    File(PathBuf),
    /// A file to which changes are written.
    Log(PathBuf, Durability),
    /// A whole, if there is one, and the changes since.
    Kept(Option<Vec<u8>>, Vec<Vec<u8>>),
}

impl Opening {
    fn new(source: Source, options: &NativeIndexOptions<'_>) -> Result<Self, Failure> {
        Ok(Self { source, given: Given::of(options)?, settings: Settings::of(options)? })
    }

    /// The index of a file, whose changes are written to it where `options` say so.
    fn file(path: String, options: &NativeIndexOptions<'_>) -> Result<Self, Failure> {
        let path = PathBuf::from(path);
        let source = match options.durability()? {
            None => Source::File(path),
            Some(durability) => Source::Log(path, durability),
        };
        Self::new(source, options)
    }

    fn run(self, flag: &AtomicBool) -> Result<Shared, Failure> {
        let core = self.given.core();
        let live = match self.source {
            Source::File(path) => {
                let live = LiveIndex::open_file(&path, core, flag)?;
                self.given.agree(&path, live.options())?;
                live
            }
            Source::Log(path, durability) => {
                let live = LiveIndex::open_log(&path, core, durability)?;
                self.given.agree(&path, live.options())?;
                live
            }
            Source::Kept(whole, changes) => LiveIndex::kept_elsewhere(core, whole, changes)?,
        };
        if flag.load(Ordering::Relaxed) {
            return Err(Failure::cancelled());
        }
        Ok(Shared::new(live, &self.settings))
    }

    /// Opens on the pool.
    fn start<'env>(self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        Handle::opening(env, cancel, move |flag| self.run(flag), |held| NativeIndex { held })
    }
}

/// The index of sentences whose changes are kept.
fn logged(shared: &Shared) -> Result<&SentenceIndex, Failure> {
    let missing = || Failure::internal("only an index of sentences has changes to keep");
    shared.live.sentences().ok_or_else(missing)
}

#[napi]
impl NativeIndex {
    /// Makes everything as small as it can be, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn compact<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, flag| Ok(shared.live.compact(flag)?))
    }

    /// Writes the index as it is at this call to a file, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn save<'env>(
        &self,
        env: &'env Env,
        path: String,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let path = PathBuf::from(path);
        if self.held.look(|shared| Ok(shared.is_logged()))? {
            let snapshot = self.held.look(|shared| Ok(logged(shared)?.snapshot_log()))?;
            return self.held.start(env, cancel, move |shared, _| {
                let index = logged(shared)?;
                Ok(index.save_log_snapshot(snapshot, &path, index.recipe())?)
            });
        }
        let snapshot = self.held.look(|shared| Ok(shared.live.snapshot()))?;
        self.held.start(env, cancel, move |_, flag| Ok(snapshot.write_file(&path, flag)?))
    }

    /// Reads a saved index here and now, or opens the file of one.
    #[napi(catch_unwind)]
    pub fn open_sync(env: Env, path: String, options: NativeIndexOptions<'_>) -> js::Result<Self> {
        let opening = caught(|| Opening::file(path, &options))?;
        let shared = caught(|| opening.run(&NEVER))?;
        Ok(Self { held: Handle::opened(env, shared) })
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeIndex>")]
    pub fn open<'env>(
        env: &'env Env,
        path: String,
        options: NativeIndexOptions<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        caught(|| Opening::file(path, &options))?.start(env, cancel)
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
