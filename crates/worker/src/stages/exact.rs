//! Documents with equal texts.

use super::{Records, each_record, part_of_place, unexpected};
use crate::rows::{Input, Output};
use crate::{Context, Failure};
use std::io::Write;
use std::sync::Arc;

/// See the [table](super).
///
/// # Errors
/// Those of the streams.
pub fn exact<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let recipe = &context.recipe;
    let mut all: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    input.rows(|row| match row.kind.as_str() {
        "exact" => each_record(&row, recipe, |[hash, place]| {
            all.push((hash.to_vec(), place.to_vec()));
            Ok(())
        }),
        _ => Err(unexpected(&row, "exact")),
    })?;
    all.sort_unstable();
    let mut copies = Records::new("copy", context.parts);
    let mut texts = 0;
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        texts += 1;
        for (_, place) in &group[1..] {
            let part = part_of_place(place, context.parts);
            copies.put(part, &[place, &group[0].1], recipe, output)?;
        }
    }
    copies.flush(output)?;
    output.count("texts", texts)
}
