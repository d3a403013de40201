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

use super::whole::Copied;
use super::written::{read_options, written_options};
use super::{SentenceIndex, SentenceMap, SentenceOptions, State};
use crate::IndexError;
use crate::live::saved::{ADVICE, Whole};
use crate::live::{Keeping, Shared};

/// 62 bytes per document with five sentences of its own, 78 with a window; as much memory while it is written. The copy shares
/// sketches, records, groups and times with the index until they change: it takes a pointer for each 4,096 of them, and 16 bytes for each
/// sentence of documents that were not added.
impl Whole for SentenceMap {
    const FILE: Kind = Kind { name: "sentences", made: "sentences", advice: ADVICE };
    type Copy = Copied;
    type Awaited = ();

    fn written(options: &SentenceOptions) -> Fields {
        written_options(options)
    }

    fn copied(_: &SentenceOptions, state: &State) -> Copied {
        Copied::of(state)
    }

    fn awaited(_: &Arc<Shared<Self>>) {}

    fn write_frames(
        _: &Arc<Shared<Self>>,
        copied: Copied,
        (): (),
        out: &mut Output<'_>,
        _: &AtomicBool,
    ) -> Result<(), IndexError> {
        Ok(out.frame(*b"WHOL", &copied.write())?)
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
