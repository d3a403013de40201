//! The live index of documents, in memory and in files. What is killed has test programs of its own.

#[path = "../common/mod.rs"]
mod common;
#[path = "../model/mod.rs"]
mod model;
#[path = "../sealed/mod.rs"]
mod sealed;

mod alone;
mod answers;
mod files;
mod keys;
mod limits;
mod same_key;
