//! An index as a whole: made compact, saved, opened.

use super::options::{NativeIndexOptions, NativeWindow};
use super::shared::{Memory, NEVER, Shared};
use super::{NativeIndex, file};
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use parking_lot::RwLock;
use simhash_dedup::online::OnlineIndex;
use simhash_sketch::Fingerprinter;
use simhash_store::Access;
use std::io::Read;
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
        let recipe = self.fingerprinter.to_string();
        let image = |input: &mut dyn Read| OnlineIndex::open(input, self.fingerprinter);
        let (online, window) = file::open(&self.path, ("fingerprinter", &recipe), flag, image)?;
        self.options.agree(&self.path, &online, window)?;
        NativeWindow::limit_skew(self.options.window, |most| online.index().set_max_skew(most))?;
        Ok(Arc::new(Shared::new(online, window, self.options.threads)))
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
        self.start(env, cancel, move |shared, flag| {
            let recipe = shared.online.fingerprinter().to_string();
            // A file that is new: texts are not everybody's.
            let texts = shared.online.stored().longest_text.is_some();
            let to = (path.as_path(), if texts { Access::Private } else { Access::Usual });
            file::save(|out| snapshot.write(out, flag), shared.window, &recipe, to, flag)
        })
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
