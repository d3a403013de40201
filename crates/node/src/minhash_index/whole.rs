//! An index as a whole: saved and opened.

use super::NativeMinHashIndex;
use super::options::NativeMinHashIndexOptions;
use super::shared::Shared;
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::held::{Handle, NEVER};
use crate::index::options::NativeWindow;
use crate::minhash::TextHasher;
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use simhash_index::bands::BandIndex;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What is needed to open a saved index.
struct Opening {
    path: PathBuf,
    hasher: TextHasher,
    options: NativeMinHashIndexOptions,
}

impl Opening {
    fn of(
        path: String,
        fingerprinter: &NativeFingerprinter,
        options: NativeMinHashIndexOptions,
    ) -> Result<Self, Failure> {
        let hasher = TextHasher::new(fingerprinter, &options.minhash)?;
        Ok(Self { path: path.into(), hasher, options })
    }

    fn run(self, flag: &AtomicBool) -> Result<Shared, Failure> {
        let recipe = self.hasher.recipe();
        let index = BandIndex::open_file(&self.path, &recipe, flag)?;
        self.options.agree(&self.path, &index)?;
        NativeWindow::limit_skew(self.options.window, |most| index.set_max_skew(most))?;
        Ok(Shared::new(index, self.hasher, self.options.threads))
    }
}

#[napi]
impl NativeMinHashIndex {
    /// Writes the index as it is at this call to a file, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn save<'env>(
        &self,
        env: &'env Env,
        path: String,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let path = PathBuf::from(path);
        let snapshot = self.held.look(|shared| Ok(shared.index.snapshot()))?;
        self.held.start(env, cancel, move |shared, flag| {
            Ok(shared.index.write_file(snapshot, &path, &shared.hasher.recipe(), flag)?)
        })
    }

    /// Reads a saved index here and now.
    #[napi(catch_unwind)]
    pub fn open_sync(
        env: Env,
        path: String,
        fingerprinter: &NativeFingerprinter,
        options: NativeMinHashIndexOptions,
    ) -> js::Result<Self> {
        let shared = caught(|| Opening::of(path, fingerprinter, options)?.run(&NEVER))?;
        Ok(Self { held: Handle::opened(env, shared) })
    }

    /// Reads a saved index on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeMinHashIndex>")]
    pub fn open<'env>(
        env: &'env Env,
        path: String,
        fingerprinter: &NativeFingerprinter,
        options: NativeMinHashIndexOptions,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let opening = caught(|| Opening::of(path, fingerprinter, options))?;
        Handle::opening(env, cancel, move |flag| opening.run(flag), |held| Self { held })
    }
}
