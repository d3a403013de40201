//! Errors of the core crates as JavaScript has them: the one place that knows their codes and how options are spelled there.
//!
//! Mistakes of the caller have Node's own codes, what goes wrong in operation `ERR_SIMHASH_…`. Variants are matched by name, so
//! that a new one does not compile without a code.

use super::{Failure, INTERNAL, PIPE, Setting};
use simhash_dedup::{DedupError, Message};
use simhash_index::IndexError;
use simhash_sketch::{OptionsError, hex::HexError};
use simhash_store::FileError;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::ErrorKind;

const RANGE: &str = "ERR_OUT_OF_RANGE";
const VALUE: &str = "ERR_INVALID_ARG_VALUE";
const INPUT: &str = "ERR_SIMHASH_INPUT";
const OUTPUT: &str = "ERR_SIMHASH_OUTPUT";
const DAMAGED: &str = "ERR_SIMHASH_INDEX_DAMAGED";
const CANCELLED: &str = "ERR_SIMHASH_CANCELLED";

/// The name of an option: `window.maxAge` for `window.max_age`.
fn camel(name: &'static str) -> Cow<'static, str> {
    let mut words = name.split('_');
    let mut spelled = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        spelled.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        spelled.push_str(letters.as_str());
    }
    spelled.into()
}

impl Failure {
    /// A mistake of the caller; the message begins with the option.
    fn mistake(code: &'static str, option: &'static str, message: String) -> Self {
        Self { option: Some(camel(option)), ..Self::new(code, message) }
    }
}

/// What `write` writes; a string takes everything.
fn text(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    let _ = write(&mut text);
    text
}

/// A message, and where it says what to set.
#[derive(Default)]
struct Settable {
    text: String,
    settings: Vec<Setting>,
}

impl fmt::Write for Settable {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.write_str(text)
    }
}

impl Message for Settable {
    fn setting(&mut self, option: &str, value: &str) -> fmt::Result {
        let length = |text: &str| text.encode_utf16().count();
        let start = length(&self.text);
        write!(self, "`{option}: {value}`")?;
        self.settings.push(Setting { option: option.to_owned(), start, end: length(&self.text) });
        Ok(())
    }
}

/// The code for a file that cannot be written.
fn unwritable(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "ERR_SIMHASH_DISK_FULL",
        _ => OUTPUT,
    }
}

impl From<OptionsError> for Failure {
    fn from(error: OptionsError) -> Self {
        let message = text(|to| error.write_as(to, camel));
        match error {
            OptionsError::OutOfRange { argument, .. } => Self::mistake(RANGE, argument, message),
            OptionsError::Invalid { argument, .. } => Self::mistake(VALUE, argument, message),
            OptionsError::NotBuilt { argument, .. } => {
                Self::mistake("ERR_SIMHASH_NOT_BUILT", argument, message)
            }
            OptionsError::Line { .. } => Self::new("ERR_SIMHASH_LINE", message),
        }
    }
}

impl From<HexError> for Failure {
    fn from(error: HexError) -> Self {
        Self::new(VALUE, error.to_string())
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        let mut message = text(|to| error.write_as(to, camel));
        let code = match &error {
            IndexError::Distance { .. } => return Self::mistake(RANGE, "max_distance", message),
            IndexError::Window { name, .. }
            | IndexError::Sentences { name, .. }
            | IndexError::Bands { name, .. } => return Self::mistake(RANGE, name, message),
            IndexError::Threshold { .. } => return Self::mistake(RANGE, "threshold", message),
            IndexError::Skew { .. } => {
                let lift =
                    "where at is no Unix time in milliseconds, set window: { maxSkew: Infinity }";
                message = format!("{message}; {lift}");
                RANGE
            }
            IndexError::TooManySets { .. } | IndexError::Signature { .. } => RANGE,
            IndexError::UnknownPlan { .. } | IndexError::InvalidPlan { .. } => VALUE,
            IndexError::NoWindow => "ERR_SIMHASH_NO_WINDOW",
            IndexError::Full { .. } => "ERR_SIMHASH_INDEX_FULL",
            IndexError::Cancelled | IndexError::CancelledAfter { .. } => CANCELLED,
            IndexError::Merge => "ERR_SIMHASH_MERGE",
            IndexError::Copy => INTERNAL,
            IndexError::Stopped { .. } => OUTPUT,
            IndexError::ReadOnly { .. } => "ERR_SIMHASH_READ_ONLY",
            IndexError::Position { .. } => return Self::mistake(RANGE, "position", message),
            IndexError::File(inner) => return inner.clone().into(),
        };
        Self::new(code, message)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let code = match &error {
            FileError::Read { .. } => INPUT,
            FileError::Write { source, .. } => unwritable(source.kind()),
            FileError::Moved { .. } => OUTPUT,
            FileError::Damaged { .. } => DAMAGED,
            FileError::Format { .. } => "ERR_SIMHASH_INDEX_FORMAT",
            FileError::Mismatch { .. } => "ERR_SIMHASH_INDEX_MISMATCH",
            FileError::Locked { .. } => "ERR_SIMHASH_INDEX_LOCKED",
            FileError::Cancelled => CANCELLED,
        };
        let message = match &error {
            // Of what is kept elsewhere: who keeps it says what it is.
            FileError::Damaged { path, offset, reason } if path.as_os_str().is_empty() => {
                format!("damaged at byte {offset}: {reason}")
            }
            _ => error.to_string(),
        };
        Self::new(code, message)
    }
}

