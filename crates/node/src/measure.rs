//! Two texts or two fingerprints compared, and fingerprints as hexadecimal text.

use crate::check::{fingerprint, number, whole};
use crate::error::{Failure, caught, js, unknown};
use crate::fingerprinter::NativeFingerprinter;
use crate::text::{Accept, Given, Texts};
use napi::bindgen_prelude::{BigInt, Unknown};
use napi_derive::napi;
use simhash_dedup::{Measure, verify};
use simhash_sketch::{hamming, hex, measure};

/// A measure by its name; absent means the default.
pub(crate) fn named(name: Option<&str>) -> Result<Measure, Failure> {
    match name {
        None => Ok(Measure::default()),
        Some("auto") => Ok(Measure::Auto),
        Some("jaccard") => Ok(Measure::Jaccard),
        Some("containment") => Ok(Measure::Containment),
        Some("edit") => Ok(Measure::Edit),
        Some("cosine") => Ok(Measure::Cosine),
        Some(other) => Err(unknown("verify", other)),
    }
}

/// The name of a measure.
pub(crate) fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Auto => "auto",
        Measure::Jaccard => "jaccard",
        Measure::Containment => "containment",
        Measure::Edit => "edit",
        Measure::Cosine => "cosine",
    }
}

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
    compare(&a, &b, |a, b| measure::of_texts(&by.core, a, b, measure::jaccard))
}

/// The similarity that verification goes by.
#[napi(catch_unwind)]
pub fn similarity(a: Unknown<'_>, b: Unknown<'_>, by: &NativeFingerprinter) -> js::Result<f64> {
    compare(&a, &b, |a, b| verify::similarity(&by.core, a, b))
}

/// Containment of two texts' features.
#[napi(catch_unwind)]
pub fn containment(a: Unknown<'_>, b: Unknown<'_>, by: &NativeFingerprinter) -> js::Result<f64> {
    compare(&a, &b, |a, b| measure::of_texts(&by.core, a, b, measure::containment))
}

/// Cosine of two texts' weighted features.
#[napi(catch_unwind)]
pub fn cosine(a: Unknown<'_>, b: Unknown<'_>, by: &NativeFingerprinter) -> js::Result<f64> {
    compare(&a, &b, |a, b| measure::cosine_of_texts(&by.core, a, b))
}

/// Levenshtein distance of two texts in code points; none above `most`.
#[napi(catch_unwind)]
pub fn levenshtein(a: Unknown<'_>, b: Unknown<'_>, most: Option<f64>) -> js::Result<Option<f64>> {
    let most = most.map(|most| whole(most, "maxDistance")).transpose()?;
    let distance = compare(&a, &b, |a, b| match most {
        Some(most) => {
            measure::levenshtein_within(a, b, usize::try_from(most).unwrap_or(usize::MAX))
        }
        None => Some(measure::levenshtein(a, b)),
    })?;
    Ok(distance.map(|distance| number(distance as u64)))
}

fn compare<T>(a: &Unknown<'_>, b: &Unknown<'_>, of: impl FnOnce(&str, &str) -> T) -> js::Result<T> {
    let a = Texts::one(a, "a", Accept::Texts)?;
    let b = Texts::one(b, "b", Accept::Texts)?;
    let (mut x, mut y) = (String::new(), String::new());
    Ok(caught(|| match (a.get(0, &mut x), b.get(0, &mut y)) {
        (Given::Text(a), Given::Text(b)) => Ok(of(a, b)),
        _ => Err(Failure::internal("a fingerprint where texts alone are accepted")),
    })?)
}
