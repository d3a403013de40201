//! A text in each file, of folders and of files that are named: read as JSON lines of `id`, the path, and `text`.

use crate::block::utf_16;
use crate::encoding::Encoding;
use crate::form::Form;
use crate::guess::{Guess, Usual};
use crate::html;
use crate::layout::Layout;
use crate::texts::{Texts, id_of};
use crate::unpack::expansion::OF_TEXT;
use crate::unpack::{Packing, refused};
use crate::utf16::Utf16;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Files of a folder that are looked at to see which encoding is the usual one, and how much of each.
const LOOKED_AT: usize = 256;
const LOOKED_AT_BYTES: u64 = 16 << 10;

/// Files that are read together at most, by all threads, and bytes of them, unless one alone has more: most of the time goes into opening
/// them.
const TOGETHER: usize = 512;
const TOGETHER_BYTES: u64 = 4 << 20;

/// Texts as JSON lines. Nothing is opened before it is read.
pub(crate) struct Files {
    texts: Arc<Texts>,
    form: Form,
    consumed: Arc<AtomicU64>,
    /// Where encodings are counted.
    layout: Option<Arc<Layout>>,
    /// How many of them have been read.
    read: usize,
    /// What most of them are in, once one was met that does not say it by itself.
    usual: OnceLock<Usual>,
    threads: usize,
    lines: Cursor<Vec<u8>>,
}

impl Files {
    pub(crate) fn new(
        texts: &Arc<Texts>,
        form: &Form,
        consumed: Arc<AtomicU64>,
        layout: Option<Arc<Layout>>,
    ) -> Self {
        let (texts, form, lines) = (Arc::clone(texts), form.clone(), Cursor::default());
        Self { texts, form, consumed, layout, read: 0, usual: OnceLock::new(), threads: 1, lines }
    }

    /// The same, read by so many threads, at least 1.
    pub(crate) fn on(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// The next files as lines, in order; empty at the end.
    fn next_lines(&mut self) -> io::Result<Vec<u8>> {
        let paths = self.texts.paths()?;
        let paths = &paths[self.read..paths.len().min(self.read + TOGETHER)];
        // The next one, and bytes of those that were begun.
        let begun = Mutex::new((0, 0));
        let work = || {
            let mut made = Vec::new();
            loop {
                let mut begin = begun.lock();
                let (place, bytes) = *begin;
                let Some(path) = paths.get(place) else { break };
                // One that is not there says so when it is opened.
                let length = fs::metadata(path).map_or(0, |about| about.len());
                if place > 0 && bytes + length > TOGETHER_BYTES {
                    break;
                }
                *begin = (place + 1, bytes + length);
                drop(begin);
                let line = self.line_of(path, length).map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                });
                made.push((place, line));
            }
            made
        };
        let mut made = std::thread::scope(|scope| {
            // One file needs no second thread.
            let others = self.threads.min(paths.len()).saturating_sub(1);
            let others: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
            let mut made = work();
            for other in others {
                made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            made
        });
        made.sort_unstable_by_key(|&(place, _)| place);
        // Whoever took a place has read it: these are the first ones.
        self.read += made.len();
        if made.len() == 1 {
            return made.remove(0).1;
        }
        let mut lines = Vec::new();
        for (_, line) in made {
            lines.extend(line?);
        }
        Ok(lines)
    }

