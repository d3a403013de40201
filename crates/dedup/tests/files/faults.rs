//! What a run leaves behind when it fails: a named error and nothing else.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use simhash_dedup::{
    Cluster, DedupError, Duplicates, Fields, FileOptions, Input, Keep, Method, Outputs, Target,
    dedup_files,
};
use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const LINE: &str = "{\"text\":\"今天上午北京市召开新闻发布会介绍城市交通建设\"}\n";

fn run(inputs: &[Input], outputs: &Outputs) -> Result<(), DedupError> {
    let cancel = AtomicBool::new(false);
    dedup_files(inputs, outputs, &FileOptions::default(), &|_| {}, &cancel).map(|_| ())
}

fn to(path: impl AsRef<Path>) -> Outputs {
    Outputs { records: Some(Target::File(path.as_ref().into())), ..Outputs::default() }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The name of the variant, and the message.
fn refused(result: Result<(), DedupError>) -> (String, String) {
    let error = result.unwrap_err();
    let shown = format!("{error:?}");
    (shown.split([' ', '(']).next().unwrap().to_owned(), error.to_string())
}

/// Decided as records come, and at the end in both ways.
fn ways() -> [FileOptions; 3] {
    let mut ways = [(); 3].map(|()| FileOptions::default());
    // The lines below are alike; fingerprints tell them apart soonest.
    for way in &mut ways {
        way.dedup.method = Method::SimHash { max_distance: 8 };
    }
    ways[1].dedup.cluster = Cluster::Components;
    ways[2].dedup.keep = Keep::Longest;
    ways
}

#[test]
fn cancel_at_any_report_leaves_no_file() {
    for options in ways() {
        cancel_at_each_report(&options);
    }
}

fn cancel_at_each_report(options: &FileOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // Different texts, so that every part of the pipeline has work; a few megabytes, so that several
    // blocks are in flight.
    let lines: Vec<String> =
        (0..60_000).map(|n| format!("{{\"text\":\"第{n}号公告于{}发布\"}}\n", n * 7919)).collect();
    fs::write(path.join("in"), lines.concat()).unwrap();
    let mut cancelled = 0;
    for at in 0..8 {
        let (cancel, calls) = (AtomicBool::new(false), Cell::new(0));
        let report = |_: &simhash_dedup::Progress| {
            if calls.replace(calls.get() + 1) == at {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let outputs = Outputs {
            clusters: Some(Target::File(path.join("clusters"))),
            rejects: Some(Target::File(path.join("rejects"))),
            ..to(path.join("out"))
        };
        let inputs = [Input::File(path.join("in"))];
        let result = dedup_files(&inputs, &outputs, options, &report, &cancel);
        if calls.get() > at {
            assert!(matches!(result, Err(DedupError::Cancelled)));
            assert_eq!(names(path), ["in"]);
            cancelled += 1;
        } else {
            // A fast machine made fewer reports: the run finished.
            assert_eq!(names(path), ["clusters", "in", "out", "rejects"]);
            break;
        }
    }
    assert!(cancelled > 1, "{cancelled}");
}

#[test]
fn cancel_does_not_wait_for_a_silent_stream() {
    struct Silent;
    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            loop {
                std::thread::park();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let inputs = [Input::stream("-", Silent)];
            let outputs = to(folder.path().join("out"));
            dedup_files(&inputs, &outputs, &FileOptions::default(), &|_| {}, &cancel)
        });
        cancel.store(true, Ordering::Relaxed);
        run.join().unwrap()
    });
    assert!(matches!(result, Err(DedupError::Cancelled)));
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_failing_input_is_named_and_leaves_no_file() {
    struct Failing(std::io::Cursor<String>);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the cable is out")),
                read => Ok(read),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let inputs = [Input::stream("tape", Failing(std::io::Cursor::new(LINE.repeat(3))))];
    let (variant, message) = refused(run(&inputs, &to(folder.path().join("out"))));
    assert_eq!((&*variant, &*message), ("Input", "cannot read tape: the cable is out"));
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn missing_inputs_and_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("in"), LINE).unwrap();
    let good = || [Input::File(path.join("in"))];
    let missing = [Input::File(path.join("none"))];
    let (variant, message) = refused(run(&missing, &to(path.join("out"))));
    assert_eq!(variant, "Input");
    assert!(message.contains("none"), "{message}");
    let (variant, message) = refused(run(&[Input::File(path.into())], &to(path.join("out"))));
    assert_eq!(variant, "Input", "a folder without texts is no input");
    assert!(message.contains("no file is a text"), "{message}");
    for none in ["none", "in"] {
        let (folder, out) = (path.join(none), path.join(none).join("out"));
        let (variant, message) = refused(run(&good(), &to(out.clone())));
        let expected = format!(
            "cannot write {}: there is no folder {}; make it first",
            out.display(),
            folder.display()
        );
        assert_eq!((&*variant, message), ("Output", expected));
    }
    let (variant, _) = refused(run(&good(), &to(path)));
    assert_eq!(variant, "Output", "a folder is no output");
    assert_eq!(refused(run(&[], &to(path.join("out")))).0, "Option");
    assert_eq!(names(path), ["in"]);
}

