use super::*;
use crate::Window;

fn item(sentence: u64) -> SentenceItem {
    SentenceItem::Sentences(vec![sentence])
}

#[test]
fn a_snapshot_is_the_index_at_the_call_whatever_changes_before_it_is_saved() {
    let index = SentenceIndex::new(&SentenceOptions::default()).unwrap();
    index.add_at(item(1), None).unwrap();
    let first = index.snapshot();
    index.add_at(item(2), None).unwrap();
    let second = index.snapshot();
    index.delete(0).unwrap();
    for (snapshot, size) in [(first, 1), (second, 2)] {
        let mut bytes = Vec::new();
        snapshot.write(&mut bytes, "", &false.into()).unwrap();
        assert_eq!(SentenceIndex::open(&mut bytes.as_slice()).unwrap().len(), size);
    }
}

#[test]
fn what_leaves_for_an_addition_that_is_refused_is_written_down() {
    let window = Some(Window { max_age: None, max_count: Some(3) });
    let options = SentenceOptions { window, ..SentenceOptions::default() };
    let index = SentenceIndex::kept_elsewhere(&options, None, []).unwrap();
    for at in 1..=3 {
        index.add_at(item(at), Some(at)).unwrap();
    }
    let room = std::mem::take(&mut index.shared.state.write().kind.sketches.limit);
    assert!(matches!(index.add_at(item(4), Some(4)), Err(IndexError::Full { .. })));
    index.shared.state.write().kind.sketches.limit = room;
    // Now an addition makes nobody leave.
    assert!(index.delete(1).unwrap());
    index.add_at(item(5), Some(5)).unwrap();
    let again = SentenceIndex::kept_elsewhere(&options, None, [index.take_changes()]).unwrap();
    for id in 0..6 {
        assert_eq!(again.has(id), index.has(id), "{id}");
    }
    assert_eq!(index.len(), 2);
}
