//! Words beside jieba's own, with the semantics of Python's `add_word`, `del_word` and `load_userdict`.
//!
//! A word that is added shadows jieba's entry of the same word; one of frequency 0 is deleted: no path uses it, and where the
//! HMM produces it, it is split into characters. Every frequency that is added raises the total, and with it lowers every
//! score, ln f − ln total, which is why a dictionary has tables of scores of its own (for 5,088 frequencies and 21,000
//! characters) beside a trie of the added words. The last bit of those scores comes from the platform's logarithm.

use super::lines;
use crate::feature::hash;
use crate::segment::dictionary as base;
use crate::segment::{SegmentScratch, cut_with};
use crate::{NormalizeScratch, Normalizer, OptionsError};
use ahash::AHashMap;

/// jieba's words and those of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    /// What was added, in order; a later entry of the same word shadows the earlier one.
    entries: Vec<(String, u32)>,
    total: u64,
    ln_total: f64,
    /// Scores of jieba's words by frequency index, under `total`.
    scores: Vec<f64>,
    /// Scores of single characters, jieba's and the user's, by code, under `total`.
    singles: Vec<f64>,
    /// Of the same characters ln f, −∞ where that is no word or a deleted one.
    single_logs: Vec<f64>,
    /// Children by parent and character; node 0 is the root.
    children: AHashMap<(u32, u16), u32>,
    /// For each node: nothing if it is only a prefix, otherwise the frequency f and ln f (−∞ for a deleted word).
    words: Vec<Option<(u32, f64)>>,
}

/// Scores and logarithms are never NaN, so equality is an equivalence.
impl Eq for Dictionary {}

impl Default for Dictionary {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            total: base::total(),
            ln_total: base::ln_total(), // to the bit, as Python has it
            scores: base::scores().to_vec(),
            singles: base::singles().to_vec(),
            single_logs: (0..base::characters().len() as u16)
                .map(|code| base::logs()[base::Node::ROOT.step(base::nodes(), code).frequency()])
                .collect(),
            children: AHashMap::new(),
            words: vec![None],
        }
    }
}

impl Dictionary {
    /// jieba's own words, to which others can be added.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many words jieba's own are. Cost: some milliseconds.
    pub fn built_in() -> usize {
        base::count()
    }

