//! A JSON object to the two fields that matter.
//!
//! All of it is checked (JSON grammar), but no tree is built: the top level is
//! walked once, values of other keys are skipped, and the raw bytes of the wanted ones are noted.
//! A path `a.b.c` walks on inside them.
//!
//! A third field, by which documents are ranked, is noted where it is asked for.
//!
//! Rules, the same as `JSON.parse` has them: of repeated keys the last counts; a lone surrogate
//! escape in the text becomes U+FFFD, as it does for strings that come from JavaScript.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use simdutf8::compat::from_utf8;
use std::borrow::Cow;
use std::fmt;

use crate::error::CorpusError;
use crate::record::{Rank, Record};

/// Which fields of a record hold the text and the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    text: Vec<String>,
    /// Further fields that belong to the text.
    more: Vec<Vec<String>>,
    id: Vec<String>,
    key: Option<Vec<String>>,
}

impl Default for Fields {
    /// `text` and `id`.
    fn default() -> Self {
        Self { text: vec!["text".into()], more: Vec::new(), id: vec!["id".into()], key: None }
    }
}

impl Fields {
    /// Paths of keys separated by dots, as in `body.content`; a key that itself holds a dot cannot
    /// be named.
    ///
    /// # Errors
    /// [`CorpusError::Option`] where a path or one of its keys is empty.
    pub fn new(text: &str, id: &str) -> Result<Self, CorpusError> {
        let (text, id) = (path("text_field", text)?, path("id_field", id)?);
        Ok(Self { text, more: Vec::new(), id, key: None })
    }

    /// These fields and further ones of the text, which are joined by newlines, in order; those that a record lacks are left out.
    ///
    /// # Errors
    /// As [`Fields::new`].
    pub fn with_more<'t>(
        self,
        more: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, CorpusError> {
        let more = more.into_iter().map(|dotted| path("text_field", dotted));
        Ok(Self { more: more.collect::<Result<_, _>>()?, ..self })
    }

    /// These fields and the one that a keep rule compares.
    /// # Errors
    /// As [`Fields::new`].
    pub fn with_key(&self, dotted: &str) -> Result<Self, CorpusError> {
        Ok(Self { key: Some(path("keep", dotted)?), ..self.clone() })
    }

    /// The same fields, where the path of each is one key.
    pub(crate) fn flat(&self) -> Self {
        let one = |path: &Vec<String>| vec![path.join(".")];
        let more = self.more.iter().map(one).collect();
        Self { text: one(&self.text), more, id: one(&self.id), key: self.key.as_ref().map(one) }
    }

    /// The keys of the top level under which text and id are found.
    pub fn top(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let texts = std::iter::once(&self.text).chain(&self.more);
        let id = ("id_field", &*self.id[0]);
        texts.map(|path| ("text_field", &*path[0])).chain([id])
    }

    /// The path of the text, as it was given; of several the first.
    pub fn text_path(&self) -> String {
        self.text.join(".")
    }

    /// The paths of all fields of the text.
    pub fn text_paths(&self) -> impl Iterator<Item = String> {
        std::iter::once(&self.text).chain(&self.more).map(|path| path.join("."))
    }

    /// The path of the ranking field.
    pub(crate) fn key_path(&self) -> Option<String> {
        self.key.as_ref().map(|path| path.join("."))
    }

