//! Records in: the bytes of files, folders and streams to records.
//!
//! ```text
//! file, stream ──► decompressed ──► block: about 1 MiB of whole records ──► record: text, id | rejected
//! (one reader thread, one `Cut` for each format)  (bounded queue)            (in parallel, `Layout::record`)
//! ```
//!
//! A block has the bytes as they came, and a record is a range of them: a kept record is written as it was
//! read. An encoding in which ASCII stands for itself (UTF-8, GB18030, Big5) is decoded record by record, in parallel; UTF-16 is turned
//! into UTF-8 while it is read, and the texts of a folder and the columns of Parquet and Arrow into JSON lines.
//!
//! Invariants: every record becomes exactly one record or one rejection; the position of a record (input, offset, length) finds
//! its bytes again, in the file or, where [`Opened::spooled`] says so, in a copy of what was read.

mod array;
mod block;
#[cfg(feature = "columnar")]
mod columnar;
#[cfg(not(feature = "columnar"))]
#[path = "columnar/absent.rs"]
mod columnar;
mod csv;
mod cut;
mod encoding;
mod error;
mod field;
mod files;
mod form;
mod format;
mod glob;
mod guess;
mod html;
mod id;
mod input;
mod layout;
mod lines;
mod made;
mod origin;
mod pack;
mod record;
mod sample;
mod spare;
mod statement;
mod texts;
mod unpack;
mod utf16;

pub use block::{Block, Checked, Line, grouped};
pub use columnar::{TableMaker, TableWriter};
pub use encoding::Encoding;
pub use error::{CorpusError, NoColumn};
pub use field::Fields;
pub use form::{Form, MAX_RECORD_BYTES};
pub use format::Format;
pub use id::{Id, id_json, id_of_key, key_of_id, name_of_id};
pub use input::{Again, Input, Opened, Reading, agree, spawn, uses_all};
pub use layout::Layout;
pub use made::Cells;
pub use origin::{Origin, read_exact_at};
pub use pack::Packer;
pub use record::{Rank, Record};
pub use statement::Statement;
