//! What goes out of documents that were looked for among others: a line for each, or the documents themselves.

use super::framing::Framing;
use super::marks::check_marks;
use super::{
    Copies, Duplicates, LineOutputs, Output, Outputs, RecordWriter, Rejects, Target, Written,
};
use crate::error::DedupError;
use crate::read::{Fields, Layout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where answers go.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// In this form.
    Lines(&'a LineOutputs, Written),
    Records(&'a Outputs),
}

/// Writes answers.
pub(crate) enum Answers<'a> {
    Lines(Box<Option<Output<'a>>>),
    Records(Box<RecordWriter<'a>>),
}

impl<'a> Wanted<'a> {
    /// Records.
    ///
    /// # Errors
    /// [`DedupError::Option`] beside clusters: nothing is clustered.
    pub(crate) fn records(outputs: &'a Outputs) -> Result<Self, DedupError> {
        if outputs.clusters.is_some() {
            let (value, expected) = ("given".into(), "left out: nothing is clustered");
            return Err(DedupError::Option { argument: "clusters", value, expected });
        }
        Ok(Self::Records(outputs))
    }

    pub(crate) fn is_lines(self) -> bool {
        matches!(self, Self::Lines(..))
    }

    /// Whether records get marks.
    pub(crate) fn marks(self) -> bool {
        matches!(self, Self::Records(outputs) if outputs.duplicates == Duplicates::Mark)
    }

    /// Whether what is written names documents by their ids.
    pub(crate) fn names(self) -> bool {
        self.is_lines() || self.marks()
    }

    /// Refuses names of other formats than what is written.
    pub(crate) fn check_names(self) -> Result<(), DedupError> {
        match self {
            Self::Lines(outputs, written) => outputs.check_names(written),
            Self::Records(outputs) => outputs.check_names(),
        }
    }

    /// Refuses fields that marks are written to.
    pub(crate) fn check_fields(self, fields: &Fields) -> Result<(), DedupError> {
        if self.marks() { check_marks(fields) } else { Ok(()) }
    }

    pub(crate) fn targets(self) -> impl Iterator<Item = &'a Target> {
        let (lines, records) = match self {
            Self::Lines(outputs, _) => (Some(outputs.targets()), None),
            Self::Records(outputs) => (None, Some(outputs.targets())),
        };
        lines.into_iter().flatten().chain(records.into_iter().flatten())
    }

    /// Opens the outputs, and those of rejects beside them. Of the inputs the first are `known`, and never written; `is_live`: not all
    /// are read before the first is written.
    pub(crate) fn open(
        self,
        (names, layouts): (Vec<PathBuf>, Vec<Arc<Layout>>),
        known: usize,
        is_live: bool,
        cancel: &'a AtomicBool,
    ) -> Result<(Answers<'a>, Rejects<'a>), DedupError> {
        Ok(match self {
            Self::Lines(outputs, _) => {
                let rejects = Rejects::open(outputs.rejects.as_ref(), names, cancel)?;
                let lines = outputs.lines.as_ref();
                let output = lines.map(|target| Output::open(target, cancel)).transpose()?;
                (Answers::Lines(Box::new(output)), rejects)
            }
            Self::Records(outputs) => {
                let about = (names, layouts);
                let mut writer = RecordWriter::open(outputs, about, known, is_live, cancel)?;
                let rejects = std::mem::take(&mut writer.rejects);
                (Answers::Records(Box::new(writer)), rejects)
            }
        })
    }
}

impl<'a> Answers<'a> {
    /// Where lines go.
    pub(crate) fn lines(&self) -> Option<&Output<'a>> {
        match self {
            Self::Lines(output) => output.as_ref().as_ref(),
            Self::Records(_) => None,
        }
    }

    /// Appends lines, or records that [`Answers::framing`] has rendered.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        match self {
            Self::Lines(output) => {
                output.as_mut().as_mut().map_or(Ok(()), |output| output.write(bytes))
            }
            Self::Records(writer) => writer.append(bytes),
        }
    }

    /// What renders records; none where lines are written, or nothing is.
    pub(crate) fn framing(&mut self) -> Result<Option<Arc<Framing>>, DedupError> {
        match self {
            Self::Lines(_) => Ok(None),
            Self::Records(writer) => writer.begin(),
        }
    }

    /// The open files, to be sealed and moved into place, after what comes behind the last record; and copies, which are taken back unless
    /// they are kept.
    pub(crate) fn end(self) -> Result<(Vec<Output<'a>>, Option<Copies<'a>>), DedupError> {
        Ok(match self {
            Self::Lines(output) => (output.into_iter().collect(), None),
            Self::Records(mut writer) => {
                writer.end()?;
                let (outputs, copies) = writer.into_outputs();
                (outputs.collect(), copies)
            }
        })
    }
}
