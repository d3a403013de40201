//! What a draft asks of the system: one small layer, so that tests can record the order of these calls and have any of
//! them fail.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::{folder, record};

/// The calls that make, name and flush files.
pub(crate) trait System: Debug + Sync {
    /// A file without a name in this folder, readable and writable. `None`: there is none here.
    fn unnamed(&self, folder: &Path, mode: u32) -> Option<File>;
    /// Gives an unnamed file a name that nothing has.
    fn link(&self, file: &File, name: &Path) -> io::Result<()>;
    /// A new file; an error if the name is taken.
    fn create(&self, name: &Path, mode: u32) -> io::Result<File>;
    /// A second name, which nothing has.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Moves a name over whatever has the other.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, name: &Path) -> io::Result<()>;
    fn sync_file(&self, file: &File) -> io::Result<()>;
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The operating system.
#[derive(Debug)]
pub(crate) struct Os;

impl System for Os {
    fn unnamed(&self, folder: &Path, mode: u32) -> Option<File> {
        // Where there is no room the error is that of the file with a name.
        record::room().ok()?;
        unnamed(folder, mode)
    }

    fn link(&self, file: &File, name: &Path) -> io::Result<()> {
        link(file, name)?;
        record::name(name);
        Ok(())
    }

    fn create(&self, name: &Path, mode: u32) -> io::Result<File> {
        record::room()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        options.open(name)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)?;
        record::name(to);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        record::name(to);
        Ok(())
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        fs::remove_file(name)?;
        record::remove(name);
        Ok(())
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()?;
        record::flush(file);
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        folder::sync(folder)
    }
}

/// How the system names an open file of this process.
#[cfg(target_os = "linux")]
fn handle(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

#[cfg(target_os = "linux")]
pub(crate) fn unnamed(folder: &Path, mode: u32) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(mode).custom_flags(libc::O_TMPFILE);
    let file = options.open(folder).ok()?;
    // It gets its name by way of /proc, which is not everywhere: better to know before hours of writing.
    fs::metadata(handle(&file)).is_ok().then_some(file)
}

#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(handle(file)).map_err(io::Error::other)?;
    let to = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: both are strings that end with NUL and outlive the call, which keeps neither.
    let linked = unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    };
    if linked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path, _: u32) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Whether an error says that a name is taken.
pub(crate) fn is_taken(error: &io::Error) -> bool {
    error.kind() == ErrorKind::AlreadyExists
}
