//! All steps in order, and the rule that makes the chain of them idempotent.
//!
//! One round is: HTML, noise, emoji, NFKC and case, traditional to simplified, invisible characters, punctuation, white
//! space, runs. A later step can make what an earlier one looks for: NFKC turns `＠` into `@` and `：` into `:` (so noise is
//! looked for once more right behind it, before punctuation takes the signs away), a removed zero-width space completes a
//! URL or puts a mark beside its letter. So rounds are repeated until one changes nothing, and
//! the result is by construction a text that every step leaves alone: normalising twice is normalising once. From the
//! second round on the HTML step only neutralises (see [`html`]): what looks like a tag by then was text.
//!
//! Two rounds are the rule. A text can be built to need one more round for each level of nesting; after [`MAX_ROUNDS`] only
//! its letters and digits are kept, in which no pattern is left to find, so the work stays linear and the law holds there
//! too.

use super::{
    NormalizeScratch, Normalizer, Punctuation, Whitespace, emoji, html, invisible, noise,
    punctuation, runs, traditional,
};

/// Three rounds settle every text that was not written to be difficult (a URL in full-width characters behind a
/// zero-width space); the rest is margin.
const MAX_ROUNDS: usize = 8;

/// The normalised text by the full chain: `text` itself when nothing changes, otherwise a string in `scratch`.
pub(super) fn normalize<'a>(
    normalizer: &Normalizer,
    text: &'a str,
    scratch: &'a mut NormalizeScratch,
) -> &'a str {
    let NormalizeScratch { out, next } = scratch;
    let mut chain = Chain { text, now: out, next, owned: false };
    if !chain.settle(normalizer) {
        chain.step(|text, out| {
            out.clear();
            out.extend(text.chars().filter(|c| c.is_alphanumeric()));
            true
        });
        chain.settle(normalizer);
    }
    let Chain { text, now, owned, .. } = chain;
    if owned { now } else { text }
}

struct Chain<'t, 's> {
    text: &'t str,
    now: &'s mut String,
    next: &'s mut String,
    /// The current text is `now`, no longer `text`.
    owned: bool,
}

impl Chain<'_, '_> {
    /// Runs rounds until nothing changes; false if that did not happen.
    fn settle(&mut self, normalizer: &Normalizer) -> bool {
        for _ in 0..MAX_ROUNDS {
            if !self.round(normalizer) {
                return true;
            }
        }
        false
    }

    /// Every step once; whether any changed the text.
    fn round(&mut self, n: &Normalizer) -> bool {
        let first = !self.owned;
        let fold = Normalizer { nfkc: n.nfkc, case: n.case, ..Normalizer::OFF };
        let space = Normalizer { whitespace: n.whitespace, ..Normalizer::OFF };
        let mut changed = false;
        let mut step = |on: bool, step: &dyn Fn(&str, &mut String) -> bool| {
            let now = on && self.step(step);
            changed |= now;
            now
        };
        step(n.html && first, &html::apply);
        step(n.html && !first, &html::neutralize);
        step(n.noise, &noise::apply);
        step(n.emoji, &emoji::apply);
        let folded = step(n.nfkc || n.case, &|text, out| {
            fold.fold_and_space(text, out) && text != out.as_str()
        });
        step(n.noise && folded, &noise::apply);
        step(n.simplified, &traditional::apply);
        step(n.invisible, &invisible::apply);
        step(n.punctuation != Punctuation::Keep, &|text, out| {
            punctuation::apply(n.punctuation, text, out)
        });
        step(n.whitespace != Whitespace::Keep, &|text, out| {
            space.fold_and_space(text, out) && text != out.as_str()
        });
        step(n.runs, &runs::apply);
        changed
    }

    /// One step on the current text; whether it changed it.
    fn step(&mut self, step: impl FnOnce(&str, &mut String) -> bool) -> bool {
        let text = if self.owned { self.now.as_str() } else { self.text };
        let changed = step(text, self.next);
        if changed {
            std::mem::swap(self.now, self.next);
            self.owned = true;
        }
        changed
    }
}
