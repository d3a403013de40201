//! Words of a text on a line.

/// Appends a word as an element of an array of JSON.
pub(crate) fn words_json(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(',');
    }
    // Most words have nothing to be escaped.
    if word.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        line.push_str(&serde_json::Value::from(word).to_string());
    } else {
        line.push('"');
        line.push_str(word);
        line.push('"');
    }
}

/// Appends a word behind a space, unless it is one: a line ends where a record does.
pub(crate) fn words_line(line: &mut String, word: &str) {
    if word.chars().all(|character| character.is_whitespace() || character.is_control()) {
        return;
    }
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::{words_json, words_line};

    fn all(append: fn(&mut String, &str), words: &[&str]) -> String {
        let mut line = String::new();
        for word in words {
            append(&mut line, word);
        }
        line
    }

    #[test]
    fn what_json_has_signs_for_is_escaped() {
        let words = ["青禾", "\r\n", "\"", "\\", "\u{1}", "\u{7f}", "😀"];
        let array: Vec<String> =
            serde_json::from_str(&format!("[{}]", all(words_json, &words))).unwrap();
        assert_eq!(array, words);
    }

    #[test]
    fn a_line_stays_one_line() {
        let words = [" ", "青禾", "\n", "\u{3000}", "。", "\u{2028}", "\u{85}", "A", "\t"];
        assert_eq!(all(words_line, &words), "青禾 。 A");
        assert_eq!(all(words_line, &["\n"]), "");
    }
}