    /// Adds the words of a file, a line each: `word`, `word frequency`, `word tag` or `word frequency tag`, separated by white
    /// space (tags are accepted and not used). A frequency of 0 deletes the word; without one it gets
    /// [`suggest_frequency`](Self::suggest_frequency).
    ///
    /// # Errors
    /// [`OptionsError::Line`], which names the line; nothing of the file has been added then.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), OptionsError> {
        let mut found = Vec::new();
        lines::read("dictionary", "word [frequency] [tag]", bytes, |line| {
            let is_tag = |field: &str| {
                field.starts_with(|c: char| c.is_ascii_alphabetic())
                    && field.chars().all(|c| c.is_ascii_alphanumeric())
            };
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (word, frequency) = match fields[..] {
                [word] => (word, None),
                [word, tag] if is_tag(tag) => (word, None),
                [word, frequency] => (word, Some(frequency.parse().ok()?)),
                [word, frequency, tag] if is_tag(tag) => (word, Some(frequency.parse().ok()?)),
                _ => return None,
            };
            found.push((word.to_owned(), frequency));
            Some(())
        })?;
        for (word, frequency) in found {
            self.insert(&word, frequency);
        }
        self.score();
        Ok(())
    }

    /// Adds `word`, or changes its frequency; 0 deletes it. `None` takes [`suggest_frequency`](Self::suggest_frequency).
    ///
    /// A word with characters that jieba never segments (white space, punctuation, kana …) can never match. Cost: the tables of
    /// scores are worked out again (26,000 subtractions); load many words at once instead.
    pub fn add(&mut self, word: &str, frequency: Option<u32>) {
        self.insert(word, frequency);
        self.score();
    }

    /// Deletes `word`: no text is cut so that it is a token.
    pub fn remove(&mut self, word: &str) {
        self.add(word, Some(0));
    }

    /// The least frequency with which `word` would be cut as a whole: one more than what its parts have together.
    pub fn suggest_frequency(&self, word: &str) -> u32 {
        let total = self.total as f64;
        let mut together = 1.0;
        cut_with(Some(self), word, false, &mut SegmentScratch::default(), |part| {
            together *= f64::from(self.frequency_or_prefix(part.text).unwrap_or(1)) / total;
        });
        // A float beyond the range converts to the nearest end of it.
        #[expect(clippy::cast_sign_loss, reason = "a product of frequencies is not negative")]
        let suggested = ((together * total) as u32).saturating_add(1);
        suggested.max(self.frequency(word).unwrap_or(1))
    }

    /// The frequency of `word`, 0 for a deleted one; `None` when neither jieba nor the user has it.
    pub fn frequency(&self, word: &str) -> Option<u32> {
        let user = characters(word).and_then(|word| self.find(&word));
        user.map(|(frequency, _)| frequency).or_else(|| base::frequency(word))
    }

    /// The frequency of `word`, 0 also for what is only the beginning of a word: jieba stores prefixes so.
    fn frequency_or_prefix(&self, word: &str) -> Option<u32> {
        let is_prefix = || {
            let user = characters(word).and_then(|word| self.node(&word));
            user.is_some() || base::find(word).is_some()
        };
        self.frequency(word).or_else(|| is_prefix().then_some(0))
    }

    /// A number that is equal for equal additions in equal order.
    pub(crate) fn digest(&self) -> u64 {
        let mut lines = String::new();
        for (word, frequency) in &self.entries {
            lines.extend([word, "\t", &frequency.to_string(), "\n"]);
        }
        hash(lines.as_bytes())
    }

    /// The same words as they look after `normalizer`.
    #[must_use]
    pub fn normalized(&self, normalizer: &Normalizer) -> Self {
        let mut scratch = NormalizeScratch::default();
        let mut dictionary = Self::default();
        for (word, frequency) in &self.entries {
            dictionary.insert(normalizer.apply(word, &mut scratch), Some(*frequency));
        }
        dictionary.score();
        dictionary
    }

    fn insert(&mut self, word: &str, frequency: Option<u32>) {
        let frequency = frequency.unwrap_or_else(|| {
            // Of single characters those that cutting this word asks for: all of them, for each of many words, would take
            // longer than everything else.
            self.score_words();
            for code in word.chars().map(base::code).filter(|&code| code != base::OTHER) {
                self.singles[usize::from(code)] =
                    self.single_logs[usize::from(code)] - self.ln_total;
            }
            self.suggest_frequency(word)
        });
        self.entries.push((word.to_owned(), frequency));
        if frequency > 0 {
            self.total += u64::from(frequency);
            self.ln_total = (self.total as f64).ln();
        }
        let Some(characters) = characters(word).filter(|word| !word.is_empty()) else { return };
        let ln = f64::from(frequency).ln(); // −∞ of 0
        if let [_] = characters[..] {
            // Code 0, of all that no block holds, is written too and never read.
            let code = word.chars().map(base::code).next().unwrap_or(base::OTHER);
            self.single_logs[usize::from(code)] = ln;
        }
        let mut node = 0;
        for character in characters {
            let next = self.words.len() as u32;
            node = *self.children.entry((node, character)).or_insert(next);
            if node == next {
                self.words.push(None);
            }
        }
        self.words[node as usize] = Some((frequency, ln));
    }

    /// Works out every score under the present total.
    fn score(&mut self) {
        self.score_words();
        // Not of code 0, whose score is a bound.
        for (score, log) in self.singles.iter_mut().zip(&self.single_logs).skip(1) {
            *score = log - self.ln_total;
        }
    }

    /// Those of jieba's words by frequency.
    fn score_words(&mut self) {
        for (score, log) in self.scores.iter_mut().zip(base::logs()) {
            *score = log - self.ln_total;
        }
    }

    /// ln of the total frequency.
    pub(crate) fn ln_total(&self) -> f64 {
        self.ln_total
    }

    /// Scores of jieba's words by frequency index.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Scores of single characters by code; as [`base::singles`].
    pub(crate) fn singles(&self) -> &[f64] {
        &self.singles
    }

    /// Calls `word(length, score)` for every word of the user that `characters` start with, by length.
    pub(crate) fn for_each_prefix(
        &self,
        characters: impl Iterator<Item = u16>,
        mut word: impl FnMut(usize, f64),
    ) {
        let mut node = 0;
        for (at, character) in characters.enumerate() {
            let Some(&next) = self.children.get(&(node, character)) else { return };
            node = next;
            if let Some((_, ln)) = self.words[node as usize] {
                word(at + 1, ln - self.ln_total);
            }
        }
    }

    /// Whether the user deleted the word.
    pub(crate) fn is_deleted(&self, word: &str) -> bool {
        let found = characters(word).and_then(|word| self.find(&word));
        found.is_some_and(|(frequency, _)| frequency == 0)
    }

    fn find(&self, characters: &[u16]) -> Option<(u32, f64)> {
        self.words[self.node(characters)? as usize]
    }

    fn node(&self, characters: &[u16]) -> Option<u32> {
        characters.iter().try_fold(0, |node, &c| self.children.get(&(node, c)).copied())
    }
}

