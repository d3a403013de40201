//! Runs into an index: they decide as one run over everything would, and count whole or not at all, wherever the process is killed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod daily;

use daily::{Days, FINISHED, NEVER, Twin, all, outputs, tree, whole_or_nothing};
use serde_json::Value;
use simhash_dedup::live::{LiveIndex, LiveMethod, LiveOptions, OpenOptions, Stored};
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, Duplicates, FileOptions, Input, Keep, Method, Outputs,
    SavedIndex, Target, dedup_files, dedup_into_index,
};
use simhash_index::Window;
use simhash_sketch::ExtractorOptions;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One test at a time: a process that another test is about to start holds the locks of this one for a moment.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn methods() -> [Method; 4] {
    [
        Method::MinHash { plan: None },
        Method::SimHash { max_distance: Method::MAX_DISTANCE },
        Method::Sentences { count: Method::SENTENCES },
        Method::Exact,
    ]
}

fn given(method: Method) -> FileOptions {
    FileOptions {
        dedup: DedupOptions { method, ..DedupOptions::default() },
        ..FileOptions::default()
    }
}

fn read(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn runs_of_some_days_decide_as_one_run_over_all_of_them() {
    let _turn = turn();
    for method in methods() {
        for min_similarity in [Some(0.8), None] {
            if min_similarity.is_none() && method != (Method::SimHash { max_distance: 8 }) {
                continue;
            }
            let days = Days::new(3);
            let mut options = given(method);
            options.dedup.min_similarity = min_similarity;
            let mut marked: Vec<Value> = Vec::new();
            let mut clusters: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            for day in 0..3 {
                let done = days.run_with(day, &options, &|_| {}).unwrap();
                let summary = &done.summary;
                assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
                assert_eq!((summary.rejected, done.repeated), (1, false));
                marked.extend(read(&days.output(day, "out")));
                for cluster in read(&days.output(day, "clusters")) {
                    let members = cluster["members"].as_array().unwrap();
                    let name = cluster["representative"].to_string();
                    let all = clusters.entry(name).or_insert_with(|| members[..1].to_vec());
                    all.extend(members[1..].iter().cloned());
                }
            }
            let whole = Outputs {
                records: Some(Target::File(days.path("whole"))),
                clusters: Some(Target::File(days.path("whole clusters"))),
                rejects: None,
                duplicates: Duplicates::Mark,
                ..Outputs::default()
            };
            let inputs: Vec<Input> = (0..3).map(|day| Input::File(days.input(day))).collect();
            dedup_files(&inputs, &whole, &options, &|_| {}, &NEVER).unwrap();
            assert_eq!(marked, read(&days.path("whole")), "{method:?}");
            assert!(marked.iter().filter(|record| record["duplicateOf"].is_string()).count() > 40);
            let expected = read(&days.path("whole clusters")).into_iter().map(|cluster| {
                let members = cluster["members"].as_array().unwrap().clone();
                (cluster["representative"].to_string(), members)
            });
            assert_eq!(clusters, expected.collect::<BTreeMap<_, _>>(), "{method:?}");
        }
    }
}

#[test]
fn the_same_run_again_is_answered_as_the_first_time_and_adds_nothing() {
    let _turn = turn();
    for method in methods() {
        let days = Days::new(3);
        let options = given(method);
        let mut first = Vec::new();
        for day in 0..3 {
            let done = days.run_with(day, &options, &|_| {}).unwrap();
            first.push((outputs(&days, day), done.summary, done.name));
        }
        let before = all(&days.index());
        for day in [0, 2, 1] {
            for name in ["out", "clusters", "rejects"] {
                fs::remove_file(days.output(day, name)).unwrap();
            }
            let done = days.run_with(day, &options, &|_| {}).unwrap();
            let (written, mut summary, name) = first[day].clone();
            assert!(done.repeated);
            assert_eq!((outputs(&days, day), done.name), (written, name), "{method:?}");
            (summary.seconds, summary.index_bytes) =
                (done.summary.seconds, done.summary.index_bytes);
            assert_eq!(done.summary, summary);
        }
        assert_eq!(all(&days.index()), before);
        // Another field of the id is another run; its documents are all there already.
        let mut other = options.clone();
        other.fields = simhash_dedup::Fields::new("text", "other").unwrap();
        let done = days.run_with(0, &other, &|_| {}).unwrap();
        let empty = done.summary.empty;
        assert_eq!((done.repeated, done.summary.kept), (false, empty));
        // A backup answers as the index does.
        let saved = days.saved();
        saved.snapshot(&days.path("backup"), &NEVER).unwrap();
        let kept = outputs(&days, 1);
        let done = days.run_into("backup", 1, &options, &|_| {}).unwrap();
        assert!(done.repeated);
        assert_eq!(outputs(&days, 1), kept);
    }
}

#[test]
fn an_original_that_has_left_a_window_keeps_its_id() {
    let _turn = turn();
    let days = Days::new(0);
    let window = Window { max_age: None, max_count: Some(2) };
    let made = LiveOptions {
        method: LiveMethod::Exact,
        stored: Stored { keys: true, longest_text: None },
        window: Some(window),
        ..LiveOptions::default()
    };
    let how = OpenOptions::default();
    LiveIndex::open_directory(&days.index(), &made, how, &NEVER).unwrap().close().unwrap();
    // The document "a" leaves in the block in which it has a duplicate.
    let lines = [("a", "甲"), ("a2", "甲"), ("b", "乙"), ("c", "丙"), ("d", "丁"), ("a3", "甲")];
    let lines = lines.map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n"));
    fs::write(days.input(0), lines.concat()).unwrap();
    for repeated in [false, true] {
        let done = days.run_with(0, &given(Method::Exact), &|_| {}).unwrap();
        assert_eq!((done.repeated, done.summary.kept), (repeated, 5));
        let marks: Vec<_> = read(&days.output(0, "out"))
            .into_iter()
            .map(|record| record["duplicateOf"].clone())
            .filter(|of| !of.is_null())
            .collect();
        assert_eq!(marks, ["a"]);
        let clusters = read(&days.output(0, "clusters"));
        assert_eq!(clusters.len(), 1);
        assert_eq!(clusters[0]["representative"], "a");
        let members = clusters[0]["members"].as_array().unwrap();
        let members: Vec<_> = members.iter().map(|member| &member["id"]).collect();
        assert_eq!(members, ["a", "a2"]);
    }
}

#[test]
fn a_dry_run_changes_nothing() {
    let _turn = turn();
    let days = Days::new(2);
    let options = given(Method::default());
    let dry = FileOptions { dry_run: true, ..options.clone() };
    let first = days.run_with(0, &dry, &|_| {}).unwrap();
    assert!(!days.index().exists());
    days.run_with(0, &options, &|_| {}).unwrap();
    let before = tree(&days.folder(), &["LOCK"]);
    let counted = days.run_with(1, &dry, &|_| {}).unwrap().summary;
    assert_eq!(tree(&days.folder(), &["LOCK"]), before);
    let done = days.run_with(1, &options, &|_| {}).unwrap().summary;
    assert_eq!((counted.kept, counted.duplicates), (done.kept, done.duplicates));
    assert!(first.summary.kept > done.kept && done.kept > 0);
}

#[test]
fn what_an_index_cannot_do_is_refused_and_leaves_nothing() {
    let _turn = turn();
    let days = Days::new(1);
    let run = |dedup: DedupOptions| {
        let options = FileOptions { dedup, ..FileOptions::default() };
        days.run_with(0, &options, &|_| {}).unwrap_err()
    };
    let plain = DedupOptions::default;
    for (dedup, argument) in [
        (DedupOptions { keep: Keep::Longest, ..plain() }, "keep"),
        (DedupOptions { cluster: Cluster::Components, ..plain() }, "cluster"),
        (DedupOptions { max_bucket: 3, ..plain() }, "max_bucket"),
        (DedupOptions { method: Method::BruteForce, ..plain() }, "method"),
    ] {
        let error = run(dedup);
        assert!(
            matches!(&error, DedupError::Option { argument: named, .. } if *named == argument),
            "{error}"
        );
    }
    let stream = Outputs { records: Some(Target::stream("-", Vec::new())), ..Outputs::default() };
    let into = |inputs: &[Input], outputs: &Outputs| {
        let options = FileOptions::default();
        dedup_into_index(&days.index(), inputs, outputs, &options, &|_| {}, &NEVER).unwrap_err()
    };
    let file = [Input::File(days.input(0))];
    let error = into(&file, &stream);
    assert!(matches!(error, DedupError::Option { argument: "output", .. }), "{error}");
    let error = into(&[Input::stream("-", &b"{}"[..])], &Outputs::default());
    assert!(matches!(error, DedupError::Option { argument: "inputs", .. }), "{error}");
    let missing = [Input::File(days.path("missing"))];
    assert!(matches!(into(&missing, &Outputs::default()), DedupError::Input { .. }));
    fs::write(days.path("bad"), "x\ny\n").unwrap();
    let bad = [Input::File(days.path("bad"))];
    let error = into(&bad, &Outputs::default());
    assert!(matches!(error, DedupError::NoRecords { .. }), "{error}");
    assert!(!days.index().exists());
    // Another measure, least similarity, method or feature than those of the index.
    days.run_with(0, &FileOptions::default(), &|_| {}).unwrap();
    let before = tree(&days.index(), &["LOCK"]);
    for dedup in [
        DedupOptions { min_similarity: Some(0.7), ..plain() },
        DedupOptions { method: Method::Exact, ..plain() },
        DedupOptions { max_verifications: 3, ..plain() },
    ] {
        let error = run(dedup);
        assert!(matches!(error, DedupError::Differs { argument: "index", .. }), "{error}");
    }
    assert_eq!(tree(&days.index(), &["LOCK"]), before);
    // An index without keys names no documents.
    let how = OpenOptions::default();
    let path = days.path("bare");
    let live = LiveIndex::open_directory(&path, &LiveOptions::default(), how, &NEVER).unwrap();
    live.close().unwrap();
    let error = days.run_into("bare", 0, &FileOptions::default(), &|_| {}).unwrap_err();
    assert!(matches!(error, DedupError::Option { argument: "keys", .. }), "{error}");
}

/// Runs this very test in a process of its own, which does what `arguments` say and is killed.
fn killed(test: &str, arguments: &str, after: Option<Duration>) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test]).env("SIMHASH_CHILD", arguments);
    let mut child = child.stdout(std::process::Stdio::null()).spawn().unwrap();
    if let Some(after) = after {
        std::thread::sleep(after);
        child.kill().unwrap();
    }
    child.wait().unwrap();
}

