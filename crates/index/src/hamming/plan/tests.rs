use super::*;

/// A shipped plan, which is made without the proof, after the proof.
fn proven(name: &str) -> Plan {
    let plan = Plan::named(name).unwrap();
    let tables: Vec<Vec<u8>> = plan.prefixes().iter().map(|it| it.blocks().to_vec()).collect();
    assert_eq!(Plan::new(name, plan.radius(), plan.widths(), &tables).unwrap(), plan);
    plan
}

#[test]
fn every_plan_of_the_catalog_is_exact() {
    let mut count = 0;
    for name in names() {
        let plan = proven(name);
        assert!(name.starts_with(&format!("k{}-t{}", plan.radius(), plan.prefixes().len())));
        count += 1;
    }
    assert_eq!(count, 120);
}

#[test]
fn classic_plans_are_exact_for_every_distance() {
    for radius in 0..=MAX_DISTANCE {
        let plan = proven(Plan::classic(radius).unwrap().name());
        assert_eq!(plan.prefixes().len(), radius as usize + 1);
        assert_eq!(Plan::named(plan.name()).unwrap(), plan);
    }
    assert_eq!(Plan::classic(3).unwrap().widths(), [16; 4]);
}

#[test]
fn a_plan_with_a_table_missing_is_refused() {
    for name in ["k1-t3", "k2-t7", "k3-t6", "k3-t11", "k3-t14", "k4-t10"] {
        let (radius, widths, tables) = catalog::find(name).unwrap();
        for missing in 0..tables.len() {
            let mut fewer = tables.clone();
            fewer.remove(missing);
            let error = Plan::new(name, radius, &widths, &fewer).unwrap_err();
            assert!(
                matches!(error, IndexError::InvalidPlan { .. }),
                "{name} without table {missing}"
            );
        }
    }
}

#[test]
fn a_plan_with_a_block_swapped_is_refused() {
    let (radius, widths, mut tables) = catalog::find("k3-t6").unwrap();
    tables[0] = vec![0, 3];
    assert!(Plan::new("swapped", radius, &widths, &tables).is_err());
}

#[test]
fn malformed_plans_are_refused() {
    for (widths, tables) in [
        (vec![32, 31], vec![vec![0], vec![1]]),
        (vec![64, 0], vec![vec![0], vec![1]]),
        (vec![32, 32], vec![vec![0], vec![2]]),
        (vec![32, 32], vec![vec![0], vec![]]),
        (vec![32, 32], vec![vec![0, 0], vec![1]]),
        (vec![32, 32], vec![]),
    ] {
        assert!(Plan::new("malformed", 1, &widths, &tables).is_err(), "{widths:?} {tables:?}");
    }
}

#[test]
fn unknown_names_and_distances_are_refused() {
    for unknown in ["k3-t5000", "k17-classic"] {
        assert!(matches!(Plan::named(unknown), Err(IndexError::UnknownPlan { .. })));
    }
    assert!(matches!(Plan::auto(17, None), Err(IndexError::Distance { given: 17, max: 16 })));
}

#[test]
fn keys_gather_the_kept_bits_and_only_those() {
    for name in names() {
        for prefix in Plan::named(name).unwrap().prefixes() {
            assert_eq!(prefix.mask().count_ones(), prefix.bits());
            assert_eq!(prefix.key(u64::MAX), low_bits(prefix.bits()));
            assert_eq!(prefix.key(!prefix.mask()), 0);
            let mut seen = 0;
            for bit in (0..64).filter(|bit| prefix.mask() >> bit & 1 == 1) {
                seen |= prefix.key(1 << bit);
            }
            assert_eq!(seen, low_bits(prefix.bits()));
        }
    }
}

/// All error patterns of at most three bits leave some prefix of every k >= 3 plan untouched.
#[test]
fn patterns_of_three_bits_leave_a_prefix_clean() {
    for name in names().filter(|name| name.starts_with("k3")) {
        let plan = Plan::named(name).unwrap();
        let mut patterns = 0;
        for a in 0..64 {
            for b in a..64 {
                for c in b..64 {
                    let flips = 1u64 << a | 1 << b | 1 << c;
                    assert!(plan.prefixes().iter().any(|prefix| prefix.mask() & flips == 0));
                    patterns += 1;
                }
            }
        }
        assert_eq!(patterns, 45_760);
    }
}