    /// `length`: bytes that the file probably has.
    fn line_of(&self, path: &Path, length: u64) -> io::Result<Vec<u8>> {
        // More than the longest is not held: the line is too long then, and rejected.
        let bytes = match unpacked(path, length, self.form.max_record as u64 + 1) {
            Ok(bytes) => bytes,
            // Damage is that of this file; what the system says is of all of them.
            Err(error) if error.raw_os_error().is_none() => return rejected(path, &error),
            Err(error) => return Err(error),
        };
        if let Some(reason) = refused(&bytes) {
            return rejected(path, &reason);
        }
        self.consumed.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut line = Vec::with_capacity(bytes.len() * 2 + 256);
        line.extend(b"{\"id\":");
        push_json(&mut line, &id_of(path))?;
        line.extend(b",\"text\":");
        if bytes.len() > self.form.max_record {
            // Its beginning is no document: a line that is too long for sure, and so rejected. Of damaged bytes none gets shorter.
            push_json(&mut line, &String::from_utf8_lossy(&bytes))?;
        } else if let Some((text, encoding)) = self.decoded(&bytes) {
            if let Some(layout) = self.layout.as_ref().filter(|_| encoding != Encoding::UTF_8) {
                *layout.others.lock().entry(encoding.name()).or_default() += 1;
            }
            if is_html(path) {
                push_json(&mut line, &html::text(&text))?;
            } else {
                push_json(&mut line, &text)?;
            }
        } else {
            // No text: a string that is no UTF-8, and so a record that is rejected, with the bytes as they are.
            line.extend(b"\"\xff");
            for &byte in &bytes {
                match byte {
                    b'"' | b'\\' => line.extend([b'\\', byte]),
                    0..0x20 => line.extend(format!("\\u{byte:04x}").bytes()),
                    _ => line.push(byte),
                }
            }
            line.push(b'"');
        }
        line.extend(b"}\n");
        Ok(line)
    }

    /// The text of a file without its mark, and its encoding; `None` where its bytes are none in that.
    fn decoded<'b>(&self, bytes: &'b [u8]) -> Option<(Cow<'b, str>, Encoding)> {
        let named = self.form.encoding;
        let mark = Encoding::of_mark(bytes);
        if let Some(encoding) = utf_16(named, bytes) {
            let from = &bytes[mark.map_or(0, |(_, length)| length)..];
            let mut turned = Vec::new();
            Utf16::new(from, encoding.is_big_endian()).read_to_end(&mut turned).ok()?;
            return Some((String::from_utf8(turned).ok()?.into(), encoding));
        }
        let encoding = match (named, mark) {
            (Some(named), _) => named,
            (None, Some((marked, _))) => marked,
            (None, None) => match Guess::of(bytes, true) {
                None => Encoding::UTF_8,
                Some(guess) if guess.is_open() => self.beside(&guess),
                Some(guess) => guess.encoding,
            },
        };
        let skipped =
            mark.filter(|&(marked, _)| marked == encoding).map_or(0, |(_, length)| length);
        Some((encoding.decode(&bytes[skipped..]).ok()?, encoding))
    }

    /// What a file is that does not say it by itself.
    fn beside(&self, guess: &Guess) -> Encoding {
        let paths = self.texts.paths().unwrap_or_default();
        guess.beside(*self.usual.get_or_init(|| usual(paths)))
    }
}

/// The line of a file that is no text, with the reason in place of it: behind a byte that no text has.
fn rejected(path: &Path, reason: &dyn std::fmt::Display) -> io::Result<Vec<u8>> {
    let mut line = b"{\"id\":".to_vec();
    push_json(&mut line, &id_of(path))?;
    line.extend(b",\"text\":\"");
    line.push(REASON);
    line.extend(reason.to_string().replace(['"', '\\', '\n'], " ").bytes());
    line.extend(b"\"}\n");
    Ok(line)
}

/// Why a file is no text, of its line and of where that ceases to be UTF-8.
pub(crate) fn reason(line: &[u8], at: usize) -> Option<String> {
    let (before, behind) = line.split_at_checked(at)?;
    let path = undecoded(before)?;
    let reason = match behind.strip_prefix(&[REASON]).and_then(|it| it.strip_suffix(b"\"}")) {
        Some(reason) => String::from_utf8_lossy(reason).into_owned(),
        None => "its bytes are no text in the encoding that is named or found".to_owned(),
    };
    Some(format!("{path}: {reason}"))
}

/// Before the reason in the line of a file that is no text.
const REASON: u8 = 0xfe;

