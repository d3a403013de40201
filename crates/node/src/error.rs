//! Errors on their way to JavaScript: a stable code and a message, the same thrown and rejected.
//!
//! The core crates' errors become a [`Failure`]; a failure becomes a JavaScript `Error` with a `code` property. Which
//! class it has there (`TypeError`, `RangeError`, `SimHashError`) is decided by the code in `ts/errors.ts`.

use napi::{Env, Error, JsError, Status};
use std::any::Any;
use std::borrow::Cow;
use std::fmt::{Display, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

mod codes;

pub(crate) mod js {
    //! A result for JavaScript; napi's macros know it by the name `Result`.

    /// What every export returns; the status is the code.
    pub(crate) type Result<T> = std::result::Result<T, napi::Error<String>>;
}

/// An error as plain data, so that it can cross threads.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    message: String,
    /// The option that the message begins with.
    option: Option<Cow<'static, str>>,
    /// What the message says to set.
    settings: Vec<Setting>,
    /// Whether it is a panic that was caught: what it ran through may be half done.
    panicked: bool,
}

/// Where a message says to set an option: UTF-16 code units.
#[derive(Debug)]
struct Setting {
    option: String,
    start: usize,
    end: usize,
}

/// A defect of this package.
pub(crate) const INTERNAL: &str = "ERR_SIMHASH_INTERNAL";
/// The reader of an output pipe closed it.
const PIPE: &str = "ERR_SIMHASH_PIPE";
const PENDING: &str = "PendingException";

impl Failure {
    /// Its code and its message.
    pub(crate) fn into_parts(self) -> (&'static str, String) {
        (self.code, self.message)
    }

    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), option: None, settings: Vec::new(), panicked: false }
    }

    /// An argument of the wrong type.
    pub(crate) fn wrong_type(what: impl Display, expected: &str, got: &str) -> Self {
        Self::new("ERR_INVALID_ARG_TYPE", format!("{what} must be {expected}, got {got}"))
    }

    /// A number outside its range.
    pub(crate) fn out_of_range(what: impl Display, expected: &str) -> Self {
        Self::new("ERR_OUT_OF_RANGE", format!("{what} must be {expected}"))
    }

    /// The index or stream was closed.
    pub(crate) fn closed(what: &str) -> Self {
        Self::new("ERR_SIMHASH_CLOSED", format!("this {what} is closed; make a new one"))
    }

    pub(crate) fn cancelled() -> Self {
        Self::new("ERR_SIMHASH_CANCELLED", "the call was cancelled; nothing was added")
    }

    /// Code of the user threw while an argument was read; the exception is pending in the engine and stays it.
    pub(crate) fn pending() -> Self {
        Self::new(PENDING, "")
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL, message)
    }

    /// A panic that was caught: a defect of ours, named as such.
    fn panic(payload: &(dyn Any + Send)) -> Self {
        let reason = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        let failure = Self::internal(format!("internal error, please report it: {reason}"));
        Self { panicked: true, ..failure }
    }

    /// The same with what to do.
    pub(crate) fn advised(self, advice: &str) -> Self {
        Self { message: format!("{}; {advice}", self.message), ..self }
    }

    pub(crate) fn is_panic(&self) -> bool {
        self.panicked
    }

    /// The error to reject a promise with; on the JavaScript thread.
    pub(crate) fn rejection(self, env: Env) -> Error {
        let error = JsError::from(Error::<String>::from(self)).into_unknown(env);
        Error::from(error)
    }
}

/// A choice that there is not.
pub(crate) fn unknown(name: &str, value: &str) -> Failure {
    Failure::new("ERR_INVALID_ARG_VALUE", format!("{name} has no choice {value:?}"))
}

/// Runs `work`; a panic becomes a failure.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(Failure::panic(&*payload)))
}

/// An error of Node-API has a code and a message and nothing else: behind the code stand the option, and a line for each setting, and
/// `ts/errors.ts` takes them off.
impl From<Failure> for Error<String> {
    fn from(Failure { code, option, settings, message, .. }: Failure) -> Self {
        let mut told = option.map_or_else(|| code.to_owned(), |option| format!("{code} {option}"));
        for Setting { option, start, end } in settings {
            // A string takes everything.
            let _ = write!(told, "\n{start} {end} {option}");
        }
        Self::new(told, message)
    }
}

/// A refusal of the engine itself: out of memory, or shutting down.
impl From<Error<Status>> for Failure {
    fn from(error: Error<Status>) -> Self {
        if error.status == Status::PendingException {
            return Self::pending();
        }
        Self::internal(format!("Node-API: {}: {}", error.status, error.reason))
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, INTERNAL, caught};
    use simhash_dedup::DedupError;
    use simhash_index::durable::Settled;

    #[test]
    fn a_panic_becomes_an_internal_error_with_its_message() {
        let told: [Result<(), Failure>; 3] = [
            caught(|| panic!("out of {}", "luck")),
            caught(|| panic!("plain")),
            caught(|| std::panic::panic_any(7)),
        ];
        let messages = told.map(|result| {
            let failure = result.unwrap_err();
            assert_eq!(failure.code, INTERNAL);
            failure.message
        });
        assert_eq!(
            messages,
            ["out of luck", "plain", "no message"]
                .map(|reason| format!("internal error, please report it: {reason}"))
        );
    }

    #[test]
    fn who_cancels_is_told_what_was_settled_before() {
        let told = |source: DedupError| {
            let settled = Settled { counts: true, outputs: vec!["rejects.jsonl".into()] };
            let error = DedupError::AfterSettling { settled, source: Box::new(source) };
            let Failure { code, message, .. } = error.into();
            assert!(message.contains("it counts now") && message.contains("rejects.jsonl"));
            code
        };
        // The code of a cancelled call ends as the reason of the signal alone.
        assert_eq!(told(DedupError::Cancelled), "ERR_SIMHASH_SETTLED");
        assert_eq!(told(DedupError::TooMany), "ERR_SIMHASH_TOO_MANY");
    }

    #[test]
    fn what_does_not_panic_passes() {
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
        assert_eq!(
            caught::<()>(|| Err(Failure::cancelled())).unwrap_err().code,
            "ERR_SIMHASH_CANCELLED"
        );
    }
}
