//! The whole index of sentences as one stream of bytes, in the frames of `simhash_store`.
//!
//! ```text
//! HEAD: recipe; sentences, share, count, window
//! WHOL: the state (`whole`)
//! ```

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{Fields, Input, Kind, Output, Section};

use super::written::{read_options, written_options};
use super::{SentenceIndex, SentenceMap, SentenceOptions, State};
use crate::IndexError;
use crate::live::saved::{ADVICE, Whole};
use crate::live::{Keeping, Shared};

/// 62 bytes per document with five sentences of its own, 78 with a window; as much memory until it is written.
impl Whole for SentenceMap {
    const FILE: Kind = Kind { name: "sentences", made: "sentences", advice: ADVICE };
    type Copy = Vec<u8>;
    type Awaited = ();

    fn written(options: &SentenceOptions) -> Fields {
        written_options(options)
    }

    fn copied(_: &SentenceOptions, state: &State) -> Vec<u8> {
        state.write()
    }

    fn awaited(_: &Arc<Shared<Self>>) {}

    fn write_frames(
        _: &Arc<Shared<Self>>,
        whole: Vec<u8>,
        (): (),
        out: &mut Output<'_>,
        _: &AtomicBool,
    ) -> Result<(), IndexError> {
        Ok(out.frame(*b"WHOL", &whole)?)
    }

    fn read_frames<R: Read>(
        mut fields: Section,
        input: &mut Input<R>,
    ) -> Result<SentenceIndex, IndexError> {
        let options = read_options(&mut fields)?;
        fields.end()?;
        let state = State::read(&options, &mut input.frame(*b"WHOL")?)?;
        Ok(SentenceIndex::of(options, state, Keeping::Memory, ()))
    }
}
