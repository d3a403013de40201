//! What a run keeps to go on from, in each state that it can be left in: whatever its files hold, checksums right or not, the run goes on or
//! says why not. A byte changed under a wrong checksum is an error, or changes nothing of what comes out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::{
    Cluster, DedupError, DedupOptions, Duplicates, FileOptions, Input, Keep, Method, Outputs,
    Target, dedup_files,
};
use simhash_fuzz::{Edits, FRAMES, edit, reseal};
use simhash_store::record;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Tells a process that it is a run to be killed: its folder, its options, and after how many calls of the system.
const CHILD: &str = "SIMHASH_FUZZ_CHILD";

type Files = BTreeMap<String, Vec<u8>>;

/// Runs by options that keep different things.
const KINDS: usize = 4;

fn dedup(kind: usize) -> DedupOptions {
    let new = || DedupOptions { threads: 1, ..DedupOptions::default() };
    match kind {
        1 => DedupOptions {
            method: Method::SimHash { max_distance: 3 },
            keep: Keep::Longest,
            ..new()
        },
        2 => DedupOptions {
            method: Method::Sentences { count: 3 },
            cluster: Cluster::Components,
            ..new()
        },
        _ => new(),
    }
}

/// What the run writes, or why it does not.
fn run(folder: &Path, kind: usize, resume: bool) -> Result<Vec<u8>, DedupError> {
    let inputs = ["in-0", "in-1"].map(|name| Input::File(folder.join(name)));
    let out = folder.join("out");
    let _ = fs::remove_file(&out);
    let records = Some(Target::File(out.clone()));
    let outputs = Outputs { records, duplicates: Duplicates::Mark, ..Outputs::default() };
    let options = FileOptions {
        dedup: dedup(kind),
        across_files_only: kind == 3,
        tmp: Some(folder.join("tmp")),
        resume,
        ..FileOptions::default()
    };
    dedup_files(&inputs, &outputs, &options, &|_| {}, &NEVER)?;
    Ok(fs::read(out).expect("the run has written it"))
}

/// In a process that is to be killed.
fn as_child() {
    let Ok(said) = env::var(CHILD) else { return };
    let [folder, kind, calls] = said.split('|').collect::<Vec<_>>()[..] else { exit(1) };
    record::end_after(calls.parse().expect("a number"));
    let _ = run(Path::new(folder), kind.parse().expect("a number"), false);
    exit(0);
}

/// A run that was killed again and again.
struct Stopped {
    folder: PathBuf,
    /// The folder of the run.
    left: PathBuf,
    /// The files in each state that it was left in.
    states: Vec<Files>,
    expected: Vec<u8>,
}

fn files(path: &Path) -> Files {
    let entries = fs::read_dir(path).expect("the folder is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.filter(|name| name != "LOCK" && !name.starts_with('.'));
    names.map(|name| (name.clone(), fs::read(path.join(&name)).expect("a file"))).collect()
}

fn stopped(kind: usize) -> Stopped {
    let folder = env::temp_dir().join(format!("simhash-fuzz-resume-{}-{kind}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("tmp")).expect("the folder for temporary files can be written");
    for input in 0..2 {
        let line = |row: usize| match row {
            // One that is rejected, and one that is empty.
            7 => "no record\n".to_owned(),
            8 => format!("{{\"id\":\"{input}-{row}\",\"text\":\"\"}}\n"),
            _ => {
                let text = "今天的天气很好我们去公园散步。".repeat(row % 3 + 1);
                format!("{{\"id\":\"{input}-{row}\",\"text\":\"第{}条，{text}\"}}\n", row % 6)
            }
        };
        let lines: String = (0..14).map(line).collect();
        fs::write(folder.join(format!("in-{input}")), lines).expect("the folder can be written");
    }
    let (mut states, mut left): (Vec<Files>, PathBuf) = Default::default();
    let own = env::current_exe().expect("this program has a path");
    // A state lasts for more than two calls.
    for calls in (1..).step_by(2) {
        let mut child = Command::new(&own);
        child.env(CHILD, format!("{}|{kind}|{calls}", folder.display()));
        child.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("this program runs");
        if folder.join("out").exists() {
            break;
        }
        let mut entries = fs::read_dir(folder.join("tmp")).expect("the folder is there").flatten();
        let Some(entry) = entries.next() else { continue };
        left = entry.path();
        let found = files(&left);
        let is_begun = found.keys().any(|name| name.starts_with("checkpoint"));
        if is_begun && states.last().is_none_or(|last| !last.keys().eq(found.keys())) {
            states.push(found);
        }
        fs::remove_dir_all(&left).expect("it is ours");
    }
    // What was begun, and what each of three stages leaves.
    assert!(states.len() >= 4, "{} states; built with debug assertions?", states.len());
    let expected = run(&folder, kind, false).expect("nothing is in the way");
    Stopped { folder, left, states, expected }
}

static RUNS: [OnceLock<Stopped>; KINDS] = [const { OnceLock::new() }; KINDS];

impl Stopped {
    fn put(&self, state: &Files, name: &str, bytes: &[u8]) {
        let _ = fs::remove_dir_all(&self.left);
        fs::create_dir(&self.left).expect("the folder can be written");
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(&self.left, private).expect("it is ours");
        for (own, sound) in state {
            let bytes = if own == name { bytes } else { sound };
            fs::write(self.left.join(own), bytes).expect("the folder can be written");
        }
    }
}

fuzz_target!(init: as_child(), |input: (u8, u8, u8, u16, u8, Edits, &[u8])| {
    let (kind, state, which, at, flip, edits, bytes) = input;
    let kind = usize::from(kind) % KINDS;
    let stopped = RUNS[kind].get_or_init(|| stopped(kind));
    let state = &stopped.states[usize::from(state) % stopped.states.len()];
    let file = state.iter().nth(usize::from(which) % state.len());
    let (name, sound) = file.expect("each state has files");

    let mut damaged = sound.clone();
    let at = usize::from(at) % damaged.len();
    damaged[at] ^= flip;
    stopped.put(state, name, &damaged);
    match run(&stopped.folder, kind, true) {
        Ok(written) => assert!(written == stopped.expected, "{name} byte {at} with {flip}"),
        Err(error) => assert_ne!(flip, 0, "{name}: {error}"),
    }

    let mut edited = sound.clone();
    edit(&mut edited, FRAMES, &edits);
    reseal(&mut edited, FRAMES);
    for bytes in [&edited[..], bytes] {
        stopped.put(state, name, bytes);
        let _ = run(&stopped.folder, kind, true);
    }
});