impl From<DedupError> for Failure {
    fn from(error: DedupError) -> Self {
        let mut message = Settable::default();
        let _ = error.write_as(&mut message, camel);
        let Settable { text: message, settings } = message;
        let code = match error {
            DedupError::Fingerprinter(inner) => return inner.into(),
            DedupError::Index(inner) => return inner.into(),
            DedupError::AfterSettling { source, .. } => {
                let inner = Self::from(*source);
                // Who cancels is told nothing but that, and of this nothing is told elsewhere.
                let code = if inner.code == CANCELLED { "ERR_SIMHASH_SETTLED" } else { inner.code };
                return Self { code, message, settings, ..inner };
            }
            DedupError::Option { argument, .. } | DedupError::Differs { argument, .. } => {
                return Self::mistake(VALUE, argument, message);
            }
            DedupError::OutOfRange { argument, .. } => {
                return Self::mistake(RANGE, argument, message);
            }
            DedupError::SameFile { .. } => "ERR_SIMHASH_SAME_FILE",
            DedupError::Input { .. } => INPUT,
            DedupError::NoRecords { .. } => "ERR_SIMHASH_NO_RECORDS",
            DedupError::Checkpoint(inner) => Self::from(inner).code,
            DedupError::InputChanged { .. } => "ERR_SIMHASH_INPUT_CHANGED",
            // The reader of a pipe went away: no fault of the output, and for a command line no fault at all.
            DedupError::Output { source, .. } if source.kind() == ErrorKind::BrokenPipe => PIPE,
            DedupError::Output { source, .. } => unwritable(source.kind()),
            DedupError::Cancelled => CANCELLED,
            DedupError::Stopped => "ERR_SIMHASH_STOPPED",
            DedupError::TooMany => "ERR_SIMHASH_TOO_MANY",
            DedupError::Memory { .. } | DedupError::Bound { .. } => "ERR_SIMHASH_MEMORY",
            DedupError::SameKey { .. } => "ERR_SIMHASH_SAME_KEY",
        };
        Self { settings, ..Self::new(code, message) }
    }
}

impl Failure {
    /// Of an index that is the state of a stream: that it was made with other options is told as of a file.
    pub(crate) fn of_state(error: DedupError) -> Self {
        let why = match error {
            DedupError::Differs { option, made, given, .. } => format!(
                "the state was made with other options: its {} is {made}, and that of the run is {given}",
                camel(option)
            ),
            DedupError::Option { value, expected, .. } => {
                format!("the state must be {expected}, got {value}")
            }
            other => return other.into(),
        };
        Self::new("ERR_SIMHASH_INDEX_MISMATCH", why)
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, PIPE, RANGE, VALUE, camel};
    use simhash_dedup::{DedupError, Rejected};
    use simhash_index::IndexError;
    use simhash_sketch::{OptionsError, hex::from_hex};
    use simhash_store::FileError;
    use std::io::ErrorKind;

