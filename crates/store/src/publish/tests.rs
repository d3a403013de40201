//! What stands after each step, whatever the file system can and cannot do.

use super::*;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::Mutex;
use tempfile::TempDir;

/// The system, with the order of its calls, some of which fail.
#[derive(Debug, Default)]
struct Recorded {
    calls: Mutex<Vec<String>>,
    refused: Vec<&'static str>,
}

impl Recorded {
    /// `refused`: the first words of calls that fail, such as `rename b`.
    fn new(refused: &[&'static str]) -> &'static Self {
        Box::leak(Box::new(Self { refused: refused.to_vec(), ..Self::default() }))
    }

    fn call(&self, what: &str, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let call = format!("{what} {name}");
        let refused = self.refused.iter().any(|refused| call.trim_end().starts_with(refused));
        self.calls.lock().unwrap().push(call);
        if refused { Err(io::Error::other("refused")) } else { Ok(()) }
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

impl System for Recorded {
    fn unnamed(&self, folder: &Path, mode: u32) -> Option<File> {
        self.call("unnamed", Path::new("")).ok()?;
        Os.unnamed(folder, mode)
    }
    fn link(&self, file: &File, name: &Path) -> io::Result<()> {
        self.call("link", name)?;
        Os.link(file, name)
    }
    fn create(&self, name: &Path, mode: u32) -> io::Result<File> {
        self.call("create", name)?;
        Os.create(name, mode)
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call("hard_link", to)?;
        Os.hard_link(from, to)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call("rename", to)?;
        Os.rename(from, to)
    }
    fn remove(&self, name: &Path) -> io::Result<()> {
        self.call("remove", name)?;
        Os.remove(name)
    }
    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.call("sync file", Path::new(""))?;
        Os.sync_file(file)
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.call("sync folder", folder)?;
        Os.sync_folder(folder)
    }
}

/// Every way that a draft goes: unnamed, unnamed but not to be linked, named, named without hard links.
const WAYS: [&[&str]; 4] = [&[], &["link"], &["unnamed"], &["unnamed", "hard_link"]];

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().join("in");
    fs::create_dir(&path).unwrap();
    (folder, path)
}

fn draft(path: &Path, bytes: &str, system: &'static dyn System) -> Draft {
    let mut draft = Draft::with(path, Access::Usual, system).unwrap();
    draft.file().write_all(bytes.as_bytes()).unwrap();
    draft
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_file_appears_whole_replaces_another_and_leaves_nothing_beside_it() {
    for way in WAYS {
        let (_keep, folder) = folder();
        let path = folder.join("a");
        for text in ["first", "second"] {
            draft(&path, text, Recorded::new(way)).publish().unwrap();
            assert_eq!((read(&path).as_str(), names(&folder)), (text, vec!["a".to_owned()]));
        }
        drop(draft(&path, "third", Recorded::new(way)));
        let mut sealed = draft(&path, "fourth", Recorded::new(way));
        sealed.seal().unwrap();
        drop(sealed);
        assert_eq!((read(&path).as_str(), names(&folder)), ("second", vec!["a".to_owned()]));
    }
}

#[test]
fn of_two_who_make_a_new_file_the_second_is_told() {
    for way in WAYS {
        let (_keep, folder) = folder();
        let path = folder.join("a");
        let (first, second) =
            (draft(&path, "first", Recorded::new(way)), draft(&path, "second", Recorded::new(way)));
        let Created::New(file) = first.create().unwrap() else { panic!("{way:?}") };
        let Created::Exists(second) = second.create().unwrap() else { panic!("{way:?}") };
        drop(second);
        assert_eq!((read(&path).as_str(), names(&folder)), ("first", vec!["a".to_owned()]));
        // It belongs to who made it from the first moment.
        assert!(lock::is_current(&file, &path));
        assert!(lock::open(&path).unwrap().is_none());
        drop(file);
        assert!(lock::open(&path).unwrap().is_some());
    }
}

#[test]
fn all_is_flushed_before_a_name_is_given_and_the_folder_after_it() {
    let (_keep, folder) = folder();
    let path = folder.join("a");
    let linked = ["unnamed ", "sync file ", "link .a.simhash-0.tmp", "rename a", "sync folder in"];
    let named = ["unnamed ", "create .a.simhash-0.tmp", "sync file ", "rename a", "sync folder in"];
    for (way, calls) in [(&[][..], linked), (&["unnamed"][..], named)] {
        let system = Recorded::new(way);
        draft(&path, "text", system).publish().unwrap();
        assert_eq!(system.calls(), calls);
    }
    let new = [
        (&[][..], &["unnamed ", "sync file ", "link b", "sync folder in"][..]),
        (
            &["unnamed"][..],
            &[
                "unnamed ",
                "create .b.simhash-0.tmp",
                "sync file ",
                "hard_link b",
                "remove .b.simhash-0.tmp",
                "sync folder in",
            ][..],
        ),
    ];
    for (way, calls) in new {
        let system = Recorded::new(way);
        let path = folder.join("b");
        draft(&path, "text", system).create().unwrap();
        assert_eq!(system.calls(), calls);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn several_outputs_are_ready_before_the_first_is_renamed_and_an_error_says_which_stand() {
    for way in [&["rename b"][..], &["unnamed", "rename b"][..]] {
        let (_keep, folder) = folder();
        let system = Recorded::new(way);
        let drafts = ["a", "b", "c"].map(|name| {
            fs::write(folder.join(name), "old").unwrap();
            draft(&folder.join(name), "new", system)
        });
        let error = publish_all(drafts.into()).unwrap_err();
        let calls = system.calls();
        let place = |call: &str| calls.iter().rposition(|other| other.starts_with(call)).unwrap();
        let first = calls.iter().position(|call| call.starts_with("rename")).unwrap();
        assert!(
            place("sync file") < first
                && place(if way.len() > 1 { "create" } else { "link" }) < first
        );
        let read = ["a", "b", "c"].map(|name| read(&folder.join(name)));
        assert_eq!((read, names(&folder).len()), (["new", "old", "old"].map(str::to_owned), 3));
        assert_eq!(
            (error.path(), error.published()),
            (folder.join("b").as_path(), &[folder.join("a")][..])
        );
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.join(name).display().to_string());
        let expected = format!(
            "cannot write {b}: it cannot take its name: refused; these outputs of the run stand: {a}; \
             these were not written either: {c}"
        );
        assert_eq!(error.to_string(), expected);
    }
    // What cannot be made ready replaces nothing.
    let (_keep, folder) = folder();
    let system = Recorded::new(&["link .b", "create .b"]);
    let drafts = ["a", "b"].map(|name| draft(&folder.join(name), "new", system));
    let error = publish_all(drafts.into()).unwrap_err();
    assert!(error.to_string().contains("no file can be made in the folder"), "{error}");
    assert_eq!((error.published(), names(&folder)), (&[][..], vec![]));
}

#[test]
fn what_a_killed_process_left_is_removed_and_told_and_what_lives_stays() {
    let (_keep, folder) = folder();
    let path = folder.join("a");
    let left = |number| folder.join(format!(".a.simhash-{number}.tmp"));
    for number in [0, 1, 3] {
        fs::write(left(number), "half").unwrap();
    }
    fs::write(folder.join(".b.simhash-0.tmp"), "another's").unwrap();
    let alive = OpenOptions::new().write(true).open(left(1)).unwrap();
    alive.try_lock().unwrap();
    for way in WAYS {
        fs::write(left(0), "half").unwrap();
        let new = draft(&path, "text", Recorded::new(way));
        assert!(new.leftovers().contains(&left(0)));
        new.publish().unwrap();
        assert_eq!(names(&folder), [".a.simhash-1.tmp", ".b.simhash-0.tmp", "a"]);
    }
    // Two drafts of one target at once are in nobody's way.
    let (first, second) = (
        draft(&path, "1", Recorded::new(&["unnamed"])),
        draft(&path, "2", Recorded::new(&["unnamed"])),
    );
    assert!(second.leftovers().is_empty());
    second.publish().unwrap();
    first.publish().unwrap();
    assert_eq!((read(&path).as_str(), names(&folder).len()), ("1", 3));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode_and_a_private_one_is_born_so() {
        for way in WAYS {
            let (_keep, folder) = folder();
            let path = folder.join("a");
            draft(&path, "text", Recorded::new(way)).publish().unwrap();
            fs::write(folder.join("usual"), "").unwrap();
            assert_eq!(mode(&path), mode(&folder.join("usual")), "{way:?}");
            for kept in [0o600, 0o640, 0o444] {
                fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
                draft(&path, "text", Recorded::new(way)).publish().unwrap();
                assert_eq!(mode(&path), kept, "{way:?}");
            }
            let private = Draft::with(&folder.join("b"), Access::Private, Recorded::new(way));
            private.unwrap().publish().unwrap();
            assert_eq!(mode(&folder.join("b")), 0o600, "{way:?}");
        }
    }

    #[test]
    fn links_stay_and_their_targets_are_replaced() {
        for way in WAYS {
            let (_keep, folder) = folder();
            fs::create_dir(folder.join("sub")).unwrap();
            fs::write(folder.join("sub/file"), "old").unwrap();
            symlink("sub/file", folder.join("link")).unwrap();
            symlink("link", folder.join("again")).unwrap();
            symlink("sub/none", folder.join("dangling")).unwrap();
            draft(&folder.join("again"), "new", Recorded::new(way)).publish().unwrap();
            draft(&folder.join("dangling"), "made", Recorded::new(way)).publish().unwrap();
            for (link, target, text) in
                [("link", "sub/file", "new"), ("dangling", "sub/none", "made")]
            {
                assert!(folder.join(link).is_symlink(), "{link} {way:?}");
                assert_eq!(read(&folder.join(target)), text);
            }
            assert_eq!(names(&folder.join("sub")), ["file", "none"]);
        }
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let (_keep, folder) = folder();
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let error = Draft::new(&socket, Access::Usual).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("it is a socket"), "{error}");
        assert_eq!(Draft::new(&folder, Access::Usual).unwrap_err().kind(), ErrorKind::IsADirectory);
        let error = Draft::new(&folder.join("no/file"), Access::Usual).unwrap_err();
        let expected = format!("there is no folder {}; make it first", folder.join("no").display());
        assert!(error.to_string().ends_with(&expected), "{error}");
        assert_eq!(names(&folder), ["socket"]);
    }
}
