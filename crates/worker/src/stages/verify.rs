//! Texts compared.

use super::{Given, Records, all, each_record, position, unexpected};
use crate::blob::Blob;
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure};
use ahash::AHashMap;
use simhash_dedup::stages::Compared;
use simhash_index::Union;
use simhash_sketch::Scratch;
use std::io::Write;
use std::sync::Arc;

/// What is compared of texts, each made once while there is room for it.
struct Comparing<'a> {
    context: &'a Context,
    given: &'a Given,
    numbers: AHashMap<u64, u32>,
    scratch: Scratch,
}

impl<'a> Comparing<'a> {
    fn new(context: &'a Context, given: &'a Given) -> Self {
        Self { context, given, numbers: AHashMap::new(), scratch: Scratch::default() }
    }

    fn number(&mut self, pos: u64) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(pos).or_insert(next)
    }

    fn of(&mut self, pos: u64) -> Result<Compared, Failure> {
        let rules = self.context.recipe.rules();
        if !rules.verifies() {
            return Ok(Compared::default());
        }
        let number = self.number(pos);
        Ok(rules.evidence(number, self.given.get(pos)?, &mut self.scratch)?)
    }
}

/// See the [table](super). For components the oldest of a list first, and what is connected by then is not compared.
///
/// # Errors
/// Those of the streams, and a text that is not there.
pub fn verify<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let (mut lists, mut given) = (Vec::new(), Given::default());
    input.rows(|row| match row.kind.as_str() {
        "list" => each_record(&row, recipe, |[text, list]| {
            let mut candidates = Vec::new();
            let mut list = Blob::inner(list);
            while !list.is_empty() {
                candidates.push((list.field()?.to_vec(), u32::from_le_bytes(list.array()?)));
            }
            lists.push((text.to_vec(), candidates));
            Ok(())
        }),
        "text" => given.take(row),
        _ => Err(unexpected(&row, "verify")),
    })?;
    lists.sort_unstable();
    let components = recipe.connects();
    let mut comparing = Comparing::new(context, &given);
    let mut union = Union::default();
    let mut links = Records::new("link", 1);
    let [mut compared, mut edges] = [0u64; 2];
    let mut compare = |text: &[u8], other: &[u8], rank: u32| {
        let [own, theirs] = [position(recipe, text)?, position(recipe, other)?];
        let [a, b] = [own, theirs].map(|pos| comparing.number(pos));
        union.grow(a.max(b) + 1);
        if components && union.connected(a, b) {
            return Ok(());
        }
        compared += 1;
        let [own, theirs] = [comparing.of(own)?, comparing.of(theirs)?];
        let Some(similarity) = rules.similarity(&own, &theirs) else { return Ok(()) };
        edges += 1;
        union.join(a, b);
        let (rank, similarity) = (rank.to_le_bytes(), similarity.to_le_bytes());
        links.put(0, &[text, other, &rank, &similarity], recipe, output)
    };
    if components {
        for (text, candidates) in &mut lists {
            candidates.sort_unstable();
            if let Some((other, rank)) = candidates.first() {
                compare(text, other, *rank)?;
            }
        }
    }
    for (text, candidates) in &lists {
        for (other, rank) in candidates {
            compare(text, other, *rank)?;
        }
    }
    links.flush(output)?;
    output.count("compared", compared)?;
    output.count("edges", edges)
}

/// See the [table](super).
///
/// # Errors
/// Those of the streams, and a text that is not there.
pub fn relate<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (mut pairs, mut given) = (Vec::new(), Given::default());
    for row in all(input)? {
        match row.kind.as_str() {
            "pair" => pairs.push(row),
            "text" => given.take(row)?,
            _ => return Err(unexpected(&row, "relate")),
        }
    }
    let mut comparing = Comparing::new(context, &given);
    for row in pairs {
        let (Some(pos), Some(original)) = (row.pos, row.original) else {
            return Err(Failure("a row of kind pair has no pos or no original".into()));
        };
        let [own, theirs] =
            [comparing.of(pos.cast_unsigned())?, comparing.of(original.cast_unsigned())?];
        let similarity = context.recipe.rules().relation(&own, &theirs);
        output.row(Row { kind: "mark".into(), part: 0, similarity, ..row })?;
    }
    Ok(())
}
