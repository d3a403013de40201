//! Bytes in a file without a name, seen through a mapping; and how much memory the process holds.

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::{CAN_BOUND, Regions, Resident, Space, trim, unnamed};
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) use other::{CAN_BOUND, Regions, Resident, Space, trim};

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;
    use std::path::Path;
    use std::ptr::NonNull;
    use std::sync::{Arc, Mutex, PoisonError};

    use super::super::{Bound, RoomError};
    use crate::system;

    pub(in crate::room) const CAN_BOUND: bool = true;

    /// Space of a file is taken in steps of an eighth of what there is, of at least and at most this many bytes.
    const STEP: (usize, usize) = (1 << 16, 1 << 24);
    const PAGE: usize = 4096;

    /// The mappings of all spaces, by place: address and bytes.
    #[derive(Debug, Default)]
    pub(in crate::room) struct Regions(Mutex<Vec<(usize, usize)>>);

    impl Regions {
        fn set(&self, place: usize, start: usize, length: usize) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)[place] = (start, length);
        }

        fn add(&self) -> usize {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let place = all.iter().position(|&region| region == (0, 0)).unwrap_or(all.len());
            if place == all.len() {
                all.push((0, 0));
            }
            // Taken, and nothing yet.
            all[place] = (1, 0);
            place
        }

        /// Lets go of all pages. Each comes back when it is touched.
        pub(in crate::room) fn release(&self) {
            // Held until the end, so that no mapping goes away meanwhile.
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for &(start, length) in all.iter().filter(|(_, length)| *length > 0) {
                // SAFETY: the range is a mapping of a `Space`, which stays while the lock is held. It is shared with its file, so pages that
                // are let go of lose nothing: what was written to them is in the page cache, and the next touch maps that again.
                unsafe {
                    libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED);
                }
            }
        }
    }

    /// A file and its mapping.
    #[derive(Debug)]
    pub(in crate::room) struct Space {
        bound: Arc<Bound>,
        place: usize,
        file: File,
        start: NonNull<u8>,
        /// Bytes of the mapping; those behind `allocated` are never touched.
        mapped: usize,
        /// Bytes of the file, all of them on the disk.
        allocated: usize,
    }

    // SAFETY: the mapping belongs to this value alone; other threads only let go of its pages, which changes nothing in it.
    unsafe impl Send for Space {}
    // SAFETY: shared access only hands out the address.
    unsafe impl Sync for Space {}

    impl Space {
        pub(in crate::room) fn new(bound: &Arc<Bound>) -> io::Result<Self> {
            let file = unnamed(&bound.folder)?;
            let place = bound.regions.add();
            let start = NonNull::dangling();
            Ok(Self { bound: Arc::clone(bound), place, file, start, mapped: 0, allocated: 0 })
        }

        /// Has at least so many bytes from now on; new ones are zeros. The address changes.
        pub(in crate::room) fn grow(&mut self, bytes: usize) -> Result<(), RoomError> {
            if bytes <= self.allocated {
                return Ok(());
            }
            let step = (bytes / 8).clamp(STEP.0, STEP.1);
            let end = (bytes + step).next_multiple_of(PAGE);
            let more = allocate(&self.file, self.allocated, end - self.allocated);
            more.map_err(|error| self.bound.disk_error(error))?;
            self.bound.take(end - self.allocated);
            self.allocated = end;
            if end > self.mapped {
                self.map(end.next_power_of_two()).map_err(|error| self.bound.disk_error(error))?;
            }
            Ok(())
        }

        /// Has the bytes before this one alone from now on. The address stays.
        pub(in crate::room) fn shrink(&mut self, bytes: usize) -> Result<(), RoomError> {
            let end = bytes.next_multiple_of(PAGE);
            if end < self.allocated {
                // Pages behind the end of the file are not touched: they lie behind `allocated`.
                let shrunk = self.file.set_len(end as u64);
                shrunk.map_err(|error| self.bound.disk_error(error))?;
                self.bound.give_back(self.allocated - end);
                self.allocated = end;
            }
            Ok(())
        }

        fn map(&mut self, length: usize) -> io::Result<()> {
            // SAFETY: a fresh mapping touches nothing that exists; the file stays open during the call, which keeps it.
            let mapped = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    length,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED,
                    self.file.as_raw_fd(),
                    0,
                )
            };
            let start = NonNull::new(mapped.cast()).filter(|_| mapped != libc::MAP_FAILED);
            let start = start.ok_or_else(io::Error::last_os_error)?;
            // Where the page cache has huge pages (ext4 since Linux 6.16) one touch would map 2 MB in a fifth of a microsecond, faster than
            // anybody can look at the memory. A system that does not know them refuses the advice and needs none.
            // SAFETY: the range is the new mapping, and the advice changes nothing in it.
            unsafe {
                libc::madvise(mapped, length, libc::MADV_NOHUGEPAGE);
            }
            self.unmap();
            (self.start, self.mapped) = (start, length);
            self.bound.regions.set(self.place, start.as_ptr() as usize, length);
            Ok(())
        }

        fn unmap(&mut self) {
            // First, so that nobody lets go of pages that are no longer ours.
            self.bound.regions.set(self.place, 1, 0);
            if self.mapped > 0 {
                // SAFETY: the mapping was made by `map` with this length, and nothing borrows it any more.
                unsafe {
                    libc::munmap(self.start.as_ptr().cast(), self.mapped);
                }
            }
        }

        pub(in crate::room) fn bytes(&self) -> usize {
            self.allocated
        }

        pub(in crate::room) fn start(&self) -> NonNull<u8> {
            self.start
        }
    }

    impl Drop for Space {
        fn drop(&mut self) {
            self.unmap();
            self.bound.regions.set(self.place, 0, 0);
            self.bound.give_back(self.allocated);
        }
    }

    /// A file that nobody else can open, and that goes away with the process.
    pub(in crate::room) fn unnamed(folder: &Path) -> io::Result<File> {
        if let Some(file) = system::unnamed(folder, 0o600) {
            return Ok(file);
        }
        // Not every file system has files without names: it has one for a moment.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut number = 0u64;
        loop {
            let name = folder.join(format!(".simhash-{}-{number}.tmp", std::process::id()));
            match options.open(&name) {
                Err(error) if system::is_taken(&error) => number += 1,
                opened => {
                    let file = opened?;
                    std::fs::remove_file(name)?;
                    return Ok(file);
                }
            }
        }
    }

    /// Takes space on the disk, so that no page is missing there when it is written.
    fn allocate(file: &File, from: usize, bytes: usize) -> io::Result<()> {
        loop {
            // SAFETY: a call on an open file of our own, which takes no addresses.
            match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset(from), offset(bytes)) } {
                0 => return Ok(()),
                libc::EINTR => {}
                libc::EOPNOTSUPP | libc::EINVAL => {
                    return zeros(file, from as u64, bytes as u64);
                }
                error => return Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// A place in a file as the system has it. No allocation is as long as to wrap.
    fn offset(bytes: usize) -> libc::off_t {
        libc::off_t::try_from(bytes).unwrap_or(libc::off_t::MAX)
    }

    /// What `allocate` is where the file system does not know it.
    fn zeros(file: &File, mut from: u64, bytes: u64) -> io::Result<()> {
        let (end, zeros) = (from + bytes, [0; 1 << 14]);
        while from < end {
            let now = zeros.len().min((end - from) as usize);
            file.write_all_at(&zeros[..now], from)?;
            from += now as u64;
        }
        Ok(())
    }

    /// What the system says of the memory of this process. Kept open: so a look takes a microsecond, not three.
    #[derive(Debug)]
    pub(in crate::room) struct Resident(Option<File>);

    impl Resident {
        pub(in crate::room) fn new() -> Self {
            Self(File::open("/proc/self/statm").ok())
        }

        /// Bytes that the process holds now; 0 where the system does not say.
        pub(in crate::room) fn bytes(&self) -> u64 {
            let mut told = [0; 128];
            let read = self.0.as_ref().and_then(|file| file.read_at(&mut told, 0).ok());
            let told = std::str::from_utf8(&told[..read.unwrap_or(0)]).unwrap_or_default();
            let pages = told.split(' ').nth(1).and_then(|field| field.parse::<u64>().ok());
            pages.unwrap_or(0) * page_bytes()
        }
    }

    fn page_bytes() -> u64 {
        // SAFETY: a question without arguments in memory.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        u64::try_from(bytes).unwrap_or(PAGE as u64)
    }

    /// Has the allocator give back what it holds and nobody uses.
    pub(in crate::room) fn trim() {
        #[cfg(target_env = "gnu")]
        // SAFETY: it takes no addresses, and other threads may allocate meanwhile.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

/// Where the memory of a process cannot be told or let go of: columns lie in memory.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod other {
    use std::io;
    use std::ptr::NonNull;
    use std::sync::Arc;

    use super::super::{Bound, RoomError};

    pub(in crate::room) const CAN_BOUND: bool = false;

    #[derive(Debug, Default)]
    pub(in crate::room) struct Regions;

    impl Regions {
        pub(in crate::room) fn release(&self) {}
    }

    /// There is none.
    #[derive(Debug)]
    pub(in crate::room) enum Space {}

    impl Space {
        pub(in crate::room) fn new(_: &Arc<Bound>) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in crate::room) fn grow(&mut self, _: usize) -> Result<(), RoomError> {
            match *self {}
        }

        pub(in crate::room) fn shrink(&mut self, _: usize) -> Result<(), RoomError> {
            match *self {}
        }

        pub(in crate::room) fn bytes(&self) -> usize {
            match *self {}
        }

        pub(in crate::room) fn start(&self) -> NonNull<u8> {
            match *self {}
        }
    }

    #[derive(Debug)]
    pub(in crate::room) struct Resident;

    impl Resident {
        pub(in crate::room) fn new() -> Self {
            Self
        }

        pub(in crate::room) fn bytes(&self) -> u64 {
            0
        }
    }

    pub(in crate::room) fn trim() {}
}