/// In the child: a run that kills its process when it has come so far.
fn child() -> bool {
    let Ok(arguments) = std::env::var("SIMHASH_CHILD") else { return false };
    let [folder, day, method, step] = arguments.split('|').collect::<Vec<_>>()[..] else {
        panic!("{arguments}")
    };
    let days = Days::at(Path::new(folder));
    let (day, method): (usize, usize) = (day.parse().unwrap(), method.parse().unwrap());
    let step: usize = step.parse().unwrap();
    let so_far = std::cell::Cell::new(0);
    let options = given(methods()[method]);
    let _ = days.run_with(day, &options, &|progress| {
        if progress.stage == simhash_dedup::Stage::Finish {
            so_far.set(so_far.get() + 1);
            if so_far.get() == step {
                let me = std::process::id().to_string();
                Command::new("kill").args(["-9", &me]).status().unwrap();
                std::thread::sleep(Duration::from_secs(60));
            }
        }
    });
    true
}

/// What runs of three days leave that nobody interrupts.
fn uninterrupted(method: usize) -> Twin {
    Twin::new(&given(methods()[method]))
}

fn check(days: &Days, method: usize, twin: &Twin) {
    whole_or_nothing(days, &given(methods()[method]), twin, "killed");
}

#[test]
fn a_run_that_is_killed_between_any_two_steps_counts_or_does_not() {
    const NAME: &str = "a_run_that_is_killed_between_any_two_steps_counts_or_does_not";
    let _turn = turn();
    if child() {
        return;
    }
    for method in 0..methods().len() {
        let twin = uninterrupted(method);
        let mut counted = Vec::new();
        for step in 1..=FINISHED {
            let days = Days::new(3);
            days.run_with(0, &given(methods()[method]), &|_| {}).unwrap();
            let arguments = format!("{}|1|{method}|{step}", days.folder().display());
            killed(NAME, &arguments, None);
            let there = days.index().join("COMMIT").exists();
            assert_eq!(there, (3..=5).contains(&step), "step {step}");
            check(&days, method, &twin);
            counted.push(there || step == FINISHED);
        }
        assert_eq!(counted, [false, false, true, true, true, true]);
    }
}

