/** The words of Python jieba, in strings and as offsets. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { cut, cutMany, cutManyAsync, Dictionary } from '..';
import { jsonLines, ROOT, SAMPLE } from './cli-run';

const SEPARATOR = '\u001F';
const SHARED = join(ROOT, '..', 'shared');
const PARITY = join(ROOT, 'crates', 'text', 'tests', 'jieba_parity');

interface Golden {
  readonly text: string;
  readonly hmm: string;
  readonly plain: string;
}

const golden = jsonLines<Golden>(readFileSync(join(PARITY, 'golden.jsonl'), 'utf8'));
const texts = golden.map(({ text }) => text);
const joined = (words: readonly string[]) => words.join(SEPARATOR);

/** The words between offsets. */
function between(text: string, offsets: Uint32Array): string[] {
  return [...offsets.subarray(1)].map((end, word) => text.slice(offsets[word], end));
}

test('the lines of the repository, made with Python jieba 0.42.1', () => {
  expect(golden.length).toBeGreaterThan(30);
  for (const { text, hmm, plain } of golden) {
    expect(joined(cut(text)), text).toBe(hmm);
    expect(joined(cut(text, { hmm: false })), text).toBe(plain);
  }
});

test('many at once, in words and in offsets, now and later, are each cut alone', async () => {
  const alone = texts.map((text) => cut(text));
  const offsets = cutMany(texts, { as: 'offsets' });
  expect(offsets.map((row, at) => between(texts[at] ?? '', row))).toEqual(alone);
  expect(offsets.every((row) => row instanceof Uint32Array)).toBe(true);
  expect(cutMany(texts)).toEqual(alone);
  expect(cutMany(texts, { as: 'words', threads: 1 })).toEqual(alone);
  expect(await cutManyAsync(texts)).toEqual(alone);
  expect(await cutManyAsync(texts, { as: 'offsets' })).toEqual(offsets);
  expect(cutMany(texts, { hmm: false })).toEqual(texts.map((text) => cut(text, { hmm: false })));
});

test('a large batch, in slices, is the same', async () => {
  const many = Array.from({ length: 400 }, () => texts).flat();
  const offsets = await cutManyAsync(many, { as: 'offsets' });
  expect(offsets).toEqual(cutMany(many, { as: 'offsets' }));
  expect(await cutManyAsync(many)).toEqual(cutMany(many));
});

test('words joined are the text, whatever is in it', () => {
  const odd = [
    '',
    ' ',
    '😀',
    '𠀀青禾𠀁',
    'a\uD800b',
    '\uDC00',
    '青\r\n禾',
    '\uFEFF青禾市',
    'x'.repeat(9_000),
    '\0',
    '青\0禾\0\0',
  ];
  for (const text of odd) expect(cut(text).join(''), JSON.stringify(text)).toBe(text);
  expect(cutMany(odd).map((words) => words.join(''))).toEqual(odd);
  expect(cutMany(odd, { as: 'offsets' }).map((row) => row.at(-1))).toEqual(
    odd.map((text) => text.length),
  );
  expect(cut('')).toEqual([]);
});

test('words are what lies between offsets, where a text is read in parts too', () => {
  // Parts of 65,536 end in every place of the sentence; two of its words differ in their first unit only.
  const sentence = '我们和他们在北京大学见面，a b cd efg。';
  const starts = Array.from(sentence, (_, row) => '、'.repeat(row));
  const texts = starts.flatMap((start) => [start + sentence.repeat(3_200), `${start}的`]);
  const words = cutMany(texts);
  for (const [row, offsets] of cutMany(texts, { as: 'offsets' }).entries()) {
    const between = Array.from(offsets.subarray(1), (end, word) =>
      texts[row]?.slice(offsets[word], end),
    );
    expect(words[row]?.length).toBe(between.length);
    expect(words[row]?.findIndex((word, at) => word !== between[at])).toBe(-1);
  }
});

test('words of a dictionary', () => {
  const text = '青禾市新馆在云浦大道东侧';
  expect(cut(text)).not.toContain('云浦大道');
  const dictionary = new Dictionary(['青禾市', '云浦大道']);
  expect(cut(text, { dictionary })).toEqual(['青禾市', '新馆', '在', '云浦大道', '东侧']);
  expect(cutMany([text], { dictionary: ['青禾市', '云浦大道'] })).toEqual([
    cut(text, { dictionary }),
  ]);
});

test('an element that is another one at each look is cut as it is at one of them', () => {
  const looks = ['青禾市图书馆', '1', '望海港本月'];
  const many = new Proxy([''], {
    get: (target, name) => (name === '0' ? looks.shift() : Reflect.get(target, name)),
  });
  expect(cutMany(many)).toEqual([cut('青禾市图书馆')]);
});

