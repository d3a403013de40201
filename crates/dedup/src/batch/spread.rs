//! The stages one by one, for [`stages`](crate::stages).

mod blocks;
mod decided;

use self::blocks::{Blocks, MAX_DISTANCE, ZEROS};
use self::decided::{components, representatives};
use super::buckets::sights;
use super::climb::{self, Crowded as _, climb};
use super::levels::Levels;
use crate::decide::{Comparer, Edge, Side, Texts};
use crate::error::DedupError;
use crate::keep::Key;
use crate::method::{self, Banding, Candidate, Found, Method};
use crate::options::{Cluster, DedupOptions, Keep};
use ahash::{AHashMap, AHashSet};
use parking_lot::Mutex;
use simhash_index::bands::Table;
use simhash_sketch::{Folded, Kept, MethodSketch, Outline, Scratch, Sketcher, hamming};
use simhash_store::Room;
use std::sync::atomic::AtomicBool;

/// Nobody cancels a stage: its process is ended.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Bytes behind a place that have the fingerprint of its document: 1 and the fingerprint, or zeros.
const PRINT: usize = 9;

/// By whom a text may be near another one.
enum By {
    Nothing,
    Bands(Banding),
    /// Sentences, of which a text has so many at most.
    Sentences(usize),
    /// Fingerprints within this distance.
    Distance(u32),
}

/// What is decided by the options, and nothing else.
pub struct Rules {
    options: DedupOptions,
    by: By,
    comparer: Comparer,
    room: Room,
}

/// What is known of a document after the first stage.
#[derive(Clone, Debug)]
pub struct Sketched {
    /// The hash of the normalised text: equal for equal texts. `None`: the text is empty, and its document alone.
    pub exact: Option<u128>,
    /// The text says too little for the method.
    pub is_short: bool,
    /// The buckets that its bands, sentences or blocks of its fingerprint lead to: the lowest [`Rules::zeros`] bits are 0. One may be
    /// there twice.
    pub buckets: Vec<u64>,
    /// What excludes most texts that it is not similar to, where it costs nothing more to make it.
    pub outline: Option<Folded>,
    fingerprint: Option<u64>,
}

/// A bucket and its texts, ascending; a text that came by two bands is there twice.
pub type Bucket = (u64, Vec<u32>);

/// Calls with the text of a number; false: it is not there.
pub type ReadText<'a> = dyn Fn(u32, &mut dyn FnMut(&str)) -> bool + Sync + 'a;

/// What became of full buckets.
pub enum Crowd {
    /// These buckets, too, have to be known: they are to be given, those without a text as well. None of a method without full buckets.
    Asks(Vec<u64>),
    /// Who sees whom.
    Seen(Box<Crowded>),
}

/// What is in full buckets, and in those that their texts went on to.
pub struct Crowded {
    rule: Banding,
    levels: Levels,
}

impl Crowded {
    /// Buckets that are done with, ascending; nobody else may look into them.
    pub fn taken(&self) -> &[u64] {
        self.levels.whole()
    }

    /// Calls `each` with a text, the texts that it sees in a bucket, and whether that was full: text by text.
    ///
    /// # Errors
    /// The first of `each`.
    pub fn sights<E>(
        &self,
        mut each: impl FnMut(u32, &[u32], bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut memory = Vec::new();
        for row in 0..self.levels.len() {
            let (text, mut told) = (self.levels.text(row), Ok(()));
            self.levels.see(row, &self.rule, &mut memory, |others, full| {
                if told.is_ok() {
                    told = each(text, others, full);
                }
            });
            told?;
        }
        Ok(())
    }
}

/// A text that is compared with others.
#[derive(Debug)]
pub struct Compared(Side);

/// Two texts that match, by their first documents.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The one that is taken later.
    pub later: u32,
    /// The other one.
    pub earlier: u32,
    /// The rank of the earlier one in the list of the later one.
    pub rank: u32,
    /// At least the threshold; 0 without verification.
    pub similarity: f64,
}

impl From<&Link> for Edge {
    /// To the earlier text.
    fn from(link: &Link) -> Self {
        let text = Candidate { number: link.earlier, rank: link.rank };
        Self { text, similarity: link.similarity }
    }
}

