//! What a run may take: memory, threads and a folder of temporary files.

use crate::error::DedupError;
use crate::options::{DedupOptions, FileOptions};
use simhash_store::Room;
use std::path::{Path, PathBuf};

/// Least bytes that [`FileOptions::memory`](crate::FileOptions::memory) can be: 200 MiB.
pub const LEAST_MEMORY: u64 = 200 << 20;
/// Bytes of a process that does nothing yet, Node.js and its code included, and of what runs share.
const BASE: u64 = 120 << 20;
/// Bytes that a thread works with: its blocks, and what is made of them.
const OF_THREAD: u64 = 40 << 20;

/// The limits of a run.
pub(super) struct Within {
    pub(super) room: Room,
    pub(super) folder: PathBuf,
    /// The options, with as many threads as the memory is enough for.
    pub(super) dedup: DedupOptions,
}

impl Within {
    /// `own` is the folder of the run, where it has one.
    pub(super) fn new(options: &FileOptions, own: Option<&Path>) -> Result<Self, DedupError> {
        let folder = own.map(Path::to_owned).or_else(|| options.tmp.clone());
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        let mut dedup = options.dedup.clone();
        let Some(most) = options.memory else {
            return Ok(Self { room: Room::default(), folder, dedup });
        };
        let (argument, value) = ("memory", most.to_string());
        if !Room::CAN_BOUND {
            let expected = "left out on this system, which does not tell how much a process holds";
            return Err(DedupError::Option { argument, value, expected });
        }
        if most < LEAST_MEMORY {
            let expected = "at least 209715200 bytes (200 MiB)";
            return Err(DedupError::OutOfRange { argument, value, expected });
        }
        let threads = match dedup.threads {
            0 => rayon::current_num_threads(),
            given => given,
        };
        dedup.threads = threads.min(((most - BASE) / OF_THREAD) as usize).max(1);
        Ok(Self { room: Room::bounded(most, &folder)?, folder, dedup })
    }
}
