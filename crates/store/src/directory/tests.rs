use super::*;

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_directory_is_had_by_one_writer_who_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (held, manifest) = Directory::claim(&path, true).unwrap();
    assert_eq!(manifest, None);
    match Directory::claim(&path, true).unwrap_err() {
        FileError::Locked { path: named, by } => {
            assert_eq!((named, by), (path.clone(), format!("process {}", std::process::id())));
        }
        other => panic!("{other}"),
    }
    assert!(Directory::look(&path).is_err(), "nothing has been published");
    let first = held.begin().unwrap();
    assert!(Directory::look(&path).is_err(), "it is being made");
    held.publish(&first).unwrap();
    assert_eq!(Directory::look(&path).unwrap().1, first);
    drop(held);
    assert_eq!(Directory::claim(&path, false).unwrap().1, Some(first));
}

#[test]
fn what_a_process_that_is_being_started_has_open_keeps_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (held, _) = Directory::claim(&path, true).unwrap();
    let copy = held.lock.lock().unwrap().as_ref().unwrap().try_clone().unwrap();
    held.release();
    Directory::claim(&path, true).unwrap();
    drop(copy);
}

#[test]
fn what_no_manifest_names_is_removed_and_what_is_not_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (held, _) = Directory::claim(&path, true).unwrap();
    let manifest = Manifest { checkpoint: 3, logs: vec![3, 4], ..held.begin().unwrap() };
    held.publish(&manifest).unwrap();
    for number in 1..6 {
        fs::write(held.checkpoint(number), "").unwrap();
        fs::write(held.log(number), "").unwrap();
    }
    fs::write(path.join("log-notes.txt"), "").unwrap();
    fs::write(path.join("log-12"), "").unwrap();
    drop(held);
    Directory::look(&path).unwrap();
    assert_eq!(names(&path).len(), 14, "who only looks removes nothing");
    let (held, found) = Directory::claim(&path, false).unwrap();
    assert_eq!(names(&path).len(), 14, "nobody has read yet what the manifest names");
    held.sweep(&found.unwrap()).unwrap();
    let kept = ["LOCK", "MANIFEST", "checkpoint-0000000003", "log-0000000003", "log-0000000004"];
    assert_eq!(names(&path), [&kept[..], &["log-12", "log-notes.txt"]].concat());
}

#[test]
fn what_is_no_index_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let refused = |path: &Path, create, says: &str| {
        let error = Directory::claim(path, create).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(path.to_str().unwrap()), "{error}");
    };
    refused(&path.join("none"), false, "No such file");
    refused(&path.join("none/deeper"), true, "there is no folder");
    fs::write(path.join("file"), "text").unwrap();
    refused(&path.join("file"), true, "it is a file");
    refused(path, false, "it holds no index");
    refused(path, true, "other files (file)");
    assert_eq!(names(path), ["file"]);
    // What was left of making one is not in the way; what has lost its manifest is not lost.
    let left = path.join("left");
    let (held, _) = Directory::claim(&left, true).unwrap();
    held.begin().unwrap();
    for name in ["checkpoint-0000000001", "log-0000000001"] {
        fs::write(left.join(name), "").unwrap();
    }
    drop(held);
    refused(&left, false, "never finished");
    assert_eq!(Directory::unfinished(&left).len(), names(&left).len() - 1, "all but the lock");
    let (held, found) = Directory::claim(&left, true).unwrap();
    assert_eq!((names(&left).len(), found), (4, None), "nothing is made there yet");
    held.begin().unwrap();
    assert_eq!(names(&left), ["LOCK", "MANIFEST"]);
    drop(held);
    fs::write(left.join("log-0000000001"), "").unwrap();
    fs::remove_file(left.join(MANIFEST)).unwrap();
    refused(&left, true, "MANIFEST: it is not there");
    assert_eq!(names(&left), ["LOCK", "log-0000000001"]);
    assert!(Directory::unfinished(&left).is_empty(), "it is no leaving of one that was begun");
    // Its maker may have come no further than a draft of its first manifest.
    fs::rename(left.join("log-0000000001"), left.join(".MANIFEST.simhash-0.tmp")).unwrap();
    assert_eq!(Directory::unfinished(&left), [left.join(".MANIFEST.simhash-0.tmp")]);
    let (held, _) = Directory::claim(&left, true).unwrap();
    held.begin().unwrap();
    assert_eq!(names(&left), ["LOCK", "MANIFEST"]);
}

#[test]
fn every_flip_and_cut_of_a_manifest_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (held, _) = Directory::claim(&path, true).unwrap();
    held.publish(&held.begin().unwrap()).unwrap();
    let file = path.join(MANIFEST);
    let sound = fs::read(&file).unwrap();
    for at in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[at] ^= 1 << (at % 8);
        for bytes in [&flipped[..], &sound[..at]] {
            fs::write(&file, bytes).unwrap();
            let error = held.manifest().unwrap_err().to_string();
            assert!(error.contains(file.to_str().unwrap()), "{error}");
        }
    }
}

#[test]
fn a_file_of_another_place_or_index_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (held, _) = Directory::claim(&folder.path().join("index"), true).unwrap();
    let (one, other) = (held.begin().unwrap(), held.begin().unwrap());
    let said = |manifest: &Manifest, number| Section::new(manifest.mark(number).0, 0);
    one.check(&mut said(&one, 7), 7).unwrap();
    let error = |said: &mut Section| one.check(said, 7).unwrap_err().to_string();
    assert!(error(&mut said(&one, 8)).contains("file 8"));
    assert!(error(&mut said(&other, 7)).contains("another index"));
}

#[cfg(unix)]
#[test]
fn files_and_folder_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (held, _) = Directory::claim(&path, true).unwrap();
    held.publish(&held.begin().unwrap()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!([LOCK, MANIFEST].map(|name| mode(&path.join(name))), [0o600; 2]);
}

#[test]
fn what_is_discarded_is_gone_and_what_is_left_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    assert!(!Directory::is_left(&path));
    fs::create_dir(&path).unwrap();
    assert!(Directory::is_left(&path), "its maker had no lock yet");
    let (held, _) = Directory::claim(&path, true).unwrap();
    assert!(!Directory::is_left(&path), "it is in use");
    let manifest = held.begin().unwrap();
    let log = held.log(1);
    fs::write(&log, "").unwrap();
    held.publish(&manifest).unwrap();
    // A killed process was writing these; another one is somebody's.
    fs::write(path.join(".checkpoint-0000000002.simhash-0.tmp"), "half").unwrap();
    fs::write(path.join(".MANIFEST.simhash-7.tmp"), "half").unwrap();
    fs::write(path.join("mine"), "").unwrap();
    drop(held);
    assert!(Directory::is_left(&path));
    let (held, found) = Directory::claim(&path, true).unwrap();
    assert_eq!(found, Some(manifest));
    let anew = held.begin().unwrap();
    assert!(!log.exists());
    held.publish(&anew).unwrap();
    held.discard().unwrap();
    assert_eq!(names(&path), ["mine"]);
    assert!(!Directory::is_left(&path));
    fs::remove_file(path.join("mine")).unwrap();
    let (held, _) = Directory::claim(&path, true).unwrap();
    held.discard().unwrap();
    assert!(!path.exists());
}