/// The first bytes of a file, as many as `most` at most, decompressed; `length`: as many as it probably has. Of a small file most of
/// the time goes into calls of the system: this takes three.
fn unpacked(path: &Path, length: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let room = length.min(most) as usize;
    // A byte more than there is: the read that leaves it empty has seen the end.
    let mut bytes = vec![0; room + 1];
    let read = match file.read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    let is_whole = read == room && read as u64 == length && read > 0;
    if !is_whole {
        // No regular file, or one that grows, or more than is wanted.
        (&mut file).take(most.saturating_sub(read as u64)).read_to_end(&mut bytes)?;
    }
    let Some(packing) = Packing::of(&bytes) else {
        bytes.truncate(most as usize);
        return Ok(bytes);
    };
    let mut whole = Vec::new();
    let from = Cursor::new(bytes).chain(file);
    packing.unpack(from, OF_TEXT)?.take(most).read_to_end(&mut whole)?;
    Ok(whole)
}

/// What most files are in, by some of them, evenly spread. The same files give the same answer, whoever reads them, and how.
fn usual(paths: &[PathBuf]) -> Usual {
    let mut usual = Usual::default();
    let looked_at = paths.len().min(LOOKED_AT);
    for number in 0..looked_at {
        // What cannot be read says so in its turn.
        let path = &paths[number * paths.len() / looked_at];
        let Ok(bytes) = unpacked(path, LOOKED_AT_BYTES, LOOKED_AT_BYTES) else { continue };
        if utf_16(None, &bytes).is_some() || Encoding::of_mark(&bytes).is_some() {
            continue;
        }
        let ended = (bytes.len() as u64) < LOOKED_AT_BYTES;
        if let Some(guess) = Guess::of(&bytes, ended) {
            usual.count(&guess);
        }
    }
    usual
}

/// Appends a text as JSON.
fn push_json(line: &mut Vec<u8>, text: &str) -> io::Result<()> {
    serde_json::to_writer(line, text).map_err(io::Error::other)
}

impl Read for Files {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.lines.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let lines = self.next_lines()?;
            if lines.is_empty() {
                return Ok(0);
            }
            self.lines = Cursor::new(lines);
        }
    }
}

/// The file whose record has these bytes before those that are no text.
fn undecoded(before: &[u8]) -> Option<String> {
    let id = before.strip_prefix(b"{\"id\":")?.strip_suffix(b",\"text\":\"")?;
    serde_json::from_slice(id).ok()
}