#[test]
fn a_run_that_is_killed_at_any_time_counts_or_does_not() {
    const NAME: &str = "a_run_that_is_killed_at_any_time_counts_or_does_not";
    let _turn = turn();
    if child() {
        return;
    }
    let rounds = if std::env::var_os("SIMHASH_LONG").is_some() { 200 } else { 10 };
    let twins: Vec<_> = (0..methods().len()).map(uninterrupted).collect();
    for round in 0..rounds {
        let method = round % twins.len();
        let days = Days::new(3);
        days.run_with(0, &given(methods()[method]), &|_| {}).unwrap();
        let arguments = format!("{}|1|{method}|0", days.folder().display());
        killed(NAME, &arguments, Some(Duration::from_millis(5 + 3 * (round as u64 % 50))));
        check(&days, method, &twins[method]);
    }
}

#[test]
fn outputs_that_are_gone_undo_the_run_and_the_first_run_of_all_goes_on_too() {
    const NAME: &str = "outputs_that_are_gone_undo_the_run_and_the_first_run_of_all_goes_on_too";
    let _turn = turn();
    if child() {
        return;
    }
    let twin = uninterrupted(0);
    for (step, goes) in
        [(3, ".out-1.simhash-0.tmp"), (3, ".clusters-1.simhash-0.tmp"), (4, "out-1")]
    {
        let days = Days::new(3);
        days.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
        killed(NAME, &format!("{}|1|0|{step}", days.folder().display()), None);
        fs::remove_file(days.path(goes)).unwrap();
        let saved = days.saved();
        assert_eq!(saved.verify(&NEVER).unwrap().unsettled.map(|outputs| outputs.len()), Some(3));
        let live = saved.compact(&NEVER).unwrap();
        assert!(!live.settled().unwrap().counts);
        assert!(all(&days.index()) == twin.1[0]);
        // Those that had their names stay, the others go.
        let left = outputs(&days, 1).len();
        assert_eq!(left, if step == 4 { 2 } else { 0 });
        days.run_with(1, &given(methods()[0]), &|_| {}).unwrap();
        assert!((&outputs(&days, 1), &all(&days.index())) == (&twin.0[1], &twin.1[1]));
        assert!(tree(&days.folder(), &[]).keys().all(|name| !name.contains(".tmp")));
    }
    // One output has its name, the others not yet.
    let days = Days::new(3);
    days.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
    killed(NAME, &format!("{}|1|0|3", days.folder().display()), None);
    fs::rename(days.path(".out-1.simhash-0.tmp"), days.path("out-1")).unwrap();
    check(&days, 0, &twin);
    // The changes reached the log in part.
    let days = Days::new(3);
    days.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
    killed(NAME, &format!("{}|1|0|4", days.folder().display()), None);
    let log = days.index().join("log-0000000001");
    let whole = fs::read(&log).unwrap();
    killed(NAME, &format!("{}|9|0|0", days.folder().display()), None);
    let done = Days::new(3);
    for day in 0..2 {
        done.run_with(day, &given(methods()[0]), &|_| {}).unwrap();
    }
    let longer = fs::read(done.index().join("log-0000000001")).unwrap();
    let end = whole.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let torn = [&whole[..end], &longer[end..end + 999]].concat();
    fs::write(&log, torn).unwrap();
    check(&days, 0, &twin);
    // The very first run, which makes the index.
    for step in 1..=FINISHED {
        let days = Days::new(3);
        killed(NAME, &format!("{}|0|0|{step}", days.folder().display()), None);
        let done = days.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
        assert_eq!(done.repeated, step > 2);
        assert!((&outputs(&days, 0), &all(&days.index())) == (&twin.0[0], &twin.1[0]));
    }
}

