//! The matches of new documents among old ones, in one task: what it holds are the matches and the new copies. Copies among the old ones,
//! which may be most of what it reads, go by.

use super::{Places, each_link, each_record, position, put_places, unexpected};
use crate::blob::put;
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
    /// Of new copies: the first document of their text.
    firsts: AHashMap<u32, u32>,
    /// Texts of these or of new documents whose list a limit cut.
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
    let Known { places, mut edges, firsts, mut cut } =
        read(input.alone("matches"), recipe, against)?;
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

/// What there is of use in a row. Cuts of old texts are noted by position: a few of these are the text of a new document, and which ones
/// its copies tell, perhaps later.
fn sift(
    row: Row,
    recipe: &Recipe,
    against: u64,
    old_cut: &mut Vec<u64>,
) -> Result<Option<Row>, Failure> {
    let mut blob = recipe.digest().to_vec();
    let nothing = blob.len();
    match row.kind.as_str() {
        // Those of old texts were never looked for.
        "link" => return Ok(Some(row)),
        "copy" => each_record(&row, recipe, |[place, first]| {
            if position(recipe, place)? >= against {
                put(place, &mut blob);
                put(first, &mut blob);
            }
            Ok(())
        })?,
        "cut" => each_record(&row, recipe, |[text]| {
            match position(recipe, text)? {
                pos if pos < against => old_cut.push(pos),
                _ => put(text, &mut blob),
            }
            Ok(())
        })?,
        _ => return Err(unexpected(&row, "matches")),
    }
    Ok((blob.len() > nothing).then_some(Row { blob: Some(blob), ..row }))
}

fn read(input: Input, recipe: &Recipe, against: u64) -> Result<Known, Failure> {
    let (mut rows, mut old_cut) = (Vec::new(), Vec::new());
    input.sifted(|row| {
        let before = old_cut.len();
        let row = sift(row, recipe, against, &mut old_cut)?;
        // A number in a vector that grows takes twice its bytes, where four times is counted for those of a cell.
        let noted = (old_cut.len() - before) * size_of::<u64>() / 2;
        let kept = row.as_ref().map_or(0, Row::bytes);
        rows.extend(row);
        Ok(noted as u64 + kept)
    })?;
    old_cut.sort_unstable();
    let mut places = Vec::new();
    for row in &rows {
        match row.kind.as_str() {
            "link" | "copy" => put_places(row, recipe, &mut places)?,
            _ => each_record(row, recipe, |[text]| {
                places.push(text.to_vec());
                Ok(())
            })?,
        }
    }
    let places = Places::of(&places);
    let mut edges: AHashMap<u32, Vec<Edge>> = AHashMap::new();
    let (mut firsts, mut cut) = (AHashMap::new(), AHashSet::new());
    for row in rows {
        match row.kind.as_str() {
            "link" => each_link(&row, recipe, |[text, other], rank, similarity| {
                let edge = (places.number(other), rank, similarity);
                edges.entry(places.number(text)).or_default().push(edge);
            })?,
            "copy" => each_record(&row, recipe, |[place, first]| {
                let number = places.number(first);
                firsts.insert(places.number(place), number);
                if old_cut.binary_search(&position(recipe, first)?).is_ok() {
                    cut.insert(number);
                }
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
