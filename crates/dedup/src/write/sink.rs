//! An output file that appears whole or not at all.
//!
//! Bytes go to a temporary file in the folder of the target. [`Sink::seal`] flushes and syncs it,
//! [`Sink::commit`] renames it over the target and syncs the folder, so that after a power cut the name
//! leads to the old content or to all of the new. A sink that is dropped before removes its file.

use super::target::{Stream, Target, folder_of};
use crate::error::DedupError;
use simhash_index::missing_folder;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes gathered before a write call: calls of this size run at the speed of the disk.
const BUFFER_BYTES: usize = 256 << 10;

/// One open output.
pub(crate) struct Sink<'a> {
    /// The target as it was named, for messages.
    name: &'a Path,
    buffer: Vec<u8>,
    to: To<'a>,
}

enum To<'a> {
    Renamed { temp: NamedTempFile, target: PathBuf },
    Direct(File),
    Stream(&'a Stream),
}

impl<'a> Sink<'a> {
    pub(crate) fn open(target: &'a Target) -> Result<Self, DedupError> {
        let (name, to) = match target {
            Target::Stream(stream) => (stream.name(), Ok(To::Stream(stream))),
            Target::File(path) => (path.as_path(), open_file(path)),
        };
        let to = to.map_err(|error| DedupError::output(name, error))?;
        Ok(Self { name, buffer: Vec::new(), to })
    }

    /// Appends, by way of the buffer.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DedupError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes everything out, to the disk where it is a file.
    pub(crate) fn seal(&mut self) -> Result<(), DedupError> {
        self.flush()?;
        let synced = match &self.to {
            To::Renamed { temp, .. } => temp.as_file().sync_all(),
            // Devices and pipes refuse to sync, and have nothing to sync.
            To::Direct(_) | To::Stream(_) => Ok(()),
        };
        synced.map_err(|error| DedupError::output(self.name, error))
    }

    /// Moves a sealed file into place.
    pub(crate) fn commit(self) -> Result<(), DedupError> {
        let To::Renamed { temp, target } = self.to else { return Ok(()) };
        let fail = |error| DedupError::output(self.name, error);
        temp.persist(&target).map_err(|error| fail(error.error))?;
        sync_folder(folder_of(&target)).map_err(fail)
    }

    fn flush(&mut self) -> Result<(), DedupError> {
        let written = match &mut self.to {
            To::Renamed { temp, .. } => temp.as_file_mut().write_all(&self.buffer),
            To::Direct(file) => file.write_all(&self.buffer),
            To::Stream(stream) => stream.write(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|error| DedupError::output(self.name, error))
    }
}

fn open_file<'a>(path: &Path) -> io::Result<To<'a>> {
    let target = match fs::metadata(path) {
        Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(about) if !about.is_file() => {
            return OpenOptions::new().write(true).open(path).map(To::Direct);
        }
        // A link keeps pointing at its file, whose content is what is replaced.
        Ok(_) => fs::canonicalize(path)?,
        Err(_) => path.to_owned(),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".simhash-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mode of an ordinary new file; the process's umask takes its part. Temporary files are
        // private otherwise, and the rename would keep that.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temp = builder.tempfile_in(folder_of(&target)).map_err(|error| refused(&target, &error))?;
    // A file that is replaced keeps its permissions: a private one must not become public.
    if let Ok(about) = fs::metadata(&target) {
        temp.as_file().set_permissions(about.permissions())?;
    }
    Ok(To::Renamed { temp, target })
}

/// Why no file can be made beside `target`. The system's error names the temporary file, of which nobody has heard.
fn refused(target: &Path, error: &io::Error) -> io::Error {
    let reason = missing_folder(target).unwrap_or_else(|| {
        let own = error.get_ref().and_then(std::error::Error::source);
        let own = own.map_or_else(|| error.to_string(), ToString::to_string);
        format!("no file can be made in the folder {}: {own}", folder_of(target).display())
    });
    io::Error::new(error.kind(), reason)
}

/// Makes a rename durable.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere folders cannot be opened; the file system orders the rename itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
