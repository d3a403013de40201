//! Work off the JavaScript thread: a promise, a cancel flag, and what ties both to their environment.
//!
//! A promise that is never settled keeps its process alive, so a [`Settle`] that is dropped rejects. When an environment
//! ends (a worker is terminated), the flags of its jobs are raised, so that no core stays busy for nobody.

use crate::error::{Failure, caught, js};
use crate::pool;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, JsDeferred};
use napi_derive::napi;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Stops a job from JavaScript; the job looks at it every few milliseconds.
#[napi]
#[derive(Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

#[napi]
impl Cancel {
    /// A flag that is not raised.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}

impl Cancel {
    /// The flag itself, for what outlives the job.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

/// Where work runs.
pub(crate) enum Place {
    /// On the shared pool.
    Shared,
    /// On so many threads of its own, 0 meaning one per core: for work that also waits.
    Own(u32),
}

enum Pool {
    Shared(&'static rayon::ThreadPool),
    Own(rayon::ThreadPool),
}

type Resolver<T> = Box<dyn FnOnce(Env) -> napi::Result<T>>;

/// Starts `work` and returns its promise. `settled` runs on the JavaScript thread just before the promise settles.
pub(crate) fn start<'env, T: ToNapiValue + Send + 'static>(
    env: &'env Env,
    place: Place,
    cancel: &Cancel,
    work: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
    settled: impl FnOnce(Env) + Send + 'static,
) -> js::Result<Object<'env>> {
    // Before there is a promise: one that nobody is given and that rejects would end the process.
    let pool = match place {
        Place::Shared => Pool::Shared(pool::shared()?),
        Place::Own(threads) => Pool::Own(pool::own(threads)?),
    };
    let flag = Arc::clone(&cancel.flag);
    cancel_with(env, &flag);
    let (deferred, promise) = env.create_deferred::<T, Resolver<T>>().map_err(Failure::from)?;
    let none = Failure::new("ERR_SIMHASH_THREADS", "no thread could be started".to_owned());
    let mut settle = Settle { deferred: Some(deferred), lost: Some(none) };
    let job = move || {
        settle.lost = None;
        let result = caught(|| {
            if flag.load(Ordering::Relaxed) { Err(Failure::cancelled()) } else { work(&flag) }
        });
        settle.with(result, settled);
    };
    match pool {
        Pool::Shared(pool) => pool.spawn(job),
        Pool::Own(pool) => {
            // The thread that waits for the pool, and drops it, is not one of its own. Where it cannot be started the job goes, and its
            // promise says so.
            let thread = std::thread::Builder::new().name("simhash-job".into());
            drop(thread.spawn(move || pool.install(job)));
        }
    }
    Ok(promise)
}

/// The promise's other end.
struct Settle<T: ToNapiValue> {
    deferred: Option<JsDeferred<T, Resolver<T>>>,
    /// What is said where the job goes without a result, while it has not begun.
    lost: Option<Failure>,
}

impl<T: ToNapiValue + Send + 'static> Settle<T> {
    fn with(mut self, result: Result<T, Failure>, settled: impl FnOnce(Env) + Send + 'static) {
        if let Some(deferred) = self.deferred.take() {
            deferred.resolve(Box::new(move |env| {
                settled(env);
                result.map_err(|failure| failure.rejection(env))
            }));
        }
    }
}

impl<T: ToNapiValue> Drop for Settle<T> {
    fn drop(&mut self) {
        if let Some(deferred) = self.deferred.take() {
            let ended = || Failure::internal("the job ended without a result");
            let lost = self.lost.take().unwrap_or_else(ended);
            deferred.resolve(Box::new(move |env| Err(lost.rejection(env))));
        }
    }
}

thread_local! {
    /// Flags of the jobs of this thread's environments. An environment never changes its thread.
    static JOBS: RefCell<Vec<(usize, Weak<AtomicBool>)>> = const { RefCell::new(Vec::new()) };
    static HOOKED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Raises `flag` when `env` ends.
fn cancel_with(env: &Env, flag: &Arc<AtomicBool>) {
    let key = env.raw() as usize;
    JOBS.with_borrow_mut(|jobs| {
        jobs.retain(|(_, flag)| flag.strong_count() > 0);
        jobs.push((key, Arc::downgrade(flag)));
    });
    let known = HOOKED.with_borrow(|hooked| hooked.contains(&key));
    // Without a hook (the environment is ending) the job simply runs to its end.
    if !known && env.add_env_cleanup_hook(key, cancel_all).is_ok() {
        HOOKED.with_borrow_mut(|hooked| hooked.push(key));
    }
}

fn cancel_all(key: usize) {
    // A thread that ends may have dropped the list already; its jobs were of environments that ended before.
    let _ = JOBS.try_with(|jobs| {
        jobs.borrow_mut().retain(|(env, flag)| {
            if *env == key
                && let Some(flag) = flag.upgrade()
            {
                flag.store(true, Ordering::Relaxed);
            }
            *env != key
        });
    });
    let _ = HOOKED.try_with(|hooked| hooked.borrow_mut().retain(|env| *env != key));
}
