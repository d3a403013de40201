//! Verification for components: every edge joins, and what is connected already is not compared again.

use super::Stage;
use super::candidates::{Candidates, Listed};
use super::lists::Lists;
use crate::decide::Side;
use crate::error::DedupError;
use crate::parallel;
use simhash_index::Union;
use simhash_sketch::Scratch;
use std::sync::atomic::{AtomicU64, Ordering};

/// Joins each text with its matches.
///
/// The head of each list first, its oldest text: in a crowd that connects nearly all, and the rest is not compared.
pub(super) fn connect(
    stage: &Stage<'_>,
    candidates: &mut dyn Candidates,
    truncated: &mut u64,
    tick: &mut dyn FnMut(u64),
) -> Result<Union, DedupError> {
    let components = Union::within(stage.room, stage.groups.len())?;
    let joined = AtomicU64::new(0);
    let join = |scratch: &mut Scratch, text: u32, own: &mut Option<Side>, other: u32| {
        if components.connected(text, other) {
            return Ok(());
        }
        let own = match own {
            Some(own) => own,
            None => own.insert(stage.side(text, scratch)?),
        };
        if stage.similarity_to((text, own), other, None, scratch)?.is_some() {
            joined.fetch_add(u64::from(components.join(text, other)), Ordering::Relaxed);
        }
        Ok::<_, DedupError>(())
    };
    let mut all = Lists::new(candidates);
    loop {
        let mut lists = all.next(stage)?;
        if lists.is_empty() {
            *truncated += all.truncated;
            return Ok(components);
        }
        let (threads, cancel, new) = (stage.threads, stage.cancel, Scratch::default);
        parallel::for_each(&mut lists, threads, cancel, new, |scratch, listed| {
            let Listed { text, found } = listed;
            found.candidates.sort_unstable_by_key(|near| near.number);
            let head = found.candidates.first();
            head.map_or(Ok(()), |head| join(scratch, *text, &mut None, head.number))
        })?;
        parallel::for_each(&mut lists, threads, cancel, new, |scratch, listed| {
            let (mut own, rest) = (None, listed.found.candidates.iter().skip(1));
            rest.map(|near| near.number)
                .try_for_each(|other| join(scratch, listed.text, &mut own, other))
        })?;
        tick(joined.load(Ordering::Relaxed));
    }
}
