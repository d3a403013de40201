//! The pages of a Parquet column, unpacked within a limit. The library finds them; it would unpack whatever size a page says that it
//! has, and some compressors go on beyond that.

use super::{PAGE_BYTES, Source};
use crate::error::malformed;
use crate::origin::Sequential;
use bytes::Bytes;
use parquet::basic::{Compression, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most values that a page may say it has: many times what any writer puts into one.
const PAGE_VALUES: u32 = 1 << 26;
/// Read at once where the header of a page is.
const HEADER_BYTES: usize = 256;
/// In place of a size: not seen.
const NONE: u64 = u64::MAX;

/// A file whose page headers are looked at.
pub(super) struct Headers {
    pub(super) source: Source,
    /// Bytes that the last page has, unpacked.
    last: Arc<AtomicU64>,
}

impl Headers {
    pub(super) fn new(source: Source) -> Self {
        Self { source, last: Arc::new(AtomicU64::new(NONE)) }
    }
}

impl Length for Headers {
    fn len(&self) -> u64 {
        self.source.origin.length()
    }
}

impl ChunkReader for Headers {
    type T = BufReader<Sequential>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let from = self.source.origin.reader_at(start);
        let mut reader = BufReader::with_capacity(HEADER_BYTES, from);
        self.last.store(size_in(reader.fill_buf()?).unwrap_or(NONE), Ordering::Relaxed);
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(self.source.bytes(start, length)?.into())
    }
}

/// What a header says of the unpacked page: its second field. The first three are numbers, in this order in all files there are.
fn size_in(header: &[u8]) -> Option<u64> {
    const NEXT_NUMBER: u8 = 0x15;
    let mut rest = header.iter();
    let mut number = || {
        if *rest.next()? != NEXT_NUMBER {
            return None;
        }
        let (mut value, mut shift) = (0u64, 0);
        loop {
            let byte = *rest.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                // Of a number that may be negative the lowest bit is the sign.
                return (value & 1 == 0).then_some(value >> 1);
            }
            if shift > 28 {
                return None;
            }
        }
    };
    number()?;
    number()
}

/// The pages of one column of a row group.
pub(super) struct Pages {
    packed: SerializedPageReader<Headers>,
    last: Arc<AtomicU64>,
    /// Bytes of the page whose header was read before it.
    peeked: Option<u64>,
    codec: Compression,
    least: usize,
}

impl Pages {
    pub(super) fn new(source: Source, group: &RowGroupMetaData, leaf: usize) -> Result<Self> {
        let column = group.column(leaf);
        let codec = column.compression();
        let least = match column.column_type() {
            Type::BOOLEAN => usize::MAX,
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => {
                usize::try_from(column.column_descr().type_length().max(1))?
            }
        };
        let as_it_is = Compression::UNCOMPRESSED;
        let plain = column.clone().into_builder().set_compression(as_it_is).build()?;
        let headers = Headers::new(source);
        let last = Arc::clone(&headers.last);
        let rows = usize::try_from(group.num_rows())?;
        let packed = SerializedPageReader::new(Arc::new(headers), &plain, rows, None)?;
        Ok(Self { packed, last, peeked: None, codec, least })
    }

    fn unpack(&self, page: Page, size: u64) -> io::Result<Page> {
        let values = page.num_values();
        if values > PAGE_VALUES {
            return Err(malformed(format!(
                "a page of {values} values, and {PAGE_VALUES} are the most"
            )));
        }
        if size > PAGE_BYTES as u64 {
            return Err(malformed(format!(
                "a page of {size} bytes, and {PAGE_BYTES} are the most"
            )));
        }
        let size = size as usize;
        let mut page = page;
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = unpacked(self.codec, buf, size)?.unwrap_or_else(|| buf.clone());
            }
            Page::DataPageV2 {
                buf,
                is_compressed: true,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                // The levels lie before the values, and are not packed.
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                if levels > buf.len() || levels > size {
                    return Err(malformed("a page that is shorter than its levels"));
                }
                let values = if levels == size {
                    Some(Vec::new().into())
                } else {
                    unpacked(self.codec, &buf[levels..], size - levels)?
                };
                if let Some(values) = values {
                    *buf = [&buf[..levels], &values].concat().into();
                }
            }
            Page::DataPageV2 { .. } => {}
        }
        if let Page::DictionaryPage { buf, num_values, .. } = &page
            && (*num_values as usize).saturating_mul(self.least) > buf.len()
        {
            return Err(malformed("a dictionary that is shorter than its values"));
        }
        Ok(page)
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.packed.get_next_page()?;
        let size = self.peeked.take().unwrap_or_else(|| self.last.load(Ordering::Relaxed));
        let Some(page) = page else { return Ok(None) };
        if size == NONE {
            return Err(ParquetError::General("a page does not say its size".into()));
        }
        Ok(Some(self.unpack(page, size)?))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.last.store(NONE, Ordering::Relaxed);
        let about = self.packed.peek_next_page()?;
        match self.last.load(Ordering::Relaxed) {
            NONE => {}
            seen => self.peeked = Some(seen),
        }
        Ok(about)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.peeked = None;
        self.packed.skip_next_page()
    }
}

/// Exactly so many bytes; `None`: they are not packed.
fn unpacked(codec: Compression, from: &[u8], size: usize) -> io::Result<Option<Bytes>> {
    let wrong = || malformed(format!("a page that does not unpack to its {size} bytes"));
    let mut to = Vec::new();
    match codec {
        Compression::UNCOMPRESSED => return Ok(None),
        Compression::SNAPPY => {
            if snap::raw::decompress_len(from).ok() != Some(size) {
                return Err(wrong());
            }
            to = vec![0; size];
            snap::raw::Decoder::new().decompress(from, &mut to).map_err(|_| wrong())?;
        }
        Compression::GZIP(_) => {
            let from = flate2::read::MultiGzDecoder::new(from);
            from.take(size as u64 + 1).read_to_end(&mut to)?;
        }
        Compression::ZSTD(_) => to = zstd::bulk::decompress(from, size)?,
        Compression::LZ4_RAW => to = lz4(from, size).ok_or_else(wrong)?,
        Compression::LZ4 => {
            to = lz4_blocks(from, size).or_else(|| lz4(from, size)).ok_or_else(wrong)?;
        }
        Compression::BROTLI(_) | Compression::LZO => {
            let reason =
                "its pages are packed with Brotli or LZO; write it with zstd, snappy, gzip or lz4";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
    }
    if to.len() == size { Ok(Some(to.into())) } else { Err(wrong()) }
}

fn lz4(from: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut to = vec![0; size];
    (lz4_flex::block::decompress_into(from, &mut to).ok()? == size).then_some(to)
}

/// As Hadoop has them: each block behind its sizes.
fn lz4_blocks(mut from: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut to = Vec::new();
    while !from.is_empty() {
        let (whole, rest) = from.split_first_chunk::<4>()?;
        let (packed, rest) = rest.split_first_chunk::<4>()?;
        let (whole, packed) = (u32::from_be_bytes(*whole), u32::from_be_bytes(*packed));
        if to.len() + whole as usize > size {
            return None;
        }
        let (block, behind) = rest.split_at_checked(packed as usize)?;
        to.extend(lz4(block, whole as usize)?);
        from = behind;
    }
    Some(to)
}
