//! A value that clones share until it changes, and that is written without an atomic operation where it was never cloned.
//!
//! [`Arc::make_mut`] takes the count for itself and gives it back: a locked instruction for each write, which waits until all that
//! was written before it has arrived in the cache. An addition to an index writes a dozen lines, each of them a cache miss, and
//! they would come one after the other.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct CowArc<T> {
    value: Arc<T>,
    /// It may be shared: it was cloned, or is a clone, since it was last found to be alone.
    is_shared: AtomicBool,
}

impl<T> CowArc<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Arc::new(value), is_shared: AtomicBool::new(false) }
    }
}

impl<T> Clone for CowArc<T> {
    fn clone(&self) -> Self {
        // Nobody writes meanwhile: that takes the value exclusively, and who comes to have it so has seen this.
        self.is_shared.store(true, Ordering::Relaxed);
        Self { value: Arc::clone(&self.value), is_shared: AtomicBool::new(true) }
    }
}

impl<T> Deref for CowArc<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Clone> CowArc<T> {
    /// The value to be written; a copy of its own where a clone has it too.
    #[inline]
    pub(crate) fn make_mut(&mut self) -> &mut T {
        if *self.is_shared.get_mut() {
            return self.alone();
        }
        // SAFETY: the `Arc` is private, no `Weak` is made of it, and only `clone` makes another one, which notes that; so this is
        // the only one, and it is borrowed exclusively. `Arc::as_ptr` is the pointer by which the value may be written.
        unsafe { &mut *Arc::as_ptr(&self.value).cast_mut() }
    }

    #[cold]
    fn alone(&mut self) -> &mut T {
        let value = Arc::make_mut(&mut self.value);
        // Not before: a copy may have failed.
        *self.is_shared.get_mut() = false;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::CowArc;
    use std::thread;

    /// Against values that share nothing.
    #[test]
    fn a_clone_stays_as_it_was_whoever_writes() {
        let (mut held, mut state) = (vec![(CowArc::new(vec![0u64]), vec![0u64])], 1u64);
        for round in 0..if cfg!(miri) { 300 } else { 30_000 } {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let at = (state >> 40) as usize % held.len();
            match state >> 62 {
                0 if held.len() < 8 => {
                    let (value, model) = &held[at];
                    let clone = (value.clone(), model.clone());
                    held.push(clone);
                }
                1 if held.len() > 1 => drop(held.swap_remove(at)),
                _ => {
                    let (value, model) = &mut held[at];
                    value.make_mut()[0] = round;
                    model[0] = round;
                }
            }
            assert!(held.iter().all(|(value, model)| **value == *model));
        }
    }

    #[test]
    fn who_is_alone_again_writes_in_place() {
        let mut value = CowArc::new(vec![1]);
        let place = value.as_ptr();
        let clone = value.clone();
        drop(clone);
        assert!(*value.is_shared.get_mut());
        value.make_mut()[0] = 2;
        assert_eq!((value.as_ptr(), *value.is_shared.get_mut()), (place, false));
        let clone = value.clone();
        value.make_mut()[0] = 3;
        assert_ne!(value.as_ptr(), place);
        assert_eq!((clone[0], clone.as_ptr()), (2, place));
        assert_eq!(value[0], 3);
    }

    /// Clones are made elsewhere while the value is borrowed, and read there while it is written.
    #[test]
    fn clones_of_other_threads_are_not_written() {
        let mut value = CowArc::new(vec![0; 64]);
        for round in 1..if cfg!(miri) { 10 } else { 300 } {
            let clones = thread::scope(|scope| {
                let two = [0, 1].map(|_| scope.spawn(|| value.clone()));
                two.map(|one| one.join().unwrap())
            });
            thread::scope(|scope| {
                for clone in clones {
                    scope.spawn(move || assert!(clone.iter().all(|&one| one == round - 1)));
                }
                value.make_mut().fill(round);
            });
            assert!(value.iter().all(|&one| one == round));
        }
    }

    #[test]
    fn who_could_not_be_copied_is_still_shared() {
        #[derive(Debug)]
        struct Fails(u32);
        impl Clone for Fails {
            fn clone(&self) -> Self {
                panic!("no copy of {}", self.0)
            }
        }
        let mut value = CowArc::new(Fails(7));
        let clone = value.clone();
        for _ in 0..2 {
            let write = std::panic::AssertUnwindSafe(|| value.make_mut().0 = 8);
            assert!(std::panic::catch_unwind(write).is_err());
            assert_eq!(clone.0, 7);
        }
    }
}
