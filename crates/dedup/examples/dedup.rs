//! Removes near-duplicates from JSON lines: `dedup [OPTIONS] IN... OUT`.
//!
//! Options: `-k N` `SimHash` within that distance, `-b BxR` `MinHash` of B bands of R rows, `-e` equal texts only, `-s S` similarity (or `none`), `-n N` characters
//! per shingle, `-w` words instead of characters, `-l` components, `-r last|longest` what is kept, `-c FILE` clusters, `-m` mark
//! instead of remove.
//! `-` is standard input or output.
#![allow(clippy::print_stderr, reason = "a program for people")]

use simhash_dedup::{
    Cluster, Duplicates, FileOptions, Input, Keep, Method, Outputs, Target, dedup_files,
};
use simhash_index::bands::BandPlan;
use simhash_sketch::Unit;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = FileOptions::default();
    let mut outputs = Outputs::default();
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "-k" => options.dedup.method = Method::SimHash { max_distance: value()?.parse()? },
            "-b" => {
                let value = value()?;
                let (bands, rows) = value.split_once('x').ok_or("-b BANDSxROWS")?;
                let plan = BandPlan::new(bands.parse()?, rows.parse()?)?;
                options.dedup.method = Method::MinHash { plan: Some(plan) };
            }
            "-e" => options.dedup.method = Method::Exact,
            "-l" => options.dedup.cluster = Cluster::Components,
            "-w" => options.dedup.fingerprinter.extract.unit = Unit::Words,
            "-s" => options.dedup.min_similarity = value()?.parse().ok(),
            "-n" => options.dedup.fingerprinter.extract.ngram = Some(value()?.parse()?),
            "-r" => {
                options.dedup.keep = match value()?.as_str() {
                    "last" => Keep::Last,
                    "longest" => Keep::Longest,
                    _ => return Err("-r last|longest".into()),
                }
            }
            "-c" => outputs.clusters = Some(Target::File(value()?.into())),
            "-m" => outputs.duplicates = Duplicates::Mark,
            _ => files.push(argument),
        }
    }
    let out = files.pop().ok_or("dedup [OPTIONS] IN... OUT")?;
    outputs.records = Some(match out.as_str() {
        "-" => Target::stream("-", std::io::stdout()),
        _ => Target::File(out.into()),
    });
    let inputs: Vec<Input> = files
        .into_iter()
        .map(|name| if name == "-" { Input::stdin() } else { Input::File(name.into()) })
        .collect();
    let cancel = AtomicBool::new(false);
    let summary = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel)?;
    eprintln!("{summary:#?}");
    Ok(())
}
