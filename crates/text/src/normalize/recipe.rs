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

impl Normalizer {
    /// The normaliser of what [`Display`](fmt::Display) says; `None` where a step is none.
    pub fn of_recipe(recipe: &str) -> Option<Self> {
        let mut steps = Self::OFF;
        for step in recipe.split(" + ") {
            match step {
                "html" => steps.html = true,
                "noise" => steps.noise = true,
                "emoji" => steps.emoji = true,
                "nfkc" => steps.nfkc = true,
                "case" => steps.case = true,
                "simplified" => steps.simplified = true,
                "invisible" => steps.invisible = true,
                "punctuation fold" => steps.punctuation = Punctuation::Fold,
                "punctuation drop" => steps.punctuation = Punctuation::Drop,
                "whitespace collapse" => steps.whitespace = Whitespace::Collapse,
                "whitespace remove" => steps.whitespace = Whitespace::Remove,
                "whitespace auto" => steps.whitespace = Whitespace::Auto,
                "runs" => steps.runs = true,
                "nothing" => {}
                _ => return None,
            }
        }
        Some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_again() {
        let punctuation = [Punctuation::Keep, Punctuation::Fold, Punctuation::Drop];
        let whitespace =
            [Whitespace::Keep, Whitespace::Collapse, Whitespace::Remove, Whitespace::Auto];
        for row in 0..3072u32 {
            let on = |bit: u32| row >> bit & 1 > 0;
            let steps = Normalizer {
                html: on(0),
                noise: on(1),
                emoji: on(2),
                nfkc: on(3),
                case: on(4),
                simplified: on(5),
                invisible: on(6),
                runs: on(7),
                punctuation: punctuation[(row >> 8) as usize % 3],
                whitespace: whitespace[(row >> 8) as usize / 3],
            };
            assert_eq!(Normalizer::of_recipe(&steps.to_string()), Some(steps));
        }
        assert_eq!(Normalizer::of_recipe("nfkc + kase"), None);
    }

    #[test]
    fn steps_are_named_in_their_order() {
        assert_eq!(Normalizer::default().to_string(), "nfkc + case + whitespace auto");
        assert_eq!(Normalizer::OFF.to_string(), "nothing");
        assert!(Normalizer::web().to_string().starts_with("html + noise + nfkc"));
    }
}