/// A document whose text an earlier one has.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// The document.
    pub document: u32,
    /// The first document of its text.
    pub first: u32,
}

/// A duplicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided {
    /// The document.
    pub document: u32,
    /// The one that is kept for it.
    pub original: u32,
    /// How similar the two are. `None`: of components nobody has asked yet ([`Rules::relation`]); else they were not compared.
    pub similarity: Option<f64>,
}

struct One<'a>(&'a str);

impl Texts for One<'_> {
    fn with_text(&self, _: u32, read: &mut dyn FnMut(&str)) -> Result<(), DedupError> {
        read(self.0);
        Ok(())
    }
}

impl Rules {
    /// The rules of these options.
    ///
    /// # Errors
    /// [`DedupError::Option`] for fingerprints at a distance of more than 4, for brute force, which compares all with all, and for the keep
    /// rule of a function. Those of [`Deduper::new`](crate::Deduper::new).
    pub fn new(options: &DedupOptions) -> Result<Self, DedupError> {
        options.check()?;
        let refuse = |argument, value: &str, expected| {
            Err(DedupError::Option { argument, value: value.into(), expected })
        };
        let (by, sketcher) = match options.method {
            Method::MinHash { plan } => {
                let banding = Banding::new(options, plan)?;
                let sketcher = banding.sketcher();
                (By::Bands(banding), sketcher)
            }
            Method::Exact => (By::Nothing, Sketcher::None),
            Method::Sentences { count } => {
                (By::Sentences(count), method::sieve(options)?.sketcher())
            }
            Method::SimHash { max_distance } if max_distance <= MAX_DISTANCE => {
                (By::Distance(max_distance), Sketcher::Fingerprint)
            }
            Method::SimHash { max_distance } => {
                let expected =
                    "0 to 4: of a larger distance texts would be in too many buckets to be spread";
                return refuse("max_distance", &max_distance.to_string(), expected);
            }
            method @ Method::BruteForce => {
                let expected = "minhash, simhash, sentences or exact: it compares all with all, which cannot be spread";
                return refuse("method", method.name(), expected);
            }
        };
        if options.keep == Keep::Chosen {
            return refuse("keep", "a function", "a rule that orders all documents");
        }
        let comparer = Comparer::new(options, sketcher)?;
        Ok(Self { options: options.clone(), by, comparer, room: Room::default() })
    }

    fn banding(&self) -> Option<&Banding> {
        if let By::Bands(banding) = &self.by { Some(banding) } else { None }
    }

    /// Lowest bits that are 0 in every bucket.
    pub fn zeros(&self) -> u32 {
        // Of a sentence all of its hash counts: texts with different ones have none in common.
        if matches!(self.by, By::Sentences(_)) { 0 } else { ZEROS }
    }

    /// The options.
    pub fn options(&self) -> &DedupOptions {
        &self.options
    }

