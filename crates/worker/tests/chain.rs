//! The stages together have the bytes of `dedup` over files.
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::{Chain, Document, Found, lines_of, pick};
use serde_json::{Value, json};
use simhash_dedup::{
    Cluster, DedupOptions, FileOptions, Input, Keep, LineOutputs, MatchOptions, Method, Outputs,
    Target, dedup_files, match_files,
};
use simhash_worker::Recipe;
use simhash_worker::blob::pack_entries;
use simhash_worker::rows::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most
    }

    fn text(&mut self, length: usize) -> String {
        let alphabet = 3000;
        (0..length).map(|_| char::from_u32(0x4e00 + self.below(alphabet) as u32).unwrap()).collect()
    }

    /// Some characters of a text become others.
    fn edited(&mut self, text: &str, edits: usize) -> String {
        let mut signs: Vec<char> = text.chars().collect();
        for _ in 0..edits {
            let at = self.below(signs.len());
            signs[at] = char::from_u32(0x4e00 + self.below(3000) as u32).unwrap();
        }
        signs.into_iter().collect()
    }
}

/// Chains, crowds, copies, empty and short texts, and others, in no order.
fn corpus(seed: u64, crowd: usize) -> Vec<String> {
    let mut random = Random(seed);
    let mut texts = Vec::new();
    for _ in 0..60 {
        let mut text = {
            let length = 40 + random.below(60);
            random.text(length)
        };
        for _ in 0..8 {
            texts.push(text.clone());
            let edits = 1 + random.below(4);
            text = random.edited(&text, edits);
        }
    }
    let stem = random.text(120);
    for _ in 0..crowd {
        let edits = 1 + random.below(9);
        texts.push(random.edited(&stem, edits));
    }
    for _ in 0..40 {
        let text = random.text(30);
        for copy in 0..=random.below(4) {
            texts.push(if copy % 2 == 0 { text.clone() } else { format!("  {text}\n") });
        }
    }
    texts.extend(["", "  ", "\u{3000}", "短", "短", "a", "第1集", "第2集"].map(String::from));
    // A long text, and one that differs in its middle.
    let long = random.text(700);
    texts.extend([random.edited(&long, 20), long]);
    for at in (1..texts.len()).rev() {
        texts.swap(at, random.below(at + 1));
    }
    // Copies of what is there, a duplicate's as well.
    for _ in 0..120 {
        let text = texts[random.below(texts.len())].clone();
        texts.insert(random.below(texts.len()), text);
    }
    texts
}

/// Documents in the bytes that they have in a file: a place is where a line begins.
fn lines(texts: &[String], random: &mut Random) -> (String, Vec<Document>) {
    let (mut file, mut documents) = (String::new(), Vec::new());
    for (number, text) in texts.iter().enumerate() {
        let pos = i64::try_from(file.len()).unwrap();
        let mut line = json!({ "id": format!("d{number}"), "text": text });
        let dates = ["2024-05-01", "2023-11-30", "2025-01-09", "2025-01", "1", ""];
        let numbers = ["20240501", "-3.5", "9007199254740993", "9007199254740992", "1e3", "0"];
        let (mut key, mut number) = (None, None);
        match random.below(5) {
            0 => {}
            1 | 2 => {
                let own = numbers[random.below(numbers.len())];
                line["date"] = own.parse().unwrap();
                number = Some(own.to_owned());
            }
            _ => {
                let own = dates[random.below(dates.len())];
                line["date"] = own.into();
                key = Some(own.to_owned());
            }
        }
        writeln!(file, "{line}").unwrap();
        documents.push(Document { pos, text: text.clone(), key, number });
    }
    (file, documents)
}

/// The files that the command line writes.
fn by_files(file: &str, options: &DedupOptions) -> (String, String, simhash_dedup::Summary) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("in.jsonl"), file).unwrap();
    let outputs = Outputs {
        records: Some(Target::File(path("out.jsonl"))),
        clusters: Some(Target::File(path("clusters.jsonl"))),
        ..Outputs::default()
    };
    let options = FileOptions { dedup: options.clone(), ..FileOptions::default() };
    let inputs = [Input::File(path("in.jsonl"))];
    let never = AtomicBool::new(false);
    let summary = dedup_files(&inputs, &outputs, &options, &|_| {}, &never).unwrap();
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    (read("out.jsonl"), read("clusters.jsonl"), summary)
}