    /// Several fields as one text.
    pub(crate) fn joined<'t>(parts: impl Iterator<Item = &'t str>) -> String {
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The path of the id, as it was given.
    pub fn id_path(&self) -> String {
        self.id.join(".")
    }

    /// The id of a record whatever its text; `None`: absent or null.
    pub(crate) fn id_in<'a>(&self, line: &'a str) -> Result<Option<&'a RawValue>, String> {
        let [id] = pick(line, [&self.id[0]])?;
        Ok(descend(id, &self.id[1..]).filter(|id| kind(id) != "null"))
    }

    /// The texts of all fields, of which the first is `text`.
    fn all_texts<'a>(
        &self,
        line: &'a str,
        text: Option<Cow<'a, str>>,
    ) -> Result<Option<Cow<'a, str>>, String> {
        let mut texts: Vec<Cow<'a, str>> = text.into_iter().collect();
        for path in &self.more {
            let [value] = pick(line, [&path[0]])?;
            texts.extend(string(descend(value, &path[1..]), path)?);
        }
        let all = || Self::joined(texts.iter().map(AsRef::as_ref));
        Ok((!texts.is_empty()).then(|| all().into()))
    }

    /// Takes text and id out of a JSON object.
    ///
    /// # Errors
    /// The reason why this is no record.
    pub fn record<'a>(&self, line: &'a str) -> Result<Record<'a>, String> {
        // A key more is compared with every key of the record.
        let (text, id, key) = if let Some(by) = &self.key {
            let [text, id, key] = pick(line, [&self.text[0], &self.id[0], &by[0]])?;
            (text, id, descend(key, &by[1..]))
        } else {
            let [text, id] = pick(line, [&self.text[0], &self.id[0]])?;
            (text, id, None)
        };
        let text = string(descend(text, &self.text[1..]), &self.text)?;
        let text = if self.more.is_empty() { text } else { self.all_texts(line, text)? };
        let Some(text) = text else {
            return Err(format!("no field {}", self.text_paths().collect::<Vec<_>>().join(" or ")));
        };
        let id = match descend(id, &self.id[1..]).map(|raw| (raw, kind(raw))) {
            None | Some((_, "null")) => None,
            Some((raw, "a string" | "a number")) => Some(raw.get().into()),
            Some((_, other)) => {
                let name = self.id.join(".");
                return Err(format!("field {name} is {other}, not a string or a number"));
            }
        };
        Ok(Record { text, id, key: key.map_or(Ok(Rank::Missing), rank_of)? })
    }
}

/// The string in a field, if the field is there.
fn string<'a>(
    value: Option<&'a RawValue>,
    path: &[String],
) -> Result<Option<Cow<'a, str>>, String> {
    match value.map(|raw| (raw, kind(raw))) {
        Some((raw, "a string")) => text_of(raw).map(Some),
        None => Ok(None),
        Some((_, other)) => Err(format!("field {} is {other}, not a string", path.join("."))),
    }
}

fn path(argument: &'static str, dotted: &str) -> Result<Vec<String>, CorpusError> {
    let keys: Vec<String> = dotted.split('.').map(str::to_owned).collect();
    if keys.iter().any(String::is_empty) {
        let expected = "keys separated by dots, none of them empty";
        return Err(CorpusError::Option { argument, value: format!("\"{dotted}\""), expected });
    }
    Ok(keys)
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

pub(crate) fn explain(error: &serde_json::Error) -> String {
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

/// The string of a JSON string. Without an escape it stands there as it is: grammar and UTF-8 were checked with the whole line.
fn text_of(raw: &RawValue) -> Result<Cow<'_, str>, String> {
    let quoted = raw.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    if let Some(text) = quoted.filter(|text| memchr::memchr(b'\\', text.as_bytes()).is_none()) {
        return Ok(text.into());
    }
    serde_json::Deserializer::from_str(raw.get())
        .deserialize_bytes(Text)
        .map_err(|error| explain(&error))
}

/// Texts and numbers can be compared, whatever else is there says nothing.
fn rank_of(raw: &RawValue) -> Result<Rank<'_>, String> {
    Ok(match kind(raw) {
        "a string" => Rank::Text(text_of(raw)?),
        "a number" => Rank::Number(raw.get().into()),
        _ => Rank::Missing,
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
        Ok(from_utf8(bytes).map_or_else(|_| replaced(bytes).into(), Cow::Borrowed))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let text = from_utf8(bytes).map_or_else(|_| replaced(bytes), str::to_owned);
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
