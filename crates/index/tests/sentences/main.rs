//! The sentence map against every rule of it in its plainest form.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../common/mod.rs"]
mod common;
mod live;
mod map;
mod model;
