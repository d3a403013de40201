//! Who is kept, of components that one task has whole: what it holds are the edges and the copies, not the documents.
//!
//! Or of what [rounds](super::rounds) left: of a text and its copies the link to the kept text that is nearest, and those from texts that
//! were kept later.

use super::{Numbers, Places, Wants, each_link, each_record, part_of_place, position, unexpected};
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure};
use ahash::{AHashMap, AHashSet};
use simhash_dedup::Cluster;
use simhash_dedup::stages::{Copy, Link};
use std::io::Write;
use std::sync::Arc;

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn decide<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let (mut numbers, mut links, mut copies) = (Numbers::default(), Vec::new(), Vec::new());
    // More parts divide what rounds left, but no component.
    let input = if recipe.connects() { input.alone("decide") } else { input };
    input.rows(|row| match row.kind.as_str() {
        "copy" => each_record(&row, recipe, |[place, first]| {
            copies.push(Copy { document: numbers.of(place), first: numbers.of(first) });
            Ok(())
        }),
        "link" => each_link(&row, recipe, |[text, other], rank, similarity| {
            let (later, earlier) = (numbers.of(text), numbers.of(other));
            links.push(Link { later, earlier, rank, similarity });
        }),
        _ => Err(unexpected(&row, "decide")),
    })?;
    let (places, sorted) = numbers.sorted();
    let number = |number: u32| sorted[number as usize];
    for copy in &mut copies {
        *copy = Copy { document: number(copy.document), first: number(copy.first) };
    }
    for link in &mut links {
        (link.later, link.earlier) = (number(link.later), number(link.earlier));
    }
    links.sort_unstable_by_key(|link| (link.later, link.earlier));
    let keeping =
        (rules.options().cluster == Cluster::Components).then(|| keeping(context, &places));
    let decided = rules.decide(places.len(), &links, &copies, keeping.as_deref());
    // Of copies: the first document of their text.
    let firsts: AHashMap<u32, u32> =
        copies.iter().map(|copy| (copy.document, copy.first)).collect();
    let first = |document: u32| firsts.get(&document).copied().unwrap_or(document);
    let [mut duplicates, mut clusters] = [0u64, 0];
    let (mut seen, mut wants) = (AHashSet::new(), Wants::default());
    for one in decided {
        duplicates += 1;
        clusters += u64::from(seen.insert(one.original));
        let [pos, original] =
            [one.document, one.original].map(|number| position(recipe, places.get(number)));
        let (pos, original) = (pos?, original?);
        let asks = one.similarity.is_none() && rules.verifies();
        let part = if asks { part_of_place(places.get(one.original), context.parts) } else { 0 };
        let part = part.cast_signed();
        let kind = if asks { "pair" } else { "mark" };
        let distance = if first(one.document) == first(one.original) {
            rules.has_distance().then_some(0)
        } else {
            rules.distance(places.get(one.document), places.get(one.original))
        };
        output.row(Row {
            kind: kind.into(),
            part,
            pos: Some(pos.cast_signed()),
            original: Some(original.cast_signed()),
            similarity: one.similarity,
            blob: distance.map(|distance| vec![distance as u8]),
        })?;
        if asks {
            wants.ask(part.cast_unsigned(), pos);
            wants.ask(part.cast_unsigned(), original);
        }
    }
    wants.write(recipe, output)?;
    output.count("duplicates", duplicates)?;
    output.count("clusters", clusters)
}

/// By document: its place in the order of keeping.
fn keeping(context: &Context, places: &Places) -> Vec<u32> {
    let rules = context.recipe.rules();
    let mut order: Vec<(Vec<u8>, u32)> =
        (0..places.len()).map(|number| (rules.keeping(places.get(number)), number)).collect();
    order.sort_unstable();
    let mut keeping = vec![0; order.len()];
    for (place, (_, number)) in (0..).zip(&order) {
        keeping[*number as usize] = place;
    }
    keeping
}
