//! Who is kept, round by round, where a part has only texts of its own: the mode `representative` where one task cannot hold all links.
//!
//! Kept are the texts of the lexicographically first maximal independent set of the links: those that match no kept text before them. A
//! text is settled in the round after the last one before it that it matches, or in the same round where that is in its part (the parallel
//! greedy algorithm of Blelloch, Fineman and Shun, "Greedy sequential maximal independent set and matching are parallel on average",
//! SPAA 2012). Four or five rounds are usual; a document that was edited a million times takes as many, so the engine gives up after
//! some, and one task with all that is left goes through it in order.
//!
//! What is left of a link says to which texts it leads:
//!
//! - `open`: its part does not know yet what becomes of the earlier text.
//! - `best`: the earlier text is kept, and so the later one a duplicate: of its links to kept texts the best one so far.
//! - `past`: the earlier text is a duplicate. If the later one is kept, it may be nearer to copies of the earlier one that came behind it
//!   than what that was compared with: then it becomes `after`, which goes to the part of the earlier text.
//!
//! A record of kind `wait` is the place of a text and a part in which it is the earlier text of a link; `fate` answers it.

use super::{Numbers, Places, Records, each_link, each_record, grown, part_of_place, unexpected};
use crate::rows::{Input, Output, Row};
use crate::{Context, Failure};
use ahash::AHashSet;
use simhash_dedup::stages::Link;
use std::io::Write;
use std::sync::Arc;

/// What becomes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Duplicate,
}

impl Fate {
    fn byte(self) -> [u8; 1] {
        [u8::from(self == Self::Kept)]
    }

    fn of(byte: &[u8]) -> Result<Self, Failure> {
        match byte {
            [0] => Ok(Self::Duplicate),
            [1] => Ok(Self::Kept),
            _ => Err(Failure("a row of kind fate is damaged".into())),
        }
    }
}

/// See the [table](super). Links go on as they are, in the parts of their later texts.
///
/// # Errors
/// Those of the streams.
pub fn waits<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, parts) = (&context.recipe, context.parts);
    let (mut numbers, mut waiting) = (Numbers::default(), AHashSet::<(u32, u32)>::new());
    let (mut copies, mut bytes) = (Records::new("copy", parts), 0);
    input.sifted(|row| match row.kind.as_str() {
        "link" => {
            each_link(&row, recipe, |[later, earlier], _, _| {
                waiting.insert((numbers.of(earlier), part_of_place(later, parts)));
            })?;
            output.row(Row { kind: "open".into(), ..row })?;
            // Of links to one text from one part only one is held.
            let now = waiting.len() * size_of::<(u32, u32)>() + numbers.bytes();
            Ok(grown(now - std::mem::replace(&mut bytes, now)))
        }
        "copy" => {
            let each = |[own, first]: [&[u8]; 2]| {
                copies.put(part_of_place(first, parts), &[own, first], recipe, output)
            };
            each_record(&row, recipe, each).map(|()| 0)
        }
        _ => Err(unexpected(&row, "waits")),
    })?;
    copies.flush(output)?;
    let (places, sorted) = numbers.sorted();
    let mut waits = Records::new("wait", parts);
    for (text, part) in waiting {
        let place = places.get(sorted[text as usize]);
        waits.put(part_of_place(place, parts), &[place, &part.to_le_bytes()], recipe, output)?;
    }
    waits.flush(output)
}

/// What a part knows. Texts are numbers, which ascend with their places.
struct Known {
    places: Places,
    /// By number, of texts of other parts.
    fates: Vec<Option<Fate>>,
    /// By number: whether the text is one of this part.
    own: Vec<bool>,
    open: Vec<Link>,
    best: Vec<Link>,
    past: Vec<Link>,
    waits: Vec<(u32, u32)>,
}

