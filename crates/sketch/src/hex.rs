//! Fingerprints as text: 16 lower-case hexadecimal digits, most significant first.

use std::fmt;

/// The 16 digits of `fingerprint`; `0x1f` is `000000000000001f`.
pub fn to_hex(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// The fingerprint that `text` spells in exactly 16 hexadecimal digits of either case.
///
/// # Errors
/// [`HexError`] if the length is not 16 or a character is no hexadecimal digit (a sign or `0x` is none).
pub fn from_hex(text: &str) -> Result<u64, HexError> {
    let wrong = || HexError { value: text.chars().take(40).collect() };
    if text.len() != 16 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    u64::from_str_radix(text, 16).map_err(|_| wrong())
}

/// A text that spells no fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HexError {
    /// The text, at most its first 40 characters.
    pub value: String,
}

impl fmt::Display for HexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a fingerprint must be 16 hexadecimal digits, got {:?}", self.value)
    }
}

impl std::error::Error for HexError {}

#[cfg(test)]
mod tests {
    use super::{from_hex, to_hex};
    use proptest::prelude::*;

    #[test]
    fn only_sixteen_hexadecimal_digits_are_accepted() {
        assert_eq!(from_hex("00000000000000FF"), Ok(255));
        for wrong in [
            "",
            "ff",
            "0x000000000000ff",
            "+000000000000ff0",
            "00000000000000fg",
            "000000000000000ff",
        ] {
            let error = from_hex(wrong).unwrap_err();
            assert_eq!(error.value, wrong);
            assert!(error.to_string().contains("16 hexadecimal digits"));
        }
    }

    proptest! {
        #[test]
        fn hex_round_trips(fingerprint in any::<u64>()) {
            let hex = to_hex(fingerprint);
            prop_assert_eq!(hex.len(), 16);
            prop_assert_eq!(from_hex(&hex), Ok(fingerprint));
        }

        #[test]
        fn any_text_gives_a_value_or_an_error(text in any::<String>()) {
            prop_assert_eq!(from_hex(&text).is_ok(), text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit()));
        }
    }
}
