//! A normaliser in words: what must be equal for its results to be equal.

use super::{Normalizer, Punctuation, Whitespace};
use std::fmt;

/// The steps in words, in their order: equal words mean equal steps.
impl fmt::Display for Normalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = |step: bool, name: &'static str| step.then_some(name);
        let punctuation = match self.punctuation {
            Punctuation::Keep => None,
            Punctuation::Fold => Some("punctuation fold"),
            Punctuation::Drop => Some("punctuation drop"),
        };
        let whitespace = match self.whitespace {
            Whitespace::Keep => None,
            Whitespace::Collapse => Some("whitespace collapse"),
            Whitespace::Remove => Some("whitespace remove"),
            Whitespace::Auto => Some("whitespace auto"),
        };
        let steps = [
            on(self.html, "html"),
            on(self.noise, "noise"),
            on(self.emoji, "emoji"),
            on(self.nfkc, "nfkc"),
            on(self.case, "case"),
            on(self.simplified, "simplified"),
            on(self.invisible, "invisible"),
            punctuation,
            whitespace,
            on(self.runs, "runs"),
        ];
        let steps: Vec<&str> = steps.into_iter().flatten().collect();
        f.write_str(&if steps.is_empty() { "nothing".to_owned() } else { steps.join(" + ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_in_their_order() {
        assert_eq!(Normalizer::default().to_string(), "nfkc + case + whitespace auto");
        assert_eq!(Normalizer::OFF.to_string(), "nothing");
        assert!(Normalizer::web().to_string().starts_with("html + noise + nfkc"));
    }
}