impl Known {
    /// What comes; `after` and `copy` go on as they are.
    fn read<W: Write>(
        context: &Context,
        input: Input,
        output: &mut Output<W>,
    ) -> Result<Self, Failure> {
        let recipe = &context.recipe;
        let mut numbers = Numbers::default();
        let [mut open, mut best, mut past] = [const { Vec::<Link>::new() }; 3];
        let (mut waits, mut fates) = (Vec::new(), Vec::new());
        input.alone("round").rows(|row| {
            let links = match row.kind.as_str() {
                "open" => &mut open,
                "best" => &mut best,
                "past" => &mut past,
                "wait" => {
                    return each_record(&row, recipe, |[text, part]| {
                        let damaged = |_| Failure("a row of kind wait is damaged".into());
                        let part = part.try_into().map(u32::from_le_bytes).map_err(damaged)?;
                        if part >= context.parts {
                            return Err(Failure(format!(
                                "a row of kind wait names part {part}: there are {}",
                                context.parts
                            )));
                        }
                        waits.push((numbers.of(text), part));
                        Ok(())
                    });
                }
                "fate" => {
                    return each_record(&row, recipe, |[text, fate]| {
                        fates.push((numbers.of(text), Fate::of(fate)?));
                        Ok(())
                    });
                }
                // The stage that decides has them all, too: they may be counted as what is held.
                "after" | "copy" => return output.row(row),
                _ => return Err(unexpected(&row, "round")),
            };
            each_link(&row, recipe, |[text, other], rank, similarity| {
                let (later, earlier) = (numbers.of(text), numbers.of(other));
                links.push(Link { later, earlier, rank, similarity });
            })
        })?;
        let (places, sorted) = numbers.sorted();
        let count = places.len() as usize;
        let mut all = Self {
            places,
            fates: vec![None; count],
            own: vec![false; count],
            open,
            best,
            past,
            waits,
        };
        for link in [&mut all.open, &mut all.best, &mut all.past].into_iter().flatten() {
            link.later = sorted[link.later as usize];
            link.earlier = sorted[link.earlier as usize];
            if link.earlier >= link.later {
                return Err(Failure("a link leads to a text that is not before its own".into()));
            }
            all.own[link.later as usize] = true;
        }
        for wait in &mut all.waits {
            wait.0 = sorted[wait.0 as usize];
            all.own[wait.0 as usize] = true;
        }
        for (text, fate) in fates {
            all.fates[sorted[text as usize] as usize] = Some(fate);
        }
        for links in [&mut all.open, &mut all.best, &mut all.past] {
            links.sort_unstable_by_key(|link| (link.later, link.earlier));
        }
        all.waits.sort_unstable();
        Ok(all)
    }
}

/// The run of a text in what is sorted by texts; what comes before it is done with.
fn take<'a, T>(rest: &mut &'a [T], text: u32, of: impl Fn(&T) -> u32) -> &'a [T] {
    let begin = rest.iter().take_while(|one| of(one) < text).count();
    let count = rest[begin..].iter().take_while(|one| of(one) == text).count();
    let (own, later) = rest[begin..].split_at(count);
    *rest = later;
    own
}

/// See the [table](super). Counts as `moved` how many it tells of what became of texts: nobody waits any more if that is none.
///
/// # Errors
/// Those of the streams, and a link to a later text.
pub fn round<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let Known { places, mut fates, own, open, best, past, waits } =
        Known::read(context, input, output)?;
    let parts = places.parts(context.parts);
    let out = |kind| Records::new(kind, context.parts);
    let [mut opens, mut bests, mut pasts] = ["open", "best", "past"].map(out);
    let [mut afters, mut waiting, mut told] = ["after", "wait", "fate"].map(out);
    let (mut open, mut best, mut past, mut waits) = (&open[..], &best[..], &past[..], &waits[..]);
    let mut moved = 0;
    let later = |link: &Link| link.later;
    for text in (0..places.len()).filter(|&text| own[text as usize]) {
        let (place, part) = (places.get(text), parts[text as usize]);
        let mut nearest = take(&mut best, text, later).first().copied();
        let mut gone = take(&mut past, text, later).to_vec();
        let mut left = Vec::new();
        for &link in take(&mut open, text, later) {
            match fates[link.earlier as usize] {
                None => left.push(link),
                Some(Fate::Duplicate) => gone.push(link),
                Some(Fate::Kept) if nearest.is_none_or(|best| rules.is_nearer(&link, &best)) => {
                    nearest = Some(link);
                }
                Some(Fate::Kept) => {}
            }
        }
        let mut write = |records: &mut Records, part: u32, link: &Link| {
            let (rank, similarity) = (link.rank.to_le_bytes(), link.similarity.to_le_bytes());
            let fields = [place, places.get(link.earlier), &rank, &similarity];
            records.put(part, &fields, recipe, output)
        };
        let fate = if let Some(nearest) = nearest {
            write(&mut bests, part, &nearest)?;
            left.retain(|link| rules.is_nearer(link, &nearest));
            Some(Fate::Duplicate)
        } else if left.is_empty() {
            for link in &gone {
                write(&mut afters, parts[link.earlier as usize], link)?;
            }
            Some(Fate::Kept)
        } else {
            gone.iter().try_for_each(|link| write(&mut pasts, part, link))?;
            None
        };
        left.iter().try_for_each(|link| write(&mut opens, part, link))?;
        fates[text as usize] = fate;
        for (_, asks) in take(&mut waits, text, |wait| wait.0) {
            match fate {
                // Whoever waits in this part was told by now, or comes yet.
                Some(_) if *asks == part => {}
                Some(fate) => {
                    moved += 1;
                    told.put(*asks, &[place, &fate.byte()], recipe, output)?;
                }
                None => waiting.put(part, &[place, &asks.to_le_bytes()], recipe, output)?,
            }
        }
    }
    for mut records in [opens, bests, pasts, afters, waiting, told] {
        records.flush(output)?;
    }
    output.count("moved", moved)
}

