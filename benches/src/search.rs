//! Search on a sealed index against one dependent random read over as much memory as its tables take: every radius, skewed
//! data, and the classic block map in the same run.

use crate::calibrate;
use crate::clock::cpu_seconds;
use crate::fingerprints::{near, skewed, uniform};
use crate::report::{Random, Report, Row, Settings};
use simhash_index::{Index, IndexOptions, Item, PlanChoice, SearchOptions};
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(1_000_000);
    let mut random = Random(3);
    let values = uniform(size, &mut random);
    let start = Instant::now();
    let index = sealed(&values, PlanChoice::Auto)?;
    let build = start.elapsed().as_secs_f64() * 1e9 / size as f64;
    let stats = index.stats();
    let read = calibrate::dependent_read_ns(stats.table_bytes, settings);
    let search = random_ns(&index, 3, settings, &mut random);
    let hit = search_ns(&index, &values, 3, 3, settings, &mut random)?;
    let mut rows = vec![
        Row::new("one dependent random read", read, "ns"),
        Row::new("search, k = 3, random: finds nothing", search, "ns").against(
            "dependent read",
            read,
            Some("<= 4 at 50 M"),
        ),
        // Outside that budget: a hit reads its line of the id map and then its record.
        Row::new("search, k = 3, that finds a document", hit, "ns").against(
            "dependent read",
            read,
            None,
        ),
    ];
    for k in [0, 1, 2, 5, 7, 10] {
        let cost = search_ns(&index, &values, k, k, settings, &mut random)?;
        let goal = match k {
            5 => Some("<= 40 at 50 M"),
            7 => Some("<= 200 at 50 M"),
            10 => Some("<= 2000 at 50 M"),
            _ => None,
        };
        rows.push(Row::new(format!("search, k = {k}, that finds one"), cost, "ns").against(
            "dependent read",
            read,
            goal,
        ));
    }
    rows.push(Row::new("tables", stats.table_bytes as f64 / size as f64, "bytes/fingerprint"));
    rows.push(Row::new("ids", stats.id_bytes as f64 / size as f64, "bytes/fingerprint"));
    rows.push(Row::new("add and seal, all cores", build, "ns/fingerprint"));
    let plan = stats.plan;
    drop(index);

    let classic = sealed(&values, PlanChoice::Classic)?;
    let cost = random_ns(&classic, 3, settings, &mut random);
    rows.push(Row::new("classic 4 x 16 blocks, k = 3", cost, "ns").against(
        "search, k = 3",
        search,
        None,
    ));
    drop(classic);

    let (values, source) = skewed(size, &mut random)?;
    let index = sealed(&values, PlanChoice::Auto)?;
    let cost = search_ns(&index, &values, 3, 3, settings, &mut random)?;
    rows.push(Row::new("skewed, k = 3, that finds a document", cost, "ns").against(
        "the same, uniform",
        hit,
        Some("<= 3"),
    ));
    Ok(Report {
        bench: "search",
        setup: format!(
            "{size} random fingerprints, plan {plan}, sealed, one thread; skewed: {source}"
        ),
        rows,
    })
}

/// An index of `values` in one sealed run.
pub(crate) fn sealed(values: &[u64], plan: PlanChoice) -> Result<Index, String> {
    let mut options = IndexOptions::default();
    options.capacity = Some(values.len() as u64);
    options.plan = plan;
    let index = Index::new(&options).map_err(|error| error.to_string())?;
    let items: Vec<Item> = values.iter().map(|&value| Item::Fingerprint(value)).collect();
    index.add_many(&items, &[], &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    index.compact();
    Ok(index)
}

/// Nanoseconds of a search within `k` for random fingerprints, which almost never finds anything. Each is new: asked
/// twice, its buckets would lie in the cache.
pub(crate) fn random_ns(index: &Index, k: u32, settings: &Settings, random: &mut Random) -> f64 {
    let options = SearchOptions { max_distance: Some(k), limit: None };
    let best = settings.best(|| {
        for _ in 0..QUERIES {
            black_box(index.search(Item::Fingerprint(random.next()), options).ok());
        }
    });
    best * 1e9 / f64::from(QUERIES)
}

/// Searches of one measured round.
const QUERIES: u32 = 20_000;

/// Nanoseconds of a search within `k` for stored fingerprints with `flips` bits turned, each of which must be found.
fn search_ns(
    index: &Index,
    values: &[u64],
    k: u32,
    flips: u32,
    settings: &Settings,
    random: &mut Random,
) -> Result<f64, String> {
    // Fewer queries where each takes longer: a round stays well under a tenth of a second.
    let count = match k {
        0..=3 => QUERIES,
        4..=7 => 1_000,
        _ => 50,
    };
    let options = SearchOptions { max_distance: Some(k), limit: None };
    let mut missed = 0usize;
    let mut queries = Vec::new();
    let mut best = f64::INFINITY;
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || start.elapsed().as_secs_f64() < settings.seconds {
        // Other documents each time, chosen before the clock runs.
        queries.clear();
        queries.extend((0..count).map(|_| {
            let id = random.next() % values.len() as u64;
            (id, near(values[id as usize], flips, random))
        }));
        let before = cpu_seconds();
        for &(id, query) in &queries {
            let found = index.search(Item::Fingerprint(query), options).is_ok_and(|found| {
                found
                    .matches
                    .iter()
                    .any(|m| m.id == id || values[m.id as usize] == values[id as usize])
            });
            missed += usize::from(!found);
        }
        best = best.min(cpu_seconds() - before);
        rounds += 1;
    }
    if missed > 0 {
        return Err(format!("search at k = {k} missed {missed} planted neighbours"));
    }
    Ok(best * 1e9 / f64::from(count))
}
