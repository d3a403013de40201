//! What a checkpoint says of its run: every option that changes what comes out, and the inputs as they were.

use super::damaged;
use crate::error::DedupError;
use crate::options::{DedupOptions, FileOptions};
use crate::read::{Fields as Named, Origin};
use crate::write::{Outputs, Target};
use simhash_sketch::Fingerprinter;
use simhash_store::{Fields, FileError, Section};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The stamp of an input that is no single file.
const NO_STAMP: [u64; 3] = [u64::MAX; 3];

/// A run, in words.
pub(crate) struct Described {
    /// Options by their names.
    options: Vec<(&'static str, String)>,
    origins: Vec<Option<Arc<Origin>>>,
}

impl Described {
    /// `fields` are those that are read; `names` those of all inputs, of which the first `known` were there already.
    pub(crate) fn new(
        (options, fields): (&FileOptions, &Named),
        (names, known): (&[PathBuf], usize),
        outputs: &Outputs,
        origins: Vec<Option<Arc<Origin>>>,
    ) -> Result<Self, DedupError> {
        let FileOptions { dedup, form, across_files_only, .. } = options;
        let DedupOptions { method, cluster, keep, measure, min_similarity, .. } = dedup;
        let said = |value: &dyn Debug| format!("{value:?}");
        let (known, inputs) = names.split_at(known);
        let options = vec![
            ("release", env!("CARGO_PKG_VERSION").to_owned()),
            ("inputs", said(&inputs)),
            ("known", said(&known)),
            ("outputs", said(&targets(outputs))),
            ("mark", said(&outputs.duplicates)),
            ("list", said(&outputs.list)),
            ("output_encoding", said(&outputs.encoding)),
            ("features", Fingerprinter::new(&dedup.fingerprinter)?.to_string()),
            ("method", said(method)),
            ("cluster", said(cluster)),
            ("keep", said(keep)),
            ("measure", said(measure)),
            ("min_similarity", said(min_similarity)),
            ("max_verifications", dedup.max_verifications.to_string()),
            ("max_bucket", dedup.max_bucket.to_string()),
            ("fields", said(fields)),
            ("form", said(form)),
            ("across_files_only", said(across_files_only)),
        ];
        Ok(Self { options, origins })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.number(self.options.len() as u64);
        for (name, value) in &self.options {
            fields.text(name);
            fields.text(value);
        }
        fields.number(self.origins.len() as u64);
        for origin in &self.origins {
            let stamp = origin.as_ref().map_or(NO_STAMP, |origin| origin.stamp());
            for number in stamp {
                fields.number(number);
            }
        }
        fields.0
    }

    /// That what a checkpoint says is this run.
    pub(super) fn check(&self, mut said: Section, path: &Path) -> Result<(), DedupError> {
        let failed = |error| damaged(error, path);
        self.check_options(&mut said).map_err(failed)?;
        let count = said.number().map_err(failed)?;
        if count != self.origins.len() as u64 {
            return Err(failed(said.damaged(format!("{count} inputs"))));
        }
        for origin in &self.origins {
            let mut number = || said.number().map_err(failed);
            let stamp = [number()?, number()?, number()?];
            match origin {
                Some(origin) if stamp != NO_STAMP => {
                    origin.check_since(stamp).map_err(|error| since(error.into()))?;
                }
                // Its blocks say whether it is what it was.
                _ => {}
            }
        }
        said.end().map_err(failed)
    }

    fn check_options(&self, said: &mut Section) -> Result<(), FileError> {
        let count = said.number()?;
        let mut saved = Vec::new();
        for _ in 0..count {
            saved.push((said.text()?.to_owned(), said.text()?.to_owned()));
        }
        for (name, given) in &self.options {
            let saved = saved.iter().find(|(other, _)| other == name);
            let saved = saved.map_or("nothing", |(_, value)| value);
            if saved != given {
                return Err(FileError::mismatch(name, saved, given));
            }
        }
        Ok(())
    }
}

/// The error of an input that is not what it was when the run began.
fn since(error: DedupError) -> DedupError {
    match error {
        DedupError::InputChanged { path, line, what } => changed(path, line, &what),
        other => other,
    }
}

/// That an input is not what it was when the run began.
pub(super) fn changed(path: PathBuf, line: Option<u64>, what: &str) -> DedupError {
    let what = format!("{what} since the run began, which has to begin anew");
    DedupError::InputChanged { path, line, what }
}

/// Where results go: by these a later run finds the checkpoint.
fn targets(outputs: &Outputs) -> [Option<PathBuf>; 3] {
    [&outputs.records, &outputs.clusters, &outputs.rejects].map(|target| {
        let path = target.as_ref().and_then(Target::path)?;
        std::path::absolute(path).ok()
    })
}

/// A number for these outputs.
pub(super) fn number_of(outputs: &Outputs) -> u64 {
    xxh3_64(format!("{:?}", targets(outputs)).as_bytes())
}
