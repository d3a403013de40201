//! Marks in records: what a duplicate says about its original.
//!
//! A mark is spliced in before the brace that closes the record; every other byte stays as it was read. Marks that a
//! record brings along, of an earlier run perhaps, are cut out first, from kept records too: a key never appears twice,
//! and only duplicates of this run are marked.

use super::edges;
use super::records::Link;
use crate::error::DedupError;
use crate::read::Fields;
use memchr::memmem;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The keys of a mark.
const MARKS: [&str; 3] = ["duplicateOf", "similarity", "distance"];

/// Refuses fields that marks are written to: they would be cut out.
pub(crate) fn check_marks(fields: &Fields) -> Result<(), DedupError> {
    for (argument, key) in fields.top() {
        if MARKS.contains(&key) {
            let expected = "no field that marks are written to";
            return Err(DedupError::Option { argument, value: key.to_owned(), expected });
        }
    }
    Ok(())
}

/// A marked record, in parts.
pub(super) fn marked<'a>(record: &'a [u8], link: &Link) -> [Cow<'a, [u8]>; 3] {
    let mut record = unmarked(record);
    let brace = memchr::memrchr(b'}', &record).unwrap_or(record.len());
    let tail = match &mut record {
        Cow::Borrowed(bytes) => {
            let (head, tail) = bytes.split_at(brace);
            *bytes = head;
            Cow::Borrowed(tail)
        }
        Cow::Owned(bytes) => Cow::Owned(bytes.split_off(brace)),
    };
    [record, mark(link).into_bytes().into(), tail]
}

/// The members a mark adds; the comma is right because a record has at least its text.
fn mark(link: &Link) -> String {
    let Link { of, relation } = link;
    let mut mark = format!(r#","duplicateOf":{of}"#);
    edges::relation(&mut mark, relation);
    mark
}

/// The record without the keys of a mark.
pub(super) fn unmarked(record: &[u8]) -> Cow<'_, [u8]> {
    // A key written with escapes is not seen here, and doubled; ours comes last, which is the one that counts.
    if !MARKS.iter().any(|key| memmem::find(record, key.as_bytes()).is_some()) {
        return record.into();
    }
    without_marks(record).map_or(record.into(), Cow::Owned)
}

/// `None` where there is nothing to cut, or no object to cut from.
fn without_marks(record: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(record).ok()?;
    let members = serde_json::Deserializer::from_str(text).deserialize_map(Members).ok()?;
    if !members.iter().any(|member| member.is_mark) {
        return None;
    }
    let open = memchr::memchr(b'{', record)? + 1;
    let mut rest = record[..open].to_vec();
    let (mut end, mut is_first) = (open, true);
    for Member { is_mark, value } in members {
        let value_end = value.as_ptr() as usize - text.as_ptr() as usize + value.len();
        // From the value before it: a comma, unless it is the first, the key, the value.
        let member = &record[end..value_end];
        if !is_mark {
            let comma = if end == open { None } else { memchr::memchr(b',', member) };
            let from = if is_first { comma.map_or(0, |comma| comma + 1) } else { 0 };
            rest.extend_from_slice(&member[from..]);
            is_first = false;
        }
        end = value_end;
    }
    rest.extend_from_slice(&record[end..]);
    Some(rest)
}

struct Member<'a> {
    is_mark: bool,
    value: &'a str,
}

/// The members of an object, in order.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Member<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(is_mark) = map.next_key_seed(IsMark)? {
            members.push(Member { is_mark, value: map.next_value::<&RawValue>()?.get() });
        }
        Ok(members)
    }
}

/// Whether a key is one of ours. Bytes: a key with a lone surrogate is legal, and none of ours.
struct IsMark;

impl<'de> DeserializeSeed<'de> for IsMark {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsMark {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<bool, E> {
        Ok(MARKS.iter().any(|mark| mark.as_bytes() == key))
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        self.visit_bytes(key.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn cut(record: &str) -> String {
        String::from_utf8(unmarked(record.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn marks_are_cut_out_wherever_they_stand() {
        assert_eq!(cut(r#"{"id":1,"text":"x"}"#), r#"{"id":1,"text":"x"}"#);
        assert_eq!(cut(r#" { "text" : "distance" } "#), r#" { "text" : "distance" } "#);
        assert_eq!(
            cut(
                r#" {"duplicateOf" : {"a":[1,2]} , "text":"x" , "distance":3, "y": 2 ,"similarity":1e0 } "#
            ),
            r#" { "text":"x", "y": 2 } "#
        );
    }

    proptest! {
        #[test]
        fn what_is_left_is_the_record_without_its_marks(
            members in proptest::collection::vec(
                (
                    prop_oneof![Just("duplicateOf"), Just("similarity"), Just("distance"), Just("text"), Just("文"), Just("a\"b")],
                    prop_oneof![Just("1"), Just("\"},{,\""), Just("[1, {\"distance\": 2}]"), Just("null")],
                    "[ \t]{0,2}",
                    "[ \t]{0,2}",
                ),
                0..8,
            ),
        ) {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value, a, b)| format!("{a}{}{b}:{a}{value}{b}", json!(key)))
                .collect();
            let record = format!(" {{{}}}\t", members.join(","));
            let mut expected: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&record).unwrap();
            for key in MARKS {
                expected.shift_remove(key);
            }
            let left: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&cut(&record)).unwrap();
            prop_assert_eq!(left, expected);
        }
    }
}
