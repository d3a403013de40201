//! An index of sentences as a whole: opened, saved, made compact, kept by somebody else.

use super::NativeSentenceIndex;
use super::options::NativeSentenceIndexOptions;
use super::shared::Shared;
use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::held::{Handle, NEVER};
use crate::index::options::NativeWindow;
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::{Object, Uint8Array};
use napi_derive::napi;
use simhash_index::sentences::SentenceIndex;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is needed to open an index.
struct Opening {
    source: Source,
    options: NativeSentenceIndexOptions,
}

enum Source {
    File(PathBuf),
    /// A whole, if there is one, and the changes since.
    Kept(Option<Vec<u8>>, Vec<Vec<u8>>),
}

impl Opening {
    fn run(self, flag: &AtomicBool) -> Result<Shared, Failure> {
        let index = match self.source {
            Source::File(path) => {
                let index = SentenceIndex::open(&path, &self.options.store()?)?;
                self.options.agree(&path, &index)?;
                index
            }
            Source::Kept(whole, changes) => {
                SentenceIndex::kept_elsewhere(&self.options.core()?, whole, changes)?
            }
        };
        if flag.load(Ordering::Relaxed) {
            return Err(Failure::cancelled());
        }
        NativeWindow::limit_skew(self.options.window, |most| index.set_max_skew(most))?;
        let sketcher = self.options.sketcher(index.options().sentences)?;
        Ok(Shared::new(index, sketcher, self.options.threads))
    }

    /// Opens on the pool.
    fn start<'env>(self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        Handle::opening(
            env,
            cancel,
            move |flag| self.run(flag),
            |held| NativeSentenceIndex { held },
        )
    }
}

#[napi]
impl NativeSentenceIndex {
    /// Opens the index of a file here and now.
    #[napi(catch_unwind)]
    pub fn open_sync(
        env: Env,
        path: String,
        options: NativeSentenceIndexOptions,
    ) -> js::Result<Self> {
        let opening = Opening { source: Source::File(path.into()), options };
        let shared = caught(|| opening.run(&NEVER))?;
        Ok(Self { held: Handle::opened(env, shared) })
    }

    /// Opens the index of a file on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSentenceIndex>")]
    pub fn open<'env>(
        env: &'env Env,
        path: String,
        options: NativeSentenceIndexOptions,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        Opening { source: Source::File(path.into()), options }.start(env, cancel)
    }

    /// The index that kept changes lead to, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSentenceIndex>")]
    pub fn kept<'env>(
        env: &'env Env,
        options: NativeSentenceIndexOptions,
        whole: Option<Uint8Array>,
        changes: Vec<Uint8Array>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let whole = whole.map(|whole| whole.to_vec());
        let changes = changes.iter().map(|changes| changes.to_vec()).collect();
        Opening { source: Source::Kept(whole, changes), options }.start(env, cancel)
    }

    /// What was changed since the last call.
    #[napi(catch_unwind, ts_return_type = "Uint8Array")]
    pub fn take_changes(&self) -> js::Result<Column<u8>> {
        let changes = self.held.look(|shared| Ok(shared.index.take_changes()))?;
        Ok(Column(changes))
    }

    /// The whole, in place of all changes so far.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array>")]
    pub fn whole<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, _| Ok(Column(shared.index.whole())))
    }

    /// What makes sentences of texts, in words.
    #[napi(catch_unwind)]
    pub fn recipe(&self) -> js::Result<String> {
        self.held.look(|shared| Ok(shared.sketcher.to_string()))
    }

    /// Writes the index as it is now to a file, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn save<'env>(
        &self,
        env: &'env Env,
        path: String,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let path = PathBuf::from(path);
        let snapshot = self.held.look(|shared| Ok(shared.index.snapshot()))?;
        self.held.start(env, cancel, move |shared, _| {
            let recipe = shared.sketcher.to_string();
            Ok(shared.index.save_snapshot(snapshot, &path, &recipe)?)
        })
    }

    /// Writes the index's own file anew, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn compact<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, _| Ok(shared.index.compact()?))
    }
}
