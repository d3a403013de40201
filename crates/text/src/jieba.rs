//! Chinese words by jieba-rs, the second opinion: one dictionary for the process, built when it is first needed.

use jieba_rs::Jieba;
use std::sync::LazyLock;

static SHARED: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// Calls `each` with every word of `text` (accurate mode, HMM on).
pub(crate) fn words<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    for token in SHARED.cut(text, true) {
        each(token.word);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn chinese_is_cut_into_words() {
        let mut words = Vec::new();
        super::words("我来到北京清华大学，2024年。", |word| words.push(word));
        assert_eq!(words, ["我", "来到", "北京", "清华大学", "，", "2024", "年", "。"]);
    }
}
