//! What a path leads to.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What a path leads to, through symbolic links.
#[derive(Debug, Clone)]
pub enum Place {
    /// A regular file, or none yet.
    File {
        /// The path behind all links: the links stay when this is replaced.
        target: PathBuf,
        /// What is there; `None`: nothing.
        about: Option<Metadata>,
    },
    /// Something that is written to and must not be replaced; what it is, in words: `a named pipe`.
    Special(&'static str),
}

/// Links in a row, as the system follows.
const LINKS: usize = 40;

impl Place {
    /// Looks at a path. Nothing is opened.
    ///
    /// # Errors
    /// A folder, links that lead in a circle, and what the system says of them.
    pub fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(about) if about.is_file() => {
                Ok(Self::File { target: fs::canonicalize(path)?, about: Some(about) })
            }
            Ok(about) => Ok(Self::Special(kind(&about))),
            Err(error) => match behind(path) {
                Some(target) => Ok(Self::File { target, about: None }),
                None => Err(error),
            },
        }
    }
}

/// Where links lead that end at nothing.
fn behind(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // An absolute link replaces the folder.
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Some(path),
        }
    }
    None
}

#[cfg(unix)]
fn kind(about: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = about.file_type();
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_char_device() {
        "a character device"
    } else if kind.is_block_device() {
        "a block device"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "no regular file"
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> &'static str {
    "no regular file"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_files_that_are_there_and_that_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let at = |name: &str| root.join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/file"), "").unwrap();
        symlink("sub/file", at("relative")).unwrap();
        symlink(at("relative"), at("absolute")).unwrap();
        symlink("sub/none", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        symlink("sub", at("folder")).unwrap();
        for (name, leads, there) in [
            ("sub/file", "sub/file", true),
            ("absolute", "sub/file", true),
            ("folder/file", "sub/file", true),
            ("dangling", "sub/none", false),
            ("new", "new", false),
        ] {
            let Place::File { target, about } = Place::of(&at(name)).unwrap() else { panic!() };
            assert_eq!((target, about.is_some()), (at(leads), there), "{name}");
        }
        assert_eq!(Place::of(&at("folder")).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert!(Place::of(&at("circle")).is_err());
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(matches!(Place::of(&at("socket")).unwrap(), Place::Special("a socket")));
        drop(socket);
    }
}
