//! Threads: one pool for the process, built when first needed and never dropped.
//!
//! Neither libuv's four threads (files and DNS need them) nor the global rayon pool (somebody else's). All workers of a
//! process share one image of this addon and so one pool. The image is pinned when it is loaded: Node unloads an addon with
//! its last environment, and a thread, of this pool or one that merges the tables of an index, must not wake up in unmapped
//! code.

use crate::error::Failure;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Runs when the addon is loaded, before anything that could start a thread.
#[cfg(not(test))]
#[napi_derive::module_init]
fn pin() {
    napi::bindgen_prelude::retain_current_module_for_unload_safety();
}

/// The process's pool, one thread per core that the process may use.
pub(crate) fn shared() -> Result<&'static ThreadPool, Failure> {
    static POOL: OnceLock<Result<ThreadPool, String>> = OnceLock::new();
    POOL.get_or_init(|| build(cores())).as_ref().map_err(|reason| refused(reason))
}

/// A pool for one job that also waits for files: its waiting must not take a thread from the others.
pub(crate) fn own(threads: u32) -> Result<ThreadPool, Failure> {
    build(if threads == 0 { cores() } else { threads as usize }).map_err(|reason| refused(&reason))
}

/// Tasks of one job: what was asked for, 0 meaning all; never more than there are threads.
pub(crate) fn tasks(threads: u32) -> usize {
    if threads == 0 { cores() } else { (threads as usize).min(cores()) }
}

/// Asked once: the system answers from files, which takes up to hundreds of microseconds.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, usize::from))
}

fn build(threads: usize) -> Result<ThreadPool, String> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("simhash-{number}"))
        // Jobs catch their own panics; without a handler, one that slipped through would end the process.
        .panic_handler(|_| {})
        .build()
        .map_err(|error| error.to_string())
}

fn refused(reason: &str) -> Failure {
    Failure::new("ERR_SIMHASH_THREADS", format!("cannot start threads: {reason}"))
}
