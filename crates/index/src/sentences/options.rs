//! How documents are compared by their sentences.

use crate::IndexError;
use crate::live::Window;

/// When a sentence is too common to say anything.
///
/// A sentence does not count while more than `max(count, share * sketches)` distinct sketches have it, of the live ones
/// that have sentences. A document that a check-and-add did not add counts as one more if it shared at most half of its
/// sentences, until a holder of the sentence leaves. It is judged anew at every call, from what is there at that moment: the answer depends on the
/// order of the calls and on nothing else. Copies of one text are one sketch, so that they never make their sentences
/// common; and documents whose sentences are all the same stay similar even where none of these counts.
///
/// Defaults, measured with the five longest sentences of at least ten code points: with these values no true pair of
/// zh-news-eventmonitor and zh-docs-tidb is lost (recall .989 and 1, as without a guard), the largest group of the former
/// shrinks from 71 documents to 53, and that of zh-tech-lctt, 8,422 articles with a translator's footer, from 4,347 to 16.
/// A count of 3 loses a pair of the news.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Common {
    /// Share of the sketches, 0 to 1; 1 lets every sentence count. Default 0.001.
    pub share: f64,
    /// So many sketches may have a sentence however few there are. Default 5.
    pub count: u32,
}

impl Default for Common {
    fn default() -> Self {
        Self { share: 0.001, count: 5 }
    }
}

impl Common {
    /// Sketches that may have a sentence that counts, among so many.
    pub(super) fn most(self, sketches: usize) -> usize {
        if self.share >= 1.0 {
            return usize::MAX;
        }
        #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
        let share = (self.share * sketches as f64) as usize;
        share.max(self.count as usize)
    }
}

/// Options of a [`SentenceMap`](super::SentenceMap) and of a [`SentenceIndex`](super::SentenceIndex).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SentenceOptions {
    /// Sentences of a document that are kept, 1 to 64; further ones are not looked at. Default 5, as in the method.
    pub sentences: usize,
    /// Which sentences are too common to count.
    pub common: Common,
    /// Keeps times and lets old documents leave; a [`SentenceMap`](super::SentenceMap) does not look at it. Default:
    /// documents stay, and no times are kept.
    pub window: Option<Window>,
}

impl Default for SentenceOptions {
    fn default() -> Self {
        Self { sentences: 5, common: Common::default(), window: None }
    }
}

impl SentenceOptions {
    pub(super) fn check(&self) -> Result<(), IndexError> {
        if !(1..=64).contains(&self.sentences) {
            let given = self.sentences.to_string();
            return Err(IndexError::Sentences { name: "sentences", given, range: "1 to 64" });
        }
        if !(0.0..=1.0).contains(&self.common.share) {
            let given = self.common.share.to_string();
            return Err(IndexError::Sentences { name: "common.share", given, range: "0 to 1" });
        }
        Ok(())
    }
}
