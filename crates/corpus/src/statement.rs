//! Lines of labels and of results: clusters, pairs and decisions.
//!
//! ```text
//! {"representative": id, "members": [{"id": id} or id, …]}     a cluster; the representative may be absent
//! [id, …]                                                      a cluster
//! {"a": id, "b": id, "similarity": s, "label": 0 | 1 | bool}   a pair: of duplicates (1) without both
//! {"id": id, "duplicateOf": id, "similarity": s}               a decision: one that is kept has no `duplicateOf`
//! ```
//! A number and a string of its digits are the same id.

use super::field::{Fields, explain};
use super::id::{id_json, name_of_id};
use serde_json::value::RawValue;
use simdutf8::compat::from_utf8;
use std::collections::HashMap;
use std::path::Path;

/// What a line says, ids by name.
#[derive(Debug, PartialEq)]
pub enum Statement {
    /// Documents that belong together; the first is kept.
    Cluster(Vec<String>),
    /// Two documents, and how similar they are.
    Pair(String, String, f64),
}

type Object<'a> = HashMap<String, &'a RawValue>;

impl Statement {
    /// Of a line; `file` and `number` name a decision that has no id.
    ///
    /// # Errors
    /// Why it says nothing.
    pub fn of(
        line: &[u8],
        fields: &Fields,
        file: Option<&Path>,
        number: u64,
    ) -> Result<Self, String> {
        let text = from_utf8(line)
            .map_err(|error| format!("invalid UTF-8 at byte {}", error.valid_up_to() + 1))?;
        let value: &RawValue = serde_json::from_str(text).map_err(|error| explain(&error))?;
        if let Some(list) = list(value) {
            return Ok(Self::Cluster(list.iter().map(|id| name(id)).collect::<Result<_, _>>()?));
        }
        let Ok(object) = serde_json::from_str::<Object<'_>>(value.get()) else {
            return Err(format!("{} is no statement", shown(value)));
        };
        if let Some(members) = object.get("members") {
            let Some(members) = list(members) else {
                return Err(format!("members is {}, not an array", shown(members)));
            };
            let first = object.get("representative").map(|id| name(id));
            let members = members.iter().map(|member| match member_id(member) {
                Some(id) => name(id),
                None => name(member),
            });
            return Ok(Self::Cluster(first.into_iter().chain(members).collect::<Result<_, _>>()?));
        }
        if let (Some(a), Some(b)) = (object.get("a"), object.get("b")) {
            let label = object.get("label").copied();
            return Ok(Self::Pair(name(a)?, name(b)?, similarity(&object, label)?));
        }
        // A decision: a record, perhaps with the mark of a duplicate.
        let id = match fields.id_in(text)? {
            Some(id) => name(id)?,
            None => name_of_id(&id_json(None::<&str>, file, number)).into_owned(),
        };
        match object.get("duplicateOf").filter(|of| of.get() != "null") {
            None => Ok(Self::Cluster(vec![id])),
            Some(of) => Ok(Self::Pair(name(of)?, id, similarity(&object, None)?)),
        }
    }
}

fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn member_id(member: &RawValue) -> Option<&RawValue> {
    serde_json::from_str::<Object<'_>>(member.get()).ok()?.remove("id")
}

fn name(id: &RawValue) -> Result<String, String> {
    match id.get().as_bytes().first() {
        Some(b'"' | b'-' | b'0'..=b'9') => Ok(name_of_id(id.get()).into_owned()),
        _ => Err(format!("{} is no id: a string or a number", shown(id))),
    }
}

fn similarity(object: &Object<'_>, label: Option<&RawValue>) -> Result<f64, String> {
    if let Some(given) = object.get("similarity").filter(|given| given.get() != "null") {
        let number = serde_json::from_str(given.get()).ok();
        return number
            .filter(|number| (0.0..=1.0).contains(number))
            .ok_or_else(|| format!("similarity is {}, not a number from 0 to 1", shown(given)));
    }
    match label.map(RawValue::get) {
        None | Some("1" | "true") => Ok(1.0),
        Some("0" | "false") => Ok(0.0),
        Some(_) => Err(format!("label is {}, not 0 or 1", label.map(shown).unwrap_or_default())),
    }
}

