//! The likeliest path through a block, from the right.

use super::dictionary::{Node, code, codes, nodes, scores};

/// For every position of a block the word that starts there on the likeliest path.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    codes: Vec<u16>,
    /// Sum of scores from here to the end; one entry more than characters.
    sums: Vec<f64>,
    /// Length of the word and its slot (0: a single character that is no word).
    words: Vec<(u32, u32)>,
}

impl Route {
    /// Finds the path through a block. What an earlier block left is overwritten.
    pub(super) fn find(&mut self, characters: &[u16]) {
        let (nodes, codes, scores) = (nodes(), codes(), scores());
        let unknown = -super::dictionary::LN_TOTAL; // ln 1 − ln total
        let len = characters.len();
        self.codes.clear();
        self.codes.extend(characters.iter().map(|&character| code(codes, character)));
        self.sums.clear();
        self.sums.resize(len + 1, 0.0);
        self.words.clear();
        self.words.resize(len, (1, 0));
        for start in (0..len).rev() {
            let mut best = f64::NEG_INFINITY;
            let mut word = (1, 0);
            let mut node = Node::ROOT;
            for (at, &code) in self.codes[start..].iter().enumerate() {
                let Some(child) = node.child(nodes, code) else { break };
                node = child;
                // A prefix that is no word has score −∞. Lengths grow, so `>=` gives ties to the longer word.
                let sum = scores[node.frequency()] + self.sums[start + at + 1];
                if sum >= best && node.frequency() > 0 {
                    best = sum;
                    word = (at as u32 + 1, node.slot());
                }
                if node.is_leaf() {
                    break;
                }
            }
            if word.1 == 0 {
                best = unknown + self.sums[start + 1];
            }
            self.sums[start] = best;
            self.words[start] = word;
        }
    }

    /// The words of the path in order: length in characters, and the slot.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, u32)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let &(len, slot) = self.words.get(at)?;
            at += len as usize;
            Some((len as usize, slot))
        })
    }

    /// Whether `run` is a word of frequency above 0.
    pub(super) fn is_word(run: &[u16]) -> bool {
        let (nodes, codes) = (nodes(), codes());
        let end = run.iter().try_fold(Node::ROOT, |node, &c| node.child(nodes, code(codes, c)));
        end.is_some_and(|node| node.frequency() > 0)
    }
}
