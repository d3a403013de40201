//! What other indexes and other programs do to a file meanwhile.

use super::*;
use crate::live::File as _;
use crate::sentences::SentenceItem;
use crate::sentences::operation::Operation;

fn options() -> StoreOptions {
    StoreOptions::new(SentenceOptions::default(), "")
}

fn commit(store: &mut Store, state: &mut State, sentence: u64) {
    let change = Operation::Add(SentenceItem::Sentences(vec![sentence]));
    let mut bytes = Vec::new();
    change.write(5, &mut bytes);
    state.replay(&options().options, &change.as_change()).unwrap();
    store.commit(&bytes, 1).unwrap();
}

#[test]
fn a_file_that_took_the_name_is_never_replaced_by_who_had_it_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (mut store, mut state, _) = Store::open(&path, &options()).unwrap();
    commit(&mut store, &mut state, 1);
    fs::rename(&path, folder.path().join("moved")).unwrap();
    // Nothing there: it was moved or deleted on purpose.
    assert!(matches!(store.rewrite(&state), Err(IndexError::File(FileError::Moved { .. }))));
    assert!(!path.exists());
    fs::write(&path, "another's").unwrap();
    let error = store.rewrite(&state).unwrap_err();
    assert!(
        matches!(&error, IndexError::File(FileError::Moved { path: named }) if *named == path),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "another's");
    // What it keeps stays in the file that it has.
    commit(&mut store, &mut state, 2);
    drop(store);
    let (_, state, _) = Store::open(&folder.path().join("moved"), &options()).unwrap();
    assert_eq!(state.live(), 2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_file_that_is_written_anew_is_locked_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (mut store, state, _) = Store::open(&path, &options()).unwrap();
    for _ in 0..3 {
        store.rewrite(&state).unwrap();
        assert!(matches!(
            Store::open(&path, &options()),
            Err(IndexError::File(FileError::Locked { .. }))
        ));
        assert!(matches!(save(&path, &[], &[]), Err(IndexError::File(FileError::Locked { .. }))));
    }
}

#[test]
fn the_acknowledged_state_can_be_read_again_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (mut store, mut state, _) = Store::open(&path, &options()).unwrap();
    for sentence in 0..5 {
        commit(&mut store, &mut state, sentence);
        assert_eq!(store.read_again().unwrap().write(), state.write());
    }
}
