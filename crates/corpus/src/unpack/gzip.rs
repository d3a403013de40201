//! Gzip, all members of it, with the place of what is wrong.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

/// The first byte of a member.
const MAGIC: u8 = 0x1f;

/// Decompressed bytes of one member after the other. Zeros behind the last one are padding, as for gzip(1); anything else
/// is an error, so that no text is left out silently.
pub(super) struct Gunzip<R: BufRead> {
    state: State<R>,
}

enum State<R: BufRead> {
    Between(Place<R>),
    Within { member: Box<GzDecoder<Place<R>>>, start: u64 },
    Ended,
}

impl<R: BufRead> Gunzip<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { state: State::Between(Place { reader, at: 0 }) }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Between(place) => self.state = next(place)?,
                State::Within { mut member, start } => {
                    let read = member.read(buffer).map_err(|error| {
                        let known = member.header().is_some();
                        damaged(error, if known { member.get_ref().at } else { start })
                    })?;
                    if read > 0 {
                        self.state = State::Within { member, start };
                        return Ok(read);
                    }
                    self.state = State::Between(member.into_inner());
                }
            }
        }
    }
}

/// What follows a member, or the beginning.
fn next<R: BufRead>(mut place: Place<R>) -> io::Result<State<R>> {
    let mut padded = false;
    loop {
        let bytes = place.fill_buf()?;
        let Some(&first) = bytes.first() else { return Ok(State::Ended) };
        if first == MAGIC && !padded {
            let start = place.at;
            return Ok(State::Within { member: Box::new(GzDecoder::new(place)), start });
        }
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        padded = true;
        place.consume(zeros);
        if zeros == 0 {
            let what = "neither gzip nor padding with zeros comes after the gzip data; cut it off";
            let reason = format!("at byte {}: {what}", place.at);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
    }
}

/// An error of the decoder with its place; one of the reader below is what it is.
fn damaged(error: io::Error, at: u64) -> io::Error {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if !matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        return error;
    }
    io::Error::new(error.kind(), format!("damaged gzip at byte {at}: {error}"))
}

/// A reader that knows where it is.
struct Place<R> {
    reader: R,
    at: u64,
}

impl<R: BufRead> Read for Place<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Place<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount as u64;
        self.reader.consume(amount);
    }
}
