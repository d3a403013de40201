//! The head of a saved file: whose it is, in which format, and what it was made with.
//!
//! ```text
//! byte 0   "SIMHASH\n"  format u32  kind [12], filled up with zeros  XXH3-64 of these 24 bytes u64
//! byte 32  frame HEAD: the recipe, which is what made the entries of texts, in words; then the options of the kind
//!          a recipe begins with the version of the specification by which it is read: `specification 1; `
//! byte …   frames of the kind; a file that is written whole ends with an empty frame END!
//! ```
//! An index whose texts became entries in one way gives wrong answers for texts that became entries in another, so the
//! recipe comes first and must be the same.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::fields::number;
use crate::frame::{Frame, Input, Output};
use crate::{Fields, FileError, Section};

/// The format that this release writes and reads. A change to what any kind writes is a new one.
///
/// 1 and 2 were those of release 0.1, whose files had heads of other shapes.
pub(crate) const FORMAT: u32 = 3;

/// What the version of the specification is called where a recipe and an error state it.
pub const SPECIFICATION: &str = "specification";

/// A recipe that is read by this version of the specification.
pub fn by_version(version: u32, recipe: &str) -> String {
    format!("{SPECIFICATION} {version}; {recipe}")
}

/// The version of the specification by which a recipe is read, and the rest of the recipe. Those that were written before it was stated are of
/// version 1.
pub fn version(recipe: &str) -> (u32, &str) {
    let stated = recipe.strip_prefix(SPECIFICATION).and_then(|rest| rest.split_once("; "));
    let stated = stated.and_then(|(version, rest)| Some((version.trim().parse().ok()?, rest)));
    stated.unwrap_or((1, recipe))
}

const MAGIC: [u8; 8] = *b"SIMHASH\n";
/// Bytes before the first frame.
const FIXED: usize = 32;

/// A kind of saved files.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name: ASCII, at most twelve letters.
    pub name: &'static str,
    /// What its recipe makes, as errors call it.
    pub made: &'static str,
    /// What to say of a file that is something else.
    pub advice: &'static str,
}

/// The head of a file of this kind. Where `length` is given it is filled up with zeros to be so long.
///
/// # Errors
/// The number of bytes that it would have, if these are more.
pub fn bytes(
    kind: Kind,
    recipe: &str,
    options: &Fields,
    length: Option<usize>,
) -> Result<Vec<u8>, usize> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(kind.name.as_bytes());
    bytes.resize(FIXED - 8, 0);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    let mut body = Fields::default();
    body.text(recipe);
    body.0.extend(&options.0);
    let frame = Frame { name: HEAD, at: FIXED as u64 };
    let all = FIXED + frame.bytes(&[]).len() + body.0.len();
    let length = length.unwrap_or(all);
    if all > length {
        return Err(all);
    }
    body.0.resize(body.0.len() + length - all, 0);
    bytes.extend(frame.bytes(&body.0));
    Ok(bytes)
}

const HEAD: [u8; 4] = *b"HEAD";

/// The name of the kind of a saved file, as far as its first bytes say; none of anything else, and of what is no regular file.
///
/// # Errors
/// [`FileError::Read`].
pub fn kind_of(path: &Path) -> Result<Option<String>, FileError> {
    let read = || {
        // What is no file may wait for a writer, or be gone once it was read.
        if !path.metadata()?.is_file() {
            return Ok(None);
        }
        let mut fixed = Vec::with_capacity(FIXED);
        File::open(path)?.take(FIXED as u64).read_to_end(&mut fixed)?;
        let is_head = fixed.len() == FIXED
            && fixed.starts_with(&MAGIC)
            && number(&fixed[24..]) == xxh3_64(&fixed[..24])
            && number(&fixed[8..12]) as u32 == FORMAT;
        Ok(is_head.then(|| letters(&fixed[12..24])))
    };
    read().map_err(|error| FileError::unreadable(error).in_file(path))
}

/// The name of a kind, without the zeros behind it.
fn letters(name: &[u8]) -> String {
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    name[..end].escape_ascii().to_string()
}

impl<'a> Output<'a> {
    /// Begins a file of this kind.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn begin(
        out: &'a mut dyn Write,
        kind: Kind,
        recipe: &str,
        options: &Fields,
    ) -> Result<Self, FileError> {
        let head = bytes(kind, recipe, options, None).unwrap_or_default();
        out.write_all(&head).map_err(FileError::unwritable)?;
        Ok(Self::new(out, head.len() as u64))
    }
}

