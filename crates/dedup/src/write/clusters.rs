//! The clusters file.

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

/// Writes a line per cluster: one line per representative, one entry per member, never a pair.
pub(crate) fn write_clusters(
    output: &mut Output<'_>,
    mut members: Vec<Member>,
    representative: impl Fn(u32) -> Result<Id, DedupError>,
    cancel: &AtomicBool,
) -> Result<(), DedupError> {
    // Stable: members stay in input order.
    members.sort_by_key(|member| member.of);
    for cluster in members.chunk_by(|a, b| a.of == b.of) {
        if cancel.load(Ordering::Relaxed) {
            return Err(DedupError::Cancelled);
        }
        let id = representative(cluster[0].of)?;
        let mut line = format!(r#"{{"representative":{id},"members":[{{"id":{id}}}"#);
        for Member { id, relation, .. } in cluster {
            // Writing to a string cannot fail.
            let _ = write!(line, r#",{{"id":{id}"#);
            edges::relation(&mut line, relation);
            line.push('}');
        }
        line.push_str("]}\n");
        output.write(line.as_bytes())?;
    }
    Ok(())
}