    /// The first stage: all that is needed of a text.
    pub fn sketch(&self, text: &str, scratch: &mut Scratch) -> Sketched {
        let prepared = self.comparer.sketch(text, scratch);
        let buckets = match &prepared.sketch {
            MethodSketch::Signature { keys, .. } => {
                keys.iter().map(|&key| Table::bucket(key)).collect()
            }
            MethodSketch::Sentences(hashes) => hashes.to_vec(),
            MethodSketch::Fingerprint(own) => match self.by {
                By::Distance(most) => Blocks::new(most).buckets(*own),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let exact = (!prepared.is_empty).then_some(prepared.exact);
        let fingerprint = prepared.sketch.fingerprint();
        let outline = prepared.outline.folded().filter(|_| self.comparer.has_bound());
        Sketched { exact, is_short: prepared.is_short, buckets, fingerprint, outline }
    }

    /// Appends the place of a document: bytes that sort in the order of taking. `position` is its place in the input. Behind it stands
    /// its fingerprint where texts are near by those: places differ before, so that it has no say in their order.
    pub fn place(
        &self,
        text: &str,
        key: &Key,
        position: u64,
        sketched: &Sketched,
        bytes: &mut Vec<u8>,
    ) {
        let length;
        let key = if self.options.keep == Keep::Longest {
            length = Key::length(text);
            &length
        } else {
            key
        };
        self.options.keep.sortable(key, position, self.by_input(), bytes);
        if let By::Distance(_) = self.by {
            bytes.push(sketched.fingerprint.is_some().into());
            bytes.extend(sketched.fingerprint.unwrap_or(0).to_le_bytes());
        }
    }

    /// A place without the fingerprint behind it, and that; `None`: it is no place.
    fn parted<'p>(&self, place: &'p [u8]) -> Option<(&'p [u8], Option<u64>)> {
        let By::Distance(_) = self.by else { return Some((place, None)) };
        let (place, print) = place.split_last_chunk::<PRINT>()?;
        let [has, fingerprint @ ..] = *print;
        let fingerprint = u64::from_le_bytes(fingerprint);
        // Any other byte is damage; taken for no fingerprint it would be an answer that is wrong.
        matches!(has, 0 | 1).then_some((place, (has == 1).then_some(fingerprint)))
    }

    /// The Hamming distance of the documents at two places, where the method has one and both have fingerprints.
    pub fn distance(&self, a: &[u8], b: &[u8]) -> Option<u32> {
        let fingerprint = |place| self.parted(place)?.1;
        Some(hamming::distance(fingerprint(a)?, fingerprint(b)?))
    }

    /// Whether matches have a Hamming distance: that of equal texts is 0 even where they have no fingerprint.
    pub fn has_distance(&self) -> bool {
        matches!(self.by, By::Distance(_))
    }

    /// Documents are taken in input order.
    fn by_input(&self) -> bool {
        self.options.cluster == Cluster::Components
    }

    /// The position that a place has; `None`: it is none.
    pub fn position(&self, place: &[u8]) -> Option<u64> {
        let (place, _) = self.parted(place)?;
        if self.by_input() {
            return Some(u64::from_be_bytes(*place.first_chunk()?));
        }
        let position = u64::from_be_bytes(*place.last_chunk()?);
        Some(if self.options.keep == Keep::Last { !position } else { position })
    }

    /// Bytes of a place that sort in the order of keeping.
    pub fn keeping(&self, place: &[u8]) -> Vec<u8> {
        let place = self.parted(place).map_or(place, |(place, _)| place);
        let Some((position, rest)) = place.split_at_checked(8).filter(|_| self.by_input()) else {
            return place.to_vec();
        };
        if self.options.keep == Keep::Last {
            return position.iter().map(|byte| !byte).collect();
        }
        [rest, position].concat()
    }

    /// Whether a bucket of so many entries was full.
    pub fn is_full(&self, entries: usize) -> bool {
        self.banding().is_some_and(|rule| entries > rule.holds(0))
    }

    /// Calls `each` with every text of a bucket that was not full and sees others there, these, and whether there are more than count.
    /// `place` has the places of texts. Of fingerprints those that the list of a text from all its buckets can have are enough.
    pub fn sights<'p>(
        &self,
        bucket: u64,
        texts: &[u32],
        place: impl Fn(u32) -> &'p [u8],
        mut each: impl FnMut(u32, &[u32], bool),
    ) {
        match self.by {
            By::Nothing => {}
            By::Bands(_) => {
                sights(texts).for_each(|(text, others)| each(text, &texts[..others], false));
            }
            By::Sentences(_) => {
                let most = self.options.max_bucket;
                for (before, &text) in texts.iter().enumerate().skip(1) {
                    each(text, &texts[..before.min(most)], before > most);
                }
            }
            By::Distance(most) => {
                let print = |text| Some((self.parted(place(text))?.1?, text));
                let entries = texts.iter().filter_map(|&text| print(text)).collect();
                let limit = self.options.max_verifications;
                let each = |text, others: &[u32]| each(text, others, false);
                Blocks::new(most).sights(bucket, entries, limit, each);
            }
        }
    }