/// The same files of what the stages found.
fn by_marks(
    file: &str,
    recipe: &str,
    documents: &[Document],
    marks: &[common::Mark],
) -> (String, String) {
    let duplicates: BTreeSet<i64> = marks.iter().map(|mark| mark.0).collect();
    let mut kept = String::new();
    let mut ids = BTreeMap::new();
    for (number, (line, document)) in file.lines().zip(documents).enumerate() {
        ids.insert(document.pos, format!("\"d{number}\""));
        if !duplicates.contains(&document.pos) {
            writeln!(kept, "{line}").unwrap();
        }
    }
    let mut found: Vec<Found> = marks
        .iter()
        .map(|(pos, original, similarity, blob)| Found {
            at: *original,
            part: None,
            id: ids[pos].clone(),
            other: Some(ids[original].clone()),
            similarity: *similarity,
            blob: blob.clone(),
        })
        .collect();
    // Stable: members stay in the order of their places.
    found.sort_by_key(|one| one.at);
    (kept, lines_of("clusters", recipe, &found))
}

fn same(
    seed: u64,
    crowd: usize,
    recipe: &Value,
    options: &DedupOptions,
    parts: u32,
    tasks: usize,
) -> usize {
    same_of(&corpus(seed, crowd), seed, recipe, options, parts, tasks)
}

fn same_of(
    texts: &[String],
    seed: u64,
    recipe: &Value,
    options: &DedupOptions,
    parts: u32,
    tasks: usize,
) -> usize {
    let (file, documents) = lines(texts, &mut Random(seed));
    let (records, clusters, summary) = by_files(&file, options);
    let chain = Chain { documents: &documents, recipe: &recipe.to_string(), parts, tasks };
    let (marks, counts, rounds) = chain.settle();
    let (kept, found) = by_marks(&file, &recipe.to_string(), &documents, &marks);
    let name = format!("{recipe}, seed {seed}, {parts} parts, {tasks} tasks");
    assert!(!clusters.is_empty(), "{name}");
    for (expected, got) in clusters.lines().zip(found.lines()) {
        assert_eq!(expected, got, "{name}");
    }
    assert_eq!(clusters.len(), found.len(), "{name}");
    assert!(records == kept, "{name}");
    let count = |name: &str| counts.get(name).map_or(0, |count| count.cast_unsigned());
    assert_eq!(
        [
            count("documents"),
            count("duplicates"),
            count("clusters"),
            count("empty"),
            count("short"),
            count("truncated")
        ],
        [
            summary.read,
            summary.duplicates,
            summary.clusters,
            summary.empty,
            summary.short,
            summary.truncated
        ],
        "{name}"
    );
    rounds
}

fn keep(name: &str) -> Keep {
    let field = |largest| Keep::Field { path: "date".into(), largest };
    match name {
        "first" => Keep::First,
        "last" => Keep::Last,
        "longest" => Keep::Longest,
        "newest" => field(true),
        _ => field(false),
    }
}

#[test]
fn every_cluster_mode_and_keep_rule_has_the_bytes_of_files() {
    for (seed, (mode, cluster)) in (1..)
        .zip([("representative", Cluster::Representative), ("components", Cluster::Components)])
    {
        for name in ["first", "last", "longest", "newest", "smallest"] {
            let options = DedupOptions { cluster, keep: keep(name), ..DedupOptions::default() };
            let recipe = json!({ "cluster": mode, "keep": name });
            same(seed, 150, &recipe, &options, 3, 2);
        }
    }
}

#[test]
fn parts_and_tasks_change_nothing() {
    for (parts, tasks) in [(1, 1), (1, 7), (64, 1)] {
        same(7, 20, &json!({}), &DedupOptions::default(), parts, tasks);
    }
}

#[test]
fn full_buckets_go_on_to_longer_keys_as_in_files() {
    for cluster in [Cluster::Representative, Cluster::Components] {
        let mode = format!("{cluster:?}").to_lowercase();
        // Small limits, so that a small crowd is one at several levels.
        for (bucket, verifications) in [(16, 1_000), (5, 9), (1, 1)] {
            let options = DedupOptions {
                cluster,
                max_bucket: bucket,
                max_verifications: verifications,
                ..DedupOptions::default()
            };
            let recipe =
                json!({ "cluster": mode, "maxBucket": bucket, "maxVerifications": verifications });
            let rounds = same(11, 120, &recipe, &options, 2, 3);
            assert_eq!(rounds, 3, "texts, buckets, done");
        }
    }
    let rounds = same(12, 600, &json!({}), &DedupOptions::default(), 2, 3);
    assert_eq!(rounds, 3, "texts, buckets, done");
}

