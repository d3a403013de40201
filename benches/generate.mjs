#!/usr/bin/env node
import { once } from 'node:events';
// node benches/generate.mjs COUNT FILE [--seed N | --bytes N]
//
// JSON lines of so many documents, the same for the same seed, however many there are: the first million of ten is the million. Lengths
// and scripts are those of the corpora with exact truth: of 1,000 documents 880 titles, 96 poems of four lines, 5 Chinese news of some
// hundred to thousands of characters, 13 long pages of mixed script, 6 English news. Of all 5 % are exact copies of an earlier one, and
// 20 % are near ones, in clusters of 2 to 50, small ones more often: a character changed, words left out, a source added, a number changed.
// With --bytes all are Chinese texts of about so many bytes, from half to half as much again.
import { createWriteStream } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Numbers of 32 bits that depend on these alone (splitmix64's steps, on halves). */
function random(seed, number) {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) | 0;
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (bound) => Math.floor((next() / 2 ** 32) * bound);
  return { below, between: (least, most) => least + below(most - least + 1) };
}

/** Words of one to four ideographs, and of three to nine letters: the early ones come often, as in language (Zipf). */
const WORDS = 40_000;
const LEXICON = (() => {
  const { below, between } = random(1, 0);
  const hanzi = () =>
    String.fromCodePoint(0x4e00 + Math.floor(3_500 * (below(1 << 20) / (1 << 20)) ** 1.5));
  const letter = () =>
    'etaoinshrdlucmfwypvbgk'[Math.floor(22 * (below(1 << 20) / (1 << 20)) ** 1.4)];
  const word = (lengths, sign) => {
    const length = lengths[below(lengths.length)];
    return Array.from({ length }, sign).join('');
  };
  return {
    zh: Array.from({ length: WORDS }, () => word([1, 2, 2, 2, 2, 3, 4], hanzi)),
    en: Array.from({ length: WORDS }, () => word([between(2, 4), 5, 6, 7, 8, 9], letter)),
  };
})();

/** A place in the lexicon: the n-th word is asked for about 1 / n as often as the first. */
const place = ({ below }) => Math.floor(WORDS ** (below(1 << 30) / (1 << 30))) - 1;

function chinese(dice, length) {
  let text = '';
  let since = 0;
  while (text.length < length) {
    text += LEXICON.zh[place(dice)];
    since += 1;
    if (since > 6 && text.length < length && dice.below(5) === 0) {
      text += '，。，、；'[dice.below(5)];
      since = 0;
    }
  }
  return text;
}

function english(dice, words) {
  const all = Array.from({ length: words }, () => LEXICON.en[place(dice)]);
  for (let at = 12; at < all.length; at += dice.between(8, 20)) all[at] += '.';
  return all.join(' ');
}

const lines = (count, line) => Array.from({ length: count }, line).join('\n');

/** A text of its own. */
function original(seed, number, bytes) {
  const dice = random(seed, number);
  if (bytes !== undefined) {
    const signs = Math.floor(bytes / 3);
    return chinese(dice, dice.between(Math.ceil(signs / 2), Math.floor(signs * 1.5)));
  }
  const kind = dice.below(1_000);
  if (kind < 880) return chinese(dice, dice.between(6, 18));
  if (kind < 976) {
    const length = dice.below(2) === 0 ? 5 : 7;
    return lines(4, () => `${chinese(dice, length).slice(0, length)}。`);
  }
  if (kind < 981)
    return lines(dice.between(3, 12), () => `${chinese(dice, dice.between(60, 300))}。`);
  if (kind < 994)
    return lines(dice.between(8, 30), (_, row) =>
      row % 3 === 0
        ? `## ${english(dice, dice.between(2, 6))} ${row}`
        : `${chinese(dice, dice.between(80, 200))} ${english(dice, dice.between(3, 20))}`,
    );
  return english(dice, dice.between(80, 600));
}

/** A text that differs little. */
function edited(text, dice) {
  const at = dice.below(Math.max(1, text.length - 3));
  switch (dice.below(4)) {
    case 0:
      return `${text.slice(0, at)}${LEXICON.zh[place(dice)]}${text.slice(at + 1)}`;
    case 1:
      return text.length < 30 ? `${text}！` : `${text.slice(0, at)}${text.slice(at + 3)}`;
    case 2:
      return `${text}（${LEXICON.zh[place(dice)]}）`;
    default:
      return `${text} ${dice.below(100)}`;
  }
}

/** Clusters that grow side by side. */
const SIDE_BY_SIDE = 64;

/** The documents, in order. */
export function* documents(count, seed = 1, bytes) {
  const clusters = Array.from({ length: SIDE_BY_SIDE }, () => ({ left: 0, base: 0 }));
  for (let number = 0; number < count; number++) {
    const dice = random(seed ^ 0x5bd1e995, number);
    const share = number === 0 ? 100 : dice.below(100);
    let text;
    if (share < 5) text = original(seed, dice.below(number), bytes);
    else if (share < 25) {
      const cluster = clusters[dice.below(SIDE_BY_SIDE)];
      // A base and 1 to 49 copies.
      if (cluster.left === 0) {
        cluster.base = dice.below(number);
        cluster.left = Math.floor(49 ** (dice.below(1 << 20) / (1 << 20)));
      }
      cluster.left -= 1;
      text = edited(original(seed, cluster.base, bytes), dice);
    } else text = original(seed, number, bytes);
    yield { id: `g${number}`, text };
  }
}

/** Writes them; the bytes of the file. */
export async function generate(count, file, seed = 1, length) {
  const out = createWriteStream(file);
  let [piece, bytes] = ['', 0];
  const flush = async () => {
    bytes += Buffer.byteLength(piece);
    if (!out.write(piece)) await once(out, 'drain');
    piece = '';
  };
  for (const document of documents(count, seed, length)) {
    piece += `${JSON.stringify(document)}\n`;
    if (piece.length > 1 << 16) await flush();
  }
  await flush();
  out.end();
  await once(out, 'finish');
  return bytes;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [given, file, flag, value = '1'] = process.argv.slice(2);
  const count = Number((given ?? '').replaceAll('_', ''));
  if (
    !Number.isSafeInteger(count) ||
    file === undefined ||
    (flag !== undefined && flag !== '--seed' && flag !== '--bytes')
  ) {
    console.error('usage: node benches/generate.mjs COUNT FILE [--seed N | --bytes N]');
    process.exit(2);
  }
  const how = flag === '--bytes' ? [1, Number(value)] : [Number(value)];
  console.log(`${file}: ${count} documents, ${await generate(count, file, ...how)} bytes`);
}