#[cfg(test)]
mod tests {
    use super::super::decide;
    use super::super::testing::{PARTS, context, counted, row, run};
    use super::*;
    use std::collections::BTreeMap;

    /// A later text, an earlier one, and their similarity in percent.
    type Tie = (u64, u64, u64);

    fn place(text: u64) -> [u8; 8] {
        text.to_be_bytes()
    }

    fn part(text: u64) -> u32 {
        part_of_place(&place(text), PARTS)
    }

    fn linked(kind: &str, (later, earlier, percent): Tie) -> Row {
        let similarity = (percent as f64 / 100.0).to_le_bytes();
        row(kind, part(later), &[&place(later), &place(earlier), &[0; 4], &similarity])
    }

    fn rows(ties: &[Tie], copies: &[(u64, u64)]) -> Vec<Row> {
        let copies = copies
            .iter()
            .map(|&(own, first)| row("copy", part(own), &[&place(own), &place(first)]));
        ties.iter().map(|&tie| linked("link", tie)).chain(copies).collect()
    }

    fn rest(rows: Vec<Row>) -> Vec<Row> {
        rows.into_iter().filter(|row| row.kind != "count").collect()
    }

    /// What rounds leave, and how many they took, at most so many; one task settles the rest. The links are looked at in so many tasks.
    fn settle(given: &[Row], tasks: usize, most: usize) -> (Vec<Row>, usize) {
        let size = given.len().div_ceil(tasks).max(1);
        let mut all: Vec<Row> =
            given.chunks(size).flat_map(|own| run(waits, own, false).unwrap()).collect();
        for took in 1..=most {
            all = run(round, &rest(all), true).unwrap();
            if counted(&all, "moved") == 0 {
                return (rest(all), took);
            }
        }
        (rest(run(round, &rest(all), false).unwrap()), most)
    }

    /// By duplicate: its original and their similarity.
    fn marks(rows: &[Row]) -> BTreeMap<i64, (i64, f64)> {
        let marks = rows.iter().filter(|row| row.kind == "mark");
        marks
            .map(|row| (row.pos.unwrap(), (row.original.unwrap(), row.similarity.unwrap())))
            .collect()
    }

    /// The rule itself, text by text, copies at the end.
    fn expected(ties: &[Tie], copies: &[(u64, u64)]) -> BTreeMap<i64, (i64, f64)> {
        let mut originals = BTreeMap::<u64, (u64, u64)>::new();
        let nearest = |all: &mut dyn Iterator<Item = (u64, u64)>| {
            all.min_by_key(|&(other, percent)| (100 - percent, other))
        };
        let mut texts: Vec<u64> = ties.iter().map(|tie| tie.0).collect();
        texts.sort_unstable();
        texts.dedup();
        for text in texts {
            let own = ties.iter().filter(|tie| tie.0 == text && !originals.contains_key(&tie.1));
            if let Some(found) = nearest(&mut own.map(|tie| (tie.1, tie.2))) {
                originals.insert(text, found);
            }
        }
        let mut all = originals.clone();
        for &(own, first) in copies {
            let found = originals.get(&first).map_or((first, 100), |&best| {
                let later = ties
                    .iter()
                    .filter(|tie| tie.1 == first && tie.0 < own && !originals.contains_key(&tie.0));
                nearest(&mut later.map(|tie| (tie.0, tie.2)).chain([best])).unwrap()
            });
            all.insert(own, found);
        }
        let tell = |(text, (other, percent)): (u64, (u64, u64))| {
            (text.cast_signed(), (other.cast_signed(), percent as f64 / 100.0))
        };
        all.into_iter().map(tell).collect()
    }

