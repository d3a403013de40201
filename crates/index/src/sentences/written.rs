//! Options and items, as they are written down.
//!
//! ```text
//! options: sentences u64  share f64  count u64  window
//! item: sentences u8 (1 to 64), u64 each | 0: empty | 255: text u128
//! ```

use simhash_store::{Fields, FileError, Section};

use super::{Common, SentenceItem, SentenceOptions};
use crate::live::saved::{read_window, window};

/// The first byte of a text in place of sentences.
const TEXT: u8 = 255;

/// Options, as they are written.
pub(super) fn written_options(options: &SentenceOptions) -> Fields {
    let mut fields = Fields::default();
    fields.number(options.sentences as u64);
    fields.number(options.common.share.to_bits());
    fields.number(u64::from(options.common.count));
    window(options.window, &mut fields);
    fields
}

/// Options, as they were written.
pub(super) fn read_options(fields: &mut Section) -> Result<SentenceOptions, FileError> {
    let (sentences, share) = (fields.number()? as usize, f64::from_bits(fields.number()?));
    let count = fields.number()? as u32;
    let window = read_window(fields)?;
    let options = SentenceOptions { sentences, common: Common { share, count }, window };
    options.check().map_err(|error| fields.damaged(error.to_string()))?;
    Ok(options)
}

/// Appends an item; sentences beyond `most` are left out.
pub(super) fn write_item(item: &SentenceItem, most: usize, out: &mut Vec<u8>) {
    match item {
        SentenceItem::Sentences(sentences) => {
            let mut kept: Vec<u64> = Vec::with_capacity(most.min(sentences.len()));
            for &sentence in sentences {
                if kept.len() < most && !kept.contains(&sentence) {
                    kept.push(sentence);
                }
            }
            out.push(kept.len() as u8);
            out.extend(kept.iter().flat_map(|sentence| sentence.to_le_bytes()));
        }
        SentenceItem::Empty => out.push(0),
        SentenceItem::Exact(text) => {
            out.push(TEXT);
            out.extend(text.to_le_bytes());
        }
    }
}

/// Reads an item of at most so many sentences.
pub(super) fn read_item(input: &mut Section, most: usize) -> Result<SentenceItem, FileError> {
    match input.byte()? {
        0 => Ok(SentenceItem::Empty),
        TEXT => Ok(SentenceItem::Exact(input.wide()?)),
        count if usize::from(count) <= most => {
            let sentences: Result<_, _> = (0..count).map(|_| input.number()).collect();
            Ok(SentenceItem::Sentences(sentences?))
        }
        count => Err(input.damaged(format!("a document of {count} sentences"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let items = [
            SentenceItem::Sentences((0..64).rev().collect()),
            SentenceItem::Exact(u128::MAX - 5),
            SentenceItem::Empty,
        ];
        let mut bytes = Vec::new();
        for item in &items {
            write_item(item, 64, &mut bytes);
        }
        let mut input = Section::new(bytes, 100);
        for item in &items {
            assert_eq!(read_item(&mut input, 64).unwrap(), *item);
        }
        input.end().unwrap();
    }

    #[test]
    fn more_sentences_than_are_kept_are_not_written_and_are_damage_when_read() {
        let mut bytes = Vec::new();
        write_item(&SentenceItem::Sentences(vec![3, 3, 2, 1]), 2, &mut bytes);
        let read = read_item(&mut Section::new(bytes.clone(), 0), 2).unwrap();
        assert_eq!(read, SentenceItem::Sentences(vec![3, 2]));
        let error = read_item(&mut Section::new(bytes, 10), 1).unwrap_err();
        assert!(matches!(error, FileError::Damaged { offset: 11, .. }), "{error}");
    }
}
