//! In place of Parquet and Arrow, where the feature `columnar` is off: such files are known, and refused.

use crate::field::Fields;
use crate::format::Format;
use crate::layout::Layout;
use crate::made::Cells;
use crate::origin::Origin;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) struct Table(Infallible);

impl Table {
    pub(crate) fn open(_: PathBuf, _: &Arc<Origin>, format: Format) -> io::Result<Self> {
        let reason = format!("this build reads no {format}; convert it to JSON lines");
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    pub(crate) fn lines(
        &self,
        _: &Fields,
        _: usize,
        _: Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        match self.0 {}
    }

    pub(crate) fn differs(&self, _: &Self) -> Option<(String, String)> {
        match self.0 {}
    }
}

/// Writes kept rows of Parquet or Arrow inputs; there are none without the feature `columnar`.
pub struct TableWriter<W: Write>(Infallible, PhantomData<W>);

impl<W: Write + Send> TableWriter<W> {
    /// `to` comes back.
    ///
    /// # Errors
    /// None.
    pub fn new(_: &[Arc<Layout>], to: W) -> io::Result<Result<Self, W>> {
        Ok(Err(to))
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn keep(&mut self, _: usize, _: u64) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {}
    }
}

/// Makes a file of Arrow; there are none without the feature `columnar`.
pub struct TableMaker<W: Write>(Infallible, PhantomData<W>);

impl<W: Write> TableMaker<W> {
    /// Says so.
    ///
    /// # Errors
    /// Always.
    pub fn new(_: Vec<(&str, Cells)>, _: &[(&str, String)], _: W) -> io::Result<Self> {
        let reason = "this build writes no Arrow; write JSON lines or CSV";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn write(&mut self, _: Vec<Cells>) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {}
    }
}