#[test]
fn a_record_or_commit_that_is_damaged_is_named() {
    const NAME: &str = "a_record_or_commit_that_is_damaged_is_named";
    let _turn = turn();
    if child() {
        return;
    }
    let days = Days::new(3);
    days.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
    killed(NAME, &format!("{}|1|0|3", days.folder().display()), None);
    let other = Days::new(3);
    other.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
    let record = tree(&days.index(), &[]).into_keys().find(|name| name.starts_with("run-"));
    // A commit is looked at before any record.
    for name in ["COMMIT".to_owned(), record.unwrap()] {
        let path = days.index().join(&name);
        let whole = fs::read(&path).unwrap();
        let mut damaged: Vec<Vec<u8>> =
            (0..whole.len()).step_by(97).map(|end| whole[..end].to_vec()).collect();
        for at in (0..whole.len()).step_by(89) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x20;
            damaged.push(bytes);
        }
        damaged.push([&whole[..], b"x"].concat());
        if name != "COMMIT" {
            damaged.push(fs::read(other.index().join(&name)).unwrap());
        }
        for bytes in damaged {
            fs::write(&path, bytes).unwrap();
            let error = days.saved().verify(&NEVER).unwrap_err().to_string();
            assert!(error.contains(&name), "{error}");
            let run = days.run_with(0, &given(methods()[0]), &|_| {}).map(|_| ());
            let error = run.unwrap_err().to_string();
            assert!(error.contains(&name), "{error}");
        }
        fs::write(&path, whole).unwrap();
    }
    days.saved().verify(&NEVER).unwrap();
}

#[test]
fn saved_words_are_asked_for() {
    let _turn = turn();
    let days = Days::new(1);
    days.run_with(0, &given(methods()[0]), &|_| {}).unwrap();
    let saved = SavedIndex { path: days.index(), words: ExtractorOptions::default() };
    assert_eq!(saved.open(&NEVER).unwrap().options().stored.longest_text, Some(1 << 24));
}
