//! Input of a large batch, copied a slice at a time so that timers fire in between.
//!
//! What has been gathered goes wherever an array of texts goes, and is used up by it: the batch then runs as if the array had
//! been copied in one go, so an index still takes it as one step.

use crate::check::whole;
use crate::error::{caught, js, unknown};
use crate::text::{Accept, Texts};
use napi::bindgen_prelude::{ClassInstance, FromNapiValue, JsValue, Unknown};
use napi_derive::napi;
use parking_lot::Mutex;

/// Texts on their way to a batch.
#[napi]
pub struct NativeStaging {
    texts: Mutex<Texts>,
    name: String,
    accept: Accept,
}

#[napi]
impl NativeStaging {
    /// For the argument `name`, whose elements are `strings`, `texts` or `documents` (of an index), `items` (also fingerprints) or `signatures` (also signatures).
    #[napi(constructor, catch_unwind)]
    pub fn new(name: String, elements: String) -> js::Result<Self> {
        let accept = match elements.as_str() {
            "strings" => Accept::Strings,
            "texts" => Accept::Texts,
            "documents" => Accept::Documents,
            "items" => Accept::Items,
            "signatures" => Accept::Signatures,
            other => return Err(unknown("elements", other).into()),
        };
        Ok(Self { texts: Mutex::default(), name, accept })
    }

    /// Copies the elements of an array; `first` is the number that messages give the first of them.
    #[napi(catch_unwind)]
    pub fn push(&self, array: Unknown<'_>, first: u32) -> js::Result<()> {
        Ok(caught(|| {
            // Reading an element may run the caller's code: no lock is held meanwhile.
            let mut texts = std::mem::take(&mut *self.texts.lock());
            let pushed = texts.append(&array, &self.name, self.accept, first);
            *self.texts.lock() = texts;
            pushed
        })?)
    }

    /// Copies a `BigUint64Array` of fingerprints. Zeros whose bit of the `Uint8Array` `valid` is not set match nothing; bit
    /// `first` is that of the first of them. Without `valid` all count.
    #[napi(catch_unwind)]
    pub fn push_fingerprints(
        &self,
        values: Unknown<'_>,
        valid: Option<Unknown<'_>>,
        first: f64,
    ) -> js::Result<()> {
        let first = usize::try_from(whole(first, "first")?).unwrap_or(usize::MAX);
        // Nothing of the caller's runs here: typed arrays are read as memory.
        Ok(caught(|| self.texts.lock().append_valid(&values, valid.as_ref(), first))?)
    }
}

/// What `value` has gathered, if it is a [`NativeStaging`]; nothing is left in it.
pub(crate) fn taken(value: &Unknown<'_>) -> Option<Texts> {
    let raw = value.value();
    // SAFETY: both are live; what is no instance of the class is refused by its type tag.
    let staging =
        unsafe { ClassInstance::<NativeStaging>::from_napi_value(raw.env, raw.value) }.ok()?;
    Some(std::mem::take(&mut *staging.texts.lock()))
}
