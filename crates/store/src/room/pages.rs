//! Pages of a file without a name, written one behind the other and read again at any place.
//!
//! They go through no mapping: what is read once or twice, a page here and a page there, would cost a fault for each page, and the system
//! maps those around it too, all of which count for the process.

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::Pages;
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) use other::Pages;

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::sync::Arc;

    use super::super::{Bound, RoomError, space};
    use super::PAGE;

    pub(in crate::room) struct Pages {
        bound: Arc<Bound>,
        file: File,
        count: u32,
        /// Bytes of pages, written or announced.
        taken: usize,
    }

    impl Pages {
        pub(in crate::room) fn new(bound: &Arc<Bound>) -> Result<Self, RoomError> {
            let file = space::unnamed(&bound.folder).map_err(|error| bound.disk_error(error))?;
            Ok(Self { bound: Arc::clone(bound), file, count: 0, taken: 0 })
        }

        /// So many bytes more are to be written: they count as those that are, for most corpora are larger than what fills the first pages.
        pub(in crate::room) fn announce(&mut self, bytes: usize) {
            self.taken += bytes;
            self.bound.take(bytes);
        }

        /// Writes at most a page, which was announced; its number comes back.
        pub(in crate::room) fn push(&mut self, bytes: &[u8]) -> Result<u32, RoomError> {
            let number = self.count;
            let at = u64::from(number) * PAGE as u64;
            self.file.write_all_at(bytes, at).map_err(|error| self.bound.disk_error(error))?;
            self.count += 1;
            Ok(number)
        }

        /// Reads so many bytes of a page as are wanted.
        pub(in crate::room) fn read(&self, number: u32, bytes: &mut [u8]) -> Result<(), RoomError> {
            let at = u64::from(number) * PAGE as u64;
            self.file.read_exact_at(bytes, at).map_err(|error| self.bound.disk_error(error))
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            self.bound.give_back(self.taken);
        }
    }
}

/// Where there is no bound there are no files.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod other {
    use std::sync::Arc;

    use super::super::{Bound, RoomError};

    pub(in crate::room) enum Pages {}

    impl Pages {
        pub(in crate::room) fn new(bound: &Arc<Bound>) -> Result<Self, RoomError> {
            Err(bound.disk_error(std::io::ErrorKind::Unsupported.into()))
        }

        pub(in crate::room) fn announce(&mut self, _: usize) {
            match *self {}
        }

        pub(in crate::room) fn push(&mut self, _: &[u8]) -> Result<u32, RoomError> {
            match *self {}
        }

        pub(in crate::room) fn read(&self, _: u32, _: &mut [u8]) -> Result<(), RoomError> {
            match *self {}
        }
    }
}
