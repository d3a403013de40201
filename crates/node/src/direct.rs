//! Functions of JavaScript that have what they work on by themselves, for calls that take less than a microsecond.
//!
//! For each call of a method napi-rs 3.16 notes who borrows the object, so that code which runs meanwhile cannot change it: an
//! allocation, locks of the whole process, a hash map: 0.4 µs. What such a function has it only shares.

use napi::bindgen_prelude::{Function, FunctionCallContext, JsValuesTupleIntoVec, ToNapiValue};
use napi::{Env, Error, JsError, Status};

use crate::error::{Failure, js};

/// A function that runs `work`; what it has is freed with the function.
pub(crate) fn direct<'env, Args: JsValuesTupleIntoVec, R: ToNapiValue>(
    env: &'env Env,
    name: &str,
    work: impl Fn(&FunctionCallContext<'_>) -> Result<R, Failure> + 'static,
) -> js::Result<Function<'env, Args, R>> {
    let call = move |call: FunctionCallContext<'_>| {
        work(&call).map_err(|failure| thrown(*call.env, failure))
    };
    Ok(env.create_function_from_closure(name, call).map_err(Failure::from)?)
}

/// The failure, thrown: an [`Error`] of a status has no room for its code.
fn thrown(env: Env, failure: Failure) -> Error {
    // SAFETY: `env` is that of the call under way, whose thread this is.
    unsafe { JsError::from(Error::<String>::from(failure)).throw_into(env.raw()) };
    Error::new(Status::PendingException, String::new())
}
