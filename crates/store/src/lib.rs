//! Bytes and files, and nothing of documents: how a file gets its name, and who has it.
//!
//! ```text
//!  Draft::new ──► write ──► seal: permissions, fsync, a name beside the target ──► rename ──► fsync of the folder
//!     │                                                                            (or: a new name, never over a file)
//!     └ unnamed where the file system can, so that a killed process leaves nothing; else named and locked
//! ```
//! ```text
//!  head ──► frame ──► frame …    each with its length, and a checksum of all of it and of its place; `tail`: what a crash tore
//! ```
//! A [`Draft`] is the one way in which this library replaces or makes a file: the content appears whole or not at all,
//! permissions stay, symbolic links stay, and what is no regular file is never replaced. [`lock`] says whether a file is
//! somebody's. Whatever a file of this library holds lies in [`frame`]s behind a [`head`]; words that are looked up in place lie
//! in [`Blocks`], which are mapped and checked at first touch. What a run holds for each document lies in [`Column`]s of a [`Room`],
//! in memory or within a bound in temporary files.

pub mod directory;
mod error;
pub mod fields;
pub mod folder;
pub mod frame;
pub mod head;
pub mod lock;
pub mod log;
mod map;
mod place;
mod publish;
pub mod record;
mod room;
pub mod saved;
mod slot;
mod staged;
mod staging;
mod system;
pub mod tail;

pub use error::{FileError, PublishError};
pub use fields::{Fields, Section};
pub use frame::{Frame, Input, Output};
pub use head::Kind;
pub use map::{Blocks, Mapped};
pub use place::Place;
pub use publish::{Access, Created, Draft, publish_all};
pub use room::{Column, Parts, Room, RoomError};
pub use staged::Staged;
pub use staging::{Staging, rename_new, sync_below};
