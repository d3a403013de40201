//! The candidates of texts, one list after the other: 4 bytes each, and 4 more where ranks are needed.

use crate::method::Candidate;

/// Lists of the texts from one number on.
#[derive(Default)]
pub(super) struct Lists {
    /// The number of the first text.
    first: u32,
    /// By text: where its list ends.
    ends: Vec<usize>,
    numbers: Vec<u32>,
    /// As long as `numbers`, or empty: all of them count as 0.
    ranks: Vec<u32>,
    with_ranks: bool,
}

impl Lists {
    pub(super) fn new(with_ranks: bool) -> Self {
        Self { with_ranks, ..Self::default() }
    }

    /// Adds the list of the next text.
    pub(super) fn push(&mut self, candidates: &[Candidate]) {
        self.numbers.extend(candidates.iter().map(|candidate| candidate.number));
        if self.with_ranks {
            self.ranks.extend(candidates.iter().map(|candidate| candidate.rank));
        }
        self.ends.push(self.numbers.len());
    }

    /// The candidates of a text, best first; none for a text whose list was dropped.
    pub(super) fn get(&self, text: u32) -> impl Iterator<Item = Candidate> {
        let place = text.checked_sub(self.first).map_or(self.ends.len(), |place| place as usize);
        let end = self.ends.get(place).copied().unwrap_or_default();
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]).min(end);
        (start..end).map(|at| Candidate {
            number: self.numbers[at],
            rank: self.ranks.get(at).copied().unwrap_or_default(),
        })
    }

    /// Drops the lists there are; the next one is of the text that comes next.
    pub(super) fn clear(&mut self) {
        self.first += self.ends.len() as u32;
        self.ends.clear();
        self.numbers.clear();
        self.ranks.clear();
    }

    /// Bytes of the lists there are.
    pub(super) fn bytes(&self) -> usize {
        self.ends.len() * size_of::<usize>() + (self.numbers.len() + self.ranks.len()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_text_until_they_are_dropped() {
        let of = |numbers: &[u32]| -> Vec<Candidate> {
            numbers.iter().map(|&number| Candidate { number, rank: number + 1 }).collect()
        };
        for with_ranks in [true, false] {
            let mut lists = Lists::new(with_ranks);
            let get = |lists: &Lists, text| -> Vec<(u32, u32)> {
                lists.get(text).map(|found| (found.number, found.rank)).collect()
            };
            lists.push(&of(&[]));
            lists.push(&of(&[0]));
            lists.push(&of(&[1, 0]));
            let rank = |number| if with_ranks { number + 1 } else { 0 };
            assert_eq!(get(&lists, 0), []);
            assert_eq!(get(&lists, 1), [(0, rank(0))]);
            assert_eq!(get(&lists, 2), [(1, rank(1)), (0, rank(0))]);
            assert_eq!(get(&lists, 3), []);
            lists.clear();
            lists.push(&of(&[2]));
            assert_eq!(get(&lists, 2), []);
            assert_eq!(get(&lists, 3), [(2, rank(2))]);
            assert_eq!(get(&lists, 4), []);
        }
    }
}
