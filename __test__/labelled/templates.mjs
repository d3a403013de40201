// Pairs made of templates with numbers drawn from a seed: the half of the labelled set that nobody can know by heart.
// Labels follow from how a pair is made, never from what the library says of it; README.md says what they mean.
import { mutated, slots } from './slots.mjs';
import { LONG, MIDDLE, SHORT } from './template-texts.mjs';

/** Below this many code points a differing number makes two texts; from LONG_FROM on it does not; between them no such pair is made. */
const SHORT_BELOW = 40;
const LONG_FROM = 80;

/** How many of all pairs are different texts, of same long texts have another number. */
const DIFFERENT = 0.58;
const OTHER_NUMBER = 0.5;
/** How many of same texts are tried with an addition first. */
const ADDITION = 0.7;

/** A small generator of numbers from 0 up to 1 (mulberry32): the same on every machine. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What is drawn from: below(n) is a whole number from 0, of(list) an element, chance(p) a yes. */
function draws(seed) {
  const next = random(seed);
  const below = (n) => Math.floor(next() * n);
  return { below, of: (list) => list[below(list.length)], chance: (p) => next() < p };
}

/** The template as parts: plain text, or a slot with what was drawn for it. */
function filled({ text }, draw) {
  return text.split(/\[([^\]]*)\]/).map((part, at) => {
    if (at % 2 === 0) return { text: part };
    if (part in slots) return { text: slots[part].make(draw), slot: slots[part] };
    return { text: draw.of(part.split('/')) };
  });
}

const written = (parts) => parts.map(({ text }) => text).join('');
export const codePoints = (text) => [...text.normalize('NFKC')].length;

/** The parts with another number in one slot, and what was done. */
function otherNumber(parts, draw) {
  const numbers = parts.filter(({ slot }) => slot !== undefined);
  const one = draw.of(numbers);
  const { text, how } = mutated(one.text, one.slot, draw);
  return {
    text: written(parts.map((part) => (part === one ? { ...part, text } : part))),
    reason: `${how}: ${one.text} is not ${text}`,
  };
}

/** Places between two Chinese characters. */
const HAN = /(?<=\p{Script=Han})(?=\p{Script=Han})/gu;
const TAGS = {
  zh: [
    (text) => `【转】${text}`,
    (text) => `${text}（图）`,
    (text) => `${text} - 新华网`,
    (text) => `🔥${text}`,
    (text) => `${text}…`,
    (text) => `${text}！`,
  ],
  en: [
    (text) => `RT ${text}`,
    (text) => `Fwd: ${text}`,
    (text) => `${text} - BBC`,
    (text) => `${text} 😂`,
    (text) => `${text}...`,
    (text) => `${text}!`,
  ],
};

/** Changes of form: what is left is the same text. */
const NOISE = [
  ['case only', (text) => (/[A-Z]{2}/.test(text) ? text.toLowerCase() : text.toUpperCase())],
  [
    'full width digits only',
    (text) => text.replace(/\d/g, (digit) => String.fromCodePoint(digit.codePointAt(0) + 0xfee0)),
  ],
  [
    'white space only',
    (text, draw, lang) => {
      const places = [...text.matchAll(lang === 'zh' ? HAN : / /g)].map(({ index }) => index);
      if (places.length === 0) return text;
      const at = draw.of(places);
      return lang === 'zh'
        ? text.slice(0, at) + draw.of([' ', '　', '\n']) + text.slice(at)
        : text.slice(0, at) + draw.of(['  ', '\n']) + text.slice(at + 1);
    },
  ],
];

/** The text with a tag, a source, a sign: undefined where that is too much beside it (features of the addition stay below a fifth of all). */
function withAddition(text, lang, draw) {
  const longer = draw.of(TAGS[lang])(text);
  const added = codePoints(longer) - codePoints(text);
  return codePoints(text) >= 6 * added + (lang === 'zh' ? 10 : 14) ? longer : undefined;
}

/** The same text to a reader: with a short addition, or in another form. */
function sameText(text, lang, draw) {
  const longer = draw.chance(ADDITION) ? withAddition(text, lang, draw) : undefined;
  if (longer !== undefined) return { text: longer, reason: 'a short addition' };
  for (;;) {
    const [reason, change] = draw.of(NOISE);
    const changed = change(text, draw, lang);
    if (changed !== text) return { text: changed, reason };
  }
}

/** One pair, or undefined where the drawn numbers make a length at which none is labelled. */
function drawn(draw) {
  if (draw.chance(DIFFERENT)) {
    const from = draw.of(SHORT);
    const parts = filled(from, draw);
    const a = written(parts);
    const { text: b, reason } = otherNumber(parts, draw);
    const short = Math.min(codePoints(a), codePoints(b)) < SHORT_BELOW;
    return short ? { ...from, a, b, same: false, reason } : undefined;
  }
  const long = draw.chance(0.4);
  const from = draw.of(long ? LONG : draw.chance(0.4) ? MIDDLE : SHORT);
  const parts = filled(from, draw);
  const a = written(parts);
  if (!long || !draw.chance(OTHER_NUMBER)) {
    const { text: b, reason } = sameText(a, from.lang, draw);
    return { ...from, a, b, same: true, reason };
  }
  const { text: b, reason } = otherNumber(parts, draw);
  const enough = Math.min(codePoints(a), codePoints(b)) >= LONG_FROM;
  return enough ? { ...from, a, b, same: true, reason: `only in passing, ${reason}` } : undefined;
}

/**
 * `count` labelled pairs, no two alike: the same for the same seed.
 * @param {number} seed a whole number from 0 to 2^32 - 1
 * @param {number} count how many
 * @returns {{ id: string, kind: string, lang: 'zh' | 'en', a: string, b: string, same: boolean, reason: string }[]}
 */
export function templatePairs(seed, count) {
  const draw = draws(seed);
  const seen = new Set();
  const pairs = [];
  while (pairs.length < count) {
    const pair = drawn(draw);
    if (pair === undefined) continue;
    const { kind, lang, a, b, same, reason } = pair;
    const key = JSON.stringify([a, b].sort());
    if (seen.has(key)) continue;
    seen.add(key);
    pairs.push({
      id: `template-${lang}-${kind}-${pairs.length + 1}`,
      kind,
      lang,
      a,
      b,
      same,
      reason,
    });
  }
  return pairs;
}

export const TEMPLATES = [...SHORT, ...MIDDLE, ...LONG];
