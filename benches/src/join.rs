//! All pairs within distance 3 against what any partition into tables must cost.

use crate::calibrate;
use crate::clock::cpu_seconds;
use crate::fingerprints::{near, uniform};
use crate::report::{Random, Report, Row, Settings};
use crate::search::sealed;
use simhash_index::PlanChoice;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(1_000_000);
    let mut random = Random(7);
    let mut values = uniform(size, &mut random);
    // One in a hundred has a near copy, and every such pair must be found.
    let planted = size / 100;
    for pair in 0..planted {
        values[pair] = near(values[size - 1 - pair], 1 + (pair % 3) as u32, &mut random);
    }
    let pass = calibrate::partition_pass_ns(&values, settings);
    let index = sealed(&values, PlanChoice::Auto)?;
    let tables = index.stats().tables as f64;
    let go = AtomicBool::new(false);
    let start = cpu_seconds();
    let mut pairs = index.pairs(None).map_err(|error| error.to_string())?;
    let mut found = 0usize;
    while let Some(batch) = pairs.next_batch(&index, 1, &go).map_err(|error| error.to_string())? {
        found +=
            batch.iter().filter(|pair| pair.a < planted as u64 || pair.b < planted as u64).count();
    }
    let join = (cpu_seconds() - start) * 1e9 / size as f64;
    if found < planted {
        return Err(format!("the join found {found} of {planted} planted pairs"));
    }
    Ok(Report {
        bench: "join",
        setup: format!(
            "{size} fingerprints, {planted} planted pairs, k = 3, {tables} tables, sealed, one thread"
        ),
        rows: vec![
            Row::new("one 11-bit partition pass", pass, "ns/fingerprint"),
            Row::new("self-join", join * size as f64 / 1e9, "s"),
            Row::new("self-join, per table", join / tables, "ns/fingerprint").against(
                "partition pass",
                pass,
                Some("<= 3.5"),
            ),
        ],
    })
}
