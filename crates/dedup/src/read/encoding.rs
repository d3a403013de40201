//! Encodings that are none of ours, known by how a file begins.

use std::io;

/// An error where an input begins like UTF-16, with a byte order mark or with two characters of ASCII: of its lines every
/// one would be rejected.
pub(super) fn check(head: &[u8]) -> io::Result<()> {
    let name = match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        [1..=0x7f, 0, 1..=0x7f, 0, ..] => "UTF-16LE",
        [0, 1..=0x7f, 0, 1..=0x7f, ..] => "UTF-16BE",
        _ => return Ok(()),
    };
    let reason = format!(
        "it looks like UTF-16 (it begins with {:02X} {:02X}); convert it first: iconv -f {name} -t UTF-8 FILE",
        head[0], head[1]
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
}
