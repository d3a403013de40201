/** Chinese words, those of Python jieba: where they are comes from the addon, and strings are cut here. */
import { setImmediate as turn } from 'node:timers/promises';
import { abortable } from './abort';
import { binding } from './binding';
import { type Dictionary, dictionary, nativeDictionary } from './dictionary';
import { native } from './errors';
import { FINGERPRINTER, JOB, type JobOptions } from './fingerprinter';
import { given } from './given';
import type { Words } from './lexicon';
import type { NativeCutOptions, NativeCuts } from './native';
import * as check from './options';
import { copied, parts } from './staging';

/** How a text is cut into words. */
export interface CutOptions {
  /** Whether words that are in no dictionary are found by jieba's hidden Markov model; without it their characters stand alone. Default `true`. */
  hmm?: boolean | undefined;
  /** Words beside jieba's own: a {@link Dictionary}, or a file of words, which is read anew at each call. Default none. */
  dictionary?: Dictionary | Words | undefined;
}

/** How many texts are cut, and what comes back. */
export interface CutManyOptions<As extends 'words' | 'offsets' = 'words' | 'offsets'>
  extends CutOptions {
  /**
   * What comes back for each text: its words (`'words'`, default), or where they begin and end (`'offsets'`), which makes no
   * strings: 0 and the end of each word, so that word i is `text.slice(offsets[i], offsets[i + 1])`.
   */
  as?: As | undefined;
  /** Most threads of one call, 0 to 1024; 0 (default) is one per core. Changes no result. */
  threads?: number | undefined;
}

/** What texts are cut into. */
type Cut<As> = As extends 'offsets' ? Uint32Array : string[];

const { hmm, threads } = FINGERPRINTER;
const CUT: check.Checks<CutOptions> = { hmm, dictionary };
const MANY: check.Checks<CutManyOptions> = {
  ...CUT,
  as: check.choice('words', 'offsets'),
  threads,
};

/** Words made between two turns of the event loop: some 2 ms. */
const TURN = 1 << 16;

/**
 * The words of a text: the tokens of Python jieba 0.42.1's `cut` in accurate mode, white space and punctuation too, so that they
 * joined are the text. Nothing is normalised. For many texts {@link cutMany} is faster.
 */
export function cut(text: string, options?: CutOptions): string[] {
  const { hmm, dictionary } = check.checked(options, CUT);
  const one = check.string(text, 'text');
  const { offsets } = native(() =>
    binding.cutMany([one], nativeCut({ hmm, dictionary, threads: 1 })),
  );
  return wordsOf(one, offsets);
}

/**
 * The words of many texts on all cores, while the JavaScript thread waits; see {@link cut}. Offsets are in UTF-16 code units, those of
 * `String.prototype.slice`. For more than a few hundred texts beside a running server see {@link cutManyAsync}.
 */
export function cutMany<As extends 'words' | 'offsets' = 'words'>(
  texts: readonly string[],
  options?: CutManyOptions<As>,
): Cut<As>[] {
  const { as, ...cutting } = check.checked(options, MANY);
  check.array(texts, 'texts');
  const own = copied(texts) as string[];
  const offsets = rows(native(() => binding.cutMany(own, nativeCut(cutting))));
  const cuts = as === 'offsets' ? offsets : offsets.map((ends, row) => wordsOf(own[row], ends));
  return cuts as Cut<As>[];
}

/** The same off the JavaScript thread; strings of `as: 'words'` are made on it, some milliseconds at a time. */
export async function cutManyAsync<As extends 'words' | 'offsets' = 'words'>(
  texts: readonly string[],
  options?: CutManyOptions<As> & JobOptions,
): Promise<Cut<As>[]> {
  const { as, signal, ...cutting } = check.checked(options, { ...MANY, ...JOB });
  check.array(texts, 'texts');
  const own = copied(texts) as string[];
  const how = nativeCut(cutting);
  const found = await abortable(signal, (cancel) =>
    parts(own, signal, cancel, (batch) => binding.cutManyAsync(batch, how, cancel), 'strings'),
  );
  const cuts: (Uint32Array | string[])[] = [];
  let made = 0;
  for (const part of found) {
    for (const offsets of rows(part)) {
      cuts.push(as === 'offsets' ? offsets : wordsOf(own[cuts.length], offsets));
      made += as === 'offsets' ? 1 : offsets.length;
      if (made < TURN) continue;
      await turn();
      signal?.throwIfAborted();
      made = 0;
    }
  }
  return cuts as Cut<As>[];
}

function nativeCut({ hmm = true, dictionary, threads = 0 }: CutManyOptions): NativeCutOptions {
  const own = dictionary === undefined ? undefined : nativeDictionary(dictionary);
  return { hmm, threads, ...given({ dictionary: own }) };
}

/** The offsets of each text, parts of one buffer. */
function rows({ offsets, counts }: NativeCuts): Uint32Array[] {
  let start = 0;
  return Array.from(counts, (count) => {
    const row = offsets.subarray(start, start + count);
    start += count;
    return row;
  });
}

/** An array is made at its length up to here; V8 makes a slow one of a longer one. */
const LONG = 1 << 24;
/** Short words seen before, by a hash of their two code units at most; the last one of a place counts. Half a megabyte. */
const PLACES = 1 << 15;
const keys = new Int32Array(PLACES);
const seen: string[] = new Array(PLACES).fill('');
// Nobody has come to the place of key 0, where key 1 never comes.
keys[0] = 1;
/** Code units of a text, a part at a time, and one behind: read here they take half the time that `charCodeAt` takes. */
const PART = 1 << 16;
const units = new Uint16Array(PART + 1);
const bytes = Buffer.from(units.buffer);

/**
 * The words between offsets. Nine of ten have one character or two and come again and again: one string stands for all of them, which
 * takes an eighth of the time of making each anew, and less memory. Short words of both lengths take one way, for a processor cannot
 * guess which comes next.
 */
function wordsOf(text: string | undefined = '', offsets: Uint32Array): string[] {
  const count = offsets.length - 1;
  const words: string[] = count < LONG ? new Array(count) : [];
  for (let word = 0, start = 0, from = 0, to = 0; word < count; word++) {
    const end = offsets[word + 1] as number;
    const length = end - start;
    if (length <= 2) {
      if (end > to) {
        from = start;
        to = from + PART;
        bytes.write(from === 0 && text.length <= PART ? text : text.slice(from, to), 'utf16le');
      }
      // A second unit of 0 stands for none: no word of jieba but NUL itself has one.
      const second = (units[start - from + 1] as number) & (1 - length);
      const key = ((units[start - from] as number) << 16) | second;
      const place = Math.imul(key, 0x9e3779b1) >>> 17;
      if (keys[place] === key) words[word] = seen[place] as string;
      else {
        const made = text.slice(start, end);
        keys[place] = key;
        seen[place] = made;
        words[word] = made;
      }
    } else words[word] = text.slice(start, end);
    start = end;
  }
  return words;
}
