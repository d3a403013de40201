//! Two texts or two fingerprints compared, and fingerprints as hexadecimal text.

use crate::check::fingerprint;
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::text::{Accept, Given, Texts};
use napi::bindgen_prelude::{BigInt, Unknown};
use napi_derive::napi;
use simhash_dedup::verify;
use simhash_sketch::{Fingerprinter, Scratch, hamming, hex};

/// Bits that differ.
#[napi(catch_unwind)]
pub fn hamming_distance(a: BigInt, b: BigInt) -> js::Result<u32> {
    Ok(hamming::distance(fingerprint(&a, "a")?, fingerprint(&b, "b")?))
}

/// 16 hexadecimal digits.
#[napi(catch_unwind)]
pub fn to_hex(value: BigInt) -> js::Result<String> {
    Ok(hex::to_hex(fingerprint(&value, "fingerprint")?))
}

/// The fingerprint of 16 hexadecimal digits.
#[napi(catch_unwind)]
pub fn from_hex(text: String) -> js::Result<BigInt> {
    Ok(hex::from_hex(&text).map_err(Failure::from)?.into())
}

/// Jaccard similarity of two texts' features.
#[napi(catch_unwind)]
pub fn jaccard(a: Unknown<'_>, b: Unknown<'_>, by: &NativeFingerprinter) -> js::Result<f64> {
    compare(&a, &b, &by.core, verify::jaccard)
}

/// Containment of two texts' features.
#[napi(catch_unwind)]
pub fn containment(a: Unknown<'_>, b: Unknown<'_>, by: &NativeFingerprinter) -> js::Result<f64> {
    compare(&a, &b, &by.core, verify::containment)
}

fn compare(
    a: &Unknown<'_>,
    b: &Unknown<'_>,
    by: &Fingerprinter,
    measure: fn(&[u64], &[u64]) -> f64,
) -> js::Result<f64> {
    let a = Texts::one(a, "a", Accept::Texts)?;
    let b = Texts::one(b, "b", Accept::Texts)?;
    let shingles = |texts: &Texts| {
        let mut out = Vec::new();
        if let Given::Text(text) = texts.get(0, &mut String::new()) {
            by.shingles(text, &mut Scratch::default(), &mut out);
        }
        out
    };
    Ok(caught(|| Ok(measure(&shingles(&a), &shingles(&b))))?)
}
