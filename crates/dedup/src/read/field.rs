//! One line of JSON to the two fields that matter.
//!
//! The whole line is checked (UTF-8 and JSON grammar), but no tree is built: the top level is
//! walked once, values of other keys are skipped, and the raw bytes of the wanted ones are noted.
//! A path `a.b.c` walks on inside them.
//!
//! A third field, by which documents are ranked, is noted where it is asked for.
//!
//! Rules, the same as `JSON.parse` has them: of repeated keys the last counts; a lone surrogate
//! escape in the text becomes U+FFFD, as it does for strings that come from JavaScript.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

use crate::error::DedupError;
use crate::keep::Key;

/// Which fields of a record hold the text and the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    text: Vec<String>,
    id: Vec<String>,
    key: Option<Vec<String>>,
}

impl Default for Fields {
    /// `text` and `id`.
    fn default() -> Self {
        Self { text: vec!["text".into()], id: vec!["id".into()], key: None }
    }
}

impl Fields {
    /// Paths of keys separated by dots, as in `body.content`; a key that itself holds a dot cannot
    /// be named.
    ///
    /// # Errors
    /// [`DedupError::Option`] where a path or one of its keys is empty.
    pub fn new(text: &str, id: &str) -> Result<Self, DedupError> {
        Ok(Self { text: path("text_field", text)?, id: path("id_field", id)?, key: None })
    }

    /// These fields and the one that a keep rule compares.
    pub(crate) fn with_key(&self, dotted: &str) -> Result<Self, DedupError> {
        Ok(Self { key: Some(path("keep", dotted)?), ..self.clone() })
    }

    /// The keys of the top level under which text and id are found.
    pub(crate) fn top(&self) -> [(&'static str, &str); 2] {
        [("text_field", &self.text[0]), ("id_field", &self.id[0])]
    }

    /// The path of the text, as it was given.
    pub(crate) fn text_path(&self) -> String {
        self.text.join(".")
    }

    /// The id of a record whatever its text; `None`: absent or null.
    pub(super) fn id_in<'a>(&self, line: &'a str) -> Result<Option<&'a RawValue>, String> {
        let [id] = pick(line, [&self.id[0]])?;
        Ok(descend(id, &self.id[1..]).filter(|id| kind(id) != "null"))
    }

    /// Takes text and id out of a line.
    ///
    /// # Errors
    /// The reason why this is no record.
    pub(crate) fn record<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, String> {
        let line = std::str::from_utf8(line)
            .map_err(|error| format!("invalid UTF-8 at byte {}", error.valid_up_to() + 1))?;
        let by = self.key.as_deref().unwrap_or(&self.text);
        let [text, id, key] = pick(line, [&self.text[0], &self.id[0], &by[0]])?;
        let text = descend(text, &self.text[1..]);
        let text = match text.map(|raw| (raw, kind(raw))) {
            Some((raw, "a string")) => text_of(raw)?,
            None => return Err(format!("no field {}", self.text.join("."))),
            Some((_, other)) => {
                return Err(format!("field {} is {other}, not a string", self.text.join(".")));
            }
        };
        let id = match descend(id, &self.id[1..]).map(|raw| (raw, kind(raw))) {
            None | Some((_, "null")) => None,
            Some((raw, "a string" | "a number")) => Some(raw.get()),
            Some((_, other)) => {
                let name = self.id.join(".");
                return Err(format!("field {name} is {other}, not a string or a number"));
            }
        };
        let key = self.key.is_some().then(|| descend(key, &by[1..])).flatten();
        Ok(Record { text, id, key: key.map_or(Ok(Key::Missing), key_of)? })
    }
}

fn path(argument: &'static str, dotted: &str) -> Result<Vec<String>, DedupError> {
    let keys: Vec<String> = dotted.split('.').map(str::to_owned).collect();
    if keys.iter().any(String::is_empty) {
        let expected = "keys separated by dots, none of them empty";
        return Err(DedupError::Option { argument, value: format!("\"{dotted}\""), expected });
    }
    Ok(keys)
}

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) struct Record<'a> {
    /// Borrowed from the line where it has no escapes.
    pub(crate) text: Cow<'a, str>,
    /// The id as written: a JSON string with its quotes, or a number. `None`: absent or null.
    pub(crate) id: Option<&'a str>,
    /// The value of the ranking field, where one was asked for.
    pub(crate) key: Key,
}

/// The raw values of some keys of an object. They may be the same key.
fn pick<'a, const N: usize>(
    json: &'a str,
    keys: [&str; N],
) -> Result<[Option<&'a RawValue>; N], String> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Pick(keys)).map_err(|error| explain(&error))?;
    reader.end().map_err(|error| explain(&error))?;
    Ok(found)
}

pub(super) fn explain(error: &serde_json::Error) -> String {
    if error.is_data() {
        return "the record is not a JSON object".into();
    }
    // serde_json ends with " at line 1 column N"; the record is one line.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("malformed JSON at column {}: {what}", error.column())
}

fn descend<'a>(value: Option<&'a RawValue>, path: &[String]) -> Option<&'a RawValue> {
    let mut value = value?;
    for key in path {
        // Not an object: nothing lies below it. The grammar was checked with the whole line.
        value = pick(value.get(), [key]).ok()?[0]?;
    }
    Some(value)
}

fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn text_of(raw: &RawValue) -> Result<Cow<'_, str>, String> {
    serde_json::Deserializer::from_str(raw.get())
        .deserialize_bytes(Text)
        .map_err(|error| explain(&error))
}

/// Texts and numbers can be compared, whatever else is there says nothing.
fn key_of(raw: &RawValue) -> Result<Key, String> {
    Ok(match kind(raw) {
        "a string" => Key::Text(text_of(raw)?.into()),
        "a number" => Key::number(raw.get()),
        _ => Key::Missing,
    })
}

/// Finds some keys among those of an object.
struct Pick<'k, const N: usize>([&'k str; N]);

impl<'de, const N: usize> Visitor<'de> for Pick<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(hits) = map.next_key_seed(Wanted(self.0))? {
            if hits == [false; N] {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value::<&RawValue>()?;
            for (slot, hit) in found.iter_mut().zip(hits) {
                if hit {
                    *slot = Some(value);
                }
            }
        }
        Ok(found)
    }
}

/// Compares a key with the wanted ones, without copying it. Bytes, because a key with a lone
/// surrogate is legal JSON and merely not one of ours.
struct Wanted<'k, const N: usize>([&'k str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Wanted<'_, N> {
    type Value = [bool; N];

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_bytes(self)
    }
}

impl<const N: usize> Visitor<'_> for Wanted<'_, N> {
    type Value = [bool; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.map(|wanted| wanted.as_bytes() == key))
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        self.visit_bytes(key.as_bytes())
    }
}

/// A string whose lone surrogates, which the parser hands over as three bytes ED A0..BF xx, become
/// one U+FFFD each.
struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(std::str::from_utf8(bytes).map_or_else(|_| replaced(bytes).into(), Cow::Borrowed))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let text = std::str::from_utf8(bytes).map_or_else(|_| replaced(bytes), str::to_owned);
        Ok(text.into())
    }
}

fn replaced(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Each of the three bytes is a chunk of its own (no prefix of them is valid); the first
        // stands for all.
        if chunk.invalid().first() == Some(&0xed) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
#[path = "field_tests.rs"]
mod tests;
