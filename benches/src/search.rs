//! Search and check-and-add against one dependent random read over as much memory as the index takes.

use crate::calibrate;
use crate::report::{Random, Report, Row, Settings};
use simhash_index::{Checked, Index, IndexOptions, Item, SearchOptions};
use std::hint::black_box;

/// Queries per timed round: enough that the clock costs nothing.
const QUERIES: usize = 20_000;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(1_000_000);
    let mut random = Random(3);
    let fingerprints: Vec<u64> = (0..size).map(|_| random.next()).collect();
    let mut options = IndexOptions::default();
    options.capacity = Some(size as u64);
    let index = Index::new(&options).map_err(|error| error.to_string())?;
    let items: Vec<Item> = fingerprints.iter().map(|&f| Item::Fingerprint(f)).collect();
    let build = std::time::Instant::now();
    index.add_many(&items).map_err(|error| error.to_string())?;
    let build = build.elapsed().as_nanos() as f64 / size as f64;
    let stats = index.stats();
    let bytes = stats.table_bytes + stats.id_bytes;

    // Every query is a stored fingerprint with three bits flipped: it has an answer at distance exactly 3.
    let queries: Vec<(u64, u64)> = (0..QUERIES)
        .map(|_| {
            let id = random.next() % size as u64;
            let flips = (0..3).fold(0u64, |bits, _| bits ^ (1 << (random.next() % 64)));
            (id, fingerprints[id as usize] ^ flips)
        })
        .collect();
    let read = calibrate::dependent_read_ns(bytes, settings);
    let mut found = 0usize;
    let search = settings.best(|| {
        found = 0;
        for &(id, query) in &queries {
            if let Ok(result) = index.search(Item::Fingerprint(query), SearchOptions::default()) {
                found += usize::from(result.matches.iter().any(|m| m.id == id));
            }
        }
    });
    if found != QUERIES {
        return Err(format!("search found {found} of {QUERIES} planted neighbours"));
    }
    let search = search.as_nanos() as f64 / QUERIES as f64;
    let mut added = 0usize;
    let check = settings.best(|| {
        for _ in 0..QUERIES {
            if let Ok(Checked::Added(id)) = index.check_and_add(Item::Fingerprint(random.next())) {
                added += 1;
                black_box(id);
            }
        }
    });
    let check = check.as_nanos() as f64 / QUERIES as f64;
    Ok(Report {
        bench: "search",
        setup: format!(
            "{size} random fingerprints, k = 3, plan {}, {added} added while measuring",
            stats.plan
        ),
        rows: vec![
            Row::new("one dependent random read", read, "ns"),
            Row::new("search", search, "ns/query").against(
                "dependent read",
                read,
                Some("<= 4 at 50 M, sealed"),
            ),
            Row::new("check and add", check, "ns/item").against(
                "dependent read",
                read,
                Some("<= 10 at 50 M"),
            ),
            Row::new("build", build, "ns/fingerprint"),
            Row::new("memory", bytes as f64 / size as f64, "bytes/fingerprint"),
        ],
    })
}
