//! Inputs to blocks of lines to records.
//!
//! ```text
//! file, gzip, stream ──► block: about 1 MiB of whole lines ──► record: text, id | rejected
//!  (one reader thread)     (bounded queue)                       (in parallel)
//! ```
//!
//! A record is one line of JSON (or, where a [`Format`] says so, of text). Its bytes are never rebuilt: a kept record is written as it was
//! read. The parser visits the line once, checks all of it, and takes out two fields only.
//!
//! Invariants: every line that is not blank becomes exactly one record or one rejection; the
//! position of a record (input, offset, length) finds its bytes again.

mod block;
mod encoding;
mod field;
mod format;
mod gunzip;
mod id;
mod input;
mod origin;
mod statement;

pub use block::MAX_LINE_BYTES;
pub(crate) use block::{Block, Line, Reader};
pub use field::Fields;
pub(crate) use field::Record;
pub use format::Format;
pub(crate) use id::{Id, id_json, id_of_key, key_of_id, name_of_id};
pub use input::Input;
pub(crate) use input::{Opened, spawn};
pub(crate) use origin::{Origin, read_exact_at};
pub(crate) use statement::Statement;
