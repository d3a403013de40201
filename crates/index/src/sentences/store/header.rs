//! The first bytes of the file: what the index was made with.
//!
//! ```text
//! "SIMHSEN\n"  version u32  length u32
//! sentences u64  share f64  count u64  windowed u64  maxAge u64  maxCount u64 (0: none)  recipe, UTF-8   (length bytes)
//! 0 …  XXH3-64
//! ```

use xxhash_rust::xxh3::xxh3_64;

use super::super::{Common, SentenceOptions};
use super::frame::number;
use crate::IndexError;
use crate::image::frame::{Fields, Section};
use crate::live::Window;

/// Bytes of the header, its checksum included: room for the longest recipe, and whole sectors.
pub(super) const HEADER: usize = 3072;

const MAGIC: [u8; 8] = *b"SIMHSEN\n";
const VERSION: u32 = 1;
/// Longest recipe, in bytes; those of this library have some 200.
const RECIPE: usize = 2048;

pub(super) fn write(options: &SentenceOptions, recipe: &str) -> Result<Vec<u8>, IndexError> {
    if recipe.len() > RECIPE {
        let given = format!("{} bytes", recipe.len());
        return Err(IndexError::Sentences { name: "recipe", given, range: "0 to 2048 bytes" });
    }
    let limits = options.window.unwrap_or_default();
    let mut fields = Fields::default();
    fields.number(options.sentences as u64);
    fields.number(options.common.share.to_bits());
    fields.number(u64::from(options.common.count));
    fields.number(u64::from(options.window.is_some()));
    fields.number(limits.max_age.unwrap_or(0));
    fields.number(limits.max_count.unwrap_or(0));
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(((fields.0.len() + recipe.len()) as u32).to_le_bytes());
    bytes.extend(fields.0);
    bytes.extend(recipe.as_bytes());
    bytes.resize(HEADER - 8, 0);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    Ok(bytes)
}

/// Options and recipe. `bytes` are those of the header, fewer where the file has no more.
pub(super) fn read(bytes: &[u8]) -> Result<(SentenceOptions, String), IndexError> {
    let damaged = |offset, reason: String| IndexError::Damaged { offset, reason };
    if !bytes.starts_with(&MAGIC) {
        let what =
            "this is not a saved index of sentences; name one, or a file that does not exist yet";
        return Err(damaged(0, what.to_owned()));
    }
    if bytes.len() < HEADER {
        return Err(damaged(bytes.len() as u64, "the file ends within its header".to_owned()));
    }
    let (head, sum) = bytes.split_at(HEADER - 8);
    let version = number(&bytes[8..]) as u32;
    if version != VERSION {
        return Err(damaged(8, format!("version {version}; this program reads {VERSION}")));
    }
    if number(sum) != xxh3_64(head) {
        return Err(damaged(0, "the checksum of the header is wrong".to_owned()));
    }
    let length = (number(&bytes[8..]) >> 32) as usize;
    let Some(fields) = head.get(16..16 + length) else {
        return Err(damaged(12, format!("options of {length} bytes")));
    };
    let mut fields = Section::new(fields.to_vec(), 16);
    let (sentences, share) = (fields.number()? as usize, f64::from_bits(fields.number()?));
    let (count, windowed) = (fields.number()? as u32, fields.number()? > 0);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    let (max_age, max_count) = (limit(fields.number()?), limit(fields.number()?));
    let window = windowed.then_some(Window { max_age, max_count });
    let options = SentenceOptions { sentences, common: Common { share, count }, window };
    options.check().map_err(|error| fields.damaged(error.to_string()))?;
    let recipe = fields.rest()?;
    Ok((options, recipe))
}
