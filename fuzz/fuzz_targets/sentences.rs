//! What somebody else keeps of an index of sentences: a whole and changes that are any bytes, or damaged ones, make an index that
//! can be used or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_fuzz::{Edits, edit};
use simhash_index::sentences::{SentenceIndex, SentenceItem, SentenceOptions, SentenceSearch};
use simhash_index::{AddOptions, Window};
use std::sync::LazyLock;

const DOCUMENTS: u64 = 20;

fn item(row: u64) -> SentenceItem {
    match row % 8 {
        6 => SentenceItem::Exact(u128::from(row)),
        7 => SentenceItem::Empty,
        _ => SentenceItem::Sentences(vec![row, row / 2 + 100, 7]),
    }
}

fn options() -> SentenceOptions {
    let mut options = SentenceOptions::default();
    options.window = Some(Window { max_age: None, max_count: None });
    options
}

fn fill(index: &SentenceIndex) {
    for row in 0..DOCUMENTS {
        index.add_at(&item(row), Some(row)).expect("an empty index has room");
    }
    for row in 0..DOCUMENTS {
        let how = AddOptions { at: Some(row + DOCUMENTS), ..AddOptions::default() };
        index.check_and_add_with(&item(row), how).expect("there is room");
    }
}

/// What somebody else keeps: a whole and changes.
static KEPT: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let index = SentenceIndex::kept_elsewhere(&options(), None, []).expect("the options are valid");
    fill(&index);
    let changes = index.take_changes();
    (index.whole(), changes)
});

fn use_it(index: &SentenceIndex) {
    let live = index.len();
    for row in 0..DOCUMENTS {
        let found = index.search(&item(row), SentenceSearch::at_most(100)).unwrap();
        assert!(found.matches.iter().all(|found| index.has(found.id)));
    }
    let again =
        SentenceIndex::kept_elsewhere(&options(), Some(index.whole()), []).expect("a whole opens");
    assert_eq!(again.len(), live);
    for id in 0..2 * DOCUMENTS {
        assert_eq!(index.group(id), again.group(id));
        assert_eq!(
            index.delete(id).is_ok_and(|gone| gone),
            again.delete(id).is_ok_and(|gone| gone)
        );
    }
    let _ = index.add_at(&item(0), None);
}

fuzz_target!(|input: (&[u8], Edits, Edits)| {
    let (bytes, in_whole, in_changes) = input;
    let (whole, changes) = &*KEPT;
    let made = |whole: Option<Vec<u8>>, changes: &[u8]| {
        SentenceIndex::kept_elsewhere(&options(), whole, [changes.to_vec()])
    };
    let (mut whole, mut changes) = (whole.clone(), changes.clone());
    edit(&mut whole, 0, &in_whole);
    edit(&mut changes, 0, &in_changes);
    let all = [
        made(Some(whole), &[]),
        made(None, &changes),
        made(Some(bytes.to_vec()), &[]),
        made(None, bytes),
    ];
    for index in all.into_iter().flatten() {
        use_it(&index);
    }
});