fn is_html(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["html", "htm"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of(root: &Path) -> Arc<Texts> {
        Arc::new(Texts::new(root))
    }

    #[test]
    fn texts_of_a_folder_come_by_path_each_in_its_encoding() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/.git")).unwrap();
        let news = "今天上午，北京市召开新闻发布会，介绍城市交通建设的最新进展情况。";
        let gbk = Encoding::named("gbk").unwrap();
        let utf_16 = Encoding::named("utf-16le").unwrap();
        for (name, bytes) in [
            ("c.txt", gbk.encode(news).unwrap()),
            ("a.txt", format!("\u{feff}{news}").into_bytes()),
            ("b/x.TXT", utf_16.encode(&format!("\u{feff}{news}")).unwrap()),
            ("b/bad.txt", b"{\"a\\\n\xff\xff\xff".to_vec()),
            ("b/p.html", gbk.encode(&format!("<p>{news}</p>")).unwrap()),
            ("b/.git/no.txt", b"hidden".to_vec()),
            ("image.png", b"no text".to_vec()),
        ] {
            fs::write(root.join(name), bytes).unwrap();
        }
        let mut read = Vec::new();
        let layout = Layout::of_files(&crate::Fields::default(), &Form::default(), of(root));
        let layout = Arc::new(layout);
        let counts = Some(Arc::clone(&layout));
        let mut files = Files::new(&of(root), &Form::default(), Arc::default(), counts);
        files.read_to_end(&mut read).unwrap();
        let others = layout.other_encodings();
        assert_eq!(others, [("UTF-16LE", Some(1)), ("gb18030", Some(2))]);
        let lines: Vec<&[u8]> = read.split(|&byte| byte == b'\n').collect();
        assert_eq!(lines.len(), 6);
        for (line, name) in lines.iter().zip(["a.txt", "b/bad.txt", "b/p.html", "b/x.TXT", "c.txt"])
        {
            let layout = crate::Layout::new(root, &crate::Fields::default(), &Form::json_lines());
            match layout.record(line) {
                Ok(record) => {
                    assert_eq!(record.text.trim(), news, "{name}");
                    assert!(record.id.unwrap().ends_with(&format!("{name}\"")));
                }
                Err(reason) => {
                    assert_eq!(name, "b/bad.txt");
                    assert!(reason.contains("invalid UTF-8"), "{reason}");
                }
            }
        }
    }

    #[test]
    fn a_word_that_may_be_either_is_what_the_other_files_are() {
        for (name, long, word) in [
            ("gbk", "今天上午，北京市召开新闻发布会", "谢谢"),
            ("big5", "今天上午，臺北市召開新聞發布會", "評論"),
        ] {
            let encoding = Encoding::named(name).unwrap();
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a.txt"), encoding.encode(word).unwrap()).unwrap();
            fs::write(folder.path().join("b.txt"), encoding.encode(long).unwrap()).unwrap();
            let mut read = Vec::new();
            let form = Form::default();
            Files::new(&of(folder.path()), &form, Arc::default(), None)
                .read_to_end(&mut read)
                .unwrap();
            let read = String::from_utf8(read).unwrap();
            assert!(read.contains(word) && read.contains(long), "{read}");
        }
    }

    #[test]
    fn any_number_of_threads_reads_the_same() {
        let folder = tempfile::tempdir().unwrap();
        // More than are read together, by their number and by their bytes.
        for number in 0..TOGETHER * 2 + 7 {
            let words = if number % 300 == 0 { 600_000 } else { number % 90 };
            let text = format!("第{number}篇{}", "短文".repeat(words));
            fs::write(folder.path().join(format!("{number:05}.txt")), text).unwrap();
        }
        let read = |threads| {
            let mut read = Vec::new();
            let files = Files::new(&of(folder.path()), &Form::default(), Arc::default(), None);
            files.on(threads).read_to_end(&mut read).map(|_| read)
        };
        let one = read(1).unwrap();
        let lines = one.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        assert_eq!(lines.count(), TOGETHER * 2 + 7);
        for threads in [0, 2, 3, 9] {
            assert!(read(threads).unwrap() == one, "{threads} threads");
        }
        // A file that goes away before it is read.
        let texts = of(folder.path());
        texts.paths().unwrap();
        fs::remove_file(folder.path().join("00800.txt")).unwrap();
        for threads in [1, 4] {
            let mut files = Files::new(&texts, &Form::default(), Arc::default(), None).on(threads);
            let error = files.read_to_end(&mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains("00800.txt"), "{error}");
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_no_document() {
        let folder = tempfile::tempdir().unwrap();
        let page = format!("<p>前半</p><!-- {} --><p>后半</p>", "x".repeat(3000));
        fs::write(folder.path().join("a.html"), &page).unwrap();
        fs::write(folder.path().join("b.txt"), [0xb0; 2000]).unwrap();
        let form = Form { max_record: 1000, ..Form::default() };
        let mut read = Vec::new();
        Files::new(&of(folder.path()), &form, Arc::default(), None).read_to_end(&mut read).unwrap();
        let lines: Vec<&[u8]> =
            read.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() > form.max_record));
    }

    #[test]
    fn a_folder_without_texts_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("image.png"), "no text").unwrap();
        let mut files = Files::new(&of(folder.path()), &Form::default(), Arc::default(), None);
        let error = files.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("no file is a text"), "{error}");
    }
}
