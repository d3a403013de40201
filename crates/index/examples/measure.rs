//! Ratios of the index against the machine, in one run: `cargo run --release -p simhash-index --example measure -- N`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, missing_docs)]

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use simhash_index::{Index, IndexOptions, Item, PlanChoice, SearchOptions};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    fn near(&mut self, value: u64, flips: u32) -> u64 {
        let mut mask = 0u64;
        while mask.count_ones() < flips {
            mask |= 1 << (self.next() % 64);
        }
        value ^ mask
    }
}

/// This thread's processor time in ns: other programs on the machine do not count, their use of the caches does.
fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the one timespec that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Smallest of several timings of `work(count)`, in ns per item.
fn best(rounds: usize, count: usize, mut work: impl FnMut(usize)) -> f64 {
    (0..rounds)
        .map(|round| {
            let start = cpu();
            work(round);
            (cpu() - start) / count as f64
        })
        .fold(f64::MAX, f64::min)
}

fn dependent_read(bytes: usize) -> f64 {
    let region = huge(bytes / 8);
    region.fill(0);
    // A full-period generator over a power of two of lines, made dependent by adding the (zero) word read.
    let lines = 1usize << (region.len() / 8).ilog2();
    let mut at = 1usize;
    let cost = best(5, 500_000, |_| {
        for _ in 0..500_000 {
            let value = region[at * 8] as usize;
            at = at.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(12345 + value) & (lines - 1);
        }
    });
    black_box(at);
    unmap(region);
    cost
}

/// Memory with huge pages, leaked.
fn huge(words: usize) -> &'static mut [u64] {
    let length = words * 8 + (2 << 20);
    // SAFETY: a fresh mapping of this size, aligned inside itself, never unmapped.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert!(start != libc::MAP_FAILED);
        let aligned = (start as usize).next_multiple_of(2 << 20);
        libc::madvise(aligned as *mut libc::c_void, words * 8, libc::MADV_HUGEPAGE);
        std::slice::from_raw_parts_mut(aligned as *mut u64, words)
    }
}

fn unmap(region: &'static mut [u64]) {
    // SAFETY: pages inside a mapping of our own that nothing uses any more.
    unsafe {
        libc::munmap(region.as_mut_ptr().cast(), region.len() * 8);
    }
}

