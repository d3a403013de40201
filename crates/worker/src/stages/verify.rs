//! Texts compared.

use super::{Given, Numbers, Records, all, each_record, unexpected};
use crate::blob::{Blob, list};
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure};
use simhash_dedup::stages::Compared;
use simhash_index::Union;
use simhash_sketch::{Outline, Scratch};
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// What is compared of texts, each made once while there is room for it.
struct Comparing<'a> {
    context: &'a Context,
    /// By number; without verification empty ones.
    texts: Vec<&'a str>,
    scratch: Scratch,
}

impl<'a> Comparing<'a> {
    /// Of texts at these positions.
    fn new(context: &'a Context, given: &'a Given, positions: &[u64]) -> Result<Self, Failure> {
        let verifies = context.recipe.rules().verifies();
        let text = |&pos: &u64| if verifies { given.get(pos) } else { Ok("") };
        let texts = positions.iter().map(text).collect::<Result<Vec<&str>, Failure>>()?;
        Ok(Self { context, texts, scratch: Scratch::default() })
    }

    fn of(&mut self, number: u32) -> Result<Compared, Failure> {
        let text = self.texts[number as usize];
        Ok(self.context.recipe.rules().side(number, text, &mut self.scratch)?)
    }

    /// By number: what tells of most pairs that they need not be compared.
    fn outlines(&mut self) -> Vec<Outline> {
        let (rules, scratch) = (self.context.recipe.rules(), &mut self.scratch);
        self.texts.iter().map(|text| rules.outline(text, scratch)).collect()
    }

    /// The similarity of a text and another one that match.
    fn similarity(&mut self, own: &Compared, other: u32) -> Result<Option<f64>, Failure> {
        let (rules, text) = (self.context.recipe.rules(), self.texts[other as usize]);
        Ok(rules.similarity(own, other, text, &mut self.scratch)?)
    }
}

/// A text by the number of its place, and where its candidates are among those of all lists: each a number and a rank.
struct List {
    text: u32,
    candidates: Range<usize>,
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
    let (mut numbers, mut given) = (Numbers::default(), Given::default());
    let (mut lists, mut candidates) = (Vec::<List>::new(), Vec::<(u32, u32)>::new());
    input.rows(|row| match row.kind.as_str() {
        "list" => each_record(&row, recipe, |[text, others, ranks]| {
            let (begin, mut ranks) = (candidates.len(), Blob::inner(ranks));
            list(others, |place| candidates.push((numbers.of(place), 0)))?;
            for (_, rank) in &mut candidates[begin..] {
                let damaged = |_| Failure("a row of kind list is damaged".into());
                *rank = u32::try_from(ranks.number()?).map_err(damaged)?;
            }
            lists.push(List { text: numbers.of(text), candidates: begin..candidates.len() });
            Ok(())
        }),
        "text" => given.take(row, recipe),
        _ => Err(unexpected(&row, "verify")),
    })?;
    let (places, sorted) = numbers.sorted();
    for one in &mut lists {
        one.text = sorted[one.text as usize];
        let own = &mut candidates[one.candidates.clone()];
        for other in own.iter_mut() {
            other.0 = sorted[other.0 as usize];
        }
        own.sort_unstable();
    }
    let of = |list: &List| &candidates[list.candidates.clone()];
    // Lists that begin with the same text have others in common, too: what is compared of these is still at hand.
    lists.sort_unstable_by_key(|one| (of(one).first().copied(), one.text));
    let components = recipe.connects();
    let mut comparing = Comparing::new(context, &given, &places.positions(recipe)?)?;
    let outlines = comparing.outlines();
    // That of the last list: a text has many candidates.
    let mut own: Option<(u32, Compared)> = None;
    let mut union = Union::default();
    union.grow(places.len());
    let (mut links, parts) = (Records::new("link", context.parts), places.parts(context.parts));
    let [mut compared, mut edges] = [0u64; 2];
    let mut compare = |text: u32, (other, rank): (u32, u32)| {
        if components && union.connected(text, other) {
            return Ok(());
        }
        compared += 1;
        if !rules.may_match(&outlines[text as usize], &outlines[other as usize]) {
            return Ok(());
        }
        own = own.take().filter(|own| own.0 == text);
        let (_, own) = match &own {
            Some(own) => own,
            None => own.insert((text, comparing.of(text)?)),
        };
        let Some(similarity) = comparing.similarity(own, other)? else { return Ok(()) };
        edges += 1;
        union.join(text, other);
        let (rank, similarity) = (rank.to_le_bytes(), similarity.to_le_bytes());
        let fields = [places.get(text), places.get(other), &rank, &similarity];
        links.put(parts[text as usize], &fields, recipe, output)
    };
    if components {
        for one in &lists {
            of(one).first().map_or(Ok(()), |&oldest| compare(one.text, oldest))?;
        }
    }
    for one in &lists {
        for &other in of(one) {
            compare(one.text, other)?;
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
            "text" => given.take(row, &context.recipe)?,
            _ => return Err(unexpected(&row, "relate")),
        }
    }
    let both = |row: &Row| Some([row.pos?.cast_unsigned(), row.original?.cast_unsigned()]);
    let ends = pairs.iter().map(both).collect::<Option<Vec<[u64; 2]>>>();
    let ends =
        ends.ok_or_else(|| Failure("a row of kind pair has no pos or no original".into()))?;
    let mut positions = ends.concat();
    positions.sort_unstable();
    positions.dedup();
    let number = |pos: u64| positions.partition_point(|&other| other < pos) as u32;
    let mut comparing = Comparing::new(context, &given, &positions)?;
    for (row, [pos, original]) in pairs.into_iter().zip(ends) {
        let (own, theirs) = (comparing.of(number(pos))?, comparing.of(number(original))?);
        let similarity = context.recipe.rules().relation(&own, &theirs);
        output.row(Row { kind: "mark".into(), part: 0, similarity, ..row })?;
    }
    Ok(())
}
