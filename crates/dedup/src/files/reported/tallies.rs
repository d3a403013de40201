//! What a report counts: documents and duplicates by input, by length and by day; groups by size, members by similarity and distance.

use super::day::date_of;
use super::groups::Groups;
use serde::Serialize;
use std::collections::BTreeMap;

/// Lengths in characters at which a bar begins: steps that are easy to read, each about twice the one before.
const LENGTHS: [u32; 17] = [
    0, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
    500_000, 1_000_000,
];
/// Inputs that have a row of their own; the others share one.
const INPUTS: usize = 24;
/// Bars of dates, those without documents among them: of more the step is coarser. The 90 centuries that a day can be in are fewer.
const BARS: i32 = 92;
/// Bars of similarity, of 0.01 each; one more is for 1.
const STEPS: usize = 100;
/// Hamming distances of 64 bits.
const DISTANCES: usize = 65;

/// Documents, and how many of them are duplicates.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Share {
    pub(super) documents: u64,
    pub(super) duplicates: u64,
}

impl Share {
    fn count(&mut self, is_duplicate: bool) {
        self.documents += 1;
        self.duplicates += u64::from(is_duplicate);
    }

    fn add(&mut self, other: Self) {
        self.documents += other.documents;
        self.duplicates += other.duplicates;
    }
}

/// A bar: what it is of, and its share.
#[derive(Serialize)]
pub(super) struct Bar<N> {
    name: N,
    #[serde(flatten)]
    share: Share,
}

/// Counts of documents, as they come.
#[derive(Default)]
pub(super) struct Tallies {
    by_input: Vec<Share>,
    by_length: [Share; LENGTHS.len()],
    by_day: BTreeMap<i32, Share>,
    undated: Share,
    pub(super) all: Share,
}

impl Tallies {
    pub(super) fn count(&mut self, input: usize, length: u32, day: Option<i32>, is: bool) {
        if self.by_input.len() <= input {
            self.by_input.resize(input + 1, Share::default());
        }
        self.by_input[input].count(is);
        self.by_length[LENGTHS.partition_point(|&from| from <= length) - 1].count(is);
        match day {
            Some(day) => self.by_day.entry(day).or_default().count(is),
            None => self.undated.count(is),
        }
        self.all.count(is);
    }

    pub(super) fn inputs(&self, names: &[String]) -> Inputs {
        let of = |at: usize| self.by_input.get(at).copied().unwrap_or_default();
        let mut all: Vec<Bar<String>> = names
            .iter()
            .enumerate()
            .map(|(at, name)| Bar { name: name.clone(), share: of(at) })
            .collect();
        let more = all.len().saturating_sub(INPUTS);
        let mut others = Share::default();
        if more > 0 {
            // Those with most documents have rows, in the order of the inputs.
            let mut sizes: Vec<(u64, usize)> =
                all.iter().enumerate().map(|(at, bar)| (bar.share.documents, at)).collect();
            sizes.sort_unstable_by_key(|&(documents, at)| (std::cmp::Reverse(documents), at));
            let mut is_own = vec![false; all.len()];
            sizes[..INPUTS].iter().for_each(|&(_, at)| is_own[at] = true);
            all.iter()
                .zip(&is_own)
                .filter(|&(_, own)| !own)
                .for_each(|(bar, _)| others.add(bar.share));
            let mut own = is_own.into_iter();
            all.retain(|_| own.next() == Some(true));
        }
        Inputs { bars: all, more, others }
    }

    /// From the first length that a document has to the last.
    pub(super) fn lengths(&self) -> Vec<Bar<u32>> {
        let is_used = |share: &Share| share.documents > 0;
        let first = self.by_length.iter().position(is_used).unwrap_or(0);
        let end = self.by_length.iter().rposition(is_used).map_or(0, |last| last + 1);
        let bars = LENGTHS.iter().zip(&self.by_length).skip(first).take(end.saturating_sub(first));
        bars.map(|(&name, &share)| Bar { name, share }).collect()
    }

