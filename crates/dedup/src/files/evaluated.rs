//! A result in a file, scored against labels in files.

use super::check_any;
use super::intake::Intake;
use super::stated::{Names, Stated};
use crate::error::DedupError;
use crate::evaluate::{DocumentTexts, Evaluation, Labels, Reported, Verification, evaluate};
use crate::options::EvaluateOptions;
use crate::read::{Input, id_json, name_of_id};
use crate::report::{Rejected, Summary};
use crate::write::Rejects;
use simhash_sketch::Fingerprinter;
use std::sync::atomic::AtomicBool;

/// The scores of a result, and what of the files they leave out.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The scores.
    pub evaluation: Evaluation,
    /// Ids of the result that no document has.
    pub unknown_decisions: u64,
    /// Ids of the labels that no document has.
    pub unknown_labels: u64,
    /// Lines that say nothing, of all files together.
    pub rejected: u64,
    /// The first of them, at most [`Summary::REPORTED`].
    pub first_rejected: Vec<Rejected>,
}

/// Scores a result against labels: JSON lines that name clusters (`{"representative", "members": [{"id"}]}`, `[id, …]`), pairs (`{"a", "b",
/// "similarity"}` or `"label"`) or decisions (`{"id", "duplicateOf"}`), as outputs do. Without `documents` the documents are those that both name; with
/// them links are verified on the texts. A number and a string of its digits are the same id.
///
/// Memory: ids, and the texts of documents that the result links.
///
/// # Errors
/// Those of [`dedup_files`](crate::dedup_files); [`DedupError::NoRecords`] also where no line of the result or of the labels says anything;
/// [`DedupError::Option`] where the labels are empty files.
pub fn evaluate_files(
    result: &[Input],
    labels: &[Input],
    documents: Option<&[Input]>,
    options: &EvaluateOptions,
    cancel: &AtomicBool,
) -> Result<Scored, DedupError> {
    check_any(result, "result")?;
    check_any(labels, "labels")?;
    let mut counts = Summary::default();
    let mut names = Names::default();
    let mut read = |inputs: &[Input], argument: &'static str, counts: &mut Summary| {
        let mut own = Summary::default();
        let stated = Stated::read(inputs, &options.read, &mut names, &mut own, cancel)?;
        if let Some(first) = own.first_rejected.first().filter(|_| own.rejected == own.read) {
            let hint = "it names no cluster, pair or decision".to_owned();
            let (rejected, first) = (own.rejected, first.clone());
            return Err(DedupError::NoRecords { rejected, first, hint, text_in: None });
        }
        if own.read == 0 && argument == "labels" {
            let (value, expected) = ("empty files".into(), "files that say what is true");
            return Err(DedupError::Option { argument, value, expected });
        }
        let before = std::mem::take(counts);
        own.add(before);
        *counts = own;
        Ok(stated)
    };
    let found = read(result, "result", &mut counts)?;
    let truth = read(labels, "labels", &mut counts)?;
    let mut places: Vec<Option<u32>> = (0..names.len()).map(Some).collect();
    let (mut size, mut texts) = (names.len(), Vec::new());
    if let Some(documents) = documents {
        let mut corpus = Corpus::new(names, &found);
        corpus.load(documents, options, &mut counts, cancel)?;
        Corpus { places, texts, size, .. } = corpus;
    }
    let place = |number: u32| places[number as usize];
    let (truth, unknown_labels) = truth.placed(place);
    let (found, unknown_decisions) = found.placed(place);
    let labels = Labels::new(size, &truth.clusters, &truth.pairs, options.least)?;
    let links: Vec<_> = found.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    let reported = Reported::new(size, &links, &found.clusters)?;
    let fingerprinter = Fingerprinter::new(&options.fingerprinter)?;
    let texts = Texts(texts);
    let threads = options.read.threads;
    let verification = Verification { fingerprinter: &fingerprinter, texts: &texts, threads };
    let verification = Some(&verification).filter(|_| documents.is_some() && !texts.0.is_empty());
    let evaluation = evaluate(&labels, &reported, verification, cancel)?;
    let Summary { rejected, first_rejected, .. } = counts;
    Ok(Scored { evaluation, unknown_decisions, unknown_labels, rejected, first_rejected })
}

/// The documents of a corpus.
struct Corpus {
    names: Names,
    /// By number: whether the result links it.
    linked: Vec<bool>,
    /// By number: its place among the documents.
    places: Vec<Option<u32>>,
    /// By place, ascending, of those that are linked.
    texts: Vec<(u32, String)>,
    size: u32,
}

impl Corpus {
    fn new(names: Names, found: &Stated) -> Self {
        let mut linked = vec![false; names.len() as usize];
        found.linked().for_each(|number| linked[number as usize] = true);
        let places = vec![None; linked.len()];
        Self { names, linked, places, texts: Vec::new(), size: 0 }
    }

    /// Takes all documents. A repeated id counts once, with its first text.
    fn load(
        &mut self,
        inputs: &[Input],
        options: &EvaluateOptions,
        counts: &mut Summary,
        cancel: &AtomicBool,
    ) -> Result<(), DedupError> {
        let read = &options.read;
        let mut intake = Intake::open(&[inputs], &read.fields, &read.form, read.threads, cancel)?;
        let mut rejects = Rejects::open(None, intake.records.names(), cancel)?;
        let mut own = Summary::default();
        while let Some(block) = intake.next_block()? {
            let accepted = intake.accept(&block, |_, _| (), &mut own, &mut rejects)?;
            for (line, parsed) in accepted {
                own.read += 1;
                let prefix = intake.records.id_prefix(block.input);
                let id = id_json(parsed.id, prefix, line.number);
                let number = self.names.number(&name_of_id(&id)) as usize;
                if number == self.places.len() {
                    self.places.push(None);
                    self.linked.push(false);
                }
                if self.places[number].is_some() {
                    continue;
                }
                if self.linked[number] {
                    self.texts.push((self.size, parsed.text.into_owned()));
                }
                self.places[number] = Some(self.size);
                self.size = self.size.checked_add(1).ok_or(DedupError::TooMany)?;
            }
        }
        if let Some(error) = intake.unusable(&own) {
            return Err(error);
        }
        intake.check_unchanged()?;
        let before = std::mem::take(counts);
        own.add(before);
        *counts = own;
        Ok(())
    }
}

/// Texts by document, ascending.
struct Texts(Vec<(u32, String)>);

impl DocumentTexts for Texts {
    fn with_text(&self, document: u32, read: &mut dyn FnMut(&str)) {
        if let Ok(at) = self.0.binary_search_by_key(&document, |&(place, _)| place) {
            read(&self.0[at].1);
        }
    }
}
