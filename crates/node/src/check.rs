//! Numbers from JavaScript that arrive as `f64` or bigint, checked once more: the typed layer checks them first, but no
//! caller may reach a wrong cast.

use crate::error::Failure;
use napi::bindgen_prelude::BigInt;

/// 2^53: from here on not every integer has a number.
const UNSAFE: f64 = 9_007_199_254_740_992.0;

/// A whole number below 2^53.
pub(crate) fn whole(value: f64, name: &str) -> Result<u64, Failure> {
    if (0.0..UNSAFE).contains(&value) && value.fract() == 0.0 {
        #[expect(clippy::cast_sign_loss, reason = "checked above")]
        return Ok(value as u64);
    }
    Err(Failure::out_of_range(name, "a whole number from 0 to 2 ** 53 - 1"))
}

/// An id or count as JavaScript sees it; the index ends long before 2^53.
pub(crate) fn number(value: u64) -> f64 {
    value as f64
}

/// A fingerprint, all 64 bits or an error.
pub(crate) fn fingerprint(value: &BigInt, name: &str) -> Result<u64, Failure> {
    let (negative, value, lossless) = value.get_u64();
    if negative || !lossless {
        return Err(Failure::out_of_range(name, "from 0n to 2n ** 64n - 1n"));
    }
    Ok(value)
}