/// In microseconds; `share` in thousandths.
fn percentile(sorted: &[u32], share: usize) -> f64 {
    f64::from(sorted[(sorted.len() - 1) * share / 1000]) / 1000.0
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count: usize = arguments.get(1).map_or(1_000_000, |text| text.parse().unwrap());
    let plan = arguments.get(2).map_or("auto", String::as_str);
    let mut options = IndexOptions::default();
    if plan != "auto" {
        options.plan = PlanChoice::Named(plan.to_owned());
    }
    let mut random = Random(1);
    let values: Vec<u64> = (0..count).map(|_| random.next()).collect();

    let (sum, pass) = calibrate(&values);
    println!("read-sum {sum:.3} ns, 11-bit partition pass {pass:.2} ns per fingerprint");
    let index = Index::new(&options).unwrap();
    let start = Instant::now();
    for part in values.chunks(1 << 20) {
        let items: Vec<Item> = part.iter().map(|&value| Item::Fingerprint(value)).collect();
        index.add_many(&items).unwrap();
    }
    let bulk = start.elapsed();
    let start = Instant::now();
    index.compact();
    println!(
        "n {count} plan {} bulk {:.0} ns compact {:.0} ns per fingerprint",
        index.plan().name(),
        bulk.as_nanos() as f64 / count as f64,
        start.elapsed().as_nanos() as f64 / count as f64
    );
    let stats = index.stats();
    println!(
        "tables {:.2} B, ids {:.2} B per fingerprint, {:.2} GB, huge {}",
        stats.table_bytes as f64 / count as f64,
        stats.id_bytes as f64 / count as f64,
        stats.table_bytes as f64 / 1e9,
        stats.huge_pages
    );
    let read = dependent_read(stats.table_bytes);
    println!("dependent read over as much: {read:.0} ns");

    let queries: Vec<Item> = (0..200_000)
        .map(|number| Item::Fingerprint(random.near(values[number * 7919 % count], 3)))
        .collect();
    let all = SearchOptions::default();
    let search = best(8, 20_000, |round| {
        for &query in &queries[round * 20_000..(round + 1) * 20_000] {
            black_box(index.search(query, all).unwrap());
        }
    });
    println!("search k=3 (3-flip): {search:.0} ns = {:.2} reads", search / read);
    let random_search = best(8, 20_000, |_| {
        for _ in 0..20_000 {
            black_box(index.search(Item::Fingerprint(random.next()), all).unwrap());
        }
    });
    println!("search k=3 (random): {random_search:.0} ns = {:.2} reads", random_search / read);
    let go = AtomicBool::new(false);
    let batch = best(5, 40_000, |round| {
        let part = &queries[round * 40_000..(round + 1) * 40_000];
        black_box(index.search_many(part, all, 1, &go).unwrap());
    });
    println!("search_many k=3, one thread: {batch:.0} ns = {:.2} reads", batch / read);
    for distance in [0, 1, 2, 4, 5, 6, 7, 8, 10] {
        let options = SearchOptions { max_distance: Some(distance), limit: None };
        index.search(queries[0], options).unwrap();
        let reps = if distance < 4 {
            10_000
        } else if distance < 8 {
            1000
        } else {
            100
        };
        let cost = best(4, reps, |round| {
            for &query in &queries[round * reps..(round + 1) * reps] {
                black_box(index.search(query, options).unwrap());
            }
        });
        println!("search k={distance}: {:.3} us", cost / 1000.0);
    }
    let wide = SearchOptions { max_distance: Some(16), limit: None };
    let scan = best(4, count, |round| {
        black_box(index.search(queries[round], wide).unwrap());
    });
    println!("scan (k=16): {scan:.3} ns per fingerprint = {:.2} read-sums", scan / sum);
    let mut found = 0;
    let join = best(1, count, |_| {
        let mut pairs = index.pairs(None).unwrap();
        while let Some(batch) = pairs.next_batch(&index, 1, &go).unwrap() {
            found += batch.len();
        }
    });
    let tables = stats.tables as f64;
    println!(
        "self-join k=3: {found} pairs, {:.2} s, {:.1} ns per fingerprint and table = {:.2} passes",
        join * count as f64 / 1e9,
        join / tables,
        join / tables / pass
    );
    // Streaming on top of the sealed mass.
    let more = count.min(2_000_000);
    let mut times = Vec::with_capacity(more);
    let start = cpu();
    let mut merging = 0usize;
    for number in 0..more {
        let item = Item::Fingerprint(random.next());
        let before = Instant::now();
        black_box(index.check_and_add(item).unwrap());
        times.push(before.elapsed().as_nanos() as u32);
        if number % 64 == 0 && index.stats().merging {
            merging += 64;
        }
    }
    let sustained = (cpu() - start) / more as f64;
    times.sort_unstable();
    println!(
        "check-and-add sustained {sustained:.0} ns = {:.2} reads; p50 {:.2} us p99 {:.2} us p99.9 {:.2} us max {:.0} us; merging {:.0} % of the time",
        sustained / read,
        percentile(&times, 500),
        percentile(&times, 990),
        percentile(&times, 999),
        percentile(&times, 1000),
        100.0 * merging as f64 / more as f64
    );
    let stats = index.stats();
    println!("runs {:?} front {}", stats.runs, stats.front);
    let search2 = best(8, 20_000, |_| {
        for _ in 0..20_000 {
            black_box(index.search(Item::Fingerprint(random.next()), all).unwrap());
        }
    });
    println!(
        "search k=3 (random) in this state: {search2:.0} ns; check-and-add / search {:.2}",
        sustained / search2
    );
    println!(
        "tables {:.2} B, ids {:.2} B per fingerprint",
        stats.table_bytes as f64 / stats.live as f64,
        stats.id_bytes as f64 / stats.live as f64
    );
    drop(index);
}

/// Reading an array once, and one partition pass over it by eleven bits.
fn calibrate(values: &[u64]) -> (f64, f64) {
    let region = huge(values.len());
    region.copy_from_slice(values);
    let sum = best(5, values.len(), |_| {
        black_box(region.iter().fold(0u64, |sum, value| sum.wrapping_add(*value)));
    });
    let parts = huge(values.len());
    let pass = best(3, values.len(), |_| {
        let mut next = vec![0u32; 2048];
        for value in region.iter() {
            next[(value >> 53) as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut next {
            sum += std::mem::replace(count, sum);
        }
        let mut lines = vec![[0u64; 8]; 2048];
        for &value in region.iter() {
            let part = (value >> 53) as usize;
            let at = next[part] as usize;
            next[part] += 1;
            lines[part][at % 8] = value;
            if at % 8 == 7 {
                parts[at - 7..=at].copy_from_slice(&lines[part]);
            }
        }
        black_box(&parts);
    });
    unmap(region);
    unmap(parts);
    (sum, pass)
}
