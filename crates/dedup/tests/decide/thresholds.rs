//! A threshold is inclusive: what is exactly as similar reaches it, by every measure and at every door.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{corpus, decisions};
use crate::laws::filed;
use proptest::prelude::*;
use serde_json::json;
use simhash_dedup::live::{LiveIndex, LiveMethod, LiveOptions, Step, Texts, Verify};
use simhash_dedup::{DedupOptions, Duplicates, Measure, Method};
use simhash_index::AddOptions;
use simhash_index::bands::BandPlan;
use simhash_sketch::measure::{containment, cosine, edit_similarity, jaccard};
use simhash_sketch::{ALMOST_ONE, Fingerprinter, Numbers, Scratch};

const MEASURES: [Measure; 5] =
    [Measure::Auto, Measure::Jaccard, Measure::Containment, Measure::Edit, Measure::Cosine];

/// Whatever has a third of its features in common is a candidate.
const PLAN: BandPlan = BandPlan { bands: 128, rows: 1 };

/// The measures of two texts as they are defined, in the order of [`MEASURES`]. Both are short: no shingle of five characters counts.
fn similarities(a: &str, b: &str) -> [f64; 5] {
    let by = Fingerprinter::new(&DedupOptions::default().fingerprinter).unwrap();
    let mut scratch = Scratch::default();
    let mut of = |text: &str| {
        let (mut set, mut vector) = (Vec::new(), Vec::new());
        by.shingles(text, &mut scratch, &mut set);
        by.vector(text, &mut scratch, &mut vector);
        (set, vector, by.normalize(text, &mut scratch).to_owned())
    };
    let ((x, v, a), (y, w, b)) = (of(a), of(b));
    let both = jaccard(&x, &y);
    let auto = (both * Numbers::of(&a).factor(Numbers::of(&b))).min(ALMOST_ONE);
    [auto, both, containment(&x, &y), edit_similarity(&a, &b), cosine(&v, &w)]
}

/// What a stream says of the second of two texts.
fn streamed(texts: [&str; 2], options: &DedupOptions) -> Option<f64> {
    decisions(&texts, options, 2).0[1].similarity
}

/// What a run over a file says of it.
fn in_file(texts: [&str; 2], options: &DedupOptions) -> Option<f64> {
    let lines = texts.map(|text| format!("{}\n", json!({ "text": text }))).concat();
    let (records, _, _) = filed(&lines, options, Duplicates::Mark);
    // Read to the last bit: the JSON reader of the tests may round it.
    let (_, number) = records.lines().nth(1).unwrap().split_once("\"similarity\":")?;
    let end = number.find([',', '}']).unwrap();
    Some(number[..end].trim().parse().unwrap())
}

/// What a live index says of it.
fn live(texts: [&str; 2], options: &DedupOptions) -> Option<f64> {
    let mut method = LiveMethod::minhash();
    if let LiveMethod::MinHash { plan, .. } = &mut method {
        *plan = Some(PLAN);
    }
    let verify = options.min_similarity.map(|least| Verify { measure: options.measure, least });
    let index = LiveIndex::new(&LiveOptions { method, verify, ..LiveOptions::default() }).unwrap();
    let [_, second] = texts.map(|text| {
        let document = index.document(text, &mut Scratch::default());
        let how = AddOptions::default();
        match index.check_and_add(&document, None, how, |_| Texts::None).unwrap() {
            Step::Done(checked) => checked.duplicate_of.and_then(|near| near.similarity),
            Step::Texts(_) => panic!("all texts are stored"),
        }
    });
    second
}

/// A text, and the same with some characters replaced.
fn pair() -> impl Strategy<Value = [String; 2]> {
    let edits = proptest::collection::vec((any::<prop::sample::Index>(), "[丁戊d-f7]"), 1..5);
    (corpus(1), edits).prop_map(|(mut texts, edits)| {
        let text = texts.remove(0);
        let mut other: Vec<String> = text.chars().map(String::from).collect();
        for (at, edit) in edits.into_iter().filter(|_| !text.is_empty()) {
            let at = at.index(other.len());
            other[at] = edit;
        }
        [text, other.concat()]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_exactly_as_similar_as_the_threshold_reaches_it_at_every_door(texts in pair()) {
        let texts = [texts[0].as_str(), texts[1].as_str()];
        let similarities = similarities(texts[0], texts[1]);
        // Others may be no candidates; of equal texts no measure is asked.
        prop_assume!(texts[0] != texts[1] && similarities[1] > 0.3);
        for (measure, similarity) in MEASURES.into_iter().zip(similarities) {
            // A number tells short texts apart, whatever else they have in common.
            if similarity <= 0.0 {
                continue;
            }
            let with = |least| DedupOptions {
                method: Method::MinHash { plan: Some(PLAN) },
                measure,
                min_similarity: Some(least),
                ..DedupOptions::default()
            };
            for door in [streamed, in_file, live] {
                prop_assert_eq!(door(texts, &with(similarity)), Some(similarity), "{:?}", measure);
                let above = similarity.next_up();
                if above < 1.0 {
                    prop_assert_eq!(door(texts, &with(above)), None, "{:?}", measure);
                }
            }
        }
    }
}
