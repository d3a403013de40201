use super::{Documents, Item};
use crate::ids::holders::walking;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_bytes_are_what_a_walk_over_all_lists_finds(
        steps in prop::collection::vec((0..12_u64, 0..6_u64, any::<prop::sample::Index>()), 1..600),
    ) {
        let mut ids = Documents::new();
        let mut all = Vec::new();
        for (what, which, victim) in steps {
            match what {
                0..4 => all.push(ids.add(Item::Fingerprint(which)).0),
                4..8 => all.push(ids.add(Item::Exact(u128::from(which))).0),
                8 => all.push(ids.add(Item::Empty).0),
                9 => {
                    for value in ids.take_died() {
                        ids.forget(value);
                    }
                }
                _ => {
                    if !all.is_empty() {
                        ids.delete(all[victim.index(all.len())]);
                    }
                }
            }
            prop_assert_eq!(ids.bytes(), ids.walked_bytes());
        }
        prop_assert_eq!(walking::visited(|| assert!(ids.bytes() > 0)), 0);
    }
}
