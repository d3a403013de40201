//! What the files of several kinds have in common.

use simhash_store::{Fields, FileError, Section};

use super::{Ages, Window};

/// What to say of a file that is something else.
pub(crate) const ADVICE: &str = "name a file that holds one";

/// Writes a window: whether there is one, and its limits, 0 where there is none.
pub(crate) fn window(window: Option<Window>, fields: &mut Fields) {
    let limits = window.unwrap_or_default();
    fields.number(u64::from(window.is_some()));
    fields.number(limits.max_age.unwrap_or(0));
    fields.number(limits.max_count.unwrap_or(0));
}

pub(crate) fn read_window(fields: &mut Section) -> Result<Option<Window>, FileError> {
    let (is_some, age, count) = (fields.number()?, fields.number()?, fields.number()?);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    Ok((is_some > 0).then(|| Window { max_age: limit(age), max_count: limit(count) }))
}

/// The oldest id and how many there are from it on, of which the next is what is written.
pub(crate) fn read_ids(fields: &mut Section) -> Result<(u64, u64), FileError> {
    let (first, next) = (fields.number()?, fields.number()?);
    let count = next.checked_sub(first).filter(|&count| count < u64::from(u32::MAX));
    let count = count.ok_or_else(|| fields.damaged(format!("ids from {first} to {next}")))?;
    Ok((first, count))
}

/// The latest time; then id and time of each document, the oldest first.
pub(crate) fn ages(latest: u64, times: impl Iterator<Item = (u64, u64)>) -> Fields {
    let mut fields = Fields::default();
    fields.number(latest);
    for (id, at) in times {
        fields.number(id);
        fields.number(at);
    }
    fields
}

pub(crate) fn read_ages(
    mut fields: Section,
    is_alive: impl Fn(u64) -> bool,
) -> Result<Ages, FileError> {
    let mut ages = Ages::default();
    ages.advance(fields.number()?);
    while !fields.is_empty() {
        let (id, at) = (fields.number()?, fields.number()?);
        if !is_alive(id) || at > ages.latest() {
            return Err(fields.damaged(format!("time {at} of id {id}")));
        }
        ages.restore(id as u32, at);
    }
    Ok(ages)
}
