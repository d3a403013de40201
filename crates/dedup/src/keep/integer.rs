//! Whole numbers of any size, for comparing only.
//!
//! Ids of records are often whole numbers beyond 2^53 (a snowflake id has 63 bits), where a double is no longer one number
//! but several. As decimals they compare by sign, then by number of digits, then digit by digit, without being computed
//! with. A double is compared with them as the fraction that it is, so that the order of all numbers is one order.

use std::cmp::Ordering;
use std::fmt;

/// A whole number, in decimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Integer {
    /// Never of zero, so that each number is written in one way.
    negative: bool,
    /// Without leading zeros; none of zero.
    digits: Box<str>,
}

impl Integer {
    /// The number that `decimal` writes: digits, with a minus before them if it is negative. `None` for anything else.
    #[must_use]
    pub fn new(decimal: &str) -> Option<Self> {
        let (negative, digits) = match decimal.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, decimal),
        };
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        Some(Self { negative: negative && !digits.is_empty(), digits: digits.into() })
    }

    /// Whether it is below zero, and its digits, none of zero.
    pub(super) fn parts(&self) -> (bool, &str) {
        (self.negative, &self.digits)
    }

    /// The order of this number and a double, which is no NaN.
    pub(super) fn compare(&self, double: f64) -> Ordering {
        // In whole digits a double is written exactly, however large. Infinity has none.
        match Self::new(&format!("{:.0}", double.floor())) {
            Some(whole) if whole == *self && double > double.floor() => Ordering::Less,
            Some(whole) => self.cmp(&whole),
            None if double > 0.0 => Ordering::Less,
            None => Ordering::Greater,
        }
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |one: &Self| one.digits.len();
        let by_size = || size(self).cmp(&size(other)).then_with(|| self.digits.cmp(&other.digits));
        match (self.negative, other.negative) {
            (false, false) => by_size(),
            (true, true) => by_size().reverse(),
            (negative, other) => other.cmp(&negative),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        f.pad_integral(!self.negative, "", digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Near powers of ten and of two as well as anywhere.
    fn number() -> impl Strategy<Value = i128> {
        let near = (0u32..126, -2i128..3).prop_map(|(power, by)| (1i128 << power) + by);
        prop_oneof![
            any::<i128>(),
            near,
            -20i128..20,
            (i64::MAX as i128 - 5)..(i64::MAX as i128 + 5)
        ]
    }

    proptest! {
        #[test]
        fn integers_compare_as_the_numbers_that_they_write(a in number(), b in number(), zeros in 0usize..3) {
            let sign = if a < 0 { "-" } else { "" };
            let padded = format!("{sign}{}{}", "0".repeat(zeros), a.unsigned_abs());
            let [left, right] = [padded, b.to_string()].map(|text| Integer::new(&text).unwrap());
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert_eq!(left == right, a == b);
            prop_assert_eq!(left.to_string(), a.to_string());
        }

        #[test]
        fn a_double_is_compared_as_the_fraction_that_it_is(a in number(), b in number(), below in 0u32..4) {
            // All of these are doubles, and as many quarters they are whole numbers that fit.
            let double = (b / 8) as f64 / f64::from(1 << below);
            let quarters = |double: f64| (double * 8.0) as i128;
            prop_assume!(a.unsigned_abs() < 1 << 123);
            let whole = Integer::new(&a.to_string()).unwrap();
            prop_assert_eq!(whole.compare(double), (a * 8).cmp(&quarters(double)));
        }
    }

    #[test]
    fn infinity_is_beyond_all_of_them_and_what_is_no_number_is_none() {
        let large = Integer::new(&"9".repeat(400)).unwrap();
        assert_eq!(large.compare(f64::INFINITY), Ordering::Less);
        assert_eq!(large.compare(f64::NEG_INFINITY), Ordering::Greater);
        assert_eq!(large.compare(f64::MAX), Ordering::Greater);
        for zero in ["0", "-0", "000"] {
            let zero = Integer::new(zero).unwrap();
            assert_eq!(zero.to_string(), "0");
            assert_eq!([0.0, -0.0].map(|double| zero.compare(double)), [Ordering::Equal; 2]);
            assert_eq!(
                [0.5, -0.5].map(|double| zero.compare(double)),
                [Ordering::Less, Ordering::Greater]
            );
        }
        for wrong in ["", "-", "+1", "1.0", "1e3", " 1", "--1", "一"] {
            assert_eq!(Integer::new(wrong), None, "{wrong:?}");
        }
    }
}
