//! An index of sentences, as release 0.1 kept it: the whole as it once was, and every change since.
//!
//! ```text
//! byte 0     "SIMHSEN\n"  1 u32  length u32  options, recipe …  0 …  XXH3-64 of all this              3,072 bytes
//! byte 3072  mark:  bytes that count u64  turn u64  XXH3-64  0 …                                      512 bytes
//! byte 3584  mark:  the same, written in turns                                                        512 bytes
//! byte 4096  frame: length u64  kind u64 (1 whole, 2 changes)  body …  XXH3-64 of all this
//!            frame …
//! options: sentences u64  share f64  count u64  windowed u64  maxAge u64  maxCount u64 (0: none)
//! ```
//! The checksums of marks and frames begin with their place. Before the mark every byte has to be right; behind it an incomplete last frame
//! is a torn tail, and all else that is wrong is damage. Whole and changes are written as they are now.

use std::cell::Cell;
use std::io::Read;

use simhash_index::sentences::Common;
use simhash_index::{IndexError, Window};
use simhash_sketch::{ExtractorOptions, Fingerprinter, FingerprinterOptions};
use simhash_store::fields::number;
use simhash_store::{FileError, Input, Section};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use crate::error::DedupError;
use crate::live::{LiveIndex, LiveMethod, LiveOptions, Stored};

/// Bytes of the header, its checksum included.
const HEADER: u64 = 3072;
/// Bytes of a mark.
const MARK: u64 = 512;
/// Where the first frame is.
const FRAMES: u64 = HEADER + 2 * MARK;
/// Bytes around the body of a frame.
const AROUND: u64 = 24;

/// Frames of a whole and of changes.
const WHOLE: u64 = 1;
const CHANGES: u64 = 2;

pub(super) fn read<R: Read>(
    input: &mut Input<R>,
    fixed: Vec<u8>,
    words: &ExtractorOptions,
) -> Result<(LiveIndex, u64), DedupError> {
    let options = options(input, fixed, words)?;
    let Frames { whole, changes, torn_bytes } = Frames::read(input)?;
    let place = Cell::new(whole.1);
    let changes = changes.into_iter().map(|(body, at)| {
        place.set(at);
        body
    });
    let live = LiveIndex::kept_elsewhere(&options, Some(whole.0), changes);
    let live = live.map_err(|error| match error {
        DedupError::Cancelled => DedupError::Cancelled,
        DedupError::Index(IndexError::File(FileError::Damaged { offset, reason, .. })) => {
            FileError::damaged(place.get() + offset, reason).into()
        }
        // What the header says cannot be.
        other => FileError::damaged(16, other.to_string()).into(),
    })?;
    Ok((live, torn_bytes))
}

/// What the header says.
fn options<R: Read>(
    input: &mut Input<R>,
    mut bytes: Vec<u8>,
    words: &ExtractorOptions,
) -> Result<LiveOptions, DedupError> {
    let (mut fields, recipe) = header(input, &mut bytes)?;
    let mut numbers = [0; 6];
    for number in &mut numbers {
        *number = fields.number()?;
    }
    let [sentences, share, least, windowed, age, most] = numbers;
    // What is compared on texts has words of its own now. The index stores no texts: they are those that it is opened with by default.
    let usual = FingerprinterOptions::default();
    let usual = Fingerprinter::new(&usual)?.to_string();
    let unknown = || FileError::damaged(64, format!("sentences that are unknown: {recipe}"));
    let (_, normalize) = recipe.split_once(", normalize ").ok_or_else(unknown)?;
    let (features, _) = usual.split_once(", normalize ").ok_or_else(unknown)?;
    let recipe = format!("{recipe}; {features}, normalize {normalize}");
    let mut options = LiveOptions::described("sentences", &recipe, words)?;
    if let LiveMethod::Sentences { count, common, .. } = &mut options.method {
        *count = usize::try_from(sentences).unwrap_or(usize::MAX);
        let least = u32::try_from(least).unwrap_or(u32::MAX);
        *common = Some(Common { share: f64::from_bits(share), count: least });
    }
    let limit = |limit: u64| (limit > 0).then_some(limit);
    options.window = (windowed > 0).then(|| Window { max_age: limit(age), max_count: limit(most) });
    (options.stored, options.verify) = (Stored::NOTHING, None);
    Ok(options)
}