    #[test]
    fn rounds_decide_what_the_rule_does() {
        let mut state = 11u64;
        let mut below = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        let (mut nearer, mut most) = (0, 0);
        for turn in 0..80 {
            let (texts, count) = (4 + below(120), below(300));
            let mut ties = BTreeMap::new();
            for _ in 0..count {
                let (a, b) = (below(texts) * 4, below(texts) * 4);
                if a != b {
                    ties.insert((a.max(b), a.min(b)), 80 + below(20));
                }
            }
            let ties: Vec<Tie> =
                ties.into_iter().map(|((a, b), percent)| (a, b, percent)).collect();
            // Behind texts that come after their first, and of texts without links.
            let mut copies = BTreeMap::new();
            for _ in 0..below(60) {
                let first = below(texts) * 4;
                copies.insert(first + 1 + below(400), first);
            }
            let copies: Vec<(u64, u64)> =
                copies.into_iter().filter(|(own, _)| own % 4 != 0).collect();
            let expected = expected(&ties, &copies);
            for limit in [50, 2] {
                let (left, took) = settle(&rows(&ties, &copies), 1 + turn % 5, limit);
                assert!(
                    left.iter().all(|row| !["open", "past", "wait"].contains(&row.kind.as_str()))
                );
                let left: Vec<Row> = left.into_iter().filter(|row| row.kind != "fate").collect();
                assert_eq!(
                    marks(&run(decide, &left, true).unwrap()),
                    expected,
                    "{ties:?} {copies:?}"
                );
                if limit == 50 {
                    most = most.max(took);
                }
            }
            nearer += copies
                .iter()
                .filter(|&&(own, first)| {
                    let of = |text: u64| expected.get(&text.cast_signed()).map(|found| found.0);
                    of(first).is_some() && of(own) != of(first)
                })
                .count();
        }
        // Copies that have another original than their first text, and more rounds than one part would take.
        assert!(nearer > 20 && (3..50).contains(&most), "{nearer} {most}");
    }

    #[test]
    fn a_crowd_takes_few_rounds_and_a_long_chain_one_task_at_the_end() {
        let crowd: Vec<Tie> =
            (1..120).flat_map(|own| (0..own).map(move |other| (own, other, 90))).collect();
        let (left, took) = settle(&rows(&crowd, &[]), 4, 20);
        assert!(took <= 4, "{took}");
        assert_eq!(marks(&run(decide, &left, true).unwrap()), expected(&crowd, &[]));
        let chain: Vec<Tie> = (1..2_000).map(|own| (own, own - 1, 90)).collect();
        let (left, took) = settle(&rows(&chain, &[]), 4, 20);
        assert_eq!(took, 20);
        let left: Vec<Row> = left.into_iter().filter(|row| row.kind != "fate").collect();
        assert_eq!(marks(&run(decide, &left, true).unwrap()), expected(&chain, &[]));
    }

    #[test]
    fn links_that_can_no_longer_be_the_best_are_dropped() {
        let own = part(9);
        // 9 has a kept text at .9, and waits for one that is nearer, one that is not, and one that is as near but behind.
        let given = [
            linked("best", (9, 3, 90)),
            linked("open", (9, 1, 85)),
            linked("open", (9, 2, 95)),
            linked("open", (9, 5, 90)),
        ];
        let found = run(round, &given, true).unwrap();
        let mut open = Vec::new();
        for row in found.iter().filter(|row| row.kind == "open") {
            assert_eq!(row.part.cast_unsigned(), own);
            each_link(row, &context().recipe, |[_, other], _, _| open.push(other[7])).unwrap();
        }
        assert_eq!(open, [2]);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let refused = |given: Row| run(round, &[given], true).unwrap_err().to_string();
        assert!(refused(linked("open", (3, 5, 90))).contains("is not before its own"));
        assert!(refused(row("wait", 0, &[&place(3), &[1, 0]])).contains("wait is damaged"));
        let wrong = refused(row("wait", 0, &[&place(3), &9u32.to_le_bytes()]));
        assert!(wrong.contains("names part 9: there are 5"), "{wrong}");
        assert!(refused(row("fate", 0, &[&place(3), &[2]])).contains("fate is damaged"));
        assert!(
            refused(linked("link", (5, 3, 90))).contains("stage round knows no rows of kind link")
        );
        // Of what nobody answers nothing is decided.
        let left = run(round, &[linked("open", (5, 3, 90))], true).unwrap();
        let wrong = run(decide, &rest(left), true).unwrap_err().to_string();
        assert!(wrong.contains("stage decide knows no rows of kind open"), "{wrong}");
    }
}
