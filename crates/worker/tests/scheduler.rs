//! The stages over a shared folder, by the job script, with the array index set by hand: every task is killed, and run again.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::{Mark, rows_of};
use serde_json::{Value, json};
use simhash_dedup::{Cluster, DedupOptions, FileOptions, Input, Outputs, Target, dedup_files};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn script(folder: &Path, inputs: &str, recipe: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scale.sh"))
        .envs([("IN", inputs), ("RECIPE", recipe), ("PARTS", "3")])
        .env("SIMHASH_WORKER", env!("CARGO_BIN_EXE_simhash-native-worker"))
        .env("WORK", folder.join("work"));
    command
}

/// Copies, a chain, a crowd, empty texts.
fn lines(file: usize) -> String {
    let mut lines = String::new();
    let text = |seed: usize| -> String {
        let sign = |at: usize| char::from_u32(0x4e00 + (seed * 7919 + at * 104_729) as u32 % 5_000);
        (0..50).map(|at| sign(at).unwrap()).collect()
    };
    for number in 0..60 {
        let mut signs: Vec<char> = text(number / 3).chars().collect();
        // Of three in a row the second is a copy or a little different, so is the third.
        (0..number % 3 * (number % 2)).for_each(|at| signs[at * 9] = '变');
        let text: String =
            if number % 20 == 19 { String::new() } else { signs.into_iter().collect() };
        writeln!(lines, "{}", json!({ "id": format!("{file}-{number}"), "text": text })).unwrap();
    }
    for number in 0..40 {
        let mut signs: Vec<char> = text(1_000).chars().collect();
        signs[number] = char::from_u32(0x3400 + (file * 40 + number) as u32).unwrap();
        let text: String = signs.into_iter().collect();
        writeln!(lines, "{}", json!({ "id": number, "text": text })).unwrap();
    }
    lines + "no record\n"
}

#[test]
fn tasks_that_are_killed_and_run_again_have_the_bytes_of_files() {
    for (recipe, options) in [
        // A small bucket, so that the crowd is one.
        (json!({ "maxBucket": 16 }), DedupOptions { max_bucket: 16, ..DedupOptions::default() }),
        (
            json!({ "cluster": "components" }),
            DedupOptions { cluster: Cluster::Components, ..DedupOptions::default() },
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let paths = [0, 1].map(|file| folder.path().join(format!("{file}.jsonl")));
        for (file, path) in paths.iter().enumerate() {
            std::fs::write(path, lines(file)).unwrap();
        }
        let inputs = paths.each_ref().map(|path| path.to_str().unwrap()).join(" ");
        let recipe = recipe.to_string();
        let stages = script(folder.path(), &inputs, &recipe).arg("stages").output().unwrap();
        let stages = String::from_utf8(stages.stdout).unwrap();
        assert_eq!(stages.lines().count(), 19, "{stages}");
        for (count, stage) in stages.lines().enumerate() {
            let (stage, tasks) = stage.split_once(' ').unwrap();
            for task in 0..tasks.parse::<usize>().unwrap() {
                let index = task.to_string();
                let run = || {
                    let mut command = script(folder.path(), &inputs, &recipe);
                    command.args([stage, &index]);
                    command
                };
                let mut killed = run().process_group(0).stderr(Stdio::null()).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(
                    (count as u64 * 7 + task as u64 * 3) % 40,
                ));
                let group = format!("-{}", killed.id());
                let _ =
                    Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status();
                killed.wait().unwrap();
                let out = folder.path().join(format!("work/{stage}/{index}.arrow"));
                let ended = run().output().unwrap();
                let words = String::from_utf8_lossy(&ended.stderr);
                assert!(ended.status.success(), "{stage} {index}: {words}");
                // Once more changes nothing.
                let before = std::fs::metadata(&out).unwrap().modified().unwrap();
                assert!(run().status().unwrap().success(), "{stage} {index}");
                assert_eq!(std::fs::metadata(&out).unwrap().modified().unwrap(), before);
            }
        }
        let mut marks: Vec<Mark> = Vec::new();
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for stage in ["sketch", "decide", "relate"] {
            for entry in std::fs::read_dir(folder.path().join("work").join(stage)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_none_or(|end| end != "arrow") {
                    continue;
                }
                for row in rows_of(&std::fs::read(path).unwrap(), &recipe) {
                    match row.kind.as_str() {
                        "mark" => {
                            let (pos, original) = (row.pos.unwrap(), row.original.unwrap());
                            marks.push((pos, original, row.similarity, row.blob));
                        }
                        "count" => {
                            let name = String::from_utf8(row.blob.unwrap()).unwrap();
                            *counts.entry(name).or_default() += row.pos.unwrap();
                        }
                        _ => {}
                    }
                }
            }
        }
        marks.sort_by_key(|mark| mark.0);
        let clusters = folder.path().join("clusters.jsonl");
        let outputs =
            Outputs { clusters: Some(Target::File(clusters.clone())), ..Outputs::default() };
        let options = FileOptions { dedup: options, ..FileOptions::default() };
        let files = paths.each_ref().map(|path| Input::File(path.clone()));
        let never = AtomicBool::new(false);
        let summary = dedup_files(&files, &outputs, &options, &|_| {}, &never).unwrap();
        assert_eq!(counts["documents"].cast_unsigned(), summary.read - summary.rejected);
        assert_eq!(counts["rejected"].cast_unsigned(), summary.rejected);
        assert_eq!(marks.len() as u64, summary.duplicates);
        assert!(summary.duplicates > 50, "{}", summary.duplicates);
        // The ids of the lines that begin at these places.
        let texts = paths.each_ref().map(|path| std::fs::read_to_string(path).unwrap());
        let id = |pos: i64| {
            let pos = pos.cast_unsigned();
            let (file, at) = ((pos >> 40) as usize, (pos & ((1 << 40) - 1)) as usize);
            let line: Value =
                serde_json::from_str(texts[file][at..].lines().next().unwrap()).unwrap();
            line["id"].to_string()
        };
        let mut found: BTreeMap<i64, String> = BTreeMap::new();
        for (pos, original, similarity, _) in marks {
            let of = id(original);
            let line = found
                .entry(original)
                .or_insert_with(|| format!(r#"{{"representative":{of},"members":[{{"id":{of}}}"#));
            let similarity = Value::from(similarity.unwrap());
            write!(line, r#",{{"id":{},"similarity":{similarity}}}"#, id(pos)).unwrap();
        }
        let found: String = found.into_values().map(|line| line + "]}\n").collect();
        assert_eq!(std::fs::read_to_string(clusters).unwrap(), found);
    }
}