#[test]
fn damaged_gzip_is_an_error_not_a_short_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut encoder, LINE.repeat(100).as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    for (name, damaged) in [
        ("cut", bytes[..bytes.len() - 5].to_vec()),
        ("flipped", bytes.iter().enumerate().map(|(i, b)| if i == 20 { !b } else { *b }).collect()),
    ] {
        let input = folder.path().join(name);
        fs::write(&input, damaged).unwrap();
        let (variant, _) = refused(run(&[Input::File(input)], &to(folder.path().join("out"))));
        assert_eq!(variant, "Input", "{name}");
    }
    assert_eq!(names(folder.path()), ["cut", "flipped"]);
}

#[test]
fn one_file_cannot_have_two_roles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("in"), LINE).unwrap();
    fs::hard_link(path.join("in"), path.join("twin")).unwrap();
    for name in ["in", "./in", "twin"] {
        let result = run(&[Input::File(path.join("in"))], &to(path.join(name)));
        assert_eq!(refused(result).0, "SameFile", "{name}");
    }
    let outputs =
        Outputs { clusters: Some(Target::File(path.join("./out"))), ..to(path.join("out")) };
    assert_eq!(refused(run(&[Input::File(path.join("in"))], &outputs)).0, "SameFile");
    assert_eq!(fs::read_to_string(path.join("in")).unwrap(), LINE);
    // A text of a folder or of a pattern is an input too; what no run would read of it is not.
    let texts = path.join("texts");
    fs::create_dir_all(texts.join("more")).unwrap();
    fs::write(texts.join("a.txt"), "甲乙丙丁").unwrap();
    fs::write(texts.join("more/b.html"), "子丑寅卯").unwrap();
    for (input, output) in [
        ("texts", "texts/a.txt"),
        ("texts", "texts/../texts/more/b.html"),
        ("texts/*", "texts/a.txt"),
    ] {
        let result = run(&[Input::File(path.join(input))], &to(path.join(output)));
        assert_eq!(refused(result).0, "SameFile", "{input} {output}");
        let outputs = Outputs {
            clusters: Some(Target::File(path.join(output))),
            ..to(path.join("elsewhere"))
        };
        let result = run(&[Input::File(path.join(input))], &outputs);
        assert_eq!(refused(result).0, "SameFile", "{input} {output}");
    }
    assert_eq!(fs::read_to_string(texts.join("a.txt")).unwrap(), "甲乙丙丁");
    assert!(run(&[Input::File(texts.clone())], &to(texts.join("out.jsonl"))).is_ok());
    // A link that leads to nothing yet, and what it will lead to.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("both", path.join("dangling")).unwrap();
        let rejects = Some(Target::File(path.join("both")));
        let outputs = Outputs { rejects, ..to(path.join("dangling")) };
        let result = run(&[Input::File(path.join("in"))], &outputs);
        assert_eq!(refused(result).0, "SameFile");
        assert!(!path.join("both").exists());
    }
}

#[cfg(unix)]
#[test]
fn links_devices_and_modes_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("in"), LINE).unwrap();
    let input = || [Input::File(path.join("in"))];
    fs::write(path.join("real"), "old").unwrap();
    symlink(path.join("real"), path.join("link")).unwrap();
    run(&input(), &to(path.join("link"))).unwrap();
    assert_eq!(fs::read_to_string(path.join("real")).unwrap(), LINE);
    assert!(fs::symlink_metadata(path.join("link")).unwrap().is_symlink());
    run(&input(), &to("/dev/null")).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    run(&input(), &to(path.join("new"))).unwrap();
    let mode = |name: &str| fs::metadata(path.join(name)).unwrap().permissions().mode();
    assert_eq!(mode("new"), mode("in"), "the mode of an ordinary new file");
    fs::set_permissions(path.join("new"), fs::Permissions::from_mode(0o600)).unwrap();
    run(&input(), &to(path.join("new"))).unwrap();
    assert_eq!(mode("new") & 0o777, 0o600, "a private file stays private when it is replaced");
}