    /// By day, month, year, decade or century, the first that makes few enough bars; those without documents between others are there.
    pub(super) fn dates(&self) -> Dates {
        let undated = self.undated;
        let ends = self.by_day.first_key_value().zip(self.by_day.last_key_value());
        let Some(((&first, _), (&last, _))) = ends else {
            return Dates { unit: "day", bars: Vec::new(), undated };
        };
        let month = |day: i32| {
            let (year, month, _) = date_of(day);
            year * 12 + month - 1
        };
        let year = |day: i32| date_of(day).0;
        let steps: [(_, &dyn Fn(i32) -> i32); 4] = [
            ("day", &|day| day),
            ("month", &month),
            ("year", &year),
            ("decade", &|day| year(day).div_euclid(10)),
        ];
        let is_fine = |step: &dyn Fn(i32) -> i32| step(last) - step(first) < BARS;
        let century: (_, &dyn Fn(i32) -> i32) = ("century", &|day| year(day).div_euclid(100));
        let fine = steps.into_iter().find(|&(_, step)| is_fine(step));
        let (unit, step) = fine.unwrap_or(century);
        let mut bars: BTreeMap<i32, Share> = BTreeMap::new();
        for (&day, &share) in &self.by_day {
            bars.entry(step(day)).or_default().add(share);
        }
        (step(first)..=step(last)).for_each(|at| _ = bars.entry(at).or_default());
        let name = |at: i32| match unit {
            "day" => {
                let (year, month, day) = date_of(at);
                format!("{year:04}-{month:02}-{day:02}")
            }
            "month" => format!("{:04}-{:02}", at / 12, at % 12 + 1),
            "year" => format!("{at:04}"),
            "decade" => format!("{at:03}0s"),
            _ => format!("{at:02}00-{at:02}99"),
        };
        let bars = bars.into_iter().map(|(at, share)| Bar { name: name(at), share }).collect();
        Dates { unit, bars, undated }
    }
}

/// Documents by input.
#[derive(Serialize)]
pub(super) struct Inputs {
    bars: Vec<Bar<String>>,
    /// Inputs without a row.
    more: usize,
    others: Share,
}

/// Documents by date.
#[derive(Serialize)]
pub(super) struct Dates {
    unit: &'static str,
    bars: Vec<Bar<String>>,
    undated: Share,
}

/// Counts of groups.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    groups: usize,
    /// Documents that they remove.
    duplicates: u64,
    /// Sizes, each with how many groups have it.
    sizes: Vec<(u32, u64)>,
    /// How many members have a similarity within each hundredth, and of 1.
    similarities: Vec<u64>,
    /// By distance, without those at the end that none has.
    distances: Vec<u64>,
    /// Members without a similarity.
    unmeasured: u64,
}

/// The bar of a similarity from 0 to 1.
#[expect(clippy::cast_sign_loss, reason = "a similarity is not negative")]
fn step(share: f64) -> usize {
    // One of 0.29 is a little less than 29 hundredths as a double.
    (share * STEPS as f64 + 1e-9) as usize
}

impl Found {
    pub(super) fn of(groups: &Groups) -> Self {
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut similarities, mut distances) = (vec![0; STEPS + 1], vec![0; DISTANCES]);
        let (mut unmeasured, mut duplicates) = (0, 0);
        for group in groups.all() {
            *sizes.entry(group.len() as u32).or_default() += 1;
            duplicates += groups.found(group).len() as u64;
            for member in &group[1..] {
                match member.similarity {
                    Some(share) => similarities[step(share)] += 1,
                    None => unmeasured += 1,
                }
                if let Some(count) =
                    member.distance.and_then(|distance| distances.get_mut(distance as usize))
                {
                    *count += 1;
                }
            }
        }
        let end = distances.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        distances.truncate(end);
        let sizes = sizes.into_iter().collect();
        Self { groups: groups.len(), duplicates, sizes, similarities, distances, unmeasured }
    }
}

#[cfg(test)]
mod tests {
    use super::super::day::day_of;
    use super::*;
    use crate::keep::Key;

    fn dates(all: &[&str]) -> Dates {
        let mut tallies = Tallies::default();
        for date in all {
            let day = day_of(&Key::Text((*date).into()));
            assert!(day.is_some(), "{date}");
            tallies.count(0, 1, day, false);
        }
        tallies.dates()
    }

    #[test]
    fn dates_however_far_apart_are_few_bars_and_all_of_them() {
        let ends = [
            (["2026-01-01", "2026-04-02"], "day", 92),
            (["2026-01-01", "2026-04-03"], "month", 4),
            (["2019-01-01", "2026-08-31"], "month", 92),
            (["2019-01-01", "2026-09-01"], "year", 8),
            (["1900", "1991"], "year", 92),
            (["1900", "1992"], "decade", 10),
            (["1200", "2026-11-24"], "decade", 83),
            (["1001", "2026-11-24"], "century", 11),
            (["1000-01-01", "9999-12-31"], "century", 90),
        ];
        for (ends, unit, bars) in ends {
            let dates = dates(&ends);
            assert_eq!((dates.unit, dates.bars.len()), (unit, bars), "{ends:?}");
            assert!(dates.bars.len() <= BARS as usize);
            let counted: u64 = dates.bars.iter().map(|bar| bar.share.documents).sum();
            assert_eq!(counted, 2, "{ends:?}");
        }
        let named = |ends| {
            let all = dates(ends).bars;
            (all[0].name.clone(), all[all.len() - 1].name.clone())
        };
        assert_eq!(named(&["1905", "2026"]), ("1900s".into(), "2020s".into()));
        assert_eq!(named(&["1001", "9999"]), ("1000-1099".into(), "9900-9999".into()));
    }
}
