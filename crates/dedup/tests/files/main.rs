//! Runs over files: what they read and write, refuse, name and leave.

#[path = "../common/mod.rs"]
mod common;
#[path = "../forms/mod.rs"]
mod forms;
#[cfg(feature = "columnar")]
#[path = "../tables/mod.rs"]
mod tables;

mod across;
mod changed;
mod columnar;
mod decontaminate;
mod edges;
mod faults;
mod folders;
mod formats;
mod index_files;
mod known_files;
mod nine_forms;
mod outputs;
mod packed;
mod refused;
mod round_trip;
mod same_ids;
mod stated;
mod unusable;
