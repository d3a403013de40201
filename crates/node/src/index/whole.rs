//! An index as a whole: made compact, saved, opened.

use super::NativeIndex;
use super::options::{NativeIndexOptions, NativeWindow};
use super::shared::{Memory, NEVER, Shared};
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use parking_lot::RwLock;
use simhash_dedup::online::OnlineIndex;
use simhash_sketch::Fingerprinter;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

/// What is needed to open a saved index.
struct Opening {
    path: PathBuf,
    fingerprinter: Fingerprinter,
    options: NativeIndexOptions,
}

impl Opening {
    fn run(self, flag: &AtomicBool) -> Result<Arc<Shared>, Failure> {
        let online = OnlineIndex::open_file(&self.path, self.fingerprinter, flag)?;
        self.options.agree(&self.path, &online)?;
        NativeWindow::limit_skew(self.options.window, |most| online.index().set_max_skew(most))?;
        Ok(Arc::new(Shared::new(online, self.options.threads)))
    }
}

#[napi]
impl NativeIndex {
    /// Seals everything into one run, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn compact<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        self.start(env, cancel, |shared, flag| Ok(shared.index().compact_until(flag)?))
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
        let snapshot = self.open_now()?.guarded(|shared| Ok(shared.online.snapshot()))?;
        self.start(env, cancel, move |_, flag| Ok(snapshot.write_file(&path, flag)?))
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
        let memory = Arc::<Memory>::default();
        memory.report(env, shared.bytes());
        Ok(Self { shared: RwLock::new(Some(shared)), memory })
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
