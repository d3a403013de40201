//! What a file of clusters, or of matches, says: groups of documents, the first of which the others were found for.

use super::super::intake::Intake;
use super::super::stated::Names;
use crate::error::DedupError;
use crate::options::ReadOptions;
use crate::read::{Form, Input, name_of_id};
use crate::report::Summary;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::cmp::Reverse;
use std::sync::atomic::AtomicBool;

/// Groups, one behind the other.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) names: Names,
    /// Whether the lines are those of `match`: a new document with what it resembles, ids of two sides.
    pub(super) are_matches: bool,
    pub(super) members: Vec<Member>,
    /// By group: where its members begin; and the end of the last.
    starts: Vec<usize>,
}

/// A member of a group.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) number: u32,
    pub(super) similarity: Option<f64>,
    pub(super) distance: Option<u32>,
}

/// A line of either form.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    representative: Option<&'a RawValue>,
    #[serde(borrow)]
    members: Option<Vec<Entry<'a>>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    matches: Option<Vec<Entry<'a>>>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    similarity: Option<f64>,
    distance: Option<u32>,
}

impl Member {
    /// How alike it is to the first, in a form that is ordered, the least alike first. Of what is not measured a distance says whether
    /// it is equal, and beside equal similarities the larger distance is less alike.
    pub(super) fn alike(&self) -> (u64, Reverse<u32>) {
        let distance = self.distance.unwrap_or(0);
        let share = self.similarity.unwrap_or(if distance > 0 { 0.0 } else { 1.0 });
        // Of numbers that are not negative the bits are in their order.
        (share.to_bits(), Reverse(distance))
    }
}

impl Groups {
    pub(super) fn new() -> Self {
        Self { starts: vec![0], ..Self::default() }
    }

    /// Reads a file; lines that name no group are counted in `counts`.
    pub(super) fn read(
        input: &Input,
        options: &ReadOptions,
        counts: &mut Summary,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let ReadOptions { fields, threads, .. } = options;
        let inputs = std::slice::from_ref(input);
        let form = Form::json_lines();
        let mut intake = Intake::open(&[inputs], fields, &form, *threads, cancel)?;
        let mut groups = Self::new();
        while let Some(block) = intake.next_block()? {
            for line in &block.lines {
                let said = match &line.fault {
                    Some(reason) => Err(reason.to_string()),
                    None => groups.take(block.bytes_of(line)),
                };
                match said {
                    Ok(()) => counts.read += 1,
                    Err(reason) => intake.count_rejected(counts, &block, line, &reason),
                }
            }
        }
        intake.check_unchanged()?;
        Ok(groups)
    }

    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), String> {
        const FORMS: &str = "no cluster (representative, members) and no matches (id, matches), as clusters and match write them";
        let Line { representative, members, id, matches } =
            serde_json::from_slice(line).map_err(|error| format!("{FORMS}: {error}"))?;
        let (first, others, are_matches) = match (representative, members, id, matches) {
            (Some(first), Some(others), ..) => (first, others, false),
            (_, _, Some(first), Some(others)) => (first, others, true),
            _ => return Err(FORMS.to_owned()),
        };
        if self.members.is_empty() {
            self.are_matches = are_matches;
        } else if self.are_matches != are_matches {
            return Err("clusters and matches in one file".to_owned());
        }
        let is_itself = |entry: &&Entry<'_>| !are_matches && entry.id.get() == first.get();
        let skipped = usize::from(others.first().as_ref().is_some_and(is_itself));
        // A new document without a match, or a cluster of one.
        if others.len() == skipped {
            return Ok(());
        }
        let number = self.number(first, false);
        self.members.push(Member { number, similarity: None, distance: None });
        for Entry { id, similarity, distance } in &others[skipped..] {
            let number = self.number(id, true);
            let similarity = similarity.filter(|share| (0.0..=1.0).contains(share));
            self.members.push(Member { number, similarity, distance: *distance });
        }
        self.starts.push(self.members.len());
        Ok(())
    }

    fn number(&mut self, id: &RawValue, is_other: bool) -> u32 {
        let name = name_of_id(id.get());
        self.names.number(&Self::sided(self.are_matches, &name, is_other))
    }

    /// A name as it is looked up: those of the two sides of `match` may be the same.
    fn sided(are_matches: bool, name: &str, is_other: bool) -> std::borrow::Cow<'_, str> {
        if are_matches && is_other { format!("\0{name}").into() } else { name.into() }
    }

    /// The number of a document of the inputs, or of the others.
    pub(super) fn known(&self, name: &str, is_other: bool) -> Option<u32> {
        self.names.get(&Self::sided(self.are_matches, name, is_other))
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn of(&self, group: usize) -> &[Member] {
        &self.members[self.starts[group]..self.starts[group + 1]]
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &[Member]> {
        self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]])
    }

    /// By number: how often a group names the document as a duplicate.
    pub(super) fn times(&self) -> Vec<u32> {
        let mut times = vec![0; self.names.len() as usize];
        for member in self.all().flat_map(|group| self.found(group)) {
            times[member.number as usize] += 1;
        }
        times
    }

    /// The documents that a group removes: of a cluster all but the one that is kept; of matches the new document.
    pub(super) fn found<'g>(&self, group: &'g [Member]) -> &'g [Member] {
        if self.are_matches { &group[..1] } else { &group[1..] }
    }
}
