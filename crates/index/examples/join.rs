//! The join of a set against one partition pass, in one run:
//! `cargo run --release -p simhash-index --example join -- COUNT [PLAN]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use simhash_index::Plan;
use simhash_index::join::set::Join;

static GO: AtomicBool = AtomicBool::new(false);

/// Processor time of this thread in nanoseconds: what others do on the machine does not count.
fn thread_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every system with `libc`'s constant, and `time` is a place for it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Each bit with a chance of its own between .35 and .65, as in fingerprints of short texts, and a tenth of them near
/// another one.
fn skewed(count: usize) -> Vec<u64> {
    let mut state = 2;
    let chances: Vec<u64> = (0..64).map(|_| 90 + random(&mut state) % 77).collect();
    let mut values: Vec<u64> = Vec::with_capacity(count);
    for number in 0..count {
        let value = if number % 10 == 9 {
            let base = values[random(&mut state) as usize % values.len()];
            (0..random(&mut state) % 4)
                .fold(base, |value, _| value ^ 1 << (random(&mut state) % 64))
        } else {
            (0..8).fold(0u64, |value, byte| {
                let dice = random(&mut state);
                (0..8).fold(value, |value, bit| {
                    let at = byte * 8 + bit;
                    value | u64::from((dice >> (bit * 8) & 0xff) < chances[at]) << at
                })
            })
        };
        values.push(value);
    }
    values
}

/// Nanoseconds per entry of one 11-bit partition pass with write-combining, best of three: count, then scatter.
fn partition_pass(values: &[u64]) -> f64 {
    let mut out = vec![0u64; values.len()];
    let part = |value: u64| (value >> 53) as usize;
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = thread_time();
        let mut next = vec![0usize; 2048];
        for &value in values {
            next[part(value)] += 1;
        }
        let mut sum = 0;
        for begin in &mut next {
            sum += std::mem::replace(begin, sum);
        }
        let mut lines = vec![[0u64; 8]; 2048];
        for &value in values {
            let part = part(value);
            let at = next[part];
            next[part] += 1;
            lines[part][at % 8] = value;
            if at % 8 == 7 {
                // The first line of a part may overwrite its neighbour's last: a measure, not a sort.
                out[at - 7..=at].copy_from_slice(&lines[part]);
            }
        }
        black_box(&out);
        best = best.min((thread_time() - start) / values.len() as f64);
    }
    best
}

fn measure(name: &str, values: &[u64], plan: &Plan, threads: usize) {
    let tables = plan.prefixes().len() as f64;
    let pass = partition_pass(values);
    let epoch = Instant::now();
    let now = || if threads == 1 { thread_time() } else { epoch.elapsed().as_nanos() as f64 };
    let per = |start: f64| (now() - start) / values.len() as f64;
    let start = now();
    let join = Join::new(values, plan, 3, threads, &GO).unwrap();
    let made = per(start);
    let start = now();
    let clusters = join.clusters(threads, &GO, &|_, _| {}).unwrap();
    let clustering = per(start);
    let start = now();
    let (mut pairs, mut found) = (join.pairs(), 0);
    while let Some(batch) = pairs.next_batch(1 << 16, threads, &GO).unwrap() {
        found += batch.len();
    }
    let pairing = per(start);
    println!(
        "{name} {} {} threads {threads}: pass {pass:.1} ns; distinct {made:.1}; pairs {pairing:.1} ({found}); clusters {clustering:.1} ({})",
        values.len(),
        plan.name(),
        clusters.len(),
    );
    for (what, cost) in [("pairs", made + pairing), ("clusters", made + clustering)] {
        println!(
            "  {what}: {:.2} s, {:.1} ns per entry and table = {:.2} passes",
            cost * values.len() as f64 / 1e9,
            cost / tables,
            cost / tables / pass,
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(10_000_000);
    let plan = Plan::named(&arguments.next().unwrap_or_else(|| "k3-t6".to_owned())).unwrap();
    let mut state = 1;
    let values: Vec<u64> = (0..count).map(|_| random(&mut state)).collect();
    measure("uniform", &values, &plan, 1);
    measure("uniform", &values, &plan, 0);
    drop(values);
    measure("skewed", &skewed(2_000_000), &plan, 1);
    let clique: Vec<u64> = (0..100_000).collect();
    measure("100,000 in one subcube", &clique, &plan, 1);
    let prefix = plan.prefixes()[0].mask();
    let alike: Vec<u64> = (0..1_000_000).map(|_| random(&mut state) | prefix).collect();
    measure("one prefix in common", &alike, &plan, 1);
}
