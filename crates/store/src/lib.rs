//! Bytes and files, and nothing of documents: how a file gets its name, and who has it.
//!
//! ```text
//!  Draft::new ──► write ──► seal: permissions, fsync, a name beside the target ──► rename ──► fsync of the folder
//!     │                                                                            (or: a new name, never over a file)
//!     └ unnamed where the file system can, so that a killed process leaves nothing; else named and locked
//! ```
//! A [`Draft`] is the one way in which this library replaces or makes a file: the content appears whole or not at all,
//! permissions stay, symbolic links stay, and what is no regular file is never replaced. [`lock`] says whether a file is
//! somebody's.

mod error;
pub mod folder;
pub mod lock;
mod place;
mod publish;
mod slot;
mod system;

pub use error::PublishError;
pub use place::Place;
pub use publish::{Access, Created, Draft, publish_all};