/// A longer key of a crowd may by accident be that of a band of others, too. Here it is said to be.
#[test]
fn what_is_seen_in_a_bucket_that_is_a_longer_key_too_is_taken_back() {
    let recipe = json!({ "maxBucket": 5 }).to_string();
    let (_, documents) = lines(&corpus(11, 120), &mut Random(11));
    let chain = Chain { documents: &documents, recipe: &recipe, parts: 1, tasks: 1 };
    let rules = Recipe::new(&recipe).unwrap();
    let sketched = chain.run("sketch", &common::documents_stream(&documents));
    let shared = chain.one("bands", &pick(&sketched, &["key"]));
    let buckets = pick(&chain.one("texts", &pick(&shared, &["shared"])), &["bucket"]);
    let mut state = pick(&chain.one("pairs", &buckets), &["full"]);
    let answer = |state: &[Row]| {
        let answer = chain.one("crowd", state);
        let texts = chain.texts(&answer);
        (pick(&answer, &["want", "ask", "sight", "unseen"]), texts)
    };
    let (wants, texts) = answer(&state);
    state.extend(wants.into_iter().chain(texts));
    let (asks, _) = answer(&state);
    assert!(!asks.is_empty() && asks.iter().all(|row| row.kind == "ask"));
    let plain = answer(&[&state[..], &asks].concat()).0;
    assert!(plain.iter().all(|row| row.kind == "sight"), "{plain:?}");
    // Two that are in no full bucket are in one of those that are asked for.
    let asked = asks[0].blob.as_ref().unwrap();
    let asked = u64::from_le_bytes(asked[9..17].try_into().unwrap());
    let places: Vec<[u8; 8]> = documents
        .iter()
        .filter(|one| one.text.chars().count() == 30)
        .take(2)
        .map(|one| one.pos.to_be_bytes())
        .collect();
    let entries = pack_entries(&mut [(asked, 0), (asked, 1)], |at| &places[at as usize], &rules);
    let bucket = Row { kind: "bucket".into(), blob: Some(entries), ..Row::default() };
    let told = pick(&chain.one("pairs", std::slice::from_ref(&bucket)), &["sight"]);
    assert_eq!(told.len(), 1);
    state.extend(asks);
    state.push(bucket);
    let (wants, texts) = answer(&state);
    assert!(wants.iter().all(|row| row.kind == "want") && !texts.is_empty());
    state.extend(wants.into_iter().chain(texts));
    let (seen, _) = answer(&state);
    let unseen = pick(&seen, &["unseen"]);
    assert_eq!(unseen.len(), 1);
    let lists = chain.one("lists", &[&told[..], &unseen].concat());
    assert!(pick(&lists, &["list", "want"]).is_empty(), "{lists:?}");
    assert!(!pick(&chain.one("lists", &told), &["list"]).is_empty());
    let ended = common::worker("lists", &recipe, 1, &common::rows_stream(&unseen, &recipe));
    let line = String::from_utf8(ended.stderr).unwrap();
    assert!(line.contains("unseen takes back what no row of kind sight has"), "{line}");
}

#[test]
fn exact_and_unverified_have_the_bytes_of_files() {
    let exact = DedupOptions { method: Method::Exact, ..DedupOptions::default() };
    same(3, 10, &json!({ "method": "exact" }), &exact, 3, 2);
    for cluster in [Cluster::Representative, Cluster::Components] {
        let mode = format!("{cluster:?}").to_lowercase();
        let options = DedupOptions { cluster, min_similarity: None, ..DedupOptions::default() };
        same(4, 60, &json!({ "verify": "off", "cluster": mode }), &options, 3, 2);
    }
}

#[test]
fn thresholds_and_measures_have_the_bytes_of_files() {
    use simhash_dedup::Measure;
    for (name, measure) in [
        ("jaccard", Measure::Jaccard),
        ("edit", Measure::Edit),
        ("cosine", Measure::Cosine),
        ("containment", Measure::Containment),
    ] {
        let options =
            DedupOptions { measure, min_similarity: Some(0.6), ..DedupOptions::default() };
        same(5, 30, &json!({ "verify": name, "minSimilarity": 0.6 }), &options, 2, 1);
    }
}

/// Titles of words that come often, so that most have much in common with many others; some are edited.
fn titles(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random(seed);
    let words: Vec<String> = (0..24).map(|_| random.text(3)).collect();
    let mut titles: Vec<String> = Vec::new();
    for at in 0..count {
        let other = titles.get(random.below(at + 1)).filter(|_| at % 5 == 0).cloned();
        titles.push(if let Some(other) = other {
            random.edited(&other, 1)
        } else {
            let length = 4 + random.below(if at % 10 == 1 { 20 } else { 3 });
            (0..length).map(|_| words[random.below(words.len())].as_str()).collect()
        });
    }
    titles
}

