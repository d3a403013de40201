//! Compressed inputs, known by their first bytes: gzip, zstd, bzip2, xz; each to its end, members and frames that follow included.
//!
//! Nothing grows without bound: a window of zstd is 128 MiB at most, the memory of xz 256 MiB; bzip2 and gzip have limits of their own. What comes
//! out has one too (`expansion`).

mod archive;
pub(crate) mod expansion;
mod gzip;

pub(crate) use archive::refused;
use expansion::{Limited, Taken};
use gzip::Gunzip;
use std::io::{self, BufReader, Read};

/// What an input is compressed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

/// Bytes that tell.
pub(crate) const MAGIC_BYTES: usize = 6;

/// Largest window of zstd, as a power of two: what `zstd -d` takes without being asked.
const ZSTD_WINDOW_LOG: u32 = 27;
/// Most memory of xz, in KiB; `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// Compressed bytes read at a time.
const BUFFER_BYTES: usize = 128 << 10;

impl Packing {
    /// By the first bytes.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or one that is skipped, as pzstd writes it first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// What is in it: so many bytes, or more where it has many itself (`expansion`).
    pub(crate) fn unpack(
        self,
        from: impl Read + Send + 'static,
        free: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        let (from, taken) = Taken::new(from);
        let (decoder, name) = (self.decoder(from)?, self.name());
        Ok(Box::new(Limited { decoder, name, taken, made: 0, free }))
    }

    fn decoder(self, from: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        let buffered = BufReader::with_capacity(BUFFER_BYTES, Patient(from));
        Ok(match self {
            Self::Gzip => Box::new(Gunzip::new(buffered)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(Named { from: decoder, name: "zstd", unpacked: 0 })
            }
            Self::Bzip2 => {
                let decoder = bzip2::bufread::MultiBzDecoder::new(buffered);
                Box::new(Named { from: decoder, name: "bzip2", unpacked: 0 })
            }
            Self::Xz => {
                let decoder = lzma_rust2::XzReader::new_mem_limit(buffered, true, XZ_MEMORY_KIB);
                Box::new(Named { from: decoder, name: "xz", unpacked: 0 })
            }
        })
    }
}

/// A read that a signal interrupted is tried again here: who is in the middle of a frame cannot do so.
struct Patient<R>(R);

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

/// A decoder whose errors say what is damaged, and how far it came.
struct Named<R> {
    from: R,
    name: &'static str,
    unpacked: u64,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.from.read(buffer) {
            Ok(read) => {
                self.unpacked += read as u64;
                Ok(read)
            }
            Err(error) if error.raw_os_error().is_some() => Err(error),
            Err(error) if is_beyond_limit(&error) => {
                let Self { name, unpacked, .. } = self;
                let limit = match *name {
                    "zstd" => {
                        "its window is larger than 128 MiB, which is the most that is read; compress it anew without --ultra and with --long=27 at most"
                    }
                    _ => {
                        "it needs more than 256 MiB of memory, which is the most that is taken; compress it anew with a smaller dictionary, as xz -9 has"
                    }
                };
                let reason = format!(
                    "{name} after {unpacked} decompressed bytes: {limit}, or unpack it first"
                );
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
            Err(error) => {
                let Self { name, unpacked, .. } = self;
                let reason = format!("damaged {name} after {unpacked} decompressed bytes: {error}");
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
        }
    }
}

/// Whether a decoder gave up because it would have to take more memory than it may.
fn is_beyond_limit(error: &io::Error) -> bool {
    // zstd names its reason alone.
    error.kind() == io::ErrorKind::OutOfMemory || error.to_string().contains("too much memory")
}

#[cfg(test)]
mod tests {
    use super::expansion::OF_INPUT;
    use super::*;
    use std::io::{Cursor, Write};

    const TEXT: &[u8] = b"{\"text\":\"a text of one member\"}\n";

