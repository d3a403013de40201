//! What can be wrong with the options of an extractor or fingerprinter.

use std::borrow::Cow;
use std::fmt;

/// An option has a value that cannot be used: the caller's mistake, or that of a file the caller gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// A number is outside its range.
    OutOfRange {
        /// Name of the option, for example `top_k`.
        argument: &'static str,
        /// The value that was given.
        value: String,
        /// What is accepted, as it completes "must be …".
        expected: String,
    },
    /// A value is none of those accepted, or does not go with another option.
    Invalid {
        /// Name of the option.
        argument: &'static str,
        /// The value that was given.
        value: String,
        /// What is accepted, as it completes "must be …".
        expected: String,
    },
    /// A choice that this build was made without.
    NotBuilt {
        /// Name of the option.
        argument: &'static str,
        /// The value that was given.
        value: String,
        /// What can be had, and by which cargo feature the value; completes "must be …".
        expected: &'static str,
    },
    /// A line of a file of words cannot be used.
    Line {
        /// Name of the option that the file belongs to.
        argument: &'static str,
        /// Number of the line, from 1.
        line: usize,
        /// The line, at most its first 60 characters.
        value: String,
        /// What is accepted, as it completes "must be …".
        expected: &'static str,
    },
}

impl OptionsError {
    /// Name of the option.
    pub fn argument(&self) -> &'static str {
        match self {
            Self::OutOfRange { argument, .. }
            | Self::Invalid { argument, .. }
            | Self::NotBuilt { argument, .. }
            | Self::Line { argument, .. } => argument,
        }
    }

    /// The value that was given, as text.
    pub fn value(&self) -> &str {
        match self {
            Self::OutOfRange { value, .. }
            | Self::Invalid { value, .. }
            | Self::NotBuilt { value, .. }
            | Self::Line { value, .. } => value,
        }
    }

    /// What would have been accepted; completes "must be …".
    pub fn expected(&self) -> &str {
        match self {
            Self::OutOfRange { expected, .. } | Self::Invalid { expected, .. } => expected,
            Self::NotBuilt { expected, .. } | Self::Line { expected, .. } => expected,
        }
    }

    /// Writes the message, every option spelled by `spell` from its name in Rust, as `window.max_age`.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn write_as(
        &self,
        f: &mut impl fmt::Write,
        spell: fn(&'static str) -> Cow<'static, str>,
    ) -> fmt::Result {
        f.write_str(&spell(self.argument()))?;
        if let Self::Line { line, .. } = self {
            write!(f, " line {line}")?;
        }
        write!(f, " must be {}, got {}", self.expected(), self.value())
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_as(f, Cow::Borrowed)
    }
}

impl std::error::Error for OptionsError {}
