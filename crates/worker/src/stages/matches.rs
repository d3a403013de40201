//! The matches of new documents among old ones, in one task: what it holds are the matches and the new copies. Copies among the old ones,
//! which may be most of what it reads, go by.

use super::{Numbers, Places, each_link, each_record, grown, position, unexpected};
use crate::rows::{Input, LAST, Output, Row};
use crate::{Context, Failure, Recipe};
use ahash::{AHashMap, AHashSet};
use std::io::Write;
use std::sync::Arc;

/// What one matches: the place of an old document by number, rank and similarity.
type Edge = (u32, u32, f64);

/// Bytes of a copy as it comes in, and by its document.
const COPY: usize = 2 * size_of::<(u32, u32)>();

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

/// Reads what is of use. Cuts of old texts are noted by position: a few of these are the text of a new document, and which ones its copies
/// tell, perhaps later.
fn read(input: Input, recipe: &Recipe, against: u64) -> Result<Known, Failure> {
    let (mut numbers, mut old_cut) = (Numbers::default(), Vec::new());
    let (mut links, mut copies, mut cuts) = (Vec::new(), Vec::new(), Vec::new());
    input.sifted(|row| {
        let before = (numbers.bytes(), old_cut.len(), copies.len());
        let mut kept = 0;
        match row.kind.as_str() {
            // Those of old texts were never looked for.
            "link" => {
                kept = row.bytes();
                each_link(&row, recipe, |[text, other], rank, similarity| {
                    links.push((numbers.of(text), (numbers.of(other), rank, similarity)));
                })?;
            }
            "copy" => each_record(&row, recipe, |[place, first]| {
                if position(recipe, place)? >= against {
                    copies.push((numbers.of(place), numbers.of(first)));
                }
                Ok(())
            })?,
            "cut" => each_record(&row, recipe, |[text]| {
                match position(recipe, text)? {
                    pos if pos < against => old_cut.push(pos),
                    _ => cuts.push(numbers.of(text)),
                }
                Ok(())
            })?,
            _ => return Err(unexpected(&row, "matches")),
        }
        let (noted, copied) = (old_cut.len() - before.1, copies.len() - before.2);
        let bytes = noted * size_of::<u64>() + copied * COPY + numbers.bytes() - before.0;
        Ok(kept + grown(bytes))
    })?;
    old_cut.sort_unstable();
    let (places, sorted) = numbers.sorted();
    let number = |number: u32| sorted[number as usize];
    let mut edges: AHashMap<u32, Vec<Edge>> = AHashMap::new();
    for (text, (other, rank, similarity)) in links {
        edges.entry(number(text)).or_default().push((number(other), rank, similarity));
    }
    let firsts: AHashMap<u32, u32> =
        copies.into_iter().map(|(document, first)| (number(document), number(first))).collect();
    let mut cut: AHashSet<u32> = cuts.into_iter().map(number).collect();
    for &first in firsts.values() {
        if old_cut.binary_search(&position(recipe, places.get(first))?).is_ok() {
            cut.insert(first);
        }
    }
    Ok(Known { places, edges, firsts, cut })
}