    fn packed(packing: Packing) -> Vec<u8> {
        match packing {
            Packing::Gzip => {
                let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
                to.write_all(TEXT).unwrap();
                to.finish().unwrap()
            }
            Packing::Zstd => {
                let mut to = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
                to.include_checksum(true).unwrap();
                to.write_all(TEXT).unwrap();
                to.finish().unwrap()
            }
            Packing::Bzip2 => {
                let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(6));
                to.write_all(TEXT).unwrap();
                to.finish().unwrap()
            }
            // The crate writes none here: made by `xz`.
            Packing::Xz => include_bytes!("text.xz").to_vec(),
        }
    }

    fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let packing = Packing::of(&bytes).unwrap();
        packing.unpack(Cursor::new(bytes), OF_INPUT)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn members_that_follow_each_other_are_read_to_the_end() {
        for packing in [Packing::Gzip, Packing::Zstd, Packing::Bzip2, Packing::Xz] {
            let one = packed(packing);
            assert_eq!(Packing::of(&one), Some(packing));
            assert_eq!(unpacked([&one[..], &one].concat()).unwrap(), [TEXT, TEXT].concat());
        }
    }

    #[test]
    fn damage_and_what_comes_behind_are_named() {
        for (packing, name) in [
            (Packing::Gzip, "gzip"),
            (Packing::Zstd, "zstd"),
            (Packing::Bzip2, "bzip2"),
            (Packing::Xz, "xz"),
        ] {
            let one = packed(packing);
            let cut = one[..one.len() - 9].to_vec();
            let mut flipped = one.clone();
            flipped[one.len() / 2] ^= 0xff;
            for bytes in [cut, flipped, [&one[..], b"garbage that is none"].concat()] {
                let told = unpacked(bytes).unwrap_err().to_string();
                assert!(told.contains(name), "{told}");
            }
        }
    }

    #[test]
    fn a_window_beyond_the_limit_is_an_error_not_memory() {
        // A frame of zstd that says it needs a window of 2 GiB.
        let frame = b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00".to_vec();
        let told = unpacked(frame).unwrap_err().to_string();
        assert!(told.starts_with("zstd after 0 ") && told.contains("than 128 MiB"), "{told}");
        // A block of xz that says it needs a dictionary of 1 GiB.
        let mut xz = packed(Packing::Xz);
        let header = 12..12 + 4 * (usize::from(xz[12]) + 1);
        let (body, sum) = xz[header].split_last_chunk_mut::<4>().unwrap();
        let properties = body.windows(2).position(|pair| pair == [0x21, 1]).unwrap() + 2;
        body[properties] = 36;
        let mut crc = flate2::Crc::new();
        crc.update(body);
        *sum = crc.sum().to_le_bytes();
        let told = unpacked(xz).unwrap_err().to_string();
        assert!(told.starts_with("xz after 0 ") && told.contains("than 256 MiB"), "{told}");
    }

    #[test]
    fn what_is_no_text_is_called_what_it_is() {
        let zip = |name: &[u8]| [b"PK\x03\x04", &[0; 26][..], name].concat();
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"a.txt");
        tar[257..262].copy_from_slice(b"ustar");
        for (head, said) in [
            (zip(b"a.txt"), "a ZIP archive; unpack it first"),
            (zip(b"[Content_Types].xml"), ".docx, .xlsx and .pptx"),
            (b"PK\x05\x06\0\0".to_vec(), "a ZIP archive; unpack it first"),
            (tar, "a tar archive; unpack it first"),
            (b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), "a 7z archive"),
            (b"Rar!\x1a\x07\x01\0".to_vec(), "a RAR archive"),
            (b"\x04\x22\x4d\x18\x64".to_vec(), "compressed by LZ4"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), ".doc and .xls"),
            (b"%PDF-1.7\n".to_vec(), "a PDF document"),
        ] {
            let told = refused(&head).unwrap();
            assert!(told.contains(said), "{told}");
        }
        let twice = refused(&packed(Packing::Gzip)).unwrap();
        assert!(twice.starts_with("it is compressed twice: unpacked it is gzip"), "{twice}");
        for head in [&b""[..], TEXT, b"PK", b"%PDF", b"\xff\xfe"] {
            assert_eq!(refused(head), None);
        }
    }
}
