//! Once its scratch has grown, a fingerprinter allocates nothing.

use simhash_sketch::{
    ExtractorOptions, Fingerprinter, FingerprinterOptions, Scratch, Unit, Weighting,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting the allocations of each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TEXTS: [&str; 4] = [
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作。",
    "The quick brown fox jumps over the lazy dog; 　ＦＵＬＬ　ｗｉｄｔｈ too.",
    "龘靐齉齾爩鱻麤龗灪吁龖厵，乒乓球拍卖完了！",
    "",
];

#[test]
fn a_warm_fingerprinter_does_not_allocate() {
    let mut fingerprinters = vec![
        Fingerprinter::preset("auto").unwrap(),
        Fingerprinter::preset("chars").unwrap(),
        Fingerprinter::preset("jieba-tfidf").unwrap(),
    ];
    for unit in [Unit::Words, Unit::Jieba, Unit::Tokens] {
        for weighting in [Weighting::Count, Weighting::Binary] {
            let extract = ExtractorOptions {
                unit,
                weighting: Some(weighting),
                ngram: Some(2),
                ..ExtractorOptions::default()
            };
            let options = FingerprinterOptions { extract, ..FingerprinterOptions::default() };
            fingerprinters.push(Fingerprinter::new(&options).unwrap());
        }
    }
    for fingerprinter in fingerprinters {
        let mut scratch = Scratch::default();
        let mut sketch_all = || TEXTS.map(|text| fingerprinter.sketch(text, &mut scratch));
        let cold = sketch_all();
        let before = COUNT.get();
        let warm = sketch_all();
        assert_eq!(COUNT.get() - before, 0, "{fingerprinter:?}");
        assert_eq!(warm, cold);
    }
}
