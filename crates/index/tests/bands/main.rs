//! The band index: laws against plain models, its S-curve against chance, its file against damage.

#![allow(clippy::unwrap_used)] // helpers of tests

mod curve;
mod image;
mod live;
mod model;
mod skew;
mod window;
