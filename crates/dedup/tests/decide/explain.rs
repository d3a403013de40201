//! A verdict is the decision of the engine, and what it says of sketches and texts is why.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{corpus, decisions};
use proptest::prelude::*;
use simhash_dedup::{DedupOptions, Measure, Method, verdict};
use simhash_index::bands::BandPlan;

fn options() -> impl Strategy<Value = DedupOptions> {
    let methods = [
        Method::MinHash { plan: Some(BandPlan { bands: 20, rows: 4 }) },
        Method::MinHash { plan: None },
        Method::SimHash { max_distance: 6 },
        Method::Sentences { count: 2 },
        Method::BruteForce,
        Method::Exact,
    ];
    let measures =
        [Measure::Auto, Measure::Jaccard, Measure::Containment, Measure::Edit, Measure::Cosine];
    let method = prop::sample::select(methods.to_vec());
    let measure = prop::sample::select(measures.to_vec());
    let least = prop::option::of(prop::sample::select(vec![0.3, 0.8, 1.0]));
    (method, measure, least).prop_map(|(method, measure, min_similarity)| DedupOptions {
        method,
        measure,
        min_similarity,
        ..DedupOptions::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_said_of_two_texts_is_why_they_are_duplicates(
        texts in corpus(2),
        options in options(),
    ) {
        let (a, b) = (texts[0].as_str(), texts[1].as_str());
        let told = verdict(&options, a, b).unwrap();
        let (decided, _) = decisions(&[a, b], &options, 2);
        prop_assert_eq!(told.duplicates, decided[1].duplicate_of.is_some());
        if let (Some(found), true) = (decided[1].similarity, told.similarity.is_some()) {
            prop_assert_eq!(told.similarity, Some(found));
        }
        prop_assert_eq!(told.similarity.is_some(), options.min_similarity.is_some() && options.method != Method::Exact);
        prop_assert!(!told.equal || told.duplicates);
        if told.equal || told.empty || told.short || options.method == Method::Exact {
            prop_assert_eq!(told.duplicates, told.equal);
            return Ok(());
        }
        let least = options.min_similarity.unwrap_or(0.0).min(simhash_sketch::ALMOST_ONE);
        let is_similar = told.similarity.is_none_or(|similarity| similarity >= least);
        let is_looked_at = match options.method {
            Method::SimHash { max_distance } => told.distance.unwrap() <= max_distance,
            Method::MinHash { .. } | Method::Sentences { .. } => told.shared.unwrap().0 > 0,
            // It proposes by the Jaccard similarity, whatever is measured.
            _ if options.measure != Measure::Auto && options.measure != Measure::Jaccard => return Ok(()),
            _ if options.min_similarity.is_none() => return Ok(()),
            _ => true,
        };
        prop_assert_eq!(told.duplicates, is_looked_at && is_similar, "{:?}", told);
    }
}
