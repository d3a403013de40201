//! What a run into an index decided, in a file of the index: the same run again is answered by it.
//!
//! ```text
//! end u64: the id that the next addition got   documents u64  truncated u64  empty u64  short u64
//! originals u64, each that has duplicates, by number: number u64  id in JSON: length u32, text
//! decisions u64 (bytes): for each duplicate how many are kept before it, the number of its original, and how it relates to it:
//!   LEB128  LEB128  flags u8 (1: similarity, 2: distance)  similarity f64  distance LEB128
//! ```

use crate::decide::Relation;
use crate::error::DedupError;
use crate::read::Id;
use ahash::AHashMap;
use simhash_index::IndexError;
use simhash_store::{Fields, FileError, Section};
use std::path::{Path, PathBuf};

/// A document is kept, or a duplicate of the document of the index with this number.
pub(super) type Decision = Option<(u64, Relation)>;

/// What is known of a run besides its decisions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) documents: u64,
    pub(super) truncated: u64,
    pub(super) empty: u64,
    pub(super) short: u64,
}

/// The decisions of a run, as they come.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) counted: Counted,
    /// Ids of the documents that have duplicates.
    pub(super) originals: AHashMap<u64, Id>,
    kept: u64,
    decisions: Vec<u8>,
}

impl Recording {
    /// Notes the next decision; `id` names the original.
    pub(super) fn push(&mut self, decision: &Decision, id: impl FnOnce(u64) -> Id) {
        self.counted.documents += 1;
        let Some((of, relation)) = decision else {
            self.kept += 1;
            return;
        };
        self.originals.entry(*of).or_insert_with(|| id(*of));
        let out = &mut self.decisions;
        varint(out, std::mem::take(&mut self.kept));
        varint(out, *of);
        let Relation { similarity, distance } = relation;
        out.push(u8::from(similarity.is_some()) | u8::from(distance.is_some()) << 1);
        if let Some(similarity) = similarity {
            out.extend(similarity.to_le_bytes());
        }
        if let Some(distance) = distance {
            varint(out, u64::from(*distance));
        }
    }

    /// The record, of a run after which the next addition gets the id `end`.
    pub(super) fn content(&self, end: u64) -> Vec<u8> {
        let Counted { documents, truncated, empty, short } = self.counted;
        let mut out = Fields::default();
        for number in [end, documents, truncated, empty, short] {
            out.number(number);
        }
        let mut originals: Vec<(&u64, &Id)> = self.originals.iter().collect();
        originals.sort_unstable_by_key(|&(number, _)| number);
        out.number(originals.len() as u64);
        for (number, id) in originals {
            out.number(*number);
            out.half(id.len() as u32);
            out.0.extend(id.bytes());
        }
        out.number(self.decisions.len() as u64);
        out.0.extend(&self.decisions);
        out.0
    }
}

/// The decisions of a run that was made before, in order.
pub(super) struct Recorded {
    pub(super) counted: Counted,
    pub(super) originals: AHashMap<u64, Id>,
    left: u64,
    decisions: Section,
    /// The file.
    path: PathBuf,
    /// Kept documents before the next duplicate.
    kept: Option<u64>,
}

impl Recorded {
    pub(super) fn read(from: Section, path: &Path) -> Result<Self, DedupError> {
        Self::read_from(from, path).map_err(|error| named(error, path))
    }

    fn read_from(mut from: Section, path: &Path) -> Result<Self, FileError> {
        let _end = from.number()?;
        let (documents, truncated) = (from.number()?, from.number()?);
        let counted =
            Counted { documents, truncated, empty: from.number()?, short: from.number()? };
        let mut originals = AHashMap::new();
        for _ in 0..from.number()? {
            let (number, length) = (from.number()?, from.half()?);
            originals.insert(number, Id::from(from.text_of(length.into())?));
        }
        let bytes = from.number()?;
        let at = from.offset();
        let decisions = Section::new(from.bytes(bytes)?.to_vec(), at);
        from.end()?;
        let path = path.to_owned();
        Ok(Self { counted, originals, left: documents, decisions, path, kept: None })
    }

    /// What is known besides, when all decisions were taken.
    pub(super) fn end(&self) -> Result<Counted, DedupError> {
        if self.left > 0 {
            let reason = format!("{} documents more than the run", self.left);
            return Err(named(self.decisions.damaged(reason), &self.path));
        }
        Ok(self.counted)
    }

    /// The next decision.
    pub(super) fn next(&mut self) -> Result<Decision, DedupError> {
        self.decide().map_err(|error| named(error, &self.path))
    }

    fn decide(&mut self) -> Result<Decision, FileError> {
        let more = self.left.checked_sub(1);
        self.left = more.ok_or_else(|| self.decisions.damaged("fewer documents than the run"))?;
        if self.decisions.is_empty() && self.kept.is_none() {
            return Ok(None);
        }
        let kept = match self.kept {
            Some(kept) => kept,
            None => read_varint(&mut self.decisions)?,
        };
        if kept > 0 {
            self.kept = Some(kept - 1);
            return Ok(None);
        }
        self.kept = None;
        let of = read_varint(&mut self.decisions)?;
        if !self.originals.contains_key(&of) {
            return Err(self.decisions.damaged(format!("a duplicate of document {of}")));
        }
        let flags = self.decisions.byte()?;
        let similarity = match flags & 1 {
            0 => None,
            _ => Some(f64::from_bits(self.decisions.number()?)),
        };
        let distance = match flags & 2 {
            0 => None,
            _ => Some(read_varint(&mut self.decisions)? as u32),
        };
        Ok(Some((of, Relation { similarity, distance })))
    }
}

/// The error of this file.
fn named(error: FileError, path: &Path) -> DedupError {
    IndexError::from(error.in_file(path)).into()
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(from: &mut Section) -> Result<u64, FileError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = from.byte()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(from.damaged("a number of more than 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_has_the_decisions_in_their_order(
            decisions in prop::collection::vec(
                prop::option::of((any::<u64>(), prop::option::of(0.0..1.0f64), prop::option::of(any::<u32>()))),
                0..40,
            ),
        ) {
            let decisions: Vec<Decision> = decisions
                .into_iter()
                .map(|one| one.map(|(of, similarity, distance)| (of, Relation { similarity, distance })))
                .collect();
            let mut recording = Recording::default();
            for decision in &decisions {
                recording.push(decision, |of| of.to_string().into());
            }
            let content = recording.content(7);
            let mut read = Recorded::read(Section::new(content, 0), Path::new("")).unwrap();
            prop_assert_eq!(read.counted.documents, decisions.len() as u64);
            for decision in &decisions {
                prop_assert_eq!(&read.next().unwrap(), decision);
            }
            prop_assert!(read.next().is_err());
            prop_assert_eq!(&read.originals, &recording.originals);
        }
    }
}
