//! Folders of files.

use crate::record;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// What to say and to do if the folder of `file` is none; `None` if it is one.
pub fn missing(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then(|| format!("there is no folder {}; make it first", folder.display()))
}

/// The folder a path lies in; `.` for a bare name.
pub fn of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Has the disk remember the names in a folder. Where folders cannot be opened (Windows) or synced (some network file
/// systems) the file system orders names itself, and nothing happens.
///
/// # Errors
/// Those of the system.
pub fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {}
        synced => synced?,
    }
    record::flush_folder(folder);
    Ok(())
}

/// Removes a file; a power cut may bring it back until its folder is [flushed](sync).
///
/// # Errors
/// Those of the system.
pub fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file)?;
    record::remove(file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{missing, of};
    use std::path::Path;

    #[test]
    fn only_what_is_no_folder_is_missing() {
        let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(missing(&crate_root.join("new")), None);
        assert_eq!(missing(Path::new("new")), None);
        for none in ["none", "Cargo.toml"] {
            let folder = crate_root.join(none);
            let expected = format!("there is no folder {}; make it first", folder.display());
            assert_eq!(missing(&folder.join("new")), Some(expected));
        }
    }

    #[test]
    fn a_bare_name_lies_in_the_current_folder() {
        assert_eq!(of(Path::new("name")), Path::new("."));
        assert_eq!(of(Path::new("folder/name")), Path::new("folder"));
        assert_eq!(of(Path::new("/name")), Path::new("/"));
    }
}
