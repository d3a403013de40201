//! What a log is written to.

use std::fmt::Debug;
use std::fs::File;
use std::io;

/// A file, or in tests what records the order of writes and flushes and has any of them fail.
pub trait Medium: Debug + Send + Sync + 'static {
    /// Writes all of these bytes at this place.
    ///
    /// # Errors
    /// Those of the system.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Has the disk take all that was written.
    ///
    /// # Errors
    /// Those of the system.
    fn sync(&self) -> io::Result<()>;

    /// Cuts the file to this length; what was reserved behind it is given back.
    ///
    /// # Errors
    /// Those of the system.
    fn cut(&self, length: u64) -> io::Result<()>;

    /// Takes room on the disk for so many bytes from there on, without changing the length of the file. False: the file system
    /// cannot do that, and a write says whether there is room.
    ///
    /// # Errors
    /// There is no room.
    fn reserve(&self, from: u64, length: u64) -> io::Result<bool>;
}

impl Medium for File {
    #[cfg(unix)]
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, at)?;
        crate::record::write(self, at);
        Ok(())
    }

    #[cfg(not(unix))]
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = self;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()?;
        crate::record::flush(self);
        Ok(())
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn reserve(&self, from: u64, length: u64) -> io::Result<bool> {
        crate::record::room()?;
        reserve(self, from, length)
    }
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, from: u64, length: u64) -> io::Result<bool> {
    use std::os::fd::AsRawFd;
    let (Ok(from), Ok(length)) = (libc::off64_t::try_from(from), libc::off64_t::try_from(length))
    else {
        return Err(io::ErrorKind::FileTooLarge.into());
    };
    loop {
        // SAFETY: the descriptor is that of an open file, which outlives the call; the call takes numbers only.
        let done =
            unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, from, length) };
        if done == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL | libc::ENODEV) => {
                return Ok(false);
            }
            _ => return Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}
