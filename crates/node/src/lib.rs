//! The Node addon: conversions between JavaScript and the core crates, and nothing else.
//!
//! ```text
//! JavaScript thread                           pool of threads
//! strings, bytes ──text──► arenas ──task────► core crates ──► plain vectors
//! typed arrays  ◄──columns────────◄──settle──────────────────────┘
//! ```
//! Inputs are copied before a call returns (a large array in slices before the call, `staging`); work never touches the
//! engine; results are typed arrays that the engine owns. Errors leave through `error`, with their code, whether thrown or
//! rejected. Every export catches panics: nothing that JavaScript passes may end the process.

#![allow(unreachable_pub, reason = "the macros of napi export what is `pub`, in whatever module")]
#![cfg_attr(test, allow(dead_code, reason = "in a test build the macros of napi export nothing"))]
#![allow(clippy::needless_pass_by_value, reason = "what comes from JavaScript comes by value")]

mod callback;
mod check;
mod columns;
mod cut;
mod deduper;
mod direct;
mod error;
mod evaluate;
mod explain;
mod files;
mod fingerprinter;
mod held;
mod index;
mod lexicon;
mod machine;
mod measure;
mod minhash;
mod normalizer;
mod pool;
mod sentences;
mod sketch;
mod staging;
mod stdout;
mod task;
mod text;
mod version;