    /// Who sees whom in full buckets, and in those that their texts go on to. `known` has the buckets that were asked for so far.
    ///
    /// # Errors
    /// [`DedupError::Option`] where a text is not there.
    pub fn crowd(
        &self,
        full: &[Bucket],
        known: &AHashMap<u64, Vec<u32>>,
        text: &ReadText<'_>,
    ) -> Result<Crowd, DedupError> {
        let Some(rule) = self.banding() else { return Ok(Crowd::Asks(Vec::new())) };
        let below = Below { rules: self, known, text, asks: Mutex::default() };
        let mut buckets: Vec<u64> = full.iter().map(|(bucket, _)| *bucket).collect();
        let mut texts: Vec<u32> = full.iter().flat_map(|(_, texts)| texts).copied().collect();
        buckets.sort_unstable();
        texts.sort_unstable();
        texts.dedup();
        let levels = climb(&below, (buckets, texts), rule, &self.room, 1, &NEVER)?;
        let mut asks = below.asks.lock().clone();
        if !asks.is_empty() {
            // All levels at once: one question instead of one for each.
            longer(&below, full, rule, &mut asks)?;
            let mut asks: Vec<u64> =
                asks.into_iter().filter(|bucket| !known.contains_key(bucket)).collect();
            asks.sort_unstable();
            return Ok(Crowd::Asks(asks));
        }
        Ok(Crowd::Seen(Box::new(Crowded { rule: rule.clone(), levels })))
    }

    /// The list of the text at a place of all that it sees, each as often as it does, with whether the bucket had room: candidates and
    /// their ranks, and whether a limit cut it. `cut`: a bucket was full. `place` has the places of the others.
    pub fn list<'p>(
        &self,
        own: &[u8],
        seen: &[(u32, bool)],
        cut: bool,
        place: impl Fn(u32) -> &'p [u8],
    ) -> (Vec<(u32, u32)>, bool) {
        let limit = self.options.max_verifications;
        let found = match &self.by {
            By::Nothing => Found::default(),
            By::Bands(rule) => {
                let both = |&(other, room): &(u32, bool)| u64::from(other) << 1 | u64::from(room);
                let mut seen: Vec<u64> = seen.iter().map(both).collect();
                rule.best(&mut seen, limit, cut)
            }
            By::Sentences(count) => {
                let mut seen: Vec<u32> = seen.iter().map(|&(other, _)| other).collect();
                method::by_keys(&mut seen, *count, limit, cut)
            }
            By::Distance(_) => {
                let mut numbers: Vec<u32> = seen.iter().map(|&(other, _)| other).collect();
                numbers.sort_unstable();
                numbers.dedup();
                let rank = |number| self.distance(own, place(number));
                let all = numbers.into_iter();
                let all = all.filter_map(|number| Some(Candidate { number, rank: rank(number)? }));
                method::best(all.collect(), limit, false)
            }
        };
        (found.candidates.iter().map(|one| (one.number, one.rank)).collect(), found.cut)
    }

    /// Whether texts are compared.
    pub fn verifies(&self) -> bool {
        self.comparer.verifies()
    }

    /// What tells of most pairs of short texts that they are not similar, at less than it takes to compare them.
    pub fn outline(&self, text: &str, scratch: &mut Scratch) -> Outline {
        self.comparer.bound(text, scratch)
    }

    /// Whether texts with these outlines can match.
    pub fn may_match(&self, a: &Outline, b: &Outline) -> bool {
        self.comparer.may_match(a, b)
    }

    /// Whether texts with these outlines can match: less closely.
    pub fn may_match_folded(&self, a: &Folded, b: &Folded) -> bool {
        self.comparer.may_be_similar(a.jaccard_at_most(b))
    }

    /// A text as one of two that are compared. What was cut of a number once is given again for a while.
    ///
    /// # Errors
    /// None that the text is the reason of.
    pub fn side(
        &self,
        number: u32,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<Compared, DedupError> {
        self.comparer.side(number, &One(text), scratch).map(Compared)
    }

    /// The similarity of a text and another one, of this number, that match, 0 without verification.
    ///
    /// # Errors
    /// None that the text is the reason of.
    pub fn similarity(
        &self,
        own: &Compared,
        number: u32,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<Option<f64>, DedupError> {
        self.comparer.similarity_to(&own.0, number, None, &One(text), scratch)
    }

    /// The similarity of any two texts that differ; `None` without verification.
    pub fn relation(&self, a: &Compared, b: &Compared) -> Option<f64> {
        let found = || self.comparer.similarity_of_sides(&a.0, &b.0, Some(0.0)).unwrap_or(0.0);
        self.verifies().then(found)
    }

    /// Whether the first of two links of one text leads to what is nearer, and so is its original if both lead to kept texts.
    pub fn is_nearer(&self, a: &Link, b: &Link) -> bool {
        Edge::from(a).order(&Edge::from(b), self.verifies()).is_lt()
    }

    /// The duplicates among documents of which there are so many; `keeping` has their places in the order of keeping, where that is
    /// not the order of their numbers. `links` by their later text, then in any order; all copies of texts with links, and of others
    /// what is there.
    pub fn decide(
        &self,
        documents: u32,
        links: &[Link],
        copies: &[Copy],
        keeping: Option<&[u32]>,
    ) -> Vec<Decided> {
        let mut decided = match self.options.cluster {
            Cluster::Components => components(documents, links, copies, keeping),
            Cluster::Representative => representatives(documents, links, copies, self.verifies()),
        };
        decided.sort_unstable_by_key(|one| one.document);
        decided
    }
}

/// Buckets and texts that are at hand.
struct Below<'a> {
    rules: &'a Rules,
    known: &'a AHashMap<u64, Vec<u32>>,
    text: &'a ReadText<'a>,
    asks: Mutex<AHashSet<u64>>,
}

