//! A text in each file of a folder: whatever their bytes and names, every text is kept, a duplicate or rejected; what is kept is listed, copied or
//! written, once, and copies are the files themselves. The first byte says how the folder is read and what is written; behind it lie the files: ending,
//! length of the name, length of the content in two bytes, name, content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simhash_dedup::{Encoding, FileOptions, Form, Input, Method, Outputs, Target, dedup_files};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Endings of texts, in capitals too, and of files that are passed over.
const ENDINGS: [&str; 8] = [".txt", ".html", ".HTM", ".md", ".Text", ".txt.gz", ".bin", ""];
/// Most files: making them is what takes the time.
const FILES: usize = 12;
/// Longest name, and longest content.
const NAME: usize = 40;
const CONTENT: usize = 600;

/// The first bytes, as many as there are.
fn take<'b>(bytes: &mut &'b [u8], most: usize) -> &'b [u8] {
    let (first, rest) = bytes.split_at(most.min(bytes.len()));
    *bytes = rest;
    first
}

/// Makes the files, some of them in folders of the folder.
fn fill(folder: &Path, mut bytes: &[u8]) {
    for _ in 0..FILES {
        let &[ending, name, low, high] = take(&mut bytes, 4) else { return };
        let length = usize::from(u16::from_le_bytes([low, high])) % (CONTENT + 1);
        let name = take(&mut bytes, usize::from(name) % (NAME + 1)).to_vec();
        let content = take(&mut bytes, length);
        let mut path = folder.to_owned();
        let (ending, mut parts) = (ENDINGS[usize::from(ending) % ENDINGS.len()], 0);
        for part in name.split(|&byte| byte == b'/' || byte == 0) {
            if !part.is_empty() && part != b"." && part != b".." {
                path.push(OsStr::from_bytes(part));
                parts += 1;
            }
        }
        if parts == 0 {
            path.push("name");
        }
        path.as_mut_os_string().push(ending);
        let above = path.parent().expect("it lies in the folder");
        // One of a name that a file or a folder has already is left out.
        if fs::create_dir_all(above).is_ok() && !path.is_dir() {
            fs::write(&path, content).expect("a file");
        }
    }
}

/// All files below a folder, by their paths within it.
fn below(folder: &Path, within: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(within)).expect("a folder").flatten() {
        let path = within.join(entry.file_name());
        if entry.path().is_dir() {
            below(folder, &path, files);
        } else {
            files.push(path);
        }
    }
}

/// What of a folder is read, by the documentation: files with these endings, nothing that begins with a dot.
fn is_text(path: &Path) -> bool {
    let is_hidden = |part: &OsStr| part.as_bytes().starts_with(b".");
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let texts = ["txt", "text", "md", "html", "htm"];
    !path.iter().any(is_hidden) && texts.iter().any(|text| ending == **text)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let around = tempfile::tempdir().expect("a folder");
    let (folder, copied) = (around.path().join("in"), around.path().join("copied"));
    let written = around.path().join("written");
    fs::create_dir(&folder).expect("a folder");
    fill(&folder, bytes);
    let mut texts = Vec::new();
    below(&folder, Path::new(""), &mut texts);
    texts.retain(|path| is_text(path));

    let encodings = ["utf-8", "gb18030", "big5", "utf-16le"];
    // A number beyond them: found, file by file.
    let encoding = encodings.get(usize::from(how % 8)).and_then(|name| Encoding::named(name));
    let form = Form { encoding, max_record: 300, ..Form::default() };
    let mut options = FileOptions { form, ..FileOptions::default() };
    // Tables reach so far without a probe schedule, whose making would dominate.
    options.dedup.method = Method::SimHash { max_distance: 3 };
    options.dedup.threads = 1 + usize::from(how >> 3 & 1);
    let way = how >> 6;
    let mut outputs = Outputs::default();
    if way == 0 {
        outputs.copy = Some(copied.clone());
    } else {
        outputs.records = Some(Target::File(written.clone()));
        outputs.list = way == 1;
    }
    let input = [Input::File(folder.clone())];
    let never = AtomicBool::new(false);
    let Ok(summary) = dedup_files(&input, &outputs, &options, &|_| {}, &never) else {
        // A folder without texts, or of which none is good, is a named error; nothing is written.
        assert!(!written.exists() && !copied.exists());
        return;
    };
    assert_eq!(summary.read, texts.len() as u64);
    assert_eq!(summary.read, summary.kept + summary.duplicates + summary.rejected);
    let kept = if way == 0 {
        let mut copies = Vec::new();
        below(&copied, Path::new(""), &mut copies);
        for path in &copies {
            let bytes = |folder: &Path| fs::read(folder.join(path)).expect("a file");
            assert!(texts.contains(path) && bytes(&copied) == bytes(&folder), "{path:?}");
        }
        copies.len()
    } else {
        let lines = fs::read(written).expect("it was written");
        lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count()
    };
    assert_eq!(kept as u64, summary.kept);
});
