//! Clusters of near documents.

use super::NativeIndex;
use super::shared::Shared;
use super::single::NativeSearch;
use crate::check::number;
use crate::columns::Column;
use crate::error::{Failure, js};
use crate::pool;
use crate::task::Cancel;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::{ThreadsafeFunctionCallMode, UnknownReturnValue};
use napi::{Env, Status};
use napi_derive::napi;
use simhash_dedup::live::Clusters;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// Cluster i has the ids between `offsets[i]` and `offsets[i + 1]`.
#[napi(object, object_from_js = false)]
pub struct NativeClusters {
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    /// Ids of documents whose candidates a limit cut.
    #[napi(ts_type = "Float64Array")]
    pub truncated: Column<f64>,
}

impl NativeClusters {
    /// Live ids number less than 2^32, and each is in one cluster at most.
    fn of(found: &Clusters) -> Self {
        let Clusters { clusters, truncated } = found;
        let mut end = 0;
        let ends = clusters.iter().map(|cluster| {
            end += cluster.len() as u32;
            end
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        let ids = clusters.iter().flatten();
        Self {
            offsets: Column(offsets),
            ids: Column(ids.map(|&id| number(id)).collect()),
            truncated: Column(truncated.iter().map(|&id| number(id)).collect()),
        }
    }
}

#[napi]
impl NativeIndex {
    /// Clusters of live documents, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeClusters>")]
    pub fn clusters<'env>(
        &self,
        env: &'env Env,
        how: Option<NativeSearch>,
        on_progress: Option<Function<'_, f64, UnknownReturnValue>>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let how = NativeSearch::core(how)?;
        let progress = on_progress
            .map(|function| {
                // Weak: a callback must not keep the process alive. Of a queue of 8 the newest matter least: a full one drops.
                function
                    .build_threadsafe_function::<f64>()
                    .weak::<true>()
                    .max_queue_size::<8>()
                    .build()
            })
            .transpose()
            .map_err(Failure::from)?;
        self.held.start(env, cancel, move |shared: &Shared, flag: &AtomicBool| {
            let told = Cell::new(0.0);
            let report = |done: f64| {
                // Once per hundredth at most.
                if let Some(progress) = &progress
                    && done >= told.get() + 0.01
                {
                    told.set(done);
                    let _: Status = progress.call(done, ThreadsafeFunctionCallMode::NonBlocking);
                }
            };
            let tasks = pool::tasks(shared.threads);
            Ok(NativeClusters::of(&shared.live.clusters(&how, tasks, flag, report)?))
        })
    }
}
