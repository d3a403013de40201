//! `simhash-bench NAME [--size N] [--seconds S]`: one measurement, printed as one JSON [`Report`].
//!
//! People run it through `npm run bench -- NAME`, which draws the table. Every figure stands beside the limit it is held
//! against, measured in the same process a moment before: the machines that run this are shared, so only the
//! ratio travels from one to another.

mod calibrate;
mod clock;
mod corpus;
mod durable;
mod fingerprint;
mod fingerprints;
mod forms;
mod join;
mod live;
mod memory;
mod merges;
mod minhash;
mod open;
mod overlap;
mod plans;
mod reading;
mod report;
mod scan;
mod search;
mod segment;
mod sketching;
mod stream;

use report::{Report, Settings};

/// A bench: what to measure, at which size and for how long.
type Bench = fn(&Settings) -> Result<Report, String>;

/// Every bench of the core crates by name; `run.mjs` adds those that need JavaScript.
const BENCHES: &[(&str, Bench)] = &[
    ("scan", scan::run),
    ("search", search::run),
    ("stream", stream::run),
    ("join", join::run),
    ("plans", plans::run),
    ("overlap", overlap::run),
    ("live", live::run),
    ("durable", durable::run),
    ("merges", merges::run),
    ("minhash", minhash::run),
    ("open", open::run),
    ("fingerprint", fingerprint::run),
    ("corpora", fingerprint::corpora),
    ("segment", segment::run),
    ("batch", fingerprint::batch),
    ("reading", reading::run),
    ("sketching", sketching::run),
];

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let names = || BENCHES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let Some((_, bench)) = BENCHES.iter().find(|(known, _)| *known == name) else {
        return fail(&format!("unknown bench '{name}'; one of: {}", names()));
    };
    match Settings::parse(arguments).and_then(|settings| bench(&settings)) {
        Ok(report) => {
            report.print();
            std::process::ExitCode::SUCCESS
        }
        Err(message) => fail(&message),
    }
}

#[allow(clippy::print_stderr)] // a program for people: its errors go to stderr
fn fail(message: &str) -> std::process::ExitCode {
    eprintln!("simhash-bench: {message}");
    std::process::ExitCode::from(2)
}
