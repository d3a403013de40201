//! Chinese words by jieba-rs: one dictionary for the process, built when it is first needed.

use jieba_rs::Jieba;
use std::sync::LazyLock;

static SHARED: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// Calls `each` with every word of `text` (accurate mode, HMM on) that has a letter or digit.
pub(crate) fn words<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    for token in SHARED.cut(text, true) {
        let word = token.word;
        if word.chars().any(char::is_alphanumeric) {
            each(word);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn chinese_is_cut_into_words() {
        let mut words = Vec::new();
        super::words("我来到北京清华大学，2024年。", |word| words.push(word));
        assert_eq!(words, ["我", "来到", "北京", "清华大学", "2024", "年"]);
    }
}
