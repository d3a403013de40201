//! All pairs of titles above Jaccard 0.8, exactly, against sorting what their sets hold.

use crate::clock::cpu_seconds;
use crate::corpus::Corpus;
use crate::memory::{peak, resident};
use crate::report::{Report, Row, Settings};
use simhash_index::overlap::{OverlapIndex, Sets, pairs_at_least};
use simhash_sketch::{Fingerprinter, FingerprinterOptions, Scratch};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const THRESHOLD: f64 = 0.8;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let corpus = Corpus::load("zh-hotsearch-titles")?;
    let fingerprinter =
        Fingerprinter::new(&FingerprinterOptions::default()).map_err(|error| error.to_string())?;
    let (mut sets, mut members) = (Sets::new(), Vec::new());
    let (mut scratch, mut shingles) = (Scratch::default(), Vec::new());
    for text in corpus.texts.iter().take(settings.size.unwrap_or(usize::MAX)) {
        fingerprinter.shingles(text, &mut scratch, &mut shingles);
        sets.push(&shingles);
        members.extend_from_slice(&shingles);
    }
    let count = members.len();
    let start = cpu_seconds();
    members.sort_unstable();
    let sort = cpu_seconds() - start;
    drop(members);

    let join = |threads| -> Result<(f64, f64, usize), String> {
        let (wall, cpu, mut found) = (Instant::now(), cpu_seconds(), 0);
        let go = AtomicBool::new(false);
        pairs_at_least(&sets, THRESHOLD, threads, &go, |pairs| found += pairs.len())
            .map_err(|error| error.to_string())?;
        Ok((wall.elapsed().as_secs_f64(), cpu_seconds() - cpu, found))
    };
    let before = resident();
    let (_, one, found) = join(1)?;
    let peak = (peak() - before).max(0.0);
    let (all, _, again) = join(0)?;

    let before = resident();
    let start = cpu_seconds();
    let mut index = OverlapIndex::new(THRESHOLD).map_err(|error| error.to_string())?;
    // Copies, as the join does: each further one counts once.
    let (mut near, mut copies) = (0, std::collections::HashMap::new());
    for set in sets.iter().filter(|set| !set.is_empty()) {
        if *copies.entry(set).and_modify(|count| *count += 1).or_insert(0_usize) == 0 {
            near += index.search(set, usize::MAX).matches.len();
            index.add(set).map_err(|error| error.to_string())?;
        }
    }
    near += copies.values().sum::<usize>();
    let live = cpu_seconds() - start;
    let held = (resident() - before).max(0.0);
    if found != again || found != near {
        return Err(format!("pairs: {found} on one thread, {again} on all, {near} one by one"));
    }
    let each = 1e6 / sets.len() as f64;
    Ok(Report {
        bench: "overlap",
        setup: format!(
            "{}: {} sets of bigrams, {count} members, J >= {THRESHOLD}: {found} pairs",
            corpus.name,
            sets.len()
        ),
        rows: vec![
            Row::new("sorting all members", sort, "s"),
            Row::new("join, one thread", one, "s").against("sorting", sort, None),
            Row::new("join, all cores, wall", all, "s").against("one thread", one, None),
            Row::new("join, memory beside the sets", peak, "MB"),
            Row::new("one by one: look and add", live * each, "µs/set").against(
                "join, one thread",
                one * each,
                None,
            ),
            Row::new("one by one: memory", held, "MB"),
            Row::new("one by one: bytes() says", index.bytes() as f64 / 1e6, "MB"),
        ],
    })
}
