//! Files of labels and results: what they say, documents by number.

use super::intake::Intake;
use crate::error::DedupError;
use crate::evaluate::LabelledPair;
use crate::options::ReadOptions;
use crate::read::{Form, Input, Statement};
use crate::report::Summary;
use ahash::AHashMap;
use std::sync::atomic::AtomicBool;

/// Ids, numbered as they are met.
#[derive(Default)]
pub(super) struct Names(AHashMap<String, u32>);

impl Names {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.0.get(name) {
            return number;
        }
        let number = self.0.len() as u32;
        self.0.insert(name.to_owned(), number);
        number
    }

    /// All of them, by number.
    pub(super) fn into_names(self) -> Vec<String> {
        let mut names: Vec<(String, u32)> = self.0.into_iter().collect();
        names.sort_unstable_by_key(|&(_, number)| number);
        names.into_iter().map(|(name, _)| name).collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn len(&self) -> u32 {
        self.0.len() as u32
    }
}

/// What files state of the documents of `Names`.
#[derive(Default)]
pub(super) struct Stated {
    /// Of two members or more.
    pub(super) clusters: Vec<Vec<u32>>,
    /// Documents that are named alone: kept ones, and clusters of one.
    alone: Vec<u32>,
    /// `a` is kept and `b` removed, where it is a decision.
    pub(super) pairs: Vec<LabelledPair>,
}

impl Stated {
    /// Reads files; lines that say nothing are counted in `counts`.
    pub(super) fn read(
        inputs: &[Input],
        options: &ReadOptions,
        names: &mut Names,
        counts: &mut Summary,
        cancel: &AtomicBool,
    ) -> Result<Self, DedupError> {
        let ReadOptions { fields, threads, .. } = options;
        let form = Form::json_lines();
        let mut intake = Intake::open(&[inputs], fields, &form, *threads, cancel)?;
        let mut stated = Self::default();
        while let Some(block) = intake.next_block()? {
            counts.bytes += block.length;
            for line in &block.lines {
                let file = intake.records.id_prefix(block.input);
                let said = match &line.fault {
                    Some(reason) => Err(reason.to_string()),
                    None => Statement::of(block.bytes_of(line), fields, file, line.number),
                };
                match said {
                    Ok(Statement::Cluster(ids)) => {
                        let members: Vec<u32> = ids.iter().map(|id| names.number(id)).collect();
                        counts.read += 1;
                        match members[..] {
                            [] => {}
                            [one] => stated.alone.push(one),
                            _ => stated.clusters.push(members),
                        }
                    }
                    Ok(Statement::Pair(a, b, similarity)) => {
                        let (a, b) = (names.number(&a), names.number(&b));
                        counts.read += 1;
                        stated.pairs.push(LabelledPair { a, b, similarity });
                    }
                    Err(reason) => intake.count_rejected(counts, &block, line, &reason),
                }
            }
        }
        intake.check_unchanged()?;
        Ok(stated)
    }

    /// Every number that is named beside another.
    pub(super) fn linked(&self) -> impl Iterator<Item = u32> + '_ {
        let pairs = self.pairs.iter().flat_map(|pair| [pair.a, pair.b]);
        pairs.chain(self.clusters.iter().flatten().copied())
    }

    /// The same by `place`, without what has none; how many these were.
    pub(super) fn placed(self, place: impl Fn(u32) -> Option<u32>) -> (Self, u64) {
        let named = self.linked().chain(self.alone.iter().copied());
        let unknown = named.filter(|&number| place(number).is_none()).count() as u64;
        let pairs = self
            .pairs
            .into_iter()
            .filter_map(|pair| Some(LabelledPair { a: place(pair.a)?, b: place(pair.b)?, ..pair }));
        let members =
            |members: Vec<u32>| -> Vec<u32> { members.into_iter().filter_map(&place).collect() };
        let clusters = self.clusters.into_iter().map(members).filter(|members| members.len() > 1);
        let alone = Vec::new();
        (Self { clusters: clusters.collect(), pairs: pairs.collect(), alone }, unknown)
    }
}
