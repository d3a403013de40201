//! The linear Hamming scan against reading the same array: how close brute force is to memory bandwidth.

use crate::calibrate;
use crate::report::{Random, Report, Row, Settings};
use simhash_sketch::hamming;
use std::hint::black_box;

pub(crate) fn run(settings: &Settings) -> Result<Report, String> {
    let size = settings.size.unwrap_or(10_000_000);
    let mut random = Random(2);
    let mut array = calibrate::huge_pages(size);
    array.fill_with(|| random.next());
    let query = random.next();
    let mut hits = 0usize;
    let reading = calibrate::read_sum_ns(&array, settings) / size as f64;
    let scan = settings.best(|| {
        hits = 0;
        hamming::within(&array, query, 3, |_, _| hits += 1);
        black_box(hits);
    });
    let naive = array.iter().filter(|&&x| (x ^ query).count_ones() <= 3).count();
    if hits != naive {
        return Err(format!("the scan found {hits} of {naive} fingerprints"));
    }
    let scan = scan * 1e9 / size as f64;
    Ok(Report {
        bench: "scan",
        setup: format!("{size} random fingerprints, k = 3"),
        rows: vec![
            Row::new("read and add up", reading, "ns/fingerprint"),
            Row::new("scan", scan, "ns/fingerprint").against(
                "reading",
                reading,
                Some("<= 1.35 (AVX-512), 1.7 (AVX2)"),
            ),
        ],
    })
}
