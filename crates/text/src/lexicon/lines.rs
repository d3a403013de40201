//! Text files of one entry per line: UTF-8, with or without a byte order mark, LF or CR LF, blank lines allowed.

use crate::OptionsError;

/// Calls `entry(line)` with every line that is not blank, trimmed. The error of a line that `entry` refuses says which.
///
/// `argument` is the option that the file belongs to, `expected` what a line has to look like.
pub(super) fn read(
    argument: &'static str,
    expected: &'static str,
    bytes: &[u8],
    mut entry: impl FnMut(&str) -> Option<()>,
) -> Result<(), OptionsError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let text = std::str::from_utf8(line).ok().map(str::trim);
        if text.is_some_and(str::is_empty) {
            continue;
        }
        if text.and_then(&mut entry).is_none() {
            /// Enough of a line to recognise it.
            const SHOWN: usize = 60;
            let value = String::from_utf8_lossy(line).trim().chars().take(SHOWN).collect();
            return Err(OptionsError::Line { argument, line: index + 1, value, expected });
        }
    }
    Ok(())
}
