//! The edges of new documents with old ones, a line for each new document.

use super::super::records::Spool;
use super::{Known, Run, Taken};
use crate::decide::{ALONE, Edge, Relation};
use crate::error::DedupError;
use crate::read::Id;
use crate::write::matches;
use simhash_store::Column;
use std::path::PathBuf;

/// Writes matches.
pub(super) struct Matched {
    /// The first of the new texts.
    first: Option<u32>,
    limit: Option<usize>,
    /// By new text of earlier batches.
    said: Column<Said>,
    /// What their lines say behind the id, for later documents that have the same text.
    spool: Option<Spool>,
    folder: PathBuf,
}

/// What is known of a new text.
#[derive(Clone, Copy)]
struct Said {
    /// Where what its line says ends in the spool; it begins where that of the text before ends. Nothing at all: it has no matches.
    end: u64,
    matches: u32,
    truncated: bool,
}

/// What a line says.
struct Rest {
    text: String,
    matches: u32,
    truncated: bool,
}

impl Rest {
    fn of(found: &[(&Id, Relation)], truncated: bool) -> Self {
        let named = found.iter().map(|(id, relation)| (&***id, *relation, true));
        Self { text: matches(named, truncated), matches: found.len() as u32, truncated }
    }
}

impl Matched {
    /// Up to `limit` for each document.
    pub(super) fn new(limit: Option<usize>, run: &Run<'_, '_>) -> Result<Self, DedupError> {
        let (said, folder) = (Column::new(&run.room)?, run.folder.clone());
        Ok(Self { first: None, limit, said, spool: None, folder })
    }

    /// Writes the lines of a batch.
    pub(super) fn batch(
        &mut self,
        run: &mut Run<'_, '_>,
        known: &dyn Known,
        mut taken: Taken<'_>,
    ) -> Result<(), DedupError> {
        let old = *self.first.get_or_insert(taken.edges.first);
        let verified = known.comparer().verifies();
        let cut = self.cut(&mut taken, verified);
        let documents = 0..taken.edges.numbers.len();
        let names = run.names(known, &taken, documents, wanted(&taken, old))?;
        let ids = &names.earlier;
        let rests: Vec<Rest> = (0..taken.edges.of.len())
            .map(|place| {
                let found: Vec<(&Id, Relation)> = taken.edges.of[place]
                    .iter()
                    .map(|edge| (&ids[&edge.text.number], known.comparer().relation_of(edge)))
                    .collect();
                let text = taken.edges.first + place as u32;
                Rest::of(&found, cut[place] || known.is_truncated(text))
            })
            .collect();
        for (document, &text) in taken.edges.numbers.iter().enumerate() {
            let other;
            let rest = match taken.place(text) {
                _ if text == ALONE => {
                    other = Rest::of(&[], false);
                    &other
                }
                Some(place) => &rests[place],
                None if text < old => {
                    let found = [(&ids[&text], known.comparer().equal_relation())];
                    other = Rest::of(&found, known.is_truncated(text));
                    &other
                }
                None => {
                    other = self.said(text - old)?;
                    &other
                }
            };
            run.edges.edges += u64::from(rest.matches);
            run.edges.matched += u64::from(rest.matches > 0);
            run.edges.truncated += u64::from(rest.truncated);
            let line = format!(r#"{{"id":{}{}"#, &*names.own[document], rest.text);
            run.write(&line)?;
        }
        rests.iter().try_for_each(|rest| self.note(rest))
    }

    /// Leaves of each text's edges the best; whether some were left out.
    fn cut(&self, taken: &mut Taken<'_>, verified: bool) -> Vec<bool> {
        let most = self.limit.unwrap_or(usize::MAX);
        let cut = taken.edges.of.iter_mut().map(|edges: &mut Vec<Edge>| {
            edges.sort_unstable_by(|a, b| a.order(b, verified));
            let over = edges.len() > most;
            edges.truncate(most);
            over
        });
        cut.collect()
    }

    /// Remembers what the line of the next new text says.
    fn note(&mut self, rest: &Rest) -> Result<(), DedupError> {
        let &Rest { matches, truncated, .. } = rest;
        if matches > 0 {
            let spool = match &mut self.spool {
                Some(spool) => spool,
                none => none.insert(Spool::within(self.folder.clone())?),
            };
            spool.push(rest.text.as_bytes())?;
        }
        let end = self.spool.as_ref().map_or(0, |spool| spool.end);
        Ok(self.said.push(Said { end, matches, truncated })?)
    }

    /// What the line of a new text of an earlier batch said.
    fn said(&self, place: u32) -> Result<Rest, DedupError> {
        let place = place as usize;
        let Said { end, matches, truncated } = self.said[place];
        let Some(spool) = self.spool.as_ref().filter(|_| matches > 0) else {
            return Ok(Rest::of(&[], truncated));
        };
        let start = place.checked_sub(1).map_or(0, |before| self.said[before].end);
        let mut bytes = vec![0; (end - start) as usize];
        spool.read(&mut bytes, start).map_err(|error| spool.failed(&error))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Rest { text, matches, truncated })
    }
}

/// Old texts that lines of this batch name.
fn wanted(taken: &Taken<'_>, old: u32) -> impl Iterator<Item = u32> {
    let near = taken.edges.of.iter().flatten().map(|edge| edge.text.number);
    let equal = taken.edges.numbers.iter().copied().filter(move |&text| text < old);
    near.chain(equal)
}
