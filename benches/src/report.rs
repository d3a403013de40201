//! What a bench prints, and how it times.

use crate::clock::cpu_seconds;
use serde::Serialize;
use std::time::Instant;

/// Options of a run.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Number of items (fingerprints, documents); each bench has its own default.
    pub(crate) size: Option<usize>,
    /// Time given to each measured loop. 0.05 s is a smoke run; the default 0.5 s gives two stable digits.
    pub(crate) seconds: f64,
    /// Input in place of a bench's own, for benches that can take it.
    pub(crate) file: Option<String>,
}

impl Settings {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self { size: None, seconds: 0.5, file: None };
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
            let wrong = || format!("{flag} must be a positive number, got '{value}'");
            match flag.as_str() {
                "--size" => {
                    settings.size = Some(value.replace('_', "").parse().map_err(|_| wrong())?);
                }
                "--file" => settings.file = Some(value),
                "--seconds" => settings.seconds = value.parse().map_err(|_| wrong())?,
                _ => {
                    return Err(format!(
                        "unknown option '{flag}'; known: --size N, --seconds S, --file PATH"
                    ));
                }
            }
        }
        Ok(settings)
    }

    /// Seconds of one call of `work` on this thread: the least over many rounds that together take about
    /// [`Settings::seconds`].
    ///
    /// The minimum, not the mean: on a shared machine noise only ever adds.
    pub(crate) fn best(&self, work: impl FnMut()) -> f64 {
        self.best_by(cpu_seconds, work)
    }

    /// As [`best`](Self::best) in wall time: for work on several threads.
    pub(crate) fn best_wall(&self, work: impl FnMut()) -> f64 {
        let start = Instant::now();
        self.best_by(move || start.elapsed().as_secs_f64(), work)
    }

    /// The best wall time of each of several works that are compared with each other. They run in turns, for the machine is faster at one
    /// time than at another.
    pub(crate) fn best_walls<const N: usize>(&self, mut works: [&mut dyn FnMut(); N]) -> [f64; N] {
        let start = Instant::now();
        let (mut best, mut rounds) = ([f64::INFINITY; N], 0);
        while rounds < 3 || start.elapsed().as_secs_f64() < self.seconds * N as f64 {
            for (work, best) in works.iter_mut().zip(&mut best) {
                let round = Instant::now();
                work();
                *best = best.min(round.elapsed().as_secs_f64());
            }
            rounds += 1;
        }
        best
    }

    fn best_by(&self, now: impl Fn() -> f64, mut work: impl FnMut()) -> f64 {
        let start = Instant::now();
        let mut best = f64::INFINITY;
        let mut rounds = 0;
        // Three rounds at least, so that the first one (cold caches, page faults) is never the only one.
        while rounds < 3 || start.elapsed().as_secs_f64() < self.seconds {
            let round = now();
            work();
            best = best.min(now() - round);
            rounds += 1;
        }
        best
    }
}

/// The result of one bench.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) bench: &'static str,
    /// Size, plan, data: what a reader must know to repeat it.
    pub(crate) setup: String,
    pub(crate) rows: Vec<Row>,
}

/// One measured figure beside the limit it is held against.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<Against>,
}

/// A limit measured in the same run, and the ratio that the design asks for.
#[derive(Serialize)]
pub(crate) struct Against {
    pub(crate) what: &'static str,
    pub(crate) value: f64,
    /// `value` of the row over `value` of the limit.
    pub(crate) ratio: f64,
    /// The ratio to reach (DESIGN, "Budgets"), as a comparison: `<= 4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<&'static str>,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { what: what.into(), value, unit, against: None }
    }

    /// Holds the row against `limit`, which has the same unit.
    pub(crate) fn against(
        mut self,
        what: &'static str,
        limit: f64,
        goal: Option<&'static str>,
    ) -> Self {
        self.against = Some(Against { what, value: limit, ratio: self.value / limit, goal });
        self
    }
}

impl Report {
    #[allow(clippy::print_stdout)] // the JSON on stdout is this program's output
    pub(crate) fn print(&self) {
        match serde_json::to_string(self) {
            Ok(json) => println!("{json}"),
            Err(error) => println!("{{\"error\":\"{error}\"}}"),
        }
    }
}

/// Random 64-bit numbers, the same in every run: `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
