//! The clusters file.

use super::cells::{self, between};
use super::{Output, edges};
use crate::decide::Relation;
use crate::error::DedupError;
use crate::read::Id;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// A duplicate and the document it belongs to.
pub(crate) struct Member {
    /// Number of the representative among the records that can be found again.
    pub(crate) of: u32,
    pub(crate) id: Id,
    pub(crate) relation: Relation,
}

/// Bytes of a line that are written at once, about.
const PIECE: usize = 1 << 16;

/// Writes a line per cluster: one line per representative, one entry per member, never a pair.
pub(crate) fn write_clusters(
    output: &mut Output<'_>,
    mut members: Vec<Member>,
    representative: impl Fn(u32) -> Result<Id, DedupError>,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    // Stable: members stay in input order.
    members.sort_by_key(|member| member.of);
    write_sorted(output, members.into_iter().map(Ok), representative, cancel)
}

/// The same of members that come in the order of their representatives.
pub(crate) fn write_sorted(
    output: &mut Output<'_>,
    members: impl Iterator<Item = Result<Member, DedupError>>,
    representative: impl Fn(u32) -> Result<Id, DedupError>,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    if let Some(between) = between(output.name()) {
        return write_rows(output, between, members, representative, cancel);
    }
    let (mut line, mut last) = (String::new(), None);
    for member in members {
        if cancel.load(Ordering::Relaxed) {
            return Err(DedupError::Cancelled);
        }
        let Member { of, id, relation } = member?;
        if last != Some(of) {
            if last.replace(of).is_some() {
                line.push_str("]}\n");
            }
            // A line at a time, or some members: a cluster may have millions.
            output.write(line.as_bytes())?;
            line.clear();
            let id = representative(of)?;
            // Writing to a string cannot fail.
            let _ = write!(line, r#"{{"representative":{id},"members":[{{"id":{id}}}"#);
        }
        let _ = write!(line, r#",{{"id":{id}"#);
        edges::relation(&mut line, &relation);
        line.push('}');
        if line.len() >= PIECE {
            output.write(line.as_bytes())?;
            line.clear();
        }
    }
    if last.is_some() {
        line.push_str("]}\n");
    }
    output.write(line.as_bytes())
}

/// A row for each member, behind its representative, which comes first itself.
fn write_rows(
    output: &mut Output<'_>,
    between: char,
    members: impl Iterator<Item = Result<Member, DedupError>>,
    representative: impl Fn(u32) -> Result<Id, DedupError>,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    let (mut rows, mut last) = (String::new(), None);
    cells::head(&mut rows, between, &["representative", "id", "similarity", "distance"]);
    for member in members {
        if cancel.load(Ordering::Relaxed) {
            return Err(DedupError::Cancelled);
        }
        let Member { of, id, relation } = member?;
        let of = match last.take() {
            Some((known, name)) if known == of => last.insert((known, name)),
            _ => {
                let first = last.insert((of, representative(of)?));
                row(
                    &mut rows,
                    between,
                    [&first.1, &first.1],
                    &Relation { similarity: None, distance: None },
                );
                first
            }
        };
        row(&mut rows, between, [&of.1, &id], &relation);
        if rows.len() >= PIECE {
            output.write(rows.as_bytes())?;
            rows.clear();
        }
    }
    output.write(rows.as_bytes())
}

fn row(rows: &mut String, between: char, [of, id]: [&str; 2], relation: &Relation) {
    cells::id(rows, between, of);
    rows.push(between);
    cells::id(rows, between, id);
    cells::relation(rows, between, relation);
    rows.push('\n');
}
