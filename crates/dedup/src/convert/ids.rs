//! The ids that the command line of release 0.1 kept beside an index.
//!
//! ```text
//! {"ids":"simhash-native","version":1,"fingerprinter":{…}}   how texts became fingerprints
//! "d001"                                                     one line per document
//! {"documents":1,"index":"<sha-256>","lines":"<sha-256>"}    a seal: of the index file, of all lines above
//! ```
//! Adding documents wrote further lines and a further seal, before the index was replaced: the last seal that is one of the index
//! counts, and what follows it does not.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use simhash_store::FileError;

use crate::error::DedupError;
use crate::parallel;
use crate::read::key_of_id;

/// Bytes read at a time.
const PIECE: usize = 1 << 20;

#[derive(Deserialize)]
struct Header {
    ids: String,
    version: u64,
}

#[derive(Deserialize)]
struct Seal {
    documents: u64,
    index: String,
    lines: String,
}

/// The keys of the documents of `index`, by number, where there is a file of ids beside it.
pub(super) fn beside(index: &Path, cancel: &AtomicBool) -> Result<Option<Vec<String>>, DedupError> {
    let mut path = index.as_os_str().to_owned();
    path.push(".ids.jsonl");
    let path = PathBuf::from(path);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(FileError::unreadable(error).in_file(&path).into());
        }
    };
    let digest = digest_of(index, cancel)?;
    Ok(Some(keys(&bytes, &digest).map_err(|error| error.in_file(&path))?))
}

/// In hexadecimal digits.
fn hex(sum: Sha256) -> String {
    let bytes = sum.finalize();
    bytes.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn digest_of(path: &Path, cancel: &AtomicBool) -> Result<String, DedupError> {
    let unreadable = |error| FileError::unreadable(error).in_file(path);
    let mut file = File::open(path).map_err(unreadable)?;
    let (mut sum, mut room) = (Sha256::default(), vec![0; PIECE]);
    loop {
        parallel::check(cancel)?;
        match file.read(&mut room) {
            Ok(0) => return Ok(hex(sum)),
            Ok(read) => sum.update(&room[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error).into()),
        }
    }
}

/// The keys up to the last seal of an index of this digest.
fn keys(bytes: &[u8], index: &str) -> Result<Vec<String>, FileError> {
    let damaged = |at: usize, reason: String| FileError::damaged(at as u64, reason);
    let (mut keys, mut sealed) = (Vec::new(), None);
    let (mut sum, mut at) = (Sha256::default(), 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if at == 0 {
            let header = serde_json::from_slice::<Header>(line).ok();
            let Some(header) = header.filter(|header| header.ids == "simhash-native") else {
                return Err(damaged(0, "this is no list of ids of an index".to_owned()));
            };
            if header.version != 1 {
                return Err(damaged(0, format!("ids of version {} of 1", header.version)));
            }
        } else if line.first() == Some(&b'{') {
            let seal = serde_json::from_slice::<Seal>(line).ok();
            let seal = seal.filter(|seal| {
                seal.documents == keys.len() as u64 && seal.lines == hex(sum.clone())
            });
            let Some(seal) = seal else {
                return Err(damaged(at, "a seal that is not of the lines above it".to_owned()));
            };
            if seal.index == index {
                sealed = Some(keys.len());
            }
        } else {
            let id = str::from_utf8(line).ok().map(str::trim_end);
            let id = id.filter(|id| serde_json::from_str::<String>(id).is_ok());
            let id = id.ok_or_else(|| damaged(at, "a line that is no id".to_owned()))?;
            keys.push(key_of_id(id).into_owned());
        }
        sum.update(line);
        at += line.len();
    }
    let reason = "no seal of the index beside it: they are of two runs, or this file is cut short";
    keys.truncate(sealed.ok_or_else(|| damaged(at, reason.to_owned()))?);
    Ok(keys)
}
