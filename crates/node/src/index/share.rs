//! One index for all workers of a process.
//!
//! Workers have engines of their own but share this image of the addon, so an index can be handed over as a number. The
//! list keeps nothing alive: an index lives as long as some object of some engine uses it, or a job does.

use super::NativeIndex;
use super::shared::Shared;
use crate::error::{Failure, js};
use crate::held::Handle;
use napi_derive::napi;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Indexes that were handed over, by the number on their token.
static SHARED: Mutex<Option<HashMap<u64, Weak<Shared>>>> = Mutex::new(None);

/// A number that was never used, in this process, nor likely in another: the hash of a count, seeded at random.
fn fresh() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static SEED: OnceLock<RandomState> = OnceLock::new();
    SEED.get_or_init(RandomState::new).hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}

#[napi]
impl NativeIndex {
    /// A token by which other workers of the process find this index.
    #[napi(catch_unwind)]
    pub fn share(&self) -> js::Result<String> {
        let shared = self.held.open()?;
        let mut list = SHARED.lock();
        let list = list.get_or_insert_default();
        list.retain(|_, index| index.strong_count() > 0);
        let known = list.iter().find(|(_, index)| index.as_ptr() == Arc::as_ptr(&shared));
        let token = known.map_or_else(fresh, |(&token, _)| token);
        list.insert(token, Arc::downgrade(&shared));
        Ok(format!("{token:016x}"))
    }

    /// The index of a token. Its memory is reported to the engine that made it, and to no other.
    #[napi(catch_unwind)]
    pub fn from_shared(token: String) -> js::Result<Self> {
        let number = u64::from_str_radix(&token, 16).ok();
        let list = SHARED.lock();
        let found = number.and_then(|token| list.as_ref()?.get(&token)?.upgrade());
        let shared = found.ok_or_else(|| {
            Failure::new(
                "ERR_SIMHASH_CLOSED",
                "no index of this process has this token: it was closed or collected everywhere, or shared by another process",
            )
        })?;
        Ok(Self { held: Arc::new(Handle::elsewhere(shared)) })
    }
}
