//! All pairs, a batch per promise.
//!
//! Only one batch is computed at a time. The lock is tried, never waited for: a thread of the pool that waited here might be
//! the one that has to finish the batch.

use super::NativeIndex;
use super::columns::similarity;
use super::shared::Shared;
use super::single::NativeSearch;
use crate::check::{number, whole};
use crate::columns::{Column, bitmap};
use crate::error::{Failure, js};
use crate::pool;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use parking_lot::Mutex;
use simhash_dedup::live::{Pair, Pairs, Search};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};

/// Pairs in columns.
#[napi(object, object_from_js = false)]
pub struct NativePairBatch {
    #[napi(ts_type = "Float64Array")]
    pub a: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub b: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub similarities: Column<f64>,
    #[napi(ts_type = "Uint32Array")]
    pub measures: Column<u32>,
    #[napi(ts_type = "Uint8Array")]
    pub verified: Column<u8>,
    /// A bit for each pair: a limit cut the candidates of `b`.
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
    pub progress: f64,
}

/// A join, before, during and after.
struct Join {
    how: Search,
    pairs: Option<Pairs>,
    /// Pairs found beyond the batches handed out.
    ready: VecDeque<Pair>,
    ended: bool,
}

impl Join {
    /// The next `rows` pairs, fewer at the end; none after it.
    fn next(
        &mut self,
        shared: &Shared,
        rows: usize,
        flag: &AtomicBool,
    ) -> Result<Option<NativePairBatch>, Failure> {
        let mut pairs = match self.pairs.take() {
            Some(pairs) => pairs,
            None => shared.live.pairs(&self.how)?,
        };
        while !self.ended && self.ready.len() < rows {
            match shared.live.next_pairs(&mut pairs, pool::tasks(shared.threads), flag)? {
                Some(found) => self.ready.extend(found),
                None => self.ended = true,
            }
        }
        let progress = pairs.progress();
        self.pairs = Some(pairs);
        let rows = rows.min(self.ready.len());
        if rows == 0 {
            return Ok(None);
        }
        let batch: Vec<Pair> = self.ready.drain(..rows).collect();
        Ok(Some(NativePairBatch {
            a: Column(batch.iter().map(|pair| number(pair.a)).collect()),
            b: Column(batch.iter().map(|pair| number(pair.b.id)).collect()),
            similarities: Column(batch.iter().map(|pair| similarity(&pair.b)).collect()),
            measures: Column(batch.iter().map(|pair| pair.b.measure).collect()),
            verified: bitmap(batch.iter().map(|pair| pair.b.verified)),
            truncated: bitmap(batch.iter().map(|pair| pair.truncated)),
            progress,
        }))
    }
}

/// All pairs of an index, lazily.
#[napi]
pub struct NativePairs {
    join: Arc<Mutex<Join>>,
    /// Weak: an iteration left alone must not hold a closed index.
    index: Weak<Shared>,
}

#[napi]
impl NativeIndex {
    /// Pairs of live documents that match.
    #[napi(catch_unwind)]
    pub fn pairs(&self, how: Option<NativeSearch>) -> js::Result<NativePairs> {
        let how = NativeSearch::core(how)?;
        let join = Join { how, pairs: None, ready: VecDeque::new(), ended: false };
        Ok(NativePairs {
            join: Arc::new(Mutex::new(join)),
            index: Arc::downgrade(&self.held.open()?),
        })
    }
}

#[napi]
impl NativePairs {
    /// The next pairs, `rows` of them unless they are the last; none after those.
    #[napi(catch_unwind, ts_return_type = "Promise<NativePairBatch | null>")]
    pub fn next<'env>(
        &self,
        env: &'env Env,
        rows: f64,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let rows = usize::try_from(whole(rows, "batch")?.max(1)).unwrap_or(usize::MAX);
        let (join, index) = (Arc::clone(&self.join), Weak::clone(&self.index));
        let work = move |flag: &AtomicBool| {
            let shared = index.upgrade().ok_or_else(|| Failure::closed("Index"))?;
            let mut join =
                join.try_lock().ok_or_else(|| Failure::internal("two batches at a time"))?;
            shared.guarded(|shared| join.next(shared, rows, flag))
        };
        task::start(env, Place::Shared, cancel, work, |_| {})
    }
}