    /// Code and message; an option is what the message begins with.
    fn told(error: impl Into<Failure>) -> (&'static str, String) {
        let Failure { code, message, option, .. } = error.into();
        let option = option.unwrap_or_default();
        assert!(message.starts_with(&*option), "{option}: {message}");
        let is_option = matches!(code, RANGE | VALUE | "ERR_SIMHASH_NOT_BUILT");
        let mistake = is_option && message.contains(" must be ");
        assert_eq!(
            mistake && !message.starts_with("a fingerprint"),
            !option.is_empty(),
            "{message}"
        );
        (code, message)
    }

    #[test]
    fn names_are_those_of_javascript() {
        for (rust, javascript) in [
            ("window.max_age", "window.maxAge"),
            ("weights.false_positive", "weights.falsePositive"),
            ("bands * rows", "bands * rows"),
            ("ngram", "ngram"),
        ] {
            assert_eq!(camel(rust), javascript);
        }
        let skew = || IndexError::Skew { at: 9, ahead: 5, most: 4 };
        let late = "at is 9, 5 ms ahead of the system clock; window.maxSkew is 4 ms. Correct the time; where at is no \
                    Unix time in milliseconds, set window: { maxSkew: Infinity }";
        let line = OptionsError::Line {
            argument: "stop_words",
            line: 2,
            value: "x".into(),
            expected: "a word",
        };
        let not_built = OptionsError::NotBuilt {
            argument: "segmenter",
            value: "jieba-rs".into(),
            expected: "own in a build without the cargo feature jieba-rs",
        };
        let first = Rejected { file: "in".into(), line: 3, reason: "no field text".into() };
        let unusable = DedupError::NoRecords {
            rejected: 1,
            first,
            hint: "they have the fields a".into(),
            text_in: Some("a".into()),
        };
        let refused = || DedupError::OutOfRange {
            argument: "max_bucket",
            value: "0".into(),
            expected: "at least 1",
        };
        for (failure, code, message) in [
            (
                told(IndexError::Distance { given: 17, max: 16 }),
                "ERR_OUT_OF_RANGE",
                "maxDistance is 17; it must be an integer from 0 to 16",
            ),
            (
                told(IndexError::Window { name: "window.max_age", given: 0 }),
                "ERR_OUT_OF_RANGE",
                "window.maxAge is 0; it must be at least 1 and maxCount at most 4294967294",
            ),
            (told(skew()), "ERR_OUT_OF_RANGE", late),
            (told(DedupError::Index(skew())), "ERR_OUT_OF_RANGE", late),
            (
                told(not_built),
                "ERR_SIMHASH_NOT_BUILT",
                "segmenter must be own in a build without the cargo feature jieba-rs, got jieba-rs",
            ),
            (told(line), "ERR_SIMHASH_LINE", "stopWords line 2 must be a word, got x"),
            (told(refused()), "ERR_OUT_OF_RANGE", "maxBucket must be at least 1, got 0"),
            (
                told(unusable),
                "ERR_SIMHASH_NO_RECORDS",
                "the only record was rejected, in:3: no field text; they have the fields a; if the text is in a, set \
                 `textField: 'a'`",
            ),
            (
                told(from_hex("x").unwrap_err()),
                "ERR_INVALID_ARG_VALUE",
                "a fingerprint must be 16 hexadecimal digits, got \"x\"",
            ),
        ] {
            assert_eq!(failure, (code, message.to_owned()));
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_says_why_by_its_code() {
        for (kind, dedup, sentences) in [
            (ErrorKind::BrokenPipe, PIPE, "ERR_SIMHASH_OUTPUT"),
            (ErrorKind::PermissionDenied, "ERR_SIMHASH_OUTPUT", "ERR_SIMHASH_OUTPUT"),
            (ErrorKind::StorageFull, "ERR_SIMHASH_DISK_FULL", "ERR_SIMHASH_DISK_FULL"),
            (ErrorKind::QuotaExceeded, "ERR_SIMHASH_DISK_FULL", "ERR_SIMHASH_DISK_FULL"),
        ] {
            let output = DedupError::Output { path: "-".into(), source: kind.into() };
            assert_eq!(told(output).0, dedup);
            let write = IndexError::File(FileError::unwritable(kind.into()));
            assert_eq!(told(write).0, sentences);
        }
    }
}
