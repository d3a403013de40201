//! The commonest reason why a file cannot be made.

use std::path::Path;

/// What to say and to do if the folder of `file` is none; `None` if it is one.
pub fn missing_folder(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then(|| format!("there is no folder {}; make it first", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::missing_folder;
    use std::path::Path;

    #[test]
    fn only_what_is_no_folder_is_missing() {
        let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(missing_folder(&crate_root.join("new")), None);
        assert_eq!(missing_folder(Path::new("new")), None);
        for none in ["none", "Cargo.toml"] {
            let folder = crate_root.join(none);
            let expected = format!("there is no folder {}; make it first", folder.display());
            assert_eq!(missing_folder(&folder.join("new")), Some(expected));
        }
    }
}