/// The numbers of the header, to be read, and its recipe.
fn header<R: Read>(
    input: &mut Input<R>,
    bytes: &mut Vec<u8>,
) -> Result<(Section, String), FileError> {
    bytes.extend(input.bytes(HEADER - 16)?);
    let (head, sum) = bytes.split_at(HEADER as usize - 8);
    if number(sum) != xxh3_64(head) {
        return Err(FileError::damaged(0, "the checksum of the header is wrong"));
    }
    let length = number(&head[12..16]) as usize;
    let fields = head.get(16..16 + length);
    let fields =
        fields.ok_or_else(|| FileError::damaged(12, format!("options of {length} bytes")))?;
    let recipe = fields.get(48..).map(|recipe| String::from_utf8(recipe.to_vec()));
    let Some(Ok(recipe)) = recipe else {
        return Err(FileError::damaged(64, "options without words that make sentences"));
    };
    Ok((Section::new(fields.to_vec(), 16), recipe))
}

/// A body, and where it begins.
type Body = (Vec<u8>, u64);

struct Frames {
    whole: Body,
    changes: Vec<Body>,
    torn_bytes: u64,
}

impl Frames {
    fn read<R: Read>(input: &mut Input<R>) -> Result<Self, FileError> {
        let end = marked(input)?;
        let whole = frame(input, WHOLE)?;
        let mut changes = Vec::new();
        while input.offset() < end {
            changes.push(frame(input, CHANGES)?);
        }
        if input.offset() != end {
            let reason = format!("a frame ends here, but what counts ends at {end}");
            return Err(FileError::damaged(input.offset(), reason));
        }
        loop {
            let left = input.left();
            let start = input.offset();
            if left == 0 {
                return Ok(Self { whole, changes, torn_bytes: 0 });
            }
            let head = input.bytes(left.min(16))?;
            let is_cut = left < 16 || number(&head).saturating_add(AROUND) > left;
            if is_cut && (left < 16 || number(&head[8..]) == CHANGES) {
                return Ok(Self { whole, changes, torn_bytes: left });
            }
            changes.push(body(input, &head, CHANGES, start)?);
        }
    }
}

/// How many bytes count: the mark of the later turn.
fn marked<R: Read>(input: &mut Input<R>) -> Result<u64, FileError> {
    let mut latest: Option<(u64, u64)> = None;
    for _ in 0..2 {
        let at = input.offset();
        let bytes = input.bytes(MARK)?;
        let (end, turn) = (number(&bytes), number(&bytes[8..]));
        let rest = bytes[24..].iter().all(|&byte| byte == 0);
        if number(&bytes[16..]) != xxh3_64_with_seed(&bytes[..16], at) || !rest {
            return Err(FileError::damaged(at, "this mark's checksum is wrong"));
        }
        latest = latest.max(Some((turn, end)));
    }
    let end = latest.map_or(FRAMES, |(_, end)| end);
    let length = input.offset().saturating_add(input.left());
    if end > length {
        let reason = format!("the file ends here, but what counts ends at {end}");
        return Err(FileError::damaged(length, reason));
    }
    Ok(end)
}

/// The next frame, of this kind.
fn frame<R: Read>(input: &mut Input<R>, kind: u64) -> Result<Body, FileError> {
    let start = input.offset();
    let head = input.bytes(16)?;
    body(input, &head, kind, start)
}

fn body<R: Read>(
    input: &mut Input<R>,
    head: &[u8],
    kind: u64,
    start: u64,
) -> Result<Body, FileError> {
    let (length, found) = (number(head), number(&head[8..]));
    if found != kind {
        let reason = format!("a frame of kind {found} in place of {kind}");
        return Err(FileError::damaged(start, reason));
    }
    let room = input.left().saturating_sub(8);
    if length > room {
        let reason = format!("a frame of {length} bytes, the file has {room} for it");
        return Err(FileError::damaged(start, reason));
    }
    let at = input.offset();
    let body = input.bytes(length)?;
    let mut sum = Xxh3::with_seed(start);
    sum.update(head);
    sum.update(&body);
    if number(&input.bytes(8)?) != sum.digest() {
        return Err(FileError::damaged(start, "the checksum of this frame is wrong"));
    }
    Ok((body, at))
}