/// A value in a message, short.
fn shown(value: &RawValue) -> String {
    const MOST: usize = 40;
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'[') => "an array".into(),
        Some(b'{') => "an object".into(),
        _ => match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Result<Statement, String> {
        Statement::of(line.as_bytes(), &Fields::default(), None, 7)
    }

    fn cluster(ids: &[&str]) -> Statement {
        Statement::Cluster(ids.iter().map(|&id| id.to_owned()).collect())
    }

    fn pair(a: &str, b: &str, similarity: f64) -> Statement {
        Statement::Pair(a.into(), b.into(), similarity)
    }

    #[test]
    fn every_form_says_the_same() {
        assert_eq!(said(r#"["a", 7, "\u7532"]"#), Ok(cluster(&["a", "7", "甲"])));
        let members = r#"{"representative":"a","members":[{"id":"b","similarity":0.9},3]}"#;
        assert_eq!(said(members), Ok(cluster(&["a", "b", "3"])));
        assert_eq!(said(r#"{"members":["b"]}"#), Ok(cluster(&["b"])));
        assert_eq!(said(r#"{"a":1,"b":"2"}"#), Ok(pair("1", "2", 1.0)));
        assert_eq!(said(r#"{"a":1,"b":"2","label":false}"#), Ok(pair("1", "2", 0.0)));
        assert_eq!(
            said(r#"{"a":1,"b":"2","label":1,"similarity":0.25}"#),
            Ok(pair("1", "2", 0.25))
        );
        assert_eq!(said(r#"{"id":"x","text":"…"}"#), Ok(cluster(&["x"])));
        assert_eq!(said(r#"{"text":"…","id":null,"duplicateOf":null}"#), Ok(cluster(&["7"])));
        assert_eq!(said(r#"{"id":"x","duplicateOf":"y","label":0}"#), Ok(pair("y", "x", 1.0)));
        // Beyond what a double holds.
        let large = r#"{"a":9007199254740993,"b":18446744073709551617}"#;
        assert_eq!(said(large), Ok(pair("9007199254740993", "18446744073709551617", 1.0)));
        let file = Some(Path::new("f"));
        let placed = Statement::of(b"{}", &Fields::default(), file, 3);
        assert_eq!(placed, Ok(cluster(&["f:3"])));
        let fields = Fields::new("text", "meta.key").unwrap();
        let nested = Statement::of(br#"{"meta":{"key":"k"}}"#, &fields, None, 1);
        assert_eq!(nested, Ok(cluster(&["k"])));
    }

    #[test]
    fn what_says_nothing_is_told() {
        for (line, reason) in [
            ("7", "7 is no statement"),
            (r#""x""#, r#""x" is no statement"#),
            (r#"{"x": 1, "members": 2}"#, "members is 2, not an array"),
            (r#"{"members": [{}]}"#, "an object is no id: a string or a number"),
            ("[null]", "null is no id: a string or a number"),
            (r#"{"a":1,"b":2,"similarity":2}"#, "similarity is 2, not a number from 0 to 1"),
            (r#"{"a":1,"b":2,"label":2}"#, "label is 2, not 0 or 1"),
            (r#"{"id":"x","duplicateOf":[]}"#, "an array is no id: a string or a number"),
        ] {
            assert_eq!(said(line), Err(reason.to_owned()));
        }
        assert!(said("{").unwrap_err().starts_with("malformed JSON at column 1: EOF"));
        let bytes = Statement::of(b"[\"\xff\"]", &Fields::default(), None, 1);
        assert_eq!(bytes, Err("invalid UTF-8 at byte 3".to_owned()));
    }
}