#[test]
fn an_output_that_cannot_take_its_name_says_which_others_stand() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in"), LINE.repeat(3)).unwrap();
    fs::write(path("out"), "old").unwrap();
    let outputs = Outputs {
        clusters: Some(Target::File(path("clusters"))),
        rejects: Some(Target::File(path("rejects"))),
        ..to(path("out"))
    };
    // A folder takes a name while the run is under way: nothing can be renamed to it.
    let report = |_: &simhash_dedup::Progress| {
        let _ = fs::create_dir(path("rejects"));
    };
    let (inputs, cancel) = ([Input::File(path("in"))], AtomicBool::new(false));
    let options = FileOptions::default();
    let result = dedup_files(&inputs, &outputs, &options, &report, &cancel).map(|_| ());
    let (variant, message) = refused(result);
    assert_eq!(variant, "Output");
    let stands = format!("these outputs of the run stand: {}", path("out").display());
    let missing = format!("these were not written either: {}", path("clusters").display());
    for part in ["rejects: it cannot take its name", &stands, &missing] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(fs::read_to_string(path("out")).unwrap(), LINE);
    assert_eq!(names(folder.path()), ["in", "out", "rejects"]);
}

#[test]
fn what_a_killed_run_left_beside_an_output_is_removed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in"), LINE).unwrap();
    fs::write(path(".out.simhash-0.tmp"), "half").unwrap();
    let (inputs, cancel) = ([Input::File(path("in"))], AtomicBool::new(false));
    let (outputs, options) = (to(path("out")), FileOptions::default());
    let summary = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel).unwrap();
    assert_eq!(names(folder.path()), ["in", "out"]);
    let folder = fs::canonicalize(folder.path()).unwrap();
    assert_eq!(summary.leftovers, [folder.join(".out.simhash-0.tmp")]);
}

/// `/dev/full` refuses every write as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_has_its_own_code() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), LINE).unwrap();
    let result = run(&[Input::File(folder.path().join("in"))], &to("/dev/full"));
    let error = result.unwrap_err();
    assert!(
        matches!(&error, DedupError::Output { source, .. } if source.kind() == io::ErrorKind::StorageFull),
        "{error:?}"
    );
    assert_eq!(error.path(), Some(Path::new("/dev/full")));
}

#[test]
fn a_writer_that_fails_early_stops_the_run() {
    struct Closed;
    impl io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let lines: Vec<String> = (0..200_000).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
    let inputs = [Input::stream("many", io::Cursor::new(lines.concat().into_bytes()))];
    let outputs = Outputs { records: Some(Target::stream("-", Closed)), ..Outputs::default() };
    assert_eq!(refused(run(&inputs, &outputs)).0, "Output");
}

#[test]
fn a_record_that_changed_under_the_run_is_named() {
    // The input is truncated after its first block was read, before a candidate of it is verified.
    struct Later {
        truncate: std::path::PathBuf,
        line: io::Cursor<Vec<u8>>,
    }
    impl Read for Later {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // Inputs are read one after the other: the first is read, nothing of it verified yet.
            fs::write(&self.truncate, "")?;
            self.line.read(buffer)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("in");
    fs::write(&first, LINE).unwrap();
    let near = LINE.replace("建设", "建设。").into_bytes();
    let later = Later { truncate: first.clone(), line: io::Cursor::new(near) };
    let inputs = [Input::File(first.clone()), Input::stream("later", later)];
    let mut options = FileOptions::default();
    options.dedup.method = Method::SimHash { max_distance: 16 };
    let outputs = to(folder.path().join("out"));
    let cancel = AtomicBool::new(false);
    let error = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel).unwrap_err();
    assert!(matches!(error, DedupError::InputChanged { .. }));
    assert_eq!((error.path(), error.line()), (Some(&*first), Some(1)));
    assert_eq!(names(folder.path()), ["in"]);
}

#[test]
fn a_record_that_changed_before_it_is_read_again_is_named() {
    for options in ways().into_iter().skip(1) {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("in");
        fs::write(&first, LINE.repeat(3)).unwrap();
        let inputs = [Input::File(first.clone())];
        let outputs = to(folder.path().join("out"));
        // The first report comes when everything is read and nothing is written.
        let report = |_: &simhash_dedup::Progress| fs::write(&first, LINE).unwrap();
        let cancel = AtomicBool::new(false);
        let error = dedup_files(&inputs, &outputs, &options, &report, &cancel).unwrap_err();
        assert!(matches!(error, DedupError::InputChanged { .. }));
        assert_eq!(names(folder.path()), ["in"]);
    }
}

#[test]
fn marks_need_keys_of_their_own_and_files_a_rule_without_a_caller() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), LINE).unwrap();
    let inputs = [Input::File(folder.path().join("in"))];
    let outputs = Outputs { duplicates: Duplicates::Mark, ..to(folder.path().join("out")) };
    let cancel = AtomicBool::new(false);
    let fields = Fields::new("similarity.of", "id").unwrap();
    let options = FileOptions { fields, ..FileOptions::default() };
    let error = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel).unwrap_err();
    assert!(matches!(error, DedupError::Option { .. }));
    let mut options = FileOptions::default();
    options.dedup.keep = Keep::Chosen;
    let error = dedup_files(&inputs, &outputs, &options, &|_| {}, &cancel).unwrap_err();
    assert!(matches!(error, DedupError::Option { .. }));
    assert_eq!(names(folder.path()), ["in"]);
}