#[test]
fn titles_that_are_not_alike_are_told_apart_before_they_are_sent() {
    let texts = titles(51, 1_500);
    for (cluster, bucket) in [
        (Cluster::Representative, 2_000),
        (Cluster::Components, 2_000),
        // Some are in full buckets.
        (Cluster::Representative, 12),
    ] {
        let options = DedupOptions {
            cluster,
            min_similarity: Some(0.6),
            max_bucket: bucket,
            ..DedupOptions::default()
        };
        let mode = format!("{cluster:?}").to_lowercase();
        let recipe = json!({ "cluster": mode, "minSimilarity": 0.6, "maxBucket": bucket });
        let rounds = same_of(&texts, 1, &recipe, &options, 3, 2);
        assert_eq!(rounds > 0, bucket == 12, "{recipe}");
        let (_, documents) = lines(&texts, &mut Random(1));
        let recipe = recipe.to_string();
        let chain = Chain { documents: &documents, recipe: &recipe, parts: 3, tasks: 2 };
        let (_, counts, _) = chain.settle();
        let [candidates, compared, edges] = ["candidates", "compared", "edges"].map(|n| counts[n]);
        assert!(edges > 100 && candidates > 3 * compared, "{candidates} {compared} {edges}");
    }
    // Other orders, some of whose places have other lengths, lists that a limit cuts, and what no outline bounds.
    let texts = titles(52, 700);
    let lax = DedupOptions { min_similarity: Some(0.6), ..DedupOptions::default() };
    for rule in ["last", "longest", "newest"] {
        let options = DedupOptions { keep: keep(rule), ..lax.clone() };
        same_of(&texts, 2, &json!({ "keep": rule, "minSimilarity": 0.6 }), &options, 3, 2);
    }
    let options = DedupOptions { max_verifications: 7, max_bucket: 30, ..lax.clone() };
    let recipe = json!({ "maxVerifications": 7, "maxBucket": 30, "minSimilarity": 0.6 });
    same_of(&texts, 3, &recipe, &options, 3, 2);
    let recipe =
        json!({ "against": NEW, "maxVerifications": 7, "maxBucket": 30, "minSimilarity": 0.6 });
    same_matches(&texts, &recipe, &options, None);
    let options = DedupOptions { measure: simhash_dedup::Measure::Containment, ..lax };
    same_of(&texts, 4, &json!({ "verify": "containment", "minSimilarity": 0.6 }), &options, 3, 2);
    let options = DedupOptions { min_similarity: None, ..DedupOptions::default() };
    same_of(&texts, 5, &json!({ "verify": "off" }), &options, 3, 2);
}

/// Several of the sentences of a page are those of another one.
fn pages(seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut sentences: Vec<String> = Vec::new();
    let mut texts = corpus(seed, 30);
    for _ in 0..150 {
        let page = (0..3 + random.below(4)).map(|_| {
            if sentences.is_empty() || random.below(3) == 0 {
                let length = 12 + random.below(20);
                sentences.push(random.text(length));
            }
            sentences[random.below(sentences.len())].clone()
        });
        texts.push(page.map(|one| one + "。").collect());
    }
    texts
}

#[test]
fn every_method_that_spreads_has_the_bytes_of_files() {
    for (seed, cluster) in [(21, Cluster::Representative), (22, Cluster::Components)] {
        let mode = format!("{cluster:?}").to_lowercase();
        for keep_rule in ["first", "last", "longest"] {
            let verified =
                DedupOptions { cluster, keep: keep(keep_rule), ..DedupOptions::default() };
            for max_distance in [0, 3, 4] {
                let method = Method::SimHash { max_distance };
                let options = DedupOptions { method, ..verified.clone() };
                let recipe = json!({ "method": "simhash", "maxDistance": max_distance, "cluster": mode, "keep": keep_rule });
                same(seed, 60, &recipe, &options, 3, 2);
            }
            let options = DedupOptions { method: Method::Sentences { count: 3 }, ..verified };
            let recipe = json!({ "method": "sentences", "sentences": 3, "cluster": mode, "keep": keep_rule });
            same_of(&pages(seed), seed, &recipe, &options, 3, 2);
        }
        // Nothing is compared, and limits cut.
        let bare = DedupOptions { cluster, min_similarity: None, ..DedupOptions::default() };
        let method = Method::SimHash { max_distance: 3 };
        let options = DedupOptions { method, max_verifications: 6, ..bare.clone() };
        let recipe =
            json!({ "method": "simhash", "verify": "off", "cluster": mode, "maxVerifications": 6 });
        same(seed, 200, &recipe, &options, 2, 3);
        let options = DedupOptions {
            method: Method::Sentences { count: 5 },
            max_bucket: 4,
            max_verifications: 5,
            ..bare
        };
        let recipe = json!({ "method": "sentences", "verify": "off", "cluster": mode, "maxBucket": 4, "maxVerifications": 5 });
        same_of(&pages(seed), seed, &recipe, &options, 2, 3);
    }
}

