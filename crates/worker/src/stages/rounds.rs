//! Who is kept, round by round, where a part has only texts of its own: the mode `representative` where one task cannot hold all links.
//!
//! Kept are the texts of the lexicographically first maximal independent set of the links: those that match no kept text before them. A
//! text that matches a kept one is a duplicate; one of which all earlier texts that it matches are duplicates is kept (the parallel greedy
//! algorithm of Blelloch, Fineman and Shun, "Greedy sequential maximal independent set and matching are parallel on average", SPAA 2012). A
//! round tells other parts what became of texts; within a part, what follows from that is known at once. A document that was edited a million
//! times may take as many rounds, so the engine gives up after some, and one task with all that is open goes through it in order.
//!
//! What is left of a link says to which texts it leads:
//!
//! - `open`: its part does not know yet what becomes of the earlier text.
//! - `best`: the earlier text is kept, and so the later one a duplicate: of its links to kept texts the best one so far, while there are open
//!   ones that may be better.
//! - `past`: the earlier text is a duplicate that has copies. If the later one is kept, it may be nearer to those of them that come behind it
//!   than what the earlier one was compared with.
//! - `link`: all is known. To the kept text that is nearest, in the part of the later text; or from a kept text to one with copies, in the
//!   part of that.
//!
//! A record of kind `wait` is the place of a text, a part in which it is the earlier text of a link, and whether it is known to have copies;
//! `fate` answers it.

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
    /// A duplicate without copies.
    Duplicate,
    Kept,
    /// A duplicate that has copies.
    Copied,
}

impl Fate {
    fn byte(self) -> [u8; 1] {
        [self as u8]
    }

    fn of(byte: &[u8]) -> Result<Self, Failure> {
        let all = [Self::Duplicate, Self::Kept, Self::Copied];
        let found = all.into_iter().find(|fate| fate.byte() == byte);
        found.ok_or_else(|| Failure("a row of kind fate is damaged".into()))
    }
}

/// A part that waits for a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wait {
    text: u32,
    part: u32,
    is_copied: bool,
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
        let fields = [place, &part.to_le_bytes(), &[0]];
        waits.put(part_of_place(place, parts), &fields, recipe, output)?;
    }
    waits.flush(output)
}

/// What a part knows. Texts are numbers, which ascend with their places.
#[derive(Default)]
struct Known {
    places: Places,
    /// By number: what was told.
    fates: Vec<Option<Fate>>,
    /// By number: whether the text is one of this part.
    own: Vec<bool>,
    /// By number: whether the text, of this part, has copies.
    copied: Vec<bool>,
    open: Vec<Link>,
    best: Vec<Link>,
    past: Vec<Link>,
    waits: Vec<Wait>,
}