impl climb::Crowded for Below<'_> {
    fn sketches(&self, texts: &mut [(u32, MethodSketch)]) -> Result<(), DedupError> {
        let mut scratch = Scratch::default();
        for (text, sketch) in texts {
            let preparer = self.rules.comparer.preparer();
            let is_there = (self.text)(*text, &mut |given| {
                *sketch = preparer.prepare(given, Kept::Sketch, &mut scratch).sketch;
            });
            if !is_there {
                return Err(DedupError::Option {
                    argument: "texts",
                    value: "one is missing".into(),
                    expected: "all texts of full buckets",
                });
            }
        }
        Ok(())
    }

    fn whole(&self, buckets: &[u64]) -> Result<Vec<Bucket>, DedupError> {
        let mut runs = Vec::new();
        for &bucket in buckets {
            match self.known.get(&bucket) {
                Some(texts) if texts.is_empty() => {}
                Some(texts) => runs.push((bucket, texts.clone())),
                None => _ = self.asks.lock().insert(bucket),
            }
        }
        Ok(runs)
    }
}

/// The buckets that texts of full buckets may go on to.
fn longer(
    below: &Below<'_>,
    full: &[Bucket],
    rule: &Banding,
    asks: &mut AHashSet<u64>,
) -> Result<(), DedupError> {
    let crowded: AHashSet<u64> = full.iter().map(|&(bucket, _)| bucket).collect();
    let texts: AHashSet<u32> = full.iter().flat_map(|(_, texts)| texts).copied().collect();
    let mut bytes = Vec::new();
    for text in texts {
        let mut slot = [(text, MethodSketch::None)];
        below.sketches(&mut slot)?;
        let MethodSketch::Signature { positions, keys } = &slot[0].1 else { continue };
        for (band, &key) in keys.iter().enumerate() {
            if crowded.contains(&Table::bucket(key)) {
                let levels = 1..=rule.levels();
                asks.extend(
                    levels.map(|more| {
                        Table::bucket(rule.longer_key(positions, band, more, &mut bytes))
                    }),
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(method: Method) -> Rules {
        Rules::new(&DedupOptions { method, ..DedupOptions::default() }).unwrap()
    }

    #[test]
    fn a_place_says_whether_there_is_a_fingerprint_or_it_is_none() {
        let rules = rules(Method::SimHash { max_distance: 3 });
        let (mut scratch, mut place) = (Scratch::default(), Vec::new());
        let text = "一二三四五六七八九十甲乙丙丁戊己庚辛壬癸";
        let sketched = rules.sketch(text, &mut scratch);
        assert!(sketched.fingerprint.is_some());
        rules.place(text, &Key::Missing, 7, &sketched, &mut place);
        let mark = place.len() - PRINT;
        for byte in 0..=u8::MAX {
            place[mark] = byte;
            assert_eq!(rules.position(&place), (byte <= 1).then_some(7), "{byte}");
            assert_eq!(rules.distance(&place, &place), (byte == 1).then_some(0), "{byte}");
        }
    }
}
