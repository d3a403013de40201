//! The matches of new documents among old ones, in one task: what it holds are the matches and the copies.

use super::{Places, all, each_record, number, position, unexpected};
use crate::rows::{Input, LAST, Output, Row};
use crate::{Context, Failure, Recipe};
use ahash::{AHashMap, AHashSet};
use std::io::Write;
use std::sync::Arc;

/// What one matches: the place of an old document by number, rank and similarity.
type Edge = (u32, u32, f64);

/// What came in, by number of a place.
struct Known {
    places: Places,
    /// Of new texts: what they match.
    edges: AHashMap<u32, Vec<Edge>>,
    /// Of copies: the first document of their text.
    firsts: AHashMap<u32, u32>,
    /// Texts whose list a limit cut.
    cut: AHashSet<u32>,
}

/// See the [table](super). Documents whose text an old one has match that alone; others match what the first of their text does.
///
/// # Errors
/// Those of the streams, and a recipe without another side.
pub fn matches<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let against = recipe.against().ok_or_else(|| {
        Failure("stage matches needs a recipe with against, as all stages before it".into())
    })?;
    let Known { places, mut edges, firsts, mut cut } = read(all(input)?, recipe)?;
    let rank = |rank: u32| if rules.verifies() { 0 } else { rank };
    let most = recipe.limit().unwrap_or(usize::MAX);
    for (&text, found) in &mut edges {
        found.sort_unstable_by(|a, b| {
            b.2.total_cmp(&a.2).then(rank(a.1).cmp(&rank(b.1))).then(a.0.cmp(&b.0))
        });
        if found.len() > most {
            found.truncate(most);
            cut.insert(text);
        }
    }
    let [mut matched, mut count, mut truncated] = [0u64; 3];
    for document in 0..places.len() {
        let place = places.get(document);
        let pos = position(recipe, place)?;
        if pos < against {
            continue;
        }
        let first = firsts.get(&document).copied().unwrap_or(document);
        let equal = [(first, 0, 1.0)];
        let is_old = position(recipe, places.get(first))? < against;
        let found = match edges.get(&first) {
            _ if is_old => &equal[..],
            Some(found) => found,
            None => &[],
        };
        matched += u64::from(!found.is_empty());
        count += found.len() as u64;
        let row = |part: usize| Row {
            kind: "match".into(),
            part: i32::try_from(part).unwrap_or(LAST - 1).min(LAST - 1),
            pos: Some(pos.cast_signed()),
            ..Row::default()
        };
        for (part, &(old, _, similarity)) in found.iter().enumerate() {
            let other = places.get(old);
            let distance = if is_old {
                rules.has_distance().then_some(0)
            } else {
                rules.distance(place, other)
            };
            output.row(Row {
                original: Some(position(recipe, other)?.cast_signed()),
                similarity: (is_old || rules.verifies()).then_some(similarity),
                blob: distance.map(|distance| vec![distance as u8]),
                ..row(part)
            })?;
        }
        if cut.contains(&first) {
            truncated += 1;
            output.row(Row { part: LAST, ..row(0) })?;
        }
    }
    output.count("matched", matched)?;
    output.count("matches", count)?;
    output.count("cut", truncated)
}

fn read(rows: Vec<Row>, recipe: &Recipe) -> Result<Known, Failure> {
    let mut places = Vec::new();
    for row in &rows {
        match row.kind.as_str() {
            "link" => each_record(row, recipe, |[text, other, _, _]| {
                places.extend([text.to_vec(), other.to_vec()]);
                Ok(())
            })?,
            "copy" => each_record(row, recipe, |[place, first]| {
                places.extend([place.to_vec(), first.to_vec()]);
                Ok(())
            })?,
            "cut" => each_record(row, recipe, |[text]| {
                places.push(text.to_vec());
                Ok(())
            })?,
            _ => return Err(unexpected(row, "matches")),
        }
    }
    let places = Places::of(places);
    let mut edges: AHashMap<u32, Vec<Edge>> = AHashMap::new();
    let (mut firsts, mut cut) = (AHashMap::new(), AHashSet::new());
    for row in rows {
        match row.kind.as_str() {
            "link" => each_record(&row, recipe, |[text, other, rank, similarity]| {
                let wrong = |_| Failure("a row of kind link is damaged".into());
                let rank = u32::from_le_bytes(rank.try_into().map_err(wrong)?);
                let edge = (places.number(other), rank, f64::from_bits(number(similarity)?));
                edges.entry(places.number(text)).or_default().push(edge);
                Ok(())
            })?,
            "copy" => each_record(&row, recipe, |[place, first]| {
                firsts.insert(places.number(place), places.number(first));
                Ok(())
            })?,
            _ => each_record(&row, recipe, |[text]| {
                cut.insert(places.number(text));
                Ok(())
            })?,
        }
    }
    Ok(Known { places, edges, firsts, cut })
}