test('words that share a place among those seen before are still themselves', () => {
  // More different words of one character and of two than there are places.
  const characters = Array.from({ length: 0x10_000 }, (_, unit) => String.fromCharCode(unit));
  const all = [...characters, ...characters.map((one) => `\r\n${one}`), '\u0000', '😀', '\u0000'];
  for (const text of all) expect(cut(text).join('')).toBe(text);
  expect(
    cutMany(all)
      .map((words) => words.join(''))
      .join(''),
  ).toBe(all.join(''));
});

test('an array is taken as it was at the call', async () => {
  const many = Array.from({ length: 5_000 }, () => '青禾市图书馆');
  const cutting = cutManyAsync(many);
  many.fill('1');
  expect(new Set((await cutting).map((words) => joined(words)))).toEqual(
    new Set([joined(cut('青禾市图书馆'))]),
  );
});

test('an abort rejects with its reason, before and while strings are made', async () => {
  const reason = new Error('enough');
  const aborted = AbortSignal.abort(reason);
  await expect(cutManyAsync(texts, { signal: aborted })).rejects.toBe(reason);
  const controller = new AbortController();
  const many = Array.from({ length: 20_000 }, () => texts.join(''));
  const cutting = cutManyAsync(many, { signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await expect(cutting).rejects.toBe(reason);
});

test.each([
  [() => cut(1 as never), 'text must be a string'],
  [() => cut('', { hmm: 1 } as never), 'hmm must be true or false'],
  [() => cut('', { threads: 1 } as never), "no option 'threads'"],
  [() => cut('', { dictionnary: [] } as never), "did you mean 'dictionary'?"],
  [() => cutMany('青禾' as never), 'texts must be an array'],
  [() => cutMany(['青禾', Buffer.from('青禾')] as never), 'texts[1] must be a string'],
  [() => cutMany([], { as: 'word' } as never), "one of 'words', 'offsets'"],
  [() => cutMany([], { threads: -1 }), 'threads must be a whole number'],
])('misuse %#: %s', (call, says) => {
  expect(call).toThrow(says);
});

test('misuse of the async form rejects, of a late element too', async () => {
  const late = [...Array.from({ length: 5_000 }, () => '青禾'), 1];
  await expect(cutManyAsync(late as never)).rejects.toThrow('texts[5000] must be a string');
});

const CORPUS = join(SHARED, 'fixtures', 'jieba', 'cut_hmm.jsonl.gz');
const present = existsSync(CORPUS);
if (!present) console.log(`not tested: no fixtures at ${CORPUS}`);

describe.runIf(present)('the fixtures', () => {
  interface Line {
    readonly set: string;
    readonly id: string;
    readonly text?: string;
    readonly tokens: string;
  }
  const unpacked = (path: string) => gunzipSync(readFileSync(join(SHARED, path))).toString();
  const sets = new Map<string, Map<string, string>>();
  function textOf({ set, id, text }: Line): string {
    if (text !== undefined) return text;
    let known = sets.get(set);
    if (known === undefined) {
      const records = jsonLines<{ id: string | number; text: string }>(
        unpacked(join('data', set, 'docs.jsonl.gz')),
      );
      known = new Map(records.map((record) => [String(record.id), record.text]));
      sets.set(set, known);
    }
    return known.get(String(id)) ?? '';
  }

  test.each([
    ['cut_hmm', true],
    ['cut_nohmm', false],
  ] as const)('%s: the tokens of Python', (name, hmm) => {
    const lines = jsonLines<Line>(unpacked(join('fixtures', 'jieba', `${name}.jsonl.gz`)));
    expect(lines.length).toBe(500);
    // Tokens are those of the first 2,000 code points.
    const own = lines.map((line) => [...textOf(line)].slice(0, 2_000).join(''));
    const words = cutMany(own, { hmm });
    for (const [row, { set, id, tokens }] of lines.entries()) {
      expect(joined(words[row] ?? []), `${set} ${id}`).toBe(tokens);
    }
  });
});

test('the sample of the repository is cut as Python jieba 0.42.1 has cut it', () => {
  const sample = jsonLines<{ text: string }>(readFileSync(SAMPLE, 'utf8'));
  const all = cutMany(sample.map(({ text }) => text)).map(joined);
  expect(all.length).toBe(303);
  const digest = createHash('sha256').update(all.join('\n')).digest('hex');
  expect(digest).toBe(SAMPLE_DIGEST);
});

/** `sha256("\n".join("\x1f".join(jieba.cut(record["text"])) for record in sample))`, by Python jieba 0.42.1. */
const SAMPLE_DIGEST = '7125c436c178083141dc95ed8f437ebf7bee58fba76c2d2bc7c05cda18faa560';
