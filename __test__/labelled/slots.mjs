// The numbers of templates: how each is drawn, which spellings it may take, and how one becomes another.

const between = (low, high) => (draw) => `${low + draw.below(high - low + 1)}`;
const padded = (make) => (draw) => make(draw).padStart(2, '0');
const within = (low, high) => (text) =>
  /^[1-9]\d*$/.test(text) && Number(text) >= low && Number(text) <= high;
const ofTwo = (valid) => (text) => /^\d\d$/.test(text) && valid(`${Number(text)}`);

/** 1 to 99 as Chinese writes it. */
export function numeral(value) {
  const digits = '零一二三四五六七八九';
  const [tens, ones] = [Math.floor(value / 10), value % 10];
  if (tens === 0) return digits[ones];
  return `${tens > 1 ? digits[tens] : ''}十${ones > 0 ? digits[ones] : ''}`;
}
const NUMERALS = Array.from({ length: 99 }, (_, row) => numeral(row + 1));

/**
 * By name: `make` draws a spelling, `valid` says which others are numbers of the same sort, spelled so that two spellings are two
 * numbers (no zero in front, none behind a decimal point). `numerals` are Chinese: they change as numbers, not as digits.
 */
export const slots = {
  n: { make: (draw) => between(1, draw.of([9, 99, 999]))(draw), valid: within(1, 9_999) },
  round: {
    make: (draw) => `${draw.of([1, 2, 3, 5, 8, 10, 12, 15, 25, 33])}${draw.of(['0', '00', '000'])}`,
    valid: within(1, 999_999),
  },
  id: {
    make: (draw) =>
      Array.from(
        { length: draw.of([4, 6, 8, 10]) },
        (_, at) => draw.below(at === 0 ? 9 : 10) + (at === 0 ? 1 : 0),
      ).join(''),
    valid: (text) => /^[1-9]\d{3,11}$/.test(text),
  },
  price: {
    make: (draw) => `${1 + draw.below(draw.of([9, 99, 999]))}.${10 + draw.below(90)}`,
    valid: (text) => /^[1-9]\d{0,4}\.\d\d$/.test(text),
  },
  decimal: {
    make: (draw) => `${draw.below(draw.of([2, 10, 60]))}.${1 + draw.below(9)}`,
    valid: (text) => /^(0|[1-9]\d{0,2})(\.\d?[1-9])?$/.test(text) && text !== '0',
  },
  degrees: {
    make: (draw) => `${draw.of(['', '-'])}${1 + draw.below(39)}`,
    valid: (text) => /^-?[1-9]\d?$/.test(text) && Number(text) <= 45 && Number(text) >= -45,
  },
  year: { make: between(2001, 2029), valid: within(1950, 2050) },
  month: { make: between(1, 12), valid: within(1, 12) },
  day: { make: between(1, 28), valid: within(1, 28) },
  month2: { make: padded(between(1, 12)), valid: ofTwo(within(1, 12)) },
  day2: { make: padded(between(1, 28)), valid: ofTwo(within(1, 28)) },
  clock: {
    make: (draw) => `${5 + draw.below(18)}:${padded(between(0, 59))(draw)}`,
    valid: (text) => /^([1-9]|1\d|2[0-3]):[0-5]\d$/.test(text),
  },
  score: {
    make: (draw) =>
      draw.of([
        (d) => `${d.below(6)}:${d.below(6)}`,
        (d) => `${40 + d.below(60)}:${40 + d.below(60)}`,
      ])(draw),
    valid: (text) => /^(0|[1-9]\d?):(0|[1-9]\d?)$/.test(text),
  },
  version: {
    make: (draw) =>
      Array.from({ length: draw.of([2, 3]) }, () => draw.below(draw.of([5, 20]))).join('.'),
    valid: (text) => /^(0|[1-9]\d?)(\.(0|[1-9]\d?)){1,2}$/.test(text),
  },
  numeral: {
    make: (draw) => draw.of(NUMERALS),
    valid: (text) => NUMERALS.includes(text),
    numerals: true,
  },
};

const places = (text, pattern) => [...text.matchAll(pattern)].map(({ index }) => index);
const insert = (text, at, what) => text.slice(0, at) + what + text.slice(at);

/** Each gives every text that it can make. */
const OPERATIONS = {
  'a digit added': (text) =>
    places(text, /(?<=\d)(?!\d)/g).flatMap((at) =>
      [...'0123456789'].map((digit) => insert(text, at, digit)),
    ),
  'a digit repeated': (text) => places(text, /\d/g).map((at) => insert(text, at, text[at])),
  'two digits change places': (text) =>
    places(text, /\d(?=\d)/g).map(
      (at) => text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2),
    ),
  'another digit': (text) =>
    places(text, /\d/g).flatMap((at) =>
      [...'0123456789'].map((digit) => text.slice(0, at) + digit + text.slice(at + 1)),
    ),
  'ten times as much': (text) =>
    /^\d+$/.test(text)
      ? [`${text}0`]
      : places(text, /\.(?=\d)/g).map(
          (at) => `${text.slice(0, at)}${text[at + 1]}.${text.slice(at + 2)}`,
        ),
  'the decimal point moves': (text) => {
    const digits = text.replace('.', '');
    return /^\d+\.\d+$/.test(text)
      ? [digits, ...Array.from(digits.slice(1), (_, at) => insert(digits, at + 1, '.'))].map(
          (moved) => moved.replace(/^0+(?=\d)/, '').replace(/\.$/, ''),
        )
      : [];
  },
  'another sign': (text) => [text.startsWith('-') ? text.slice(1) : `-${text}`],
};

/** Numerals that share characters: one more or less of the ones or the tens, or only the tens or only the ones. */
function otherNumerals(text) {
  const value = NUMERALS.indexOf(text) + 1;
  const ten = value - (value % 10);
  return [
    value - 10,
    value + 10,
    value - 1,
    value + 1,
    ten,
    value % 10,
    (value % 10) * 10 + (value % 10),
  ]
    .filter((other) => other >= 1 && other <= 99)
    .map(numeral);
}

/** Another number of the same sort, and how it was made. */
export function mutated(text, slot, draw) {
  const fits = (made) => made.filter((other) => other !== text && slot.valid(other));
  const ways = slot.numerals
    ? [['another numeral', fits(otherNumerals(text))]]
    : Object.entries(OPERATIONS).map(([how, make]) => [how, fits(make(text))]);
  const [how, made] = draw.of(ways.filter(([, made]) => made.length > 0));
  return { text: draw.of(made), how };
}
