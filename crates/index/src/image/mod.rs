//! The whole index as one stream of bytes: saved whole, opened whole.
//!
//! ```text
//! "SIMHIDX\n"  version u32  0 u32
//! section: name [4]  0 u32  length u64  bytes …  XXH3-64 of name, length and bytes u64
//! sections, in this order: PLAN  RECS  TEXT  AGES  TABS  END!
//! ```
//! All numbers are little-endian. The tables are written as they lie in memory; the map from fingerprints to ids is made
//! anew from the records, in order, so that it needs no place in the file and no trust. Everything else is checked when
//! it is opened: the checksum of each section first, then every count and offset, so that damage is an error with its
//! place and never a panic or a wrong answer. Version 1 fixes the bit permutation of `spread` and the table layout.

pub(crate) mod frame;

use std::io::{Read, Write};
use std::sync::Arc;

use self::frame::{Fields, Input, Output};
use crate::index::{Index, Parts};
use crate::plan::Plan;
use crate::run::Run;
use crate::window::{Ages, Window};
use crate::{IndexError, Item};

const MAGIC: [u8; 8] = *b"SIMHIDX\n";
const VERSION: u32 = 1;

impl Index {
    /// Writes the whole index, compacting it first. Additions wait, searches do not. About 56 bytes per fingerprint
    /// with six tables.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        self.writer().save(out)
    }

    /// Reads an index that [`Index::save`] wrote. Takes about as long as adding its documents without any check.
    ///
    /// # Errors
    /// [`IndexError::Io`], and [`IndexError::Damaged`] with the byte where the damage was noticed.
    pub fn open(input: &mut dyn Read) -> Result<Self, IndexError> {
        read(input)
    }
}

pub(crate) fn write(parts: &Parts<'_>, out: &mut dyn Write) -> Result<(), IndexError> {
    let mut out = Output::new(out, MAGIC, VERSION)?;
    let window = parts.window.unwrap_or_default();
    let mut fields = Fields::default();
    fields.text(parts.plan.name());
    fields.number(u64::from(parts.plan.radius()));
    fields.numbers(parts.plan.widths().iter().map(|&width| u64::from(width)));
    fields.number(parts.plan.prefixes().len() as u64);
    for prefix in parts.plan.prefixes() {
        fields.numbers(prefix.blocks().iter().map(|&block| u64::from(block)));
    }
    fields.number(u64::from(parts.max_distance));
    fields.number(u64::from(parts.window.is_some()));
    fields.number(window.max_age.unwrap_or(0));
    fields.number(window.max_count.unwrap_or(0));
    out.section(*b"PLAN", [fields.0.as_slice()])?;

    // An item per id from the oldest on: its kind, and for a fingerprint its value.
    let (first, next) = (parts.ids.oldest(), parts.ids.next());
    let mut kinds = Vec::with_capacity((next - first) as usize);
    let (mut values, mut texts) = (Fields::default(), Fields::default());
    for id in first..next {
        kinds.push(match parts.ids.item(id) {
            None => 0u8,
            Some(Item::Empty) => 1,
            Some(Item::Exact(text)) => {
                texts.number(text as u64);
                texts.number((text >> 64) as u64);
                2
            }
            Some(Item::Fingerprint(value)) => {
                values.number(value);
                3
            }
        });
    }
    let ends = [first.to_le_bytes(), next.to_le_bytes()];
    out.section(*b"RECS", [&ends[0][..], &ends[1][..], &kinds, &values.0])?;
    out.section(*b"TEXT", [texts.0.as_slice()])?;

    let mut ages = Fields::default();
    ages.number(parts.ages.latest());
    for (id, at) in parts.ages.entries(|id| parts.ids.is_alive_short(id)) {
        ages.number(parts.ids.full(id));
        ages.number(at);
    }
    out.section(*b"AGES", [ages.0.as_slice()])?;

    let mut tables = Fields::default();
    if let Some(run) = parts.run {
        run.spans(|numbers| tables.numbers(numbers.into_iter()));
        let words = run.words();
        tables.number(words.len() as u64);
        out.words(*b"TABS", &tables.0, words)?;
    } else {
        out.section(*b"TABS", [tables.0.as_slice()])?;
    }
    out.section(*b"END!", [])
}

fn read(input: &mut dyn Read) -> Result<Index, IndexError> {
    let mut input = Input::new(input, MAGIC, VERSION)?;
    let mut fields = input.section(*b"PLAN")?;
    let name = fields.text()?;
    let radius = fields.small()?;
    let widths = fields.smalls()?;
    let mut tables = Vec::new();
    for _ in 0..fields.small()? {
        tables.push(fields.smalls()?.into_iter().map(|block| block as u8).collect());
    }
    let plan = Plan::new(&name, radius, &widths, &tables);
    let plan = Arc::new(plan.map_err(|error| fields.damaged(error.to_string()))?);
    let max_distance = fields.small()?;
    let (has_window, age, count) = (fields.number()?, fields.number()?, fields.number()?);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    let window = (has_window > 0).then(|| Window { max_age: limit(age), max_count: limit(count) });
    fields.end()?;

    let mut records = input.section(*b"RECS")?;
    let (first, next) = (records.number()?, records.number()?);
    let count = next.checked_sub(first).filter(|&count| count < u64::from(u32::MAX));
    let count = count.ok_or_else(|| records.damaged(format!("ids from {first} to {next}")))?;
    let kinds = records.bytes(count)?.to_vec();
    let mut texts = input.section(*b"TEXT")?;
    let mut index = Index::restored(Arc::clone(&plan), max_distance, window, first)
        .map_err(|error| texts.damaged(error.to_string()))?;
    for kind in kinds {
        let item = match kind {
            0 => None,
            1 => Some(Item::Empty),
            2 => {
                let (low, high) = (texts.number()?, texts.number()?);
                Some(Item::Exact(u128::from(high) << 64 | u128::from(low)))
            }
            3 => Some(Item::Fingerprint(records.number()?)),
            other => return Err(records.damaged(format!("an item of kind {other}"))),
        };
        index.restore(item);
    }
    records.end()?;
    texts.end()?;

    let mut entries = input.section(*b"AGES")?;
    let mut ages = Ages::default();
    ages.advance(entries.number()?);
    let latest = ages.latest();
    while !entries.is_empty() {
        let (id, at) = (entries.number()?, entries.number()?);
        if !index.has(id) || at > latest {
            return Err(entries.damaged(format!("time {at} of id {id}")));
        }
        ages.restore(id as u32, at);
    }

    let mut tables = input.section(*b"TABS")?;
    let run = if tables.is_empty() {
        None
    } else {
        let mut spans = Vec::new();
        for _ in plan.prefixes() {
            spans.push(tables.numbers()?);
        }
        let words = tables.words()?;
        tables.end()?;
        let run = Run::restored(&plan, words, &spans);
        Some(run.ok_or_else(|| tables.damaged("tables that contradict themselves".to_owned()))?)
    };
    input.section(*b"END!")?.end()?;
    input.end()?;
    if !index.finish(run, ages) {
        return Err(tables.damaged("tables that do not fit the records".to_owned()));
    }
    Ok(index)
}