/// The characters of `word`; `None` if it has one beyond 16 bits, which no block holds, or 0, which stands for all that no block
/// holds.
fn characters(word: &str) -> Option<Vec<u16>> {
    word.chars().map(|c| u16::try_from(u32::from(c)).ok().filter(|&c| c != 0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Dictionary, base};
    use crate::segment::{SegmentScratch, cut_with};

    fn cut(dictionary: &Dictionary, text: &str) -> String {
        let mut tokens = Vec::new();
        cut_with(Some(dictionary), text, true, &mut SegmentScratch::default(), |word| {
            tokens.push(word.text);
        });
        tokens.join("/")
    }

    #[test]
    fn words_are_added_and_removed() {
        let mut dictionary = Dictionary::new();
        assert_eq!(
            cut(&dictionary, "李小福是创新办主任也是云计算方面的专家"),
            "李小福/是/创新/办/主任/也/是/云/计算/方面/的/专家"
        );
        dictionary
            .load("\u{FEFF}云计算 5\r\n李小福 2 nr\n创新办 3 i\n\n凱特琳 nz\n台中\n".as_bytes())
            .unwrap();
        assert_eq!(
            cut(&dictionary, "李小福是创新办主任也是云计算方面的专家"),
            "李小福/是/创新办/主任/也/是/云计算/方面/的/专家"
        );
        dictionary.remove("创新办");
        assert_eq!(cut(&dictionary, "创新办主任"), "创新/办/主任");
        assert_eq!(dictionary.frequency("创新办"), Some(0));
        assert_eq!(dictionary.frequency("云计算"), Some(5));
    }

    #[test]
    fn single_characters_are_words_too() {
        let mut dictionary = Dictionary::new();
        let score =
            |dictionary: &Dictionary, c| dictionary.singles()[usize::from(base::code(c))].to_bits();
        assert_eq!(dictionary.singles(), base::singles());
        dictionary.add("的", Some(0));
        dictionary.add("龘", Some(7));
        assert_eq!(score(&dictionary, '的'), f64::NEG_INFINITY.to_bits());
        assert_eq!(score(&dictionary, '龘'), (7_f64.ln() - dictionary.ln_total()).to_bits());
        let frequency = f64::from(base::frequency("是").unwrap());
        assert_eq!(score(&dictionary, '是'), (frequency.ln() - dictionary.ln_total()).to_bits());
    }

    #[test]
    fn loading_words_without_frequency_is_adding_them_one_by_one() {
        let lines = "小福李\n龘\n中国 0\n的\n小福李的\n是 7\n是的是\n云计算\n国是\n";
        let (mut loaded, mut added) = (Dictionary::new(), Dictionary::new());
        loaded.load(lines.as_bytes()).unwrap();
        for line in lines.lines() {
            let mut fields = line.split(' ');
            added.add(fields.next().unwrap(), fields.next().map(|f| f.parse().unwrap()));
        }
        assert_eq!(loaded, added);
    }

    #[test]
    fn a_deleted_word_of_three_does_not_hold_its_characters_apart() {
        let mut dictionary = Dictionary::new();
        assert_eq!(cut(&dictionary, "小福李"), "小福/李");
        dictionary.remove("小福李");
        assert_eq!(cut(&dictionary, "小福李"), "小福/李");
    }

    #[test]
    fn dictionaries_do_not_disturb_each_other() {
        let (mut one, two) = (Dictionary::new(), Dictionary::new());
        one.add("上海自来水", Some(100_000));
        assert_eq!(cut(&one, "上海自来水来自海上"), "上海自来水/来自/海上");
        assert_eq!(cut(&two, "上海自来水来自海上"), "上海/自来水/来自/海上");
    }

    #[test]
    fn a_bad_line_is_named_and_nothing_is_added() {
        let mut dictionary = Dictionary::new();
        for wrong in [
            "好 1\n坏 -1",
            "好 1\n坏 99999999999",
            "好 1\n坏 1 n x",
            "好 1\n坏 1 2",
            "好 1\n坏 1.5",
        ] {
            let error = dictionary.load(wrong.as_bytes()).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("dictionary line 2 must be word [frequency] [tag], got 坏"),
                "{error}"
            );
        }
        assert_eq!(dictionary, Dictionary::new());
    }

    #[test]
    fn words_that_can_never_match_do_no_harm() {
        let mut dictionary = Dictionary::new();
        for word in ["", "a b", "γ射线", "😀", "カタカナ", "线\0", "\0"] {
            dictionary.add(word, Some(100_000_000));
        }
        assert_eq!(cut(&dictionary, "γ射线😀a b线。"), "γ/射线/😀/a/ /b/线/。");
    }
}