impl<R: Read> Input<R> {
    /// The head of a file of this kind and recipe; `None` takes any. Its options, to be read on from.
    ///
    /// # Errors
    /// [`FileError::Read`], [`FileError::Damaged`], [`FileError::Format`], [`FileError::Mismatch`].
    pub fn head(&mut self, kind: Kind, recipe: Option<&str>) -> Result<Section, FileError> {
        let saved = self.kind(kind.advice)?;
        if saved != kind.name {
            return Err(FileError::mismatch("method", saved, kind.name));
        }
        let mut head = self.frame(HEAD)?;
        let (saved, given) = (version(head.text()?), recipe.map(version));
        match given.filter(|&given| given != saved) {
            Some(given) if given.0 != saved.0 => {
                let (saved, given) = (saved.0.to_string(), given.0.to_string());
                Err(FileError::mismatch(SPECIFICATION, saved, given))
            }
            Some(given) => Err(FileError::mismatch(kind.made, saved.1, given.1)),
            None => Ok(head),
        }
    }

    /// The name of its kind and its recipe, of a file of any kind. `advice` is what to say of one that is something else.
    ///
    /// # Errors
    /// [`FileError::Read`], [`FileError::Damaged`], [`FileError::Format`].
    pub fn about(&mut self, advice: &'static str) -> Result<(String, String), FileError> {
        let kind = self.kind(advice)?;
        Ok((kind, self.frame(HEAD)?.text()?.to_owned()))
    }

    /// The name of the kind, of a file of this format.
    fn kind(&mut self, advice: &'static str) -> Result<String, FileError> {
        let fixed = self.start(advice)?;
        let (format, saved) = (number(&fixed[8..12]) as u32, &fixed[12..24]);
        if number(&fixed[24..]) != xxh3_64(&fixed[..24]) {
            return Err(FileError::damaged(0, "the checksum of the head is wrong"));
        }
        if format != FORMAT {
            return Err(FileError::format(format));
        }
        Ok(letters(saved))
    }

    /// The bytes before the first frame, of a file of this format or a later one.
    fn start(&mut self, advice: &str) -> Result<Vec<u8>, FileError> {
        let foreign = || FileError::damaged(0, format!("this is not a saved index; {advice}"));
        let magic = self.some(8)?;
        let sentences = magic == *b"SIMHSEN\n";
        if magic != MAGIC && !sentences {
            return Err(foreign());
        }
        let rest = self.bytes(FIXED as u64 - 8)?;
        let (format, header) = (number(&rest[..4]) as u32, number(&rest[4..8]));
        // Release 0.1: three numbers and a recipe of at most 64 KiB, where a kind has letters now.
        if sentences && format == 1 || format == 2 && (24..=1 << 16).contains(&header) {
            return Err(FileError::format(format));
        }
        if sentences {
            return Err(foreign());
        }
        Ok([magic, rest].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { name: "exact", made: "texts", advice: "" };

    #[test]
    fn a_recipe_states_its_version_and_one_that_does_not_is_of_the_first() {
        let own = by_version(7, "equal texts; a");
        assert_eq!(version(&own), (7, "equal texts; a"));
        for older in
            ["equal texts; a", "", "specification", "specification x; a", "specifications 1; a"]
        {
            assert_eq!(version(older), (1, older));
        }
    }

    #[test]
    fn another_version_is_refused_by_its_name_and_another_recipe_by_what_it_makes() {
        let refused = |saved: &str, given: &str| {
            let head = bytes(KIND, saved, &Fields::default(), None).unwrap();
            Input::new(&head[..], None).head(KIND, Some(given)).err()
        };
        let (old, first, second) = ("words", by_version(1, "words"), by_version(2, "words"));
        for (saved, given) in [(old, &first), (&first, &first), (&second, &second)] {
            assert_eq!(refused(saved, given), None);
        }
        for (saved, given, two) in [(&second, &first, ["2", "1"]), (&first, &second, ["1", "2"])] {
            let expected = FileError::mismatch("specification", two[0], two[1]);
            assert_eq!(refused(saved, given), Some(expected));
        }
        assert_eq!(refused(old, &second), Some(FileError::mismatch("specification", "1", "2")));
        let other = by_version(1, "others");
        assert_eq!(refused(&first, &other), Some(FileError::mismatch("texts", "words", "others")));
        assert_eq!(refused(old, &other), Some(FileError::mismatch("texts", "words", "others")));
    }
}
