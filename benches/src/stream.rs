//! Check-and-add on a live index: sustained cost, latency while tables are merged behind it, and a sliding window that
//! has gone round several times.

use crate::calibrate;
use crate::clock::cpu_seconds;
use crate::fingerprints::uniform;
use crate::report::{Random, Report, Row, Settings};
use crate::search::sealed;
use simhash_index::{AddOptions, Index, IndexOptions, Item, PlanChoice, SearchOptions, Window};
use std::hint::black_box;
use std::time::Instant;

/// Check-and-adds, and as many searches, between two looks at the clock.
const TURN: usize = 5000;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(1_000_000);
    let mut random = Random(5);
    let index = sealed(&uniform(size, &mut random), PlanChoice::Auto)?;
    let stats = index.stats();
    let read = calibrate::dependent_read_ns(stats.table_bytes, settings);
    let more = size.min(2_000_000);
    let (mut checking, mut searching, mut added) = (0.0, 0.0, 0);
    let mut turns = 0;
    // Turn about, so that both see the same tables, fronts and merges; no query comes twice.
    while added < more {
        let before = cpu_seconds();
        for _ in 0..TURN {
            black_box(
                index.search(Item::Fingerprint(random.next()), SearchOptions::default()).ok(),
            );
        }
        let between = cpu_seconds();
        let mut fresh = 0;
        for _ in 0..TURN {
            let checked = index.check_and_add(Item::Fingerprint(random.next()));
            fresh += usize::from(checked.is_ok_and(|checked| checked.id.is_some()));
        }
        checking += cpu_seconds() - between;
        searching += between - before;
        if fresh < TURN - TURN / 1000 {
            return Err(format!(
                "{fresh} of {TURN} random fingerprints were added; almost none has a neighbour"
            ));
        }
        (added, turns) = (added + fresh, turns + 1);
    }
    let each = |seconds: f64| seconds * 1e9 / (turns * TURN) as f64;
    let (sustained, search) = (each(checking), each(searching));
    let mut latencies: Vec<f64> = (0..more)
        .map(|_| {
            let item = Item::Fingerprint(random.next());
            let before = Instant::now();
            black_box(index.check_and_add(item).ok());
            before.elapsed().as_secs_f64()
        })
        .collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let percentile =
        |thousandths: usize| latencies[(latencies.len() - 1) * thousandths / 1000] * 1e6;
    let after = index.stats();
    let bytes = (after.table_bytes + after.id_bytes) as f64 / after.live as f64;
    let mut rows = vec![
        Row::new("one dependent random read", read, "ns"),
        Row::new("check and add, sustained", sustained, "ns").against(
            "dependent read",
            read,
            Some("<= 10 at 50 M"),
        ),
        Row::new("search, in turns with it", search, "ns"),
        Row::new("check and add", sustained, "ns").against(
            "search",
            search,
            Some("<= 1.5 at 50 M"),
        ),
        Row::new("p50, wall", percentile(500), "us"),
        Row::new("p99, wall", percentile(990), "us"),
        Row::new("p99.9, wall, merges included", percentile(999), "us").against(
            "1 ms",
            1000.0,
            Some("<= 1"),
        ),
        Row::new("longest", percentile(1000), "us"),
        Row::new("tables and ids", bytes, "bytes/fingerprint").against(
            "130 bytes",
            130.0,
            Some("<= 1"),
        ),
    ];
    drop(index);
    // A window's cost follows what is live; beyond a million only the time to fill it grows.
    for share in [16, 4, 1] {
        rows.extend(window((size.min(1_000_000) / share).max(1000), &mut random)?);
    }
    Ok(Report {
        bench: "stream",
        setup: format!(
            "{size} sealed, twice {more} more one at a time, k = 3, plan {}, one thread, background merges",
            after.plan
        ),
        rows,
    })
}

/// Cost of a document in a window of `live`, and its memory after five times as many have passed, against after two times.
fn window(live: usize, random: &mut Random) -> Result<[Row; 2], String> {
    let mut options = IndexOptions::default();
    options.window = Some(Window { max_age: Some(live as u64), max_count: None });
    let index = Index::new(&options).map_err(|error| error.to_string())?;
    let mut bytes = [0.0; 5];
    let start = cpu_seconds();
    for (turn, bytes) in bytes.iter_mut().enumerate() {
        for step in 0..live {
            let at = Some((turn * live + step) as u64);
            let options = AddOptions { at, ..AddOptions::default() };
            index
                .check_and_add_with(Item::Fingerprint(random.next()), options)
                .map_err(|error| error.to_string())?;
        }
        let stats = index.stats();
        *bytes = (stats.table_bytes + stats.id_bytes + stats.window_bytes) as f64 / live as f64;
    }
    let cost = (cpu_seconds() - start) * 1e9 / (5 * live) as f64;
    let memory = format!("window of {live}, memory after 5 turns");
    Ok([
        Row::new(format!("window of {live}, check and add"), cost, "ns"),
        Row::new(memory, bytes[4], "bytes/document").against(
            "after 2 turns",
            bytes[1],
            Some("about 1: flat"),
        ),
    ])
}
