//! `explain` for JavaScript: the core's explanation as plain objects.

use crate::error::{caught, js};
use crate::fingerprinter::{NativeFingerprinter, NativeToken};
use crate::text::{Accept, Given, Texts};
use napi::bindgen_prelude::{BigInt, Unknown};
use napi_derive::napi;
use simhash_sketch::explain as core;

/// A token of both texts.
#[napi(object, object_from_js = false)]
pub struct NativeSharedToken {
    pub token: String,
    pub weights: Vec<f64>,
    pub hash: BigInt,
}

/// A bit in which the fingerprints differ.
#[napi(object, object_from_js = false)]
pub struct NativeDifferingBit {
    pub bit: u32,
    pub margins: Vec<f64>,
}

/// How two texts compare.
#[napi(object, object_from_js = false)]
pub struct NativeExplanation {
    pub fingerprint_a: Option<BigInt>,
    pub fingerprint_b: Option<BigInt>,
    pub distance: Option<u32>,
    pub differing_bits: Vec<NativeDifferingBit>,
    pub shared: Vec<NativeSharedToken>,
    pub only_a: Vec<NativeToken>,
    pub only_b: Vec<NativeToken>,
    pub jaccard: f64,
    pub long_jaccard: Option<f64>,
    pub similarity: f64,
    pub numbers: Vec<Vec<String>>,
    pub equal: bool,
}

/// Why two texts are near-duplicates, or are not.
#[napi(catch_unwind)]
pub fn explain(
    a: Unknown<'_>,
    b: Unknown<'_>,
    by: &NativeFingerprinter,
) -> js::Result<NativeExplanation> {
    let a = Texts::one(&a, "a", Accept::Texts)?;
    let b = Texts::one(&b, "b", Accept::Texts)?;
    let (mut memory_a, mut memory_b) = (String::new(), String::new());
    let told = caught(|| match (a.get(0, &mut memory_a), b.get(0, &mut memory_b)) {
        (Given::Text(a), Given::Text(b)) => Ok(core::explain(&by.core, a, b)),
        _ => Err(crate::error::Failure::internal("explain takes texts")),
    })?;
    let [fingerprint_a, fingerprint_b] = told.fingerprints.map(|value| value.map(BigInt::from));
    let differing_bits = told
        .differing_bits
        .into_iter()
        .map(|bit| NativeDifferingBit { bit: bit.bit, margins: bit.margins.into() });
    let shared = told.shared.into_iter().map(|token| NativeSharedToken {
        token: token.token,
        weights: token.weights.into(),
        hash: token.hash.into(),
    });
    Ok(NativeExplanation {
        fingerprint_a,
        fingerprint_b,
        distance: told.distance,
        differing_bits: differing_bits.collect(),
        shared: shared.collect(),
        only_a: told.only_a.into_iter().map(NativeToken::from).collect(),
        only_b: told.only_b.into_iter().map(NativeToken::from).collect(),
        jaccard: told.jaccard,
        long_jaccard: told.long_jaccard,
        similarity: told.similarity,
        numbers: told.numbers.into(),
        equal: told.equal,
    })
}
