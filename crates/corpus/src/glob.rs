//! Names with `*`, `?`, `[a-z]` and `**`, where no shell has replaced them by the files that they stand for.

use crate::error::CorpusError;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Whether a name is a pattern; what has such a name is that.
pub(crate) fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[']) && fs::symlink_metadata(path).is_err()
}

/// The files of a pattern, by path: `*` is any part of a name, `?` a character of it, `[a-z]` one of these, `[!a-z]` one of the
/// others, and `**` any number of folders. What begins with a dot has to be named; links to folders are not followed by `**`.
///
/// # Errors
/// [`CorpusError::Input`] where there is none, or a folder cannot be read.
pub(crate) fn files(pattern: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let mut found = Vec::new();
    let walked = walk(PathBuf::new(), &parts, &mut found);
    walked.map_err(|error| CorpusError::input(pattern, error))?;
    if found.is_empty() {
        let reason = "no file has a name like this";
        return Err(CorpusError::input(pattern, io::Error::new(io::ErrorKind::NotFound, reason)));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn has_signs(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

fn walk(base: PathBuf, parts: &[Component<'_>], found: &mut Vec<PathBuf>) -> io::Result<()> {
    let Some((part, rest)) = parts.split_first() else {
        if base.is_file() {
            found.push(base);
        }
        return Ok(());
    };
    if !has_signs(part) {
        let next = base.join(part);
        return if next.exists() { walk(next, rest, found) } else { Ok(()) };
    }
    let sign = part.as_os_str().to_string_lossy();
    if sign == "**" {
        walk(base.clone(), rest, found)?;
    }
    for (name, path, is_folder) in entries(&base)? {
        if sign == "**" {
            if is_folder && !name.starts_with('.') {
                walk(path, parts, found)?;
            }
        } else if matches(&sign, &name) && (name.starts_with('.') == sign.starts_with('.')) {
            walk(path, rest, found)?;
        }
    }
    Ok(())
}

/// What lies in a folder: name, path, whether it is a folder and no link to one. What is no folder holds nothing.
fn entries(folder: &Path) -> io::Result<Vec<(String, PathBuf, bool)>> {
    let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !named.is_dir() {
        return Ok(Vec::new());
    }
    let told =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", named.display()));
    let mut all = Vec::new();
    for entry in fs::read_dir(named).map_err(told)? {
        let entry = entry.map_err(told)?;
        let name = entry.file_name();
        let path = folder.join(&name);
        all.push((name.to_string_lossy().into_owned(), path, entry.file_type()?.is_dir()));
    }
    Ok(all)
}

/// Whether a name is what a part of a pattern says: at the last `*` that took something it takes more, until the rest fits.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut sign, mut again) = (0, 0, None);
    while at < name.len() {
        let fits = match pattern.get(sign) {
            Some('*') => {
                again = Some((sign + 1, at));
                sign += 1;
                continue;
            }
            Some('?') => Some(sign + 1),
            Some('[') => class(&pattern[sign..], name[at]).map_or(
                // No class: the sign itself.
                (name[at] == '[').then_some(sign + 1),
                |(length, is_in)| is_in.then_some(sign + length),
            ),
            Some(&same) => (same == name[at]).then_some(sign + 1),
            None => None,
        };
        match (fits, again) {
            (Some(next), _) => (sign, at) = (next, at + 1),
            (None, Some((behind, from))) => {
                again = Some((behind, from + 1));
                (sign, at) = (behind, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[sign..].iter().all(|&sign| sign == '*')
}

/// The length of the class at the beginning, and whether it has the character; `None`: it is never closed.
fn class(pattern: &[char], character: char) -> Option<(usize, bool)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let from = 1 + usize::from(negated);
    // A bracket that comes first belongs to the class.
    let end = from + 1 + pattern.get(from + 1..)?.iter().position(|&sign| sign == ']')?;
    let (mut rest, mut is_in) = (&pattern[from..end], false);
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        let mut last = first;
        if let [dash, to, further @ ..] = behind
            && *dash == '-'
        {
            (last, rest) = (*to, further);
        }
        is_in |= (first..=last).contains(&character);
    }
    Some((end + 1, is_in != negated))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        for (pattern, name, is) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a.txt.gz", false),
            ("*", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?.txt", "文.txt", true),
            ("?.txt", ".txt", false),
            ("[a-c]1", "b1", true),
            ("[!a-c]1", "b1", false),
            ("[^a-c]1", "d1", true),
            ("[]x]1", "]1", true),
            ("[a-]", "-", true),
            ("[ab", "[ab", true),
            ("**x", "abx", true),
            ("news-2026-*.jsonl.gz", "news-2026-11.jsonl.gz", true),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }

    #[test]
    fn files_come_by_path_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b/2.txt", "a.txt", "b/c/d/3.txt", "b/.hidden/4.txt", "b/.5.txt", "x.csv"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "text").unwrap();
        }
        let all = |pattern: &str| -> Vec<String> {
            let below = |path: &PathBuf| {
                path.strip_prefix(folder.path()).unwrap().to_string_lossy().replace('\\', "/")
            };
            files(&at(pattern)).unwrap().iter().map(below).collect()
        };
        assert_eq!(all("**/*.txt"), ["a.txt", "b/2.txt", "b/c/d/3.txt"]);
        assert_eq!(all("*"), ["a.txt", "x.csv"]);
        assert_eq!(all("b/.*.txt"), ["b/.5.txt"]);
        assert_eq!(all("?/**/[1-3].txt"), ["b/2.txt", "b/c/d/3.txt"]);
        let told = files(&at("*.jsonl")).unwrap_err().to_string();
        assert!(told.contains("no file has a name like this"), "{told}");
        // What has such a name is no pattern.
        fs::write(at("[1].txt"), "text").unwrap();
        assert!(!is_pattern(&at("[1].txt")) && is_pattern(&at("[2].txt")));
    }
}
