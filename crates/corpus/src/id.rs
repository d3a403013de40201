//! Ids of documents: as JSON in lines, as keys in an index.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;

/// The id of a document as JSON, as written in the record or made from its position.
pub type Id = Box<str>;

/// The record's own id, else the line number, else with several inputs `"file:line"`.
pub fn id_json(own: Option<impl AsRef<str>>, file: Option<&Path>, line: u64) -> Id {
    match (own, file) {
        (Some(own), _) => own.as_ref().into(),
        (None, None) => line.to_string().into(),
        (None, Some(file)) => json_string(&format!("{}:{line}", file.display())).into(),
    }
}

/// The key of an id in an index: what a string holds, and a number as it is written. A string that would read as a number or
/// as JSON, is empty, or was written with other escapes than it needs, stays as it is written, so that [`id_of_key`] gives every
/// id back as it was.
pub fn key_of_id(id: &str) -> Cow<'_, str> {
    let plain = serde_json::from_str::<String>(id).ok();
    match plain.filter(|plain| !plain.is_empty() && id_of_key(plain).as_ref() == id) {
        Some(plain) => plain.into(),
        None => id.into(),
    }
}

/// The id that a key is made of; any other key as a string.
pub fn id_of_key(key: &str) -> Id {
    let is_json = match key.as_bytes().first() {
        Some(b'"' | b'-' | b'0'..=b'9') => {
            serde_json::from_str::<&RawValue>(key).is_ok_and(|raw| raw.get() == key)
        }
        _ => false,
    };
    if is_json { key.into() } else { json_string(key).into() }
}

/// What an id is called where a number and a string of its digits are the same: in labels, and on a command line.
pub fn name_of_id(id: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(id).map_or(Cow::Borrowed(id), Cow::Owned)
}

/// A text as JSON.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_ids_are_keys_as_they_are() {
        for (id, key) in [
            (r#""d001""#, "d001"),
            ("7", "7"),
            (r#""7""#, r#""7""#),
            ("18446744073709551617", "18446744073709551617"),
            ("-1.50e3", "-1.50e3"),
            (r#""2026-11-22""#, "2026-11-22"),
            (r#""""#, r#""""#),
            (r#""甲\n""#, "甲\n"),
            (r#""\u7532""#, r#""\u7532""#),
            (r#""\ud800""#, r#""\ud800""#),
            (r#""\"x\"""#, r#""\"x\"""#),
        ] {
            assert_eq!(key_of_id(id), key);
            assert_eq!(&*id_of_key(key), id);
        }
        assert_eq!(&*id_of_key("7 "), r#""7 ""#);
        assert_eq!(&*id_of_key("\"cut"), r#""\"cut""#);
    }

    #[test]
    fn ids_fall_back_to_the_position() {
        assert_eq!(&*id_json(Some("\"a\""), None, 3), "\"a\"");
        assert_eq!(&*id_json(None::<&str>, None, 3), "3");
        assert_eq!(&*id_json(None::<&str>, Some(Path::new("x\".jsonl")), 3), r#""x\".jsonl:3""#);
    }

    proptest! {
        #[test]
        fn every_id_comes_back_as_it_was(text in r#"["0-9a.\\ -]{0,6}|\PC{0,6}"#, number in any::<f64>()) {
            for id in [json_string(&text), number.to_string()] {
                prop_assert_eq!(&*id_of_key(&key_of_id(&id)), &*id);
            }
        }

        #[test]
        fn ids_that_differ_have_other_keys(a in r#"["0-9]{0,3}"#, b in r#"["0-9]{0,3}"#) {
            let same = key_of_id(&json_string(&a)) == key_of_id(&json_string(&b));
            prop_assert_eq!(same, a == b);
        }
    }
}
