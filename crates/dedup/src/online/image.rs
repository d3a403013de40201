//! Keys and texts in the file of an index, before the index itself.
//!
//! ```text
//! length u64  body …  XXH3-64 of the body u64  image of the index …
//! body: keyed u64  longest text u64 (0: none)  then for each live document with a key or a text, by id:
//!       id u64  length of the key u32  length of the text u32  key  text
//! ```
//! All numbers are little-endian. The body is put together in memory: as many bytes as keys and texts have, and 16 for
//! each document.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_index::{Index, IndexError, Pending};
use simhash_sketch::Fingerprinter;
use simhash_text::feature::hash;

use super::strings::Strings;
use super::{OnlineIndex, Store, Stored};

/// Bytes read at a time: a length that lies cannot make the reader allocate more than is there.
const PIECE: u64 = 1 << 20;
/// Bytes of length and checksum.
const FRAME: u64 = 16;

fn io(error: &std::io::Error) -> IndexError {
    IndexError::Io { message: error.to_string() }
}

fn damaged(offset: u64, reason: impl Into<String>) -> IndexError {
    IndexError::Damaged { offset, reason: reason.into() }
}

/// An index as it was when [`OnlineIndex::snapshot`] was called, on its way to a file.
#[derive(Debug)]
pub struct Snapshot(Pending<Vec<u8>>);

impl Snapshot {
    /// Writes it; additions and searches go on.
    ///
    /// # Errors
    /// [`IndexError::Io`], [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn write(self, out: &mut dyn Write, cancel: &AtomicBool) -> Result<(), IndexError> {
        let (snapshot, body) = self.0.made(cancel)?;
        let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|error| io(&error));
        put(&(body.len() as u64).to_le_bytes())?;
        put(&body)?;
        put(&hash(&body).to_le_bytes())?;
        drop(body);
        snapshot.write(out)
    }
}

impl OnlineIndex {
    /// Keys, texts and index as they are now, for saving: what is added or deleted after this call is not in it. O(1), see
    /// [`Index::snapshot`].
    pub fn snapshot(&self) -> Snapshot {
        let (stored, store) = (self.stored, Arc::downgrade(&self.store));
        Snapshot(self.index.snapshot(move |is_alive| match store.upgrade() {
            Some(store) => body(stored, &store.read(), is_alive),
            None => Vec::new(),
        }))
    }

    /// Writes keys, texts and index as they are at the call.
    ///
    /// # Errors
    /// [`IndexError::Io`]; [`IndexError::Merge`] if merging has failed.
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        self.snapshot().write(out, &AtomicBool::new(false))
    }

    /// Reads what [`OnlineIndex::save`] wrote, for the fingerprinter that it was made with.
    ///
    /// # Errors
    /// [`IndexError::Io`], and [`IndexError::Damaged`] with the byte where the damage was noticed.
    pub fn open(input: &mut dyn Read, fingerprinter: Fingerprinter) -> Result<Self, IndexError> {
        let body = read(input)?;
        let before = body.len() as u64 + FRAME;
        let index = Index::open(input).map_err(|error| match error {
            IndexError::Damaged { offset, reason } => damaged(offset + before, reason),
            other => other,
        })?;
        let mut fields = Fields { body: &body, at: 0 };
        let (keyed, longest) = (fields.number(8)? > 0, fields.number(8)?);
        let longest_text = u32::try_from(longest)
            .map_err(|_| fields.damaged("a longest text of more than 2^32 characters"))?;
        let longest_text = (longest_text > 0).then_some(longest_text);
        let online = Self::new(index, fingerprinter, Stored { keys: keyed, longest_text });
        online.restore(&mut fields)?;
        Ok(online)
    }

    fn restore(&self, fields: &mut Fields<'_>) -> Result<(), IndexError> {
        let mut store = self.store.write();
        let mut after = 0;
        while fields.at < fields.body.len() {
            let (id, key, text) = (fields.number(8)?, fields.number(4)?, fields.number(4)?);
            if id < after || !self.index.has(id) {
                return Err(fields.damaged(format!("a key or text of id {id}")));
            }
            after = id + 1;
            let (key, text) = (fields.text(key)?, fields.text(text)?);
            if (!key.is_empty() && store.keys.is_none())
                || (!text.is_empty() && store.texts.is_none())
            {
                return Err(fields.damaged("a key or text that the index does not keep"));
            }
            if let Some(keys) = store.keys.as_mut().filter(|_| !key.is_empty()) {
                keys.add(id, key, |id| self.index.has(id));
            }
            if let Some(texts) = store.texts.as_mut().filter(|_| !text.is_empty()) {
                Strings::push(texts, id, text);
            }
        }
        Ok(())
    }
}

/// The body of a store.
fn body(stored: Stored, store: &Store, is_alive: &dyn Fn(u64) -> bool) -> Vec<u8> {
    let mut body = u64::from(stored.keys).to_le_bytes().to_vec();
    body.extend(u64::from(stored.longest_text.unwrap_or(0)).to_le_bytes());
    let mut keys = store.keys.as_ref().map(|keys| keys.iter().peekable());
    let mut texts = store.texts.as_ref().map(|texts| texts.iter().peekable());
    loop {
        let next_key = keys.as_mut().and_then(|keys| keys.peek().map(|&(id, _)| id));
        let next_text = texts.as_mut().and_then(|texts| texts.peek().map(|&(id, _)| id));
        let Some(id) = next_key.into_iter().chain(next_text).min() else { return body };
        let key = keys.as_mut().and_then(|keys| keys.next_if(|&(of, _)| of == id));
        let text = texts.as_mut().and_then(|texts| texts.next_if(|&(of, _)| of == id));
        if is_alive(id) {
            let (key, text) = (key.map_or("", |(_, key)| key), text.map_or("", |(_, text)| text));
            body.extend(id.to_le_bytes());
            body.extend((key.len() as u32).to_le_bytes());
            body.extend((text.len() as u32).to_le_bytes());
            body.extend(key.bytes().chain(text.bytes()));
        }
    }
}

/// The body, checked.
fn read(input: &mut dyn Read) -> Result<Vec<u8>, IndexError> {
    let mut at = 0;
    let mut take = |length: u64| {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let from = bytes.len();
            bytes.resize(from + (length - from as u64).min(PIECE) as usize, 0);
            input.read_exact(&mut bytes[from..]).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => damaged(at, "the file ends within keys and texts"),
                _ => io(&error),
            })?;
        }
        at += length;
        Ok::<_, IndexError>(bytes)
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let length = number(&take(8)?);
    let body = take(length)?;
    if number(&take(8)?) != hash(&body) {
        return Err(damaged(0, "the checksum of keys and texts is wrong"));
    }
    Ok(body)
}

/// A body that has passed its checksum, being read.
struct Fields<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn damaged(&self, reason: impl Into<String>) -> IndexError {
        damaged(self.at as u64 + 8, reason)
    }

    fn bytes(&mut self, count: u64) -> Result<&'a [u8], IndexError> {
        let left = (self.body.len() - self.at) as u64;
        if count > left {
            return Err(self.damaged(format!("{count} bytes are wanted, {left} are left")));
        }
        let from = self.at;
        self.at += count as usize;
        Ok(&self.body[from..self.at])
    }

    fn number(&mut self, count: u64) -> Result<u64, IndexError> {
        let bytes = self.bytes(count)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&mut self, length: u64) -> Result<&'a str, IndexError> {
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged("a key or text that is no UTF-8"))
    }
}
