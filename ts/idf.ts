import { abortable } from './abort';
import { binding } from './binding';
import { type Dictionary, dictionary, nativeDictionary } from './dictionary';
import { type Doc, type Documents, iterable, type Text, textOf } from './documents';
import { native } from './errors';
import { loadWords, type Words, words } from './lexicon';
import type { NativeIdf } from './native';
import { NATIVE } from './native-part';
import { type Normalize, nativeNormalizer, normalize } from './normalize';
import * as check from './options';

/** How an idf table is learnt. Take the same normalisation and dictionary as the fingerprinter that will use it. */
export interface TrainOptions {
  /** Leave out words of fewer documents; they get the median. 1 to 2^53 - 1, default 1. */
  minDocuments?: number | undefined;
  /** Normalisation of the documents. Default `nfkc`, `case` and `whitespace: 'auto'`, as for a fingerprinter. */
  normalize?: Normalize | undefined;
  /** Words beside jieba's own. Default none. */
  dictionary?: Dictionary | Words | undefined;
  /** Documents per batch, 1 to 65536. Default 256. Changes no result. */
  batch?: number | undefined;
  /** Rejects with `signal.reason` when aborted. */
  signal?: AbortSignal | undefined;
}

const TRAIN: check.Checks<TrainOptions> = {
  minDocuments: check.integer(1, Number.MAX_SAFE_INTEGER),
  normalize,
  dictionary,
  batch: check.integer(1, 65_536),
  signal: check.signal,
};

/**
 * How rare words are: a table of inverse document frequencies, in place of jieba's.
 *
 * A word that is not in the table has the median of all values.
 */
export class Idf {
  /** @internal */
  readonly [NATIVE]: NativeIdf;

  /**
   * From a file, a line `word idf` each, as jieba's `idf.txt`; idf from 0 to 100.
   *
   * @throws SimHashError ERR_SIMHASH_INPUT, ERR_SIMHASH_LINE (names the line); TypeError for a file without any line
   */
  constructor(file: Words) {
    const given = words(file, 'file');
    this[NATIVE] = loadWords(given, 'idf', (bytes) => binding.NativeIdf.load(bytes));
  }

  /**
   * Learns a table from documents: `ln((1 + documents) / (1 + documents with the word)) + 1`, to six decimals. Works off the
   * JavaScript thread, a batch at a time; the memory is that of the distinct words.
   */
  static async train<D extends Doc>(docs: Documents<D>, options?: TrainOptions): Promise<Idf> {
    const given = check.checked(options, TRAIN);
    const { minDocuments = 1, batch: size = 256, signal } = given;
    const words = given.dictionary === undefined ? undefined : nativeDictionary(given.dictionary);
    const trainer = native(
      () => new binding.NativeIdfTrainer(nativeNormalizer(given.normalize ?? {}), words),
    );
    const push = (texts: readonly Text[]) =>
      abortable(signal, (cancel) => trainer.push(texts, cancel));
    let [count, texts]: [number, Text[]] = [0, []];
    for await (const doc of iterable(docs)) {
      signal?.throwIfAborted();
      texts.push(textOf(doc, count++));
      if (texts.length < size) continue;
      await push(texts);
      texts = [];
    }
    await push(texts);
    const made = native(() => trainer.finish(minDocuments));
    return Object.defineProperty(Object.create(Idf.prototype) as Idf, NATIVE, { value: made });
  }

  /** The table as the text of a file that the constructor reads back to an equal one: sorted by word. */
  save(): string {
    return native(() => this[NATIVE].save());
  }

  /** The value of a word; the median where the table does not have it. */
  get(word: string): number {
    return native(() => this[NATIVE].get(check.string(word, 'word')));
  }

  /** Number of words. */
  get size(): number {
    return native(() => this[NATIVE].size());
  }
}

/** A table, or a file of one. */
export const idf: check.Check<Idf | Words> = (value, name) =>
  value instanceof Idf ? value : words(value, name);

/** `given` as the addon takes it. */
export function nativeIdf(given: Idf | Words): NativeIdf {
  return (given instanceof Idf ? given : new Idf(given))[NATIVE];
}
