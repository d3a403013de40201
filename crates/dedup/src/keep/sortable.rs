//! Keys as bytes that sort as the keys do: engines compare bytes, and know nothing of keep rules.
//!
//! No key is the beginning of another one, so that what follows decides between equal ones only.

use super::Key;
use crate::options::Keep;

/// From here on doubles are whole numbers, and whole numbers are not all doubles (2^53).
const EXACT: f64 = 9_007_199_254_740_992.0;

const PRESENT: u8 = 0;
const MISSING: u8 = 1;
const NUMBER: u8 = 1;
const TEXT: u8 = 2;

impl Keep {
    /// Appends the place of a document in the order of keeping, or with `by_input` in that of the input, with what the order of keeping needs
    /// behind it. `position` is its place in the input.
    pub(crate) fn sortable(&self, key: &Key, position: u64, by_input: bool, bytes: &mut Vec<u8>) {
        let position = if *self == Self::Last && !by_input { !position } else { position };
        if by_input {
            bytes.extend(position.to_be_bytes());
        }
        match self {
            Self::First | Self::Chosen | Self::Last => {}
            Self::Longest => key.sortable(true, bytes),
            Self::Field { largest, .. } => key.sortable(*largest, bytes),
        }
        if !by_input {
            bytes.extend(position.to_be_bytes());
        }
    }
}

impl Key {
    /// Appends bytes whose order is that of [`Key::before`].
    fn sortable(&self, largest: bool, bytes: &mut Vec<u8>) {
        if self.is_missing() {
            return bytes.push(MISSING);
        }
        bytes.push(PRESENT);
        let start = bytes.len();
        match self {
            Self::Missing => {}
            Self::Number(number) => {
                bytes.push(NUMBER);
                let digits = (number.abs() >= EXACT).then(|| digits_of(*number));
                number_bytes(*number, digits.as_deref(), bytes);
            }
            Self::Integer(whole) => {
                bytes.push(NUMBER);
                let (negative, digits) = whole.parts();
                let size = toward_zero(digits);
                let digits = (size >= EXACT).then_some(digits);
                number_bytes(if negative { -size } else { size }, digits, bytes);
            }
            Self::Text(text) => {
                bytes.push(TEXT);
                for byte in text.bytes() {
                    bytes.push(byte);
                    if byte == 0 {
                        bytes.push(u8::MAX);
                    }
                }
                bytes.extend([0, 0]);
            }
        }
        if largest {
            bytes[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

/// The digits of a whole double, which are exact; of infinity none.
fn digits_of(number: f64) -> String {
    if number.is_finite() { format!("{:.0}", number.abs()) } else { String::new() }
}

/// The largest double that is not above these digits.
fn toward_zero(digits: &str) -> f64 {
    let nearest = digits.parse().unwrap_or(0.0_f64).min(f64::MAX);
    let whole = digits_of(nearest);
    let is_above = (whole.len(), whole.as_str()) > (digits.len(), digits);
    if is_above && nearest >= EXACT { nearest.next_down() } else { nearest }
}

/// A double toward zero, and where there may be others between it and the next one, all digits.
fn number_bytes(number: f64, digits: Option<&str>, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    // Not of -0, which is the same number as 0.
    let size = (number.abs().to_bits() ^ 1 << 63).to_be_bytes();
    bytes.extend(size);
    if let Some(digits) = digits {
        bytes.extend((digits.len() as u32).to_be_bytes());
        bytes.extend(digits.as_bytes());
    }
    if number < 0.0 {
        bytes[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    fn key() -> impl Strategy<Value = Key> {
        let large = (50u32..120, -3i128..4, any::<bool>()).prop_map(|(power, by, negative)| {
            let number = (1i128 << power) + by;
            Key::number(&(if negative { -number } else { number }).to_string())
        });
        prop_oneof![
            Just(Key::Missing),
            Just(Key::Number(f64::NAN)),
            any::<f64>().prop_map(Key::Number),
            (-3i32..4).prop_map(|number| Key::Number(f64::from(number) / 2.0)),
            prop_oneof![
                Just("1e400"),
                Just("-1e400"),
                Just("-0"),
                Just("0"),
                Just("9007199254740993"),
                Just("9007199254740992"),
                Just("9.007199254740992e15"),
                Just("1e300"),
            ]
            .prop_map(Key::number),
            "[1-9][0-9]{300,320}".prop_map(|digits| Key::number(&digits)),
            large,
            "[a-c\\x00é]{0,4}".prop_map(|text| Key::Text(text.into())),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn bytes_sort_as_keys_do(a in key(), b in key(), largest: bool, turned: bool) {
            let bytes = |key: &Key, position: u64| {
                let mut bytes = Vec::new();
                Keep::Field { path: String::new(), largest }.sortable(key, position, false, &mut bytes);
                bytes
            };
            let (first, second) = if turned { (1, 0) } else { (0, 1) };
            let expected = a.before(&b, largest).then(first.cmp(&second));
            prop_assert_eq!(bytes(&a, first).cmp(&bytes(&b, second)), expected, "{:?} {:?}", a, b);
            prop_assert_ne!(expected, Ordering::Equal);
        }
    }
}