/// Bits before the positions of new documents.
const NEW: i64 = 1 << 62;

/// The lines that the command line writes, and those of the stages.
fn same_matches(texts: &[String], recipe: &Value, options: &DedupOptions, limit: Option<usize>) {
    let (old, new) = texts.split_at(texts.len() / 2);
    let ([old_file, new_file], mut documents) = {
        let (old_file, mut documents) = lines(old, &mut Random(1));
        let (new_file, others) = lines(new, &mut Random(2));
        documents.extend(others.into_iter().map(|one| Document { pos: one.pos | NEW, ..one }));
        ([old_file, new_file], documents)
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("old.jsonl"), old_file).unwrap();
    std::fs::write(path("new.jsonl"), new_file).unwrap();
    let files = FileOptions { dedup: options.clone(), ..FileOptions::default() };
    let outputs =
        LineOutputs { lines: Some(Target::File(path("out.jsonl"))), ..LineOutputs::default() };
    let [news, against] = ["new.jsonl", "old.jsonl"].map(|name| [Input::File(path(name))]);
    let summary = match_files(
        &news,
        &against,
        &outputs,
        &MatchOptions { files, limit },
        &|_| {},
        &AtomicBool::new(false),
    )
    .unwrap();
    let expected = std::fs::read_to_string(path("out.jsonl")).unwrap();

    documents.sort_by_key(|one| one.pos % 17);
    let recipe = recipe.to_string();
    let chain = Chain { documents: &documents, recipe: &recipe, parts: 3, tasks: 2 };
    let (rows, counts) = chain.matches();
    let id = |pos: i64| {
        let side = |one: &&Document| (one.pos < NEW) == (pos < NEW) && one.pos < pos;
        format!("\"d{}\"", documents.iter().filter(side).count())
    };
    let mut found: Vec<Found> = Vec::new();
    for one in documents.iter().filter(|one| one.pos >= NEW) {
        let own = rows.iter().filter(|row| row.pos == Some(one.pos));
        let before = found.len();
        found.extend(own.map(|row| Found {
            at: one.pos,
            part: Some(row.part),
            id: id(one.pos),
            other: row.original.map(id),
            similarity: row.similarity,
            blob: row.blob.clone(),
        }));
        if found.len() == before {
            let (other, part, similarity, blob) = (None, None, None, None);
            found.push(Found { at: one.pos, part, id: id(one.pos), other, similarity, blob });
        }
    }
    found.sort_by_key(|one| (one.at, one.part));
    let lines = lines_of("answers", &recipe, &found);
    for (expected, got) in expected.lines().zip(lines.lines()) {
        assert_eq!(expected, got, "{recipe}");
    }
    assert_eq!(expected.len(), lines.len(), "{recipe}");
    let counted = ["matched", "matches", "cut"].map(|name| counts[name].cast_unsigned());
    assert_eq!(counted, [summary.matched, summary.edges, summary.truncated], "{recipe}");
    assert!(summary.matched > 10 && lines.contains(r#""matches":[]"#), "{recipe}");
}

#[test]
fn matches_with_another_side_have_the_bytes_of_files() {
    let plain = DedupOptions::default;
    same_matches(&corpus(31, 60), &json!({ "against": NEW }), &plain(), None);
    same_matches(&corpus(32, 60), &json!({ "against": NEW, "limit": 2 }), &plain(), Some(2));
    // Full buckets, and lists that are cut.
    let options = DedupOptions { max_bucket: 5, max_verifications: 9, ..plain() };
    let recipe = json!({ "against": NEW, "maxBucket": 5, "maxVerifications": 9 });
    same_matches(&corpus(33, 120), &recipe, &options, None);
    let method = Method::SimHash { max_distance: 4 };
    let options = DedupOptions { method, min_similarity: None, ..plain() };
    let recipe = json!({ "against": NEW, "method": "simhash", "maxDistance": 4, "verify": "off" });
    same_matches(&corpus(34, 60), &recipe, &options, None);
    let options = DedupOptions { method: Method::Sentences { count: 5 }, ..plain() };
    let recipe = json!({ "against": NEW, "method": "sentences" });
    same_matches(&pages(35), &recipe, &options, None);
}
