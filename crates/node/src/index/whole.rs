//! An index as a whole: made compact, saved, opened.

use super::NativeIndex;
use super::options::{NativeIndexOptions, NativeWindow};
use super::shared::Shared;
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::held::{Handle, NEVER};
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use simhash_dedup::online::OnlineIndex;
use simhash_sketch::Fingerprinter;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What is needed to open a saved index.
struct Opening {
    path: PathBuf,
    fingerprinter: Fingerprinter,
    options: NativeIndexOptions,
}

impl Opening {
    fn run(self, flag: &AtomicBool) -> Result<Shared, Failure> {
        let online = OnlineIndex::open_file(&self.path, self.fingerprinter, flag)?;
        self.options.agree(&self.path, &online)?;
        NativeWindow::limit_skew(self.options.window, |most| online.index().set_max_skew(most))?;
        Ok(Shared::new(online, self.options.threads))
    }
}

#[napi]
impl NativeIndex {
    /// Seals everything into one run, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn compact<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.held.start(env, cancel, |shared, flag| Ok(shared.index().compact_until(flag)?))
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
        let snapshot = self.held.look(|shared| Ok(shared.online.snapshot()))?;
        self.held.start(env, cancel, move |_, flag| Ok(snapshot.write_file(&path, flag)?))
    }

    /// Reads a saved index here and now.
    #[napi(catch_unwind)]
    pub fn open_sync(
        env: Env,
        path: String,
        fingerprinter: &NativeFingerprinter,
        options: NativeIndexOptions,
    ) -> js::Result<Self> {
        let fingerprinter = fingerprinter.core.clone();
        let opening = Opening { path: path.into(), fingerprinter, options };
        let shared = caught(|| opening.run(&NEVER))?;
        Ok(Self { held: Handle::opened(env, shared) })
    }

    /// Reads a saved index on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeIndex>")]
    pub fn open<'env>(
        env: &'env Env,
        path: String,
        fingerprinter: &NativeFingerprinter,
        options: NativeIndexOptions,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let fingerprinter = fingerprinter.core.clone();
        let opening = Opening { path: path.into(), fingerprinter, options };
        Handle::opening(env, cancel, move |flag| opening.run(flag), |held| Self { held })
    }
}
