//! Ways to deduplicate the documents of files, tried on a sample of them.

use super::sampled::{Sample, sample_files};
use crate::deduper::Deduper;
use crate::error::DedupError;
use crate::evaluate::{
    DocumentTexts, Evaluation, LabelledPair, Labels, Reported, Truth, Verification, evaluate,
};
use crate::options::{DedupOptions, SampleOptions};
use crate::read::Input;
use crate::report::Rejected;
use ahash::AHashMap;
use simhash_sketch::Fingerprinter;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// What one way has come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its scores.
    pub evaluation: Evaluation,
    /// Ids of the labels that no document of the sample has.
    pub unknown_labels: u64,
    /// Bytes held for the documents, texts aside.
    pub index_bytes: u64,
    /// Wall time of everything but reading.
    pub seconds: f64,
}

/// What all of them have come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// Documents of the sample.
    pub documents: u64,
    /// By way, in their order.
    pub trials: Vec<Trial>,
    /// Lines that say nothing, of all files together.
    pub rejected: u64,
    /// The first of them, at most [`Summary::REPORTED`](crate::Summary::REPORTED).
    pub first_rejected: Vec<Rejected>,
}

/// Draws a sample of documents ([`sample_files`]), deduplicates it in each of `trials`, and scores what they find: against `labels`,
/// or else against all pairs of the sample from the similarity `options.least` on. A number and a string of its digits are the same
/// id; of documents with one id the first counts. `told` is called after each trial. A sample without documents is tried by none.
///
/// Memory: the sample, and that of a [`Deduper`]. The scores depend on files and options only.
///
/// # Errors
/// Those of [`sample_files`], and of [`Deduper::new`] for a trial.
pub fn tune_files(
    inputs: &[Input],
    labels: Option<&[Input]>,
    options: &SampleOptions,
    trials: &[DedupOptions],
    told: &dyn Fn(&Trial),
    cancel: &AtomicBool,
) -> Result<Tuned, DedupError> {
    let sample = sample_files(inputs, labels, options, cancel)?;
    let (by, threads) = (Fingerprinter::new(&options.fingerprinter)?, options.read.threads);
    let corpus = Corpus::of(&sample);
    let mut done = Vec::new();
    if !corpus.texts.is_empty() {
        let (labels, unknown_labels) = match labels {
            Some(_) => corpus.stated(&sample, options.least)?,
            None => (corpus.exact(&by, options, cancel)?, 0),
        };
        for trial in trials {
            let Found { clusters, index_bytes, seconds } = corpus.deduplicated(trial, cancel)?;
            let reported = Reported::new(corpus.size, &[], &clusters)?;
            let all = Verification { fingerprinter: &by, texts: &corpus.firsts, threads };
            let verification = Some(&all).filter(|_| !clusters.is_empty());
            let evaluation = evaluate(&labels, &reported, verification, cancel)?;
            let trial = Trial { evaluation, unknown_labels, index_bytes, seconds };
            told(&trial);
            done.push(trial);
        }
    }
    let Sample { documents, summary, .. } = &sample;
    Ok(Tuned {
        documents: documents.len() as u64,
        trials: done,
        rejected: summary.rejected,
        first_rejected: summary.first_rejected.clone(),
    })
}

/// The documents of a sample.
struct Corpus<'a> {
    texts: Vec<&'a str>,
    /// By id: its number.
    numbers: AHashMap<&'a str, u32>,
    /// By document: the number of its id.
    number: Vec<u32>,
    /// By number: the first text with the id.
    firsts: Firsts<'a>,
    /// Different ids.
    size: u32,
}

struct Firsts<'a>(Vec<&'a str>);

impl DocumentTexts for Firsts<'_> {
    fn with_text(&self, document: u32, read: &mut dyn FnMut(&str)) {
        if let Some(text) = self.0.get(document as usize) {
            read(text);
        }
    }
}

/// What a run has found, and what it took.
struct Found {
    /// What is kept comes first.
    clusters: Vec<Vec<u32>>,
    index_bytes: u64,
    seconds: f64,
}

impl<'a> Corpus<'a> {
    fn of(sample: &'a Sample) -> Self {
        let (mut numbers, mut number, mut firsts) = (AHashMap::new(), Vec::new(), Vec::new());
        for (id, text) in &sample.documents {
            let next = firsts.len() as u32;
            let own = *numbers.entry(id.as_str()).or_insert(next);
            if own == next {
                firsts.push(text.as_str());
            }
            number.push(own);
        }
        let texts = sample.documents.iter().map(|(_, text)| text.as_str()).collect();
        let size = firsts.len() as u32;
        Self { texts, numbers, number, firsts: Firsts(firsts), size }
    }

    /// What labels state of the documents, and how many ids they name that none has.
    fn stated(&self, sample: &Sample, least: f64) -> Result<(Labels, u64), DedupError> {
        let mut unknown = 0;
        let mut known = |id: &String| {
            let number = self.numbers.get(id.as_str()).copied();
            unknown += u64::from(number.is_none());
            number
        };
        let clusters: Vec<Vec<u32>> =
            sample.clusters.iter().map(|ids| ids.iter().filter_map(&mut known).collect()).collect();
        let mut pairs = Vec::new();
        for (a, b, similarity) in &sample.pairs {
            if let (Some(a), Some(b)) = (known(a), known(b)) {
                pairs.push(LabelledPair { a, b, similarity: *similarity });
            }
        }
        Ok((Labels::new(self.size, &clusters, &pairs, least)?, unknown))
    }

    /// All pairs.
    fn exact(
        &self,
        by: &Fingerprinter,
        options: &SampleOptions,
        cancel: &AtomicBool,
    ) -> Result<Labels, DedupError> {
        let threads = options.read.threads;
        let Truth { mut groups, mut pairs } =
            Truth::of(&self.texts, by, options.least, threads, cancel)?;
        let number = |document: u32| self.number[document as usize];
        groups.iter_mut().flatten().for_each(|document| *document = number(*document));
        for LabelledPair { a, b, .. } in &mut pairs {
            (*a, *b) = (number(*a), number(*b));
        }
        Labels::new(self.size, &groups, &pairs, options.least)
    }

    fn deduplicated(&self, trial: &DedupOptions, cancel: &AtomicBool) -> Result<Found, DedupError> {
        let mut deduper = Deduper::new(trial)?;
        let mut decisions = deduper.push(&self.texts, cancel)?;
        decisions.extend(deduper.finish(cancel)?);
        let summary = deduper.summary();
        let mut clusters: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for decision in decisions {
            let Some(kept) = decision.duplicate_of else { continue };
            let first = || vec![self.number[kept as usize]];
            let members = clusters.entry(kept).or_insert_with(first);
            members.push(self.number[decision.index as usize]);
        }
        Ok(Found {
            clusters: clusters.into_values().collect(),
            index_bytes: summary.index_bytes,
            seconds: summary.seconds,
        })
    }
}
