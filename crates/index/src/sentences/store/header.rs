//! The head of the file, in `simhash_store`'s form: what the index was made with.
//!
//! ```text
//! options: sentences u64  share f64  count u64  window
//! ```

use std::io::Read;

use simhash_store::{Fields, FileError, Input, Kind, Section, head};

use super::super::{Common, SentenceOptions};
use crate::IndexError;
use crate::live::saved::{read_window, window};

/// Bytes of the head, its checksum included: room for the longest recipe, and whole sectors.
pub(super) const HEADER: usize = 3072;

/// Longest recipe, in bytes; those of this library have some 200.
const RECIPE: usize = 2048;

const KIND: Kind = Kind {
    name: "sentence-log",
    made: "sentences",
    advice: "name one, or a file that does not exist yet",
};

pub(super) fn write(options: &SentenceOptions, recipe: &str) -> Result<Vec<u8>, IndexError> {
    let head = head::bytes(KIND, recipe, &written_options(options), Some(HEADER)).ok();
    head.filter(|_| recipe.len() <= RECIPE).ok_or_else(|| {
        let given = format!("{} bytes", recipe.len());
        IndexError::Sentences { name: "recipe", given, range: "0 to 2048 bytes" }
    })
}

/// The options of a file with this recipe.
pub(super) fn read(
    input: &mut Input<impl Read>,
    recipe: &str,
) -> Result<SentenceOptions, FileError> {
    let mut fields = input.head(KIND, Some(recipe))?;
    if input.offset() != HEADER as u64 {
        let reason = format!("a head of {} bytes in place of {HEADER}", input.offset());
        return Err(FileError::damaged(0, reason));
    }
    read_options(&mut fields)
}

/// Options, as they are written.
pub(in crate::sentences) fn written_options(options: &SentenceOptions) -> Fields {
    let mut fields = Fields::default();
    fields.number(options.sentences as u64);
    fields.number(options.common.share.to_bits());
    fields.number(u64::from(options.common.count));
    window(options.window, &mut fields);
    fields
}

/// Options, as they were written.
pub(in crate::sentences) fn read_options(
    fields: &mut Section,
) -> Result<SentenceOptions, FileError> {
    let (sentences, share) = (fields.number()? as usize, f64::from_bits(fields.number()?));
    let count = fields.number()? as u32;
    let window = read_window(fields)?;
    let options = SentenceOptions { sentences, common: Common { share, count }, window };
    options.check().map_err(|error| fields.damaged(error.to_string()))?;
    Ok(options)
}
