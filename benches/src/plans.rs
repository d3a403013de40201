//! Which plan an index chooses by itself for distances above 3, and what the best ones would cost: the table
//! `crates/index/src/plan/auto.txt` made anew, and compared.
//!
//! Not a measurement: [`Estimate::work`](simhash_index::Estimate::work) follows from the plans. It takes half a minute,
//! because the schedules of every plan at every distance have to be made.

use crate::report::{Report, Row, Settings};
use simhash_index::{IndexError, MAX_DISTANCE, Plan, plan};

/// The columns of the table, as powers of ten.
const SIZES: std::ops::RangeInclusive<u32> = 5..=9;

/// A choice may cost so much of the least work.
const SLACK: f64 = 4.0 / 3.0;

pub(crate) fn run(_: &Settings) -> Result<Report, String> {
    let rows = table().map_err(|error| error.to_string())?;
    Ok(Report {
        bench: "plans",
        setup: format!(
            "estimated work of a search, texts taken to read {} times what uniform data would, up to {} tables",
            plan::SKEW,
            plan::TABLES
        ),
        rows,
    })
}

fn table() -> Result<Vec<Row>, IndexError> {
    let plans = plan::names().map(Plan::named).collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for distance in 4..=MAX_DISTANCE {
        for size in SIZES {
            let count = 10u64.pow(size);
            let mut all = Vec::new();
            for plan in plans.iter().filter(|plan| plan.prefixes().len() <= plan::TABLES) {
                all.push((
                    plan.prefixes().len(),
                    plan.estimate(count, distance)?.work(plan::SKEW),
                    plan,
                ));
            }
            let least = all.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
            all.retain(|one| one.1 <= least * SLACK);
            all.sort_by(|a, b| {
                (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap_or(std::cmp::Ordering::Equal)
            });
            let chosen = Plan::auto(distance, Some(count))?;
            let work = chosen.estimate(count, distance)?.work(plan::SKEW);
            let best = all.first().map_or("none", |one| one.2.name());
            let what = if best == chosen.name() {
                format!("k = {distance}, 10^{size}: {best}")
            } else {
                format!("k = {distance}, 10^{size}: {}, the table should say {best}", chosen.name())
            };
            rows.push(Row::new(what, work, "fingerprints").against(
                "least work",
                least,
                Some("<= 1.33"),
            ));
        }
    }
    Ok(rows)
}
