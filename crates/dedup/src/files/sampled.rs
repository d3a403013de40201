//! A sample of the documents of files with something to find in it: random ones, and those near them.

use super::expanded;
use super::intake::{Intake, Parsed};
use super::stated::{Names, Stated};
use crate::error::DedupError;
use crate::evaluate::{LabelledPair, Neighbourhood};
use crate::options::SampleOptions;
use crate::read::{Input, Line, id_json, name_of_id};
use crate::report::Summary;
use crate::write::Rejects;
use simhash_sketch::Fingerprinter;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Documents of files, and what is stated of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Id and text of each, in the order of the files.
    pub documents: Vec<(String, String)>,
    /// Clusters of the labels, by id.
    pub clusters: Vec<Vec<String>>,
    /// Pairs of the labels, by id, with their similarities.
    pub pairs: Vec<(String, String, f64)>,
    /// Of one reading: `read = kept + rejected`, where lines of labels that say nothing are rejected too.
    pub summary: Summary,
}

/// Draws documents at random, each with the same probability, and adds those near them, at most as many; with labels in place of those
/// all documents that these name. Files are read twice where they have more than the sample.
///
/// The sample depends on files and options only.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files); [`DedupError::Option`] for a stream, which cannot be read twice.
pub fn sample_files(
    inputs: &[Input],
    labels: Option<&[Input]>,
    options: &SampleOptions,
    cancel: &AtomicBool,
) -> Result<Sample, DedupError> {
    let inputs = &*expanded(inputs, "inputs", &options.read.form)?;
    if let Some(Input::Stream(_)) = inputs.iter().find(|input| matches!(input, Input::Stream(_))) {
        let (value, expected) = ("a stream".into(), "files, which can be read twice");
        return Err(DedupError::Option { argument: "inputs", value, expected });
    }
    let mut names = Names::default();
    let mut told = Summary::default();
    let stated = labels
        .map(|labels| Stated::read(labels, &options.read, &mut names, &mut told, cancel))
        .transpose()?;
    let (mut chosen, summary) = draw(inputs, options, cancel)?;
    if summary.kept > u64::from(options.size) {
        let near = if stated.is_some() {
            None
        } else {
            let texts: Vec<&str> = chosen.values().map(|(_, text)| text.as_str()).collect();
            let by = Fingerprinter::new(&options.fingerprinter)?;
            let threads = options.read.threads;
            Some(Neighbourhood::new(&texts, &by, options.least, threads, cancel)?)
        };
        add(inputs, options, near.as_ref(), &names, &mut chosen, cancel)?;
    }
    let mut summary = summary;
    told.read = told.rejected;
    summary.add(told);
    let stated = stated.unwrap_or_default();
    let by_number = names.into_names();
    let name = |number: u32| by_number[number as usize].clone();
    let of = |pair: LabelledPair| (name(pair.a), name(pair.b), pair.similarity);
    let members = |members: Vec<u32>| members.into_iter().map(name).collect();
    Ok(Sample {
        documents: chosen.into_values().collect(),
        clusters: stated.clusters.into_iter().map(members).collect(),
        pairs: stated.pairs.into_iter().map(of).collect(),
        summary,
    })
}

/// Id and text, by position among the documents.
type Chosen = BTreeMap<u64, (String, String)>;

/// The documents drawn at random: Vitter's algorithm R, one pass.
fn draw(
    inputs: &[Input],
    options: &SampleOptions,
    cancel: &AtomicBool,
) -> Result<(Chosen, Summary), DedupError> {
    let mut random = Xorshift::new(options.seed);
    let size = options.size as usize;
    let mut slots: Vec<(u64, (String, String))> = Vec::new();
    let mut total = 0;
    let summary = each(inputs, options, cancel, |documents| {
        for (id, text) in documents {
            let place = if total < size as u64 { total } else { random.below(total + 1) };
            if let Some(slot) = slots.get_mut(place as usize) {
                *slot = (total, (id, text));
            } else if slots.len() < size {
                slots.push((total, (id, text)));
            }
            total += 1;
        }
        Ok(())
    })?;
    Ok((slots.into_iter().collect(), summary))
}

/// Adds what is near the sample, or what has a name.
fn add(
    inputs: &[Input],
    options: &SampleOptions,
    near: Option<&Neighbourhood>,
    names: &Names,
    chosen: &mut Chosen,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    let (mut position, mut added) = (0, 0);
    each(inputs, options, cancel, |documents| {
        let near = near.filter(|_| added < options.size).map(|near| {
            let texts: Vec<&str> = documents.iter().map(|(_, text)| text.as_str()).collect();
            near.near(&texts, cancel)
        });
        let near = near.transpose()?;
        for (row, document) in documents.into_iter().enumerate() {
            let wanted = match &near {
                Some(near) => near[row] && added < options.size,
                None => names.has(&document.0),
            };
            if wanted && !chosen.contains_key(&position) {
                chosen.insert(position, document);
                added += 1;
            }
            position += 1;
        }
        Ok(())
    })?;
    Ok(())
}

/// Reads all documents, block by block; ids by name.
fn each(
    inputs: &[Input],
    options: &SampleOptions,
    cancel: &AtomicBool,
    mut take: impl FnMut(Vec<(String, String)>) -> Result<(), DedupError>,
) -> Result<Summary, DedupError> {
    let read = &options.read;
    let mut intake = Intake::open(&[inputs], &read.fields, &read.form, read.threads, cancel)?;
    let mut rejects = Rejects::open(None, intake.records.names(), cancel)?;
    let mut summary = Summary::default();
    while let Some(block) = intake.next_block()? {
        summary.bytes += block.length;
        let accepted: Vec<(&Line, Parsed<'_, ()>)> =
            intake.accept(&block, |_, _| (), &mut summary, &mut rejects)?;
        summary.read += accepted.len() as u64;
        summary.kept += accepted.len() as u64;
        let prefix = intake.records.id_prefix(block.input);
        let document = |(line, parsed): (&Line, Parsed<'_, ()>)| {
            let id = id_json(parsed.id, prefix, line.number);
            (name_of_id(&id).into_owned(), parsed.text.into_owned())
        };
        take(accepted.into_iter().map(document).collect())?;
    }
    if let Some(error) = intake.unusable(&summary) {
        return Err(error);
    }
    intake.check_unchanged()?;
    Ok(summary)
}

/// Whole numbers, the same for the same seed: Marsaglia's xorshift, 32 bits, as `tune` has it for documents that do not come from files.
struct Xorshift(u32);

impl Xorshift {
    fn new(seed: u32) -> Self {
        // A state of 0 would stay 0; the golden ratio scatters small seeds.
        Self(seed.wrapping_mul(0x9e37_79b9).max(1))
    }

    #[expect(clippy::cast_sign_loss, reason = "a product of numbers that are not negative")]
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (f64::from(self.0) / 2f64.powi(32) * bound as f64) as u64
    }
}