impl Known {
    fn read(context: &Context, input: Input) -> Result<Self, Failure> {
        let recipe = &context.recipe;
        let (mut all, mut numbers) = (Self::default(), Numbers::default());
        let (mut fates, mut copied) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        input.sifted(|row| {
            let is_here = |place: &[u8]| {
                if part_of_place(place, context.parts) == row.part.cast_unsigned() {
                    return Ok(());
                }
                let Row { kind, part, .. } = &row;
                Err(Failure(format!("a row of kind {kind} is in part {part}, where it is not to be: have all stages the same --parts?")))
            };
            match row.kind.as_str() {
                kind @ ("open" | "best" | "past") => {
                    let links = match kind {
                        "open" => &mut all.open,
                        "best" => &mut all.best,
                        _ => &mut all.past,
                    };
                    let mut checked = Ok(());
                    each_link(&row, recipe, |[text, other], rank, similarity| {
                        if checked.is_ok() {
                            checked = is_here(text);
                        }
                        let (later, earlier) = (numbers.of(text), numbers.of(other));
                        links.push(Link { later, earlier, rank, similarity });
                    })?;
                    checked?;
                }
                "wait" => each_record(&row, recipe, |[place, part, is_copied]| {
                    is_here(place)?;
                    let damaged = || Failure("a row of kind wait is damaged".into());
                    let part = part.try_into().map(u32::from_le_bytes).map_err(|_| damaged())?;
                    let ([0 | 1], true) = (is_copied, part < context.parts) else {
                        return Err(damaged());
                    };
                    let text = numbers.of(place);
                    all.waits.push(Wait { text, part, is_copied: is_copied == [1] });
                    Ok(())
                })?,
                "fate" => each_record(&row, recipe, |[text, fate]| {
                    fates.push((numbers.of(text), Fate::of(fate)?));
                    Ok(())
                })?,
                "copy" => each_record(&row, recipe, |[_, first]: [&[u8]; 2]| {
                    is_here(first)?;
                    copied.push(numbers.of(first));
                    Ok(())
                })?,
                _ => return Err(unexpected(&row, "round")),
            }
            let links = all.open.len() + all.best.len() + all.past.len();
            let now = numbers.bytes()
                + links * size_of::<Link>()
                + all.waits.len() * size_of::<Wait>()
                + fates.len() * size_of::<(u32, Fate)>()
                + copied.len() * size_of::<u32>();
            Ok(grown(now - std::mem::replace(&mut bytes, now)))
        })?;
        let (places, sorted) = numbers.sorted();
        let count = places.len() as usize;
        let number = |text: u32| sorted[text as usize];
        all.places = places;
        all.fates = vec![None; count];
        all.own = vec![false; count];
        all.copied = vec![false; count];
        for link in [&mut all.open, &mut all.best, &mut all.past].into_iter().flatten() {
            (link.later, link.earlier) = (number(link.later), number(link.earlier));
            if link.earlier >= link.later {
                return Err(Failure("a link leads to a text that is not before its own".into()));
            }
            all.own[link.later as usize] = true;
        }
        for wait in &mut all.waits {
            wait.text = number(wait.text);
            all.own[wait.text as usize] = true;
            all.copied[wait.text as usize] |= wait.is_copied;
        }
        for first in copied {
            all.copied[number(first) as usize] = true;
        }
        for (text, fate) in fates {
            all.fates[number(text) as usize] = Some(fate);
        }
        for links in [&mut all.open, &mut all.best, &mut all.past] {
            links.sort_unstable_by_key(|link| (link.later, link.earlier));
        }
        all.waits.sort_unstable();
        // Each task that has looked at links asks.
        all.waits.dedup_by_key(|wait| (wait.text, wait.part));
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

/// See the [table](super). Counts as `moved` how many answers it gives: nothing is open any more if that is none.
///
/// # Errors
/// Those of the streams, a link to a later text, and what is in another part than its own.
pub fn round<W: Write>(
    context: &Arc<Context>,
    input: Input,
    output: &mut Output<W>,
) -> Result<(), Failure> {
    let (recipe, rules) = (&context.recipe, context.recipe.rules());
    let Known { places, mut fates, own, copied, open, best, past, waits } =
        Known::read(context, input)?;
    let parts = places.parts(context.parts);
    let out = |kind| Records::new(kind, context.parts).of(6);
    let [mut opens, mut bests, mut pasts] = ["open", "best", "past"].map(out);
    let [mut settled, mut waiting, mut told] = ["link", "wait", "fate"].map(out);
    let (mut open, mut best, mut past, mut waits) = (&open[..], &best[..], &past[..], &waits[..]);
    let mut moved = 0;
    let later = |link: &Link| link.later;
    for text in (0..places.len()).filter(|&text| own[text as usize]) {
        let (place, part) = (places.get(text), parts[text as usize]);
        let mut nearest = None;
        let mut consider = |link: Link| {
            if nearest.is_none_or(|best| rules.is_nearer(&link, &best)) {
                nearest = Some(link);
            }
        };
        take(&mut best, text, later).iter().copied().for_each(&mut consider);
        let (mut gone, mut left) = (take(&mut past, text, later).to_vec(), Vec::new());
        for &link in take(&mut open, text, later) {
            match fates[link.earlier as usize] {
                None => left.push(link),
                Some(Fate::Kept) => consider(link),
                Some(Fate::Copied) => gone.push(link),
                Some(Fate::Duplicate) => {}
            }
        }
        let mut write = |records: &mut Records, part: u32, link: &Link| {
            let (rank, similarity) = (link.rank.to_le_bytes(), link.similarity.to_le_bytes());
            let fields = [place, places.get(link.earlier), &rank, &similarity];
            records.put(part, &fields, recipe, output)
        };
        let is_copied = copied[text as usize];
        let fate = if let Some(nearest) = nearest {
            left.retain(|link| rules.is_nearer(link, &nearest));
            write(if left.is_empty() { &mut settled } else { &mut bests }, part, &nearest)?;
            Some(if is_copied { Fate::Copied } else { Fate::Duplicate })
        } else if left.is_empty() {
            for link in &gone {
                write(&mut settled, parts[link.earlier as usize], link)?;
            }
            Some(Fate::Kept)
        } else {
            gone.iter().try_for_each(|link| write(&mut pasts, part, link))?;
            None
        };
        left.iter().try_for_each(|link| write(&mut opens, part, link))?;
        // What a round before has told of a text stays: a task that has all parts is given that, too, and no longer who waited.
        let fate = fates[text as usize].or(fate);
        fates[text as usize] = fate;
        for &Wait { part: asks, .. } in take(&mut waits, text, |wait| wait.text) {
            match fate {
                // What waits in this part comes behind the text, and so is told by now or in this round.
                Some(_) if asks == part => {}
                Some(fate) => {
                    moved += 1;
                    told.put(asks, &[place, &fate.byte()], recipe, output)?;
                }
                None => {
                    let fields = [place, &asks.to_le_bytes()[..], &[is_copied.into()]];
                    waiting.put(part, &fields, recipe, output)?;
                }
            }
        }
    }
    for mut records in [opens, bests, pasts, settled, waiting, told] {
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

    /// What is settled, or goes on to the next round.
    fn split(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
        let rows = rows.into_iter().filter(|row| row.kind != "count");
        rows.partition(|row| ["link", "copy"].contains(&row.kind.as_str()))
    }

    /// What rounds settle, and how many they took, at most so many; one task settles the rest. The links are looked at in so many tasks.
    fn settle(given: &[Row], tasks: usize, most: usize) -> (Vec<Row>, usize) {
        let size = given.len().div_ceil(tasks).max(1);
        let mut rows: Vec<Row> =
            given.chunks(size).flat_map(|own| run(waits, own, false).unwrap()).collect();
        let (mut all, _) = split(rows.clone());
        for took in 1..=most + 1 {
            rows = run(round, &rows, took <= most).unwrap();
            let moved = counted(&rows, "moved");
            let (settled, left) = split(rows);
            all.extend(settled);
            rows = left;
            if moved == 0 || took > most {
                let fates = rows.iter().filter(|row| row.kind == "fate").count();
                assert_eq!((rows.len(), fates > 0), (fates, moved > 0));
                return (all, took);
            }
        }
        unreachable!()
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
                let (all, took) = settle(&rows(&ties, &copies), 1 + turn % 5, limit);
                let found = marks(&run(decide, &all, true).unwrap());
                assert_eq!(found, expected, "{ties:?} {copies:?}");
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
        let (all, took) = settle(&rows(&crowd, &[]), 4, 20);
        assert!(took <= 4, "{took}");
        assert_eq!(marks(&run(decide, &all, true).unwrap()), expected(&crowd, &[]));
        let chain: Vec<Tie> = (1..2_000).map(|own| (own, own - 1, 90)).collect();
        let (all, took) = settle(&rows(&chain, &[]), 4, 20);
        assert_eq!(took, 21);
        assert_eq!(marks(&run(decide, &all, true).unwrap()), expected(&chain, &[]));
    }

    #[test]
    fn links_to_duplicates_go_on_where_these_have_copies() {
        // 8 is like 4, which is like 0; 4 comes twice, and so does 12, which is like nothing.
        let ties = [(4, 0, 90), (8, 4, 95)];
        for (copies, count) in [(vec![], 1), (vec![(9, 4)], 2), (vec![(13, 12)], 1)] {
            let (all, _) = settle(&rows(&ties, &copies), 1, 20);
            let links = all.iter().filter(|row| row.kind == "link");
            let count_of = |row: &Row| {
                let mut count = 0;
                each_link(row, &context().recipe, |_, _, _| count += 1).unwrap();
                count
            };
            assert_eq!(links.map(count_of).sum::<usize>(), count, "{copies:?}");
            assert_eq!(marks(&run(decide, &all, true).unwrap()), expected(&ties, &copies));
        }
    }

    #[test]
    fn who_asks_twice_is_told_once() {
        let wait = |part: u32| row("wait", self::part(3), &[&place(3), &part.to_le_bytes(), &[0]]);
        let others = (0..PARTS).filter(|&other| other != part(3)).take(2);
        let given: Vec<Row> = others.flat_map(|other| [wait(other), wait(other)]).collect();
        assert_eq!(counted(&run(round, &given, true).unwrap(), "moved"), 2);
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
        let wait = |fields: &[&[u8]; 2]| row("wait", part(3), &[&place(3), fields[0], fields[1]]);
        for fields in [[&[1, 0][..], &[0]], [&PARTS.to_le_bytes(), &[0]], [&[0; 4], &[2]]] {
            assert!(refused(wait(&fields)).contains("wait is damaged"));
        }
        assert!(refused(row("fate", 0, &[&place(3), &[3]])).contains("fate is damaged"));
        assert!(
            refused(linked("link", (5, 3, 90))).contains("stage round knows no rows of kind link")
        );
        let elsewhere = (part(3) + 1) % PARTS;
        for row in [
            row("wait", elsewhere, &[&place(3), &[0; 4], &[0]]),
            row("copy", elsewhere, &[&place(5), &place(3)]),
            row("best", elsewhere, &[&place(3), &place(1), &[0; 4], &[0; 8]]),
        ] {
            let kind = row.kind.clone();
            let wrong = refused(row);
            assert!(
                wrong.starts_with(&format!("a row of kind {kind} is in part {elsewhere}")),
                "{wrong}"
            );
        }
        // Of what nobody answers nothing is decided.
        let left = run(round, &[linked("open", (5, 3, 90))], true).unwrap();
        let wrong = run(decide, &split(left).1, true).unwrap_err().to_string();
        assert!(wrong.contains("stage decide knows no rows of kind open"), "{wrong}");
    }
}
