use super::{Column, Parts, Room, RoomError};
use proptest::prelude::*;

fn rooms() -> Vec<(Room, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let bounded = Room::bounded(0, folder.path()).unwrap();
    vec![(Room::default(), None), (bounded, Some(folder))]
}

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn what_a_column_gives_back_is_free_for_another() {
    const VALUES: usize = 1 << 18;
    let folder = tempfile::tempdir().unwrap();
    let room = Room::bounded(0, folder.path()).unwrap();
    let mut first = Column::made(&room, VALUES, |place| place).unwrap();
    let alone = room.most_on_disk();
    first.truncate(10);
    first.fit().unwrap();
    let second = Column::made(&room, VALUES, |place| place).unwrap();
    assert_eq!(room.most_on_disk(), alone + 4096);
    assert_eq!((first.last(), second.last()), (Some(&9), Some(&(VALUES - 1))));
    // And it can grow again.
    first.extend(0..VALUES).unwrap();
    assert_eq!((first[9], first[10], first.last()), (9, 0, Some(&(VALUES - 1))));
}

proptest! {
    /// Few values and many, let go of at any moment.
    #[test]
    fn a_column_is_a_list_wherever_it_lies(
        steps in proptest::collection::vec((any::<u32>(), 0usize..3_000, any::<bool>()), 0..20),
    ) {
        for (room, _folder) in rooms() {
            let (mut column, mut expected) = (Column::new(&room).unwrap(), Vec::new());
            column.extend_from_slice(&[]).unwrap();
            for &(value, count, at_once) in &steps {
                let new: Vec<u32> = (0..count as u32).map(|place| value.wrapping_add(place)).collect();
                if at_once {
                    column.extend_from_slice(&new).unwrap();
                } else {
                    column.extend(new.iter().copied()).unwrap();
                }
                expected.extend(new);
                if let Some(last) = expected.last_mut() {
                    *last ^= value;
                    *column.last_mut().unwrap() ^= value;
                }
                if value % 3 == 0 {
                    let most = value as usize % (expected.len() + 2);
                    expected.truncate(most);
                    column.truncate(most);
                }
                if value % 5 == 0 {
                    column.fit().unwrap();
                }
                room.relieve().unwrap();
                prop_assert_eq!(&column[..], &expected[..]);
                prop_assert_eq!(column.bytes(), expected.len() * 4);
            }
        }
    }

    #[test]
    fn parts_are_lists_of_bytes_wherever_they_lie(
        steps in proptest::collection::vec((0usize..5, 1usize..700, any::<u8>()), 0..200),
    ) {
        for (room, _folder) in rooms() {
            let mut parts = Parts::new(&room, 5).unwrap();
            let mut expected = vec![Vec::new(); 5];
            for &(part, count, value) in &steps {
                let end = parts.end(part, count).unwrap();
                end.extend(std::iter::repeat_n(value, count));
                expected[part].extend(std::iter::repeat_n(value, count));
                room.relieve().unwrap();
            }
            for (part, expected) in expected.iter().enumerate() {
                let mut bytes = Vec::new();
                let put = |chunk: &[u8]| {
                    bytes.extend_from_slice(chunk);
                    Ok::<(), RoomError>(())
                };
                parts.each(part, put).unwrap();
                prop_assert_eq!(&bytes, expected);
                prop_assert_eq!(parts.bytes_of(part), expected.len());
            }
        }
    }
}

proptest! {
    #[test]
    fn sorted_is_what_a_stable_sort_makes(
        values in proptest::collection::vec((prop_oneof![0u32..3, 0u32..5_000_000], any::<u16>()), 0..5_000),
    ) {
        let mut expected = values.clone();
        expected.sort_by_key(|&(number, _)| number);
        for (room, _folder) in rooms() {
            let mut column = Column::new(&room).unwrap();
            column.extend_from_slice(&values).unwrap();
            let check = || Ok::<_, RoomError>(());
            column.sort_by_number(&room, 5_000_000, |&(number, _)| number, check).unwrap();
            prop_assert_eq!(&column[..], &expected[..]);
            let mut apart = Column::made(&room, values.len(), |_| (0, 0)).unwrap();
            let ends = column.put_apart(&mut apart, &room, 7, |&(number, _)| number % 7, check).unwrap();
            expected.sort_by_key(|&(number, _)| number % 7);
            prop_assert_eq!(&apart[..], &expected[..]);
            let counts = (0..7).map(|part| expected.partition_point(|&(number, _)| number % 7 <= part));
            prop_assert!(counts.eq(ends));
            expected.sort_by_key(|&(number, _)| number);
        }
    }
}

#[test]
fn a_sort_ends_when_it_is_asked_to() {
    for (room, _folder) in rooms() {
        let mut column = Column::made(&room, 100_000, |place| place as u32).unwrap();
        let left = std::cell::Cell::new(20);
        let check = || {
            left.set(left.get() - 1);
            let error = || RoomError::Memory { held: 1, most: 0 };
            (left.get() > 0).then_some(()).ok_or_else(error)
        };
        let ended = column.sort_by_number(&room, u32::MAX, |&number| !number, check);
        assert!(ended.is_err() && left.get() == 0);
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    if Room::CAN_BOUND {
        let error = Room::bounded(1 << 30, &missing).unwrap_err();
        assert!(matches!(&error, RoomError::Disk { folder, .. } if *folder == missing), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_are_seen_by_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let room = Room::bounded(0, folder.path()).unwrap();
    let mut column = Column::new(&room).unwrap();
    column.extend(0..100_000u64).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// 256 MiB of values in a process that may hold 64 MiB more than it does.
#[cfg(target_os = "linux")]
#[test]
fn pages_are_let_go_of_near_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let before = super::Resident::new().bytes();
    let most = before + (64 << 20);
    let room = Room::bounded(most, folder.path()).unwrap();
    let mut column = Column::new(&room).unwrap();
    let mut highest = 0;
    for number in 0..32u64 << 20 {
        column.push(number).unwrap();
        if number % 4096 == 0 {
            room.relieve().unwrap();
        }
        if number % (1 << 16) == 0 {
            highest = highest.max(super::Resident::new().bytes());
        }
    }
    assert!(highest <= most + (8 << 20), "{highest} of {most}");
    assert!((0..).zip(column.iter()).all(|(number, &value)| number == value));
}
