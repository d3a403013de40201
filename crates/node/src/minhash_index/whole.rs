//! An index as a whole: saved and opened.

use super::NativeMinHashIndex;
use super::options::NativeMinHashIndexOptions;
use super::shared::Shared;
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::index::options::NativeWindow;
use crate::index::shared::{Memory, NEVER};
use crate::minhash::TextHasher;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use parking_lot::RwLock;
use simhash_index::bands::BandIndex;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

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

    fn run(self, flag: &AtomicBool) -> Result<Arc<Shared>, Failure> {
        let recipe = self.hasher.recipe();
        let index = BandIndex::open_file(&self.path, &recipe, flag)?;
        self.options.agree(&self.path, &index)?;
        NativeWindow::limit_skew(self.options.window, |most| index.set_max_skew(most))?;
        Ok(Arc::new(Shared::new(index, self.hasher, self.options.threads)))
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
        let snapshot = self.open_now()?.guarded(|shared| Ok(shared.index.snapshot()))?;
        self.start(env, cancel, move |shared, flag| {
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
        let memory = Arc::<Memory>::default();
        memory.report(env, shared.bytes());
        Ok(Self { shared: RwLock::new(Some(shared)), memory })
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
        let memory = Arc::<Memory>::default();
        let opened = Arc::<OnceLock<Weak<Shared>>>::default();
        let (to_report, in_job) = ((Arc::clone(&memory), Arc::clone(&opened)), opened);
        let work = move |flag: &AtomicBool| {
            let shared = opening.run(flag)?;
            let _ = in_job.set(Arc::downgrade(&shared));
            Ok(Self { shared: RwLock::new(Some(shared)), memory })
        };
        let settled = move |env: Env| {
            let (memory, opened) = to_report;
            if let Some(shared) = opened.get().and_then(Weak::upgrade) {
                memory.report(env, shared.bytes());
            }
        };
        task::start(env, Place::Shared, cancel, work, settled)
    }
}
