//! Calls of functions of the caller's.
//!
//! What such a function throws stays pending in the engine and comes out as it is. It is not made a Rust error on the way:
//! that would read it (`toString`, `cause`), which is code of the caller's again, and where the stack is used up it fails,
//! which makes another error to read, without end.

use crate::error::Failure;
use crate::text::status;
use napi::bindgen_prelude::{Function, JsValue, Unknown};
use napi::sys;
use std::cell::Cell;
use std::ptr;

/// Most callbacks of one thread that are inside each other. The engine's own limit counts its frames, and does not know how
/// much stack those of the addon take between them.
const DEEPEST: u32 = 16;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// One callback more, until it is dropped.
struct Level;

impl Level {
    fn enter(name: &str) -> Result<Self, Failure> {
        DEPTH.with(|depth| {
            if depth.get() >= DEEPEST {
                let message = format!(
                    "{name} was called from within itself {DEEPEST} times over; a callback must not begin what calls it again without end"
                );
                return Err(Failure::new("ERR_OUT_OF_RANGE", message));
            }
            depth.set(depth.get() + 1);
            Ok(Self)
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}

/// What `function`, the callback `name`, says of `argument`.
pub(crate) fn called<'env>(
    function: &Function<'env, f64, Unknown<'env>>,
    argument: f64,
    name: &str,
) -> Result<Unknown<'env>, Failure> {
    let _level = Level::enter(name)?;
    let raw = function.value();
    let (mut this, mut number, mut result) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: `raw` is a function of a live environment; results are out-parameters of our own.
    unsafe {
        status(sys::napi_get_undefined(raw.env, &raw mut this))?;
        status(sys::napi_create_double(raw.env, argument, &raw mut number))?;
        let (count, arguments) = (1, &raw const number);
        status(sys::napi_call_function(
            raw.env,
            this,
            raw.value,
            count,
            arguments,
            &raw mut result,
        ))?;
        Ok(Unknown::from_raw_unchecked(raw.env, result))
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, Level};

    #[test]
    fn sixteen_callbacks_can_be_inside_each_other_and_as_many_again_later() {
        for _ in 0..3 {
            let levels: Vec<Level> = (0..DEEPEST).map_while(|_| Level::enter("f").ok()).collect();
            assert_eq!(levels.len(), 16);
            assert!(Level::enter("f").is_err());
        }
    }
}
