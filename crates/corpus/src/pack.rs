//! Compressed outputs, by name: `.gz` is one gzip member, `.zst` one zstd frame, whose bytes depend on the content alone (no time, no name).

use flate2::GzBuilder;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;

/// What compresses an output.
pub struct Packer(Kind);

enum Kind {
    Gzip(GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

/// Level of zstd, which is that of its command line.
const ZSTD_LEVEL: i32 = 3;

impl Packer {
    /// The one that a name asks for.
    ///
    /// # Errors
    /// For a name that asks for bzip2 or xz, which are only read; where memory ends.
    pub fn of(name: &Path) -> io::Result<Option<Self>> {
        let ending = name.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        Ok(match ending.as_str() {
            "gz" => {
                Some(Kind::Gzip(GzBuilder::new().write(Vec::new(), flate2::Compression::default())))
            }
            "zst" => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Some(Kind::Zstd(encoder))
            }
            "bz2" | "xz" => {
                let reason = "bzip2 and xz are read, not written; end the name in .gz or .zst";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
            }
            _ => None,
        }
        .map(Self))
    }

    /// Takes bytes in.
    ///
    /// # Errors
    /// Those of the compressor.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Kind::Gzip(encoder) => encoder.write_all(bytes),
            Kind::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    /// What is ready, where it is as much as `least`.
    pub fn take(&mut self, least: usize) -> Option<Vec<u8>> {
        let ready = match &mut self.0 {
            Kind::Gzip(encoder) => encoder.get_mut(),
            Kind::Zstd(encoder) => encoder.get_mut(),
        };
        (ready.len() >= least).then(|| std::mem::take(ready))
    }

    /// The rest.
    ///
    /// # Errors
    /// Those of the compressor.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self.0 {
            Kind::Gzip(encoder) => encoder.finish(),
            Kind::Zstd(encoder) => encoder.finish(),
        }
    }
}
