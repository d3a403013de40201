/** Hard corpora for the specification, as lines of JSON: the same on every machine. No character is newer than Unicode 13. */

/** Whole numbers below a bound, the same for the same seed (mulberry32). */
export function dice(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

type Roll = (bound: number) => number;

const pick = <T>(roll: Roll, of: readonly T[]): T => of[roll(of.length)] as T;
const han = (roll: Roll, length: number) =>
  String.fromCodePoint(...Array.from({ length }, () => 0x4e00 + roll(2_500)));
const letters = (roll: Roll, length: number) =>
  Array.from({ length }, () => 'etaoin shrdlu'[roll(13)]).join('');

/** One character is inserted, dropped or replaced. */
function edited(text: string, roll: Roll): string {
  const chars = [...text];
  const at = roll(chars.length + 1);
  const by = pick(roll, [han(roll, 1), letters(roll, 1), String(roll(10)), '，', ' ', '']);
  chars.splice(at, roll(2), by);
  return chars.join('');
}

/** What normalisation and splitting treat in a way of its own. */
const PIECES = [
  ...[
    'Ａ１',
    '　',
    'ｶﾞ',
    'か\u3099',
    'e\u0301',
    '\u0301',
    '각',
    '\u1100\u1161',
    'ß',
    'ẞ',
    'İ',
    'ı',
    'I',
    'Σας',
    'ﬁ',
    '①',
    '½',
    '㎏',
  ],
  ...[
    '😀',
    '👨\u200d👩\u200d👧',
    '🇨🇳',
    '\u200b',
    '\ufeff',
    '\u00a0',
    '\u2028',
    '\u0085',
    '\u001c',
    '\u0000',
    '𠀀',
    'ﷺ',
    '\u0345',
    'ー',
  ],
  ...[
    '3.14',
    '12:30',
    '2026年11月1日',
    '100%',
    '-5',
    '￥99',
    'EP01',
    '第12集',
    'v1.2.3',
    'Mr. A',
    'e.g.',
    '“好。”',
    '！？',
    '……',
    '。',
  ],
  ...['\ud800', '\udfff', 'a', 'B', ' ', '\n', '\t', '.', ';', '$', '+', 'lo', '中文', '天气'],
];
const strange = (roll: Roll) => Array.from({ length: roll(40) }, () => pick(roll, PIECES)).join('');

const sentence = (roll: Roll) =>
  `${han(roll, 5 + roll(12))}${pick(roll, ['。', '！', '；', '? ', '\n', '. '])}`;
const article = (roll: Roll, sentences: number) =>
  Array.from({ length: sentences }, () => sentence(roll)).join('');

/** Values by which documents are ranked. */
const KEYS = [
  ...[
    '1',
    '1.0',
    '-0',
    '0',
    '2',
    '1e400',
    '-1e400',
    '9007199254740993',
    '9007199254740992',
    '9.007199254740992e15',
    '12345678901234567890',
  ],
  ...[
    '"2024-05-01"',
    '"2024-11-01"',
    '"\\ud800"',
    '"a"',
    '""',
    'null',
    'true',
    '[1]',
    '{}',
    '-7',
    '0.1',
  ],
];

/** A record of a text; ids, keys and the form of the line vary. */
function line(text: string, row: number, roll: Roll): string {
  const json = JSON.stringify(text);
  const id = [
    '',
    `"id":${row},`,
    `"id":"d${row}",`,
    `"id": ${row}.50 ,`,
    '"id":null,',
    `"id":"\\u0041${row}",`,
  ][row % 6];
  const key = roll(4) === 0 ? '' : `,"rank":${pick(roll, KEYS)},"date":"2024-0${1 + roll(9)}-01"`;
  const body = roll(5) === 0 ? `"text":1,"text":${json}` : `"text":${json}`;
  return `${row % 7 === 0 ? ' ' : ''}{${id}${body},"body":{"content":${json}}${key}}${row % 9 === 0 ? '\r' : ''}`;
}

/** Records in a row, with a byte-order mark, blank lines and lines that are rejected. */
export function jsonLines(texts: readonly string[], seed: number): string {
  const roll = dice(seed);
  const lines = texts.map((text, row) => line(text, row, roll));
  const wrong = [
    '',
    ' \t\r',
    '[1]',
    '{"text":1}',
    '{"id":1}',
    '{"text":"a","id":true}',
    '{"text":"a"',
    '{"text":"\u0001"}',
  ];
  for (const [row, one] of wrong.entries()) lines.splice((row * 37) % lines.length, 0, one);
  return `\ufeff${lines.join('\n')}`;
}

/** Chains, copies, copies of duplicates, ties, empties, strange characters and lengths around every limit. */
export function hard(seed: number): string[] {
  const roll = dice(seed);
  const texts: string[] = [
    '',
    ' ',
    '\u3000\n',
    '',
    '\u0301',
    ' \u0301',
    '集',
    '集',
    'a',
    'A',
    'Ａ',
  ];
  const chain = (start: string, steps: number, from = start) => {
    for (let step = 0; step < steps; step++) {
      texts.push(from);
      if (roll(3) === 0) texts.push(pick(roll, texts));
      from = edited(from, roll);
    }
  };
  for (const length of [4, 7, 8, 9, 12, 25, 40, 60]) {
    chain(han(roll, length), 6);
    chain(letters(roll, length * 2), 5);
  }
  // Around 400 ideographs, as Han, as digits and mixed, and around the limits of short texts.
  for (const length of [38, 39, 40, 41, 42, 78, 79, 80, 81, 82, 398, 399, 400, 401, 440]) {
    const text = han(roll, length);
    texts.push(text, edited(text, roll), edited(edited(text, roll), roll), text.slice(1));
  }
  for (const digits of [199, 200, 201]) {
    const text = Array.from({ length: digits }, () => roll(10)).join('');
    texts.push(text, `${text.slice(0, -1)}7`, edited(text, roll));
  }
  // Two texts that are equally similar to a third, in both orders.
  for (let tie = 0; tie < 4; tie++) {
    const text = han(roll, 30);
    const [one, other] = [`${han(roll, 2)}${text}`, `${text}${han(roll, 2)}`];
    texts.push(...(tie % 2 === 0 ? [one, other, text] : [text, other, one]), text);
  }
  // Numbers by which titles differ.
  for (let number = 1; number < 25; number++) {
    texts.push(
      `EP${number * 50}`,
      `第${number}集`,
      `价格${number * 100}元`,
      `2026年11月${number}日早间新闻播报`,
    );
  }
  for (let count = 0; count < 40; count++) {
    const text = strange(roll);
    texts.push(text);
    if (count % 3 === 0) texts.push(edited(text, roll), text.toUpperCase(), ` ${text} `);
  }
  // Articles that share sentences, in other frames.
  for (let count = 0; count < 12; count++) {
    const body = article(roll, 2 + roll(8));
    texts.push(
      body,
      `${article(roll, 1)}${body}`,
      `${body}${article(roll, roll(4))}`,
      edited(body, roll),
    );
  }
  return shuffled(texts, roll);
}

/** Many texts of one template: their keys are crowded, and lists of candidates are cut. */
export function crowd(seed: number, count: number): string[] {
  const roll = dice(seed);
  const template = article(roll, 12);
  const texts = Array.from({ length: count }, (_, row) => {
    const own =
      row % 10 < 7
        ? edited(edited(template, roll), roll)
        : `${article(roll, 1 + roll(6))}${template}`;
    return row % 11 === 0 ? `${own}${template.slice(0, 60)}` : own;
  });
  // A pair that is found only past the crowd, and copies that must not fill it.
  const twin = `${article(roll, 3)}${template}`;
  return [
    ...Array<string>(20).fill(template),
    ...texts,
    twin,
    edited(twin, roll),
    ...texts.slice(0, 30),
  ];
}

/** Titles around one beginning: many of them stay, and each of those has a crowd of neighbours. */
export function titles(seed: number, count: number): string[] {
  const roll = dice(seed);
  const start = han(roll, 15);
  return Array.from(
    { length: count },
    () => `${start}${han(roll, 3 + roll(5))}${letters(roll, roll(4))}`,
  );
}

function shuffled<T>(items: readonly T[], roll: Roll): T[] {
  const left = [...items];
  return Array.from(items, () => left.splice(roll(left.length), 1)[0] as T);
}

/** Corpora that are hard for a run, in a small size: those of crates/dedup/tests/hard_corpora.rs. */
export function extremes(seed: number, size: number): Record<string, string[]> {
  const roll = dice(seed);
  const all = <T>(make: (at: number) => T) => Array.from({ length: size }, (_, at) => make(at));
  const changed = (text: string) => {
    const chars = [...text];
    chars[roll(chars.length)] = han(roll, 1);
    return chars.join('');
  };
  const [center, shared, copy] = [han(roll, 80), han(roll, 40), han(roll, 50)];
  let link = han(roll, 60);
  const few = ['', ' ', '\u3000\n', '。', '\u200b', '好', '好的', '第1集', '第2集'];
  const lengths: string[] = [];
  for (let at = 0; at < size; at++) {
    lengths.push(at % 10 === 9 ? changed(pick(roll, lengths)) : han(roll, 32));
  }
  return {
    chain: all(() => {
      link = changed(link);
      return link;
    }),
    bucket: all(() => `${shared}。${han(roll, 5 + roll(12))}`),
    copies: all((at) => (at % 50 === 7 ? han(roll, 50) : copy)),
    empties: all((at) => few[(at * 7) % few.length] ?? ''),
    cluster: all(() => changed(changed(center))),
    length: lengths,
  };
}
