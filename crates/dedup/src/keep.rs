//! Which document of a cluster is kept.
//!
//! A rule is a total order of all documents, best first: by its key, ties by place in the input. So the answer depends on
//! neither threads nor batches, and choosing is taking the first of each cluster.

mod integer;
mod sortable;

use crate::options::Keep;
use std::cmp::Ordering;

pub use integer::Integer;

/// What a keep rule compares.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Key {
    /// The document does not say: it is kept only where no other does.
    #[default]
    Missing,
    /// A number.
    Number(f64),
    /// A whole number, exactly; it and [`Key::Number`] are in one order.
    Integer(Integer),
    /// A text, compared by code points: dates as ISO 8601 writes them, of one time zone, come in order of time.
    Text(Box<str>),
}

/// What the bytes of a key begin with.
const NUMBER: u8 = 1;
const INTEGER: u8 = 2;
const TEXT: u8 = 3;

impl Key {
    /// A number as JSON writes it: whole ones are compared exactly, others as doubles. What is no number is missing.
    #[must_use]
    pub fn number(json: &str) -> Self {
        /// 2^53: a double tells whole numbers below from each other, and takes no memory of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match (json.parse::<f64>(), Integer::new(json)) {
            (Ok(number), Some(whole)) if number.abs() >= EXACT => Self::Integer(whole),
            (number, _) => number.map_or(Self::Missing, Self::Number),
        }
    }

    /// Its length in code points, for [`Keep::Longest`].
    pub(crate) fn length(text: &str) -> Self {
        Self::Number(text.chars().count() as f64)
    }

    /// Writes it so that [`Key::read`] reads it.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Missing => {}
            Self::Number(number) => {
                bytes.push(NUMBER);
                bytes.extend(number.to_le_bytes());
            }
            Self::Integer(whole) => {
                bytes.push(INTEGER);
                bytes.extend(whole.to_string().into_bytes());
            }
            Self::Text(text) => {
                bytes.push(TEXT);
                bytes.extend(text.as_bytes());
            }
        }
    }

    /// The key that these bytes, all of them, are.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let Some((&kind, rest)) = bytes.split_first() else { return Self::Missing };
        let text = || String::from_utf8_lossy(rest);
        match kind {
            NUMBER => {
                rest.try_into().map_or(Self::Missing, |rest| Self::Number(f64::from_le_bytes(rest)))
            }
            INTEGER => Integer::new(&text()).map_or(Self::Missing, Self::Integer),
            _ => Self::Text(text().into()),
        }
    }

    /// Numbers before texts; what is missing or no number has no order.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            // Not `total_cmp`, by which -0 is less than 0: they are one number, and ties are for the first.
            (Self::Number(a), Self::Number(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Integer(a), Self::Number(b)) => a.compare(*b),
            (Self::Number(a), Self::Integer(b)) => b.compare(*a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_) | Self::Integer(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_) | Self::Integer(_)) => Ordering::Greater,
            (Self::Missing, _) | (_, Self::Missing) => Ordering::Equal,
        }
    }

    /// The order of keeping, ties apart: what is missing last.
    pub(crate) fn before(&self, other: &Self, largest: bool) -> Ordering {
        let by_key = || if largest { other.compare(self) } else { self.compare(other) };
        self.is_missing()
            .cmp(&other.is_missing())
            .then_with(|| if self.is_missing() { Ordering::Equal } else { by_key() })
    }

    fn is_missing(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Number(number) => number.is_nan(),
            Self::Integer(_) | Self::Text(_) => false,
        }
    }
}

/// All documents, best first.
pub(crate) fn order(keep: &Keep, keys: &[Key], count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    let largest = match keep {
        Keep::First | Keep::Chosen => return order,
        Keep::Last => {
            order.reverse();
            return order;
        }
        Keep::Longest => true,
        Keep::Field { largest, .. } => *largest,
    };
    // Stable: ties stay in input order.
    order.sort_by(|&a, &b| keys[a as usize].before(&keys[b as usize], largest));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_comes_first_ties_by_place_and_what_is_missing_last() {
        let keys = [
            Key::Missing,
            Key::Number(2.0),
            Key::Text("2024-05-01".into()),
            Key::Number(-1.0),
            Key::Number(2.0),
            Key::Text("2024-11-01".into()),
            Key::Number(f64::NAN),
        ];
        let by = |largest| {
            order(&Keep::Field { path: "date".into(), largest }, &keys, keys.len() as u32)
        };
        assert_eq!(by(true), [5, 2, 1, 4, 3, 0, 6]);
        assert_eq!(by(false), [3, 1, 4, 2, 5, 0, 6]);
        let zeros = [Key::Number(0.0), Key::Number(-0.0)];
        for largest in [true, false] {
            let keep = Keep::Field { path: "date".into(), largest };
            assert_eq!(order(&keep, &zeros, 2), [0, 1]);
        }
        let long = ["9007199254740993", "9.007199254740992e15", "-1e400", "9007199254740992", "12"];
        let long = long.map(Key::number);
        assert_eq!(long.iter().filter(|key| matches!(key, Key::Integer(_))).count(), 2);
        let by = |largest| order(&Keep::Field { path: "id".into(), largest }, &long, 5);
        assert_eq!([by(true), by(false)], [[0, 1, 3, 4, 2], [2, 4, 1, 3, 0]]);
        assert_eq!(order(&Keep::Last, &[], 3), [2, 1, 0]);
        assert_eq!(order(&Keep::First, &[], 3), [0, 1, 2]);
    }
}
