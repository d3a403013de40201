import { binding } from './binding';
import { native } from './errors';
import { loadWords, type Words, words } from './lexicon';
import type { NativeDictionary } from './native';
import { NATIVE } from './native-part';
import * as check from './options';

const FREQUENCY = check.integer(0, 2 ** 32 - 1);

/**
 * jieba's words and others beside them, as Python's `load_userdict`, `add_word` and `del_word` have it.
 *
 * A fingerprinter takes the words as they are when it is made; what is added later is for later ones. jieba's own words are
 * shared: a dictionary holds only the difference.
 */
export class Dictionary {
  /** @internal */
  readonly [NATIVE]: NativeDictionary = native(() => new binding.NativeDictionary());

  /** jieba's words, and those of a file; see {@link load}. */
  constructor(file?: Words) {
    if (file !== undefined) this.load(file);
  }

  /**
   * Adds the words of a file: a line is `word`, `word frequency`, `word tag` or `word frequency tag`. Frequency 0 takes the
   * word away; without one it gets {@link suggestFrequency}. At a bad line nothing is added.
   *
   * @throws SimHashError ERR_SIMHASH_INPUT, ERR_SIMHASH_LINE (names the line)
   */
  load(file: Words): this {
    loadWords(words(file, 'file'), 'dictionary', (bytes) => this[NATIVE].load(bytes));
    return this;
  }

  /** Adds a word, or changes its frequency: 0 to 2^32 - 1. Default {@link suggestFrequency}. For many words {@link load} is faster. */
  add(word: string, frequency?: number): this {
    const count = frequency === undefined ? undefined : FREQUENCY(frequency, 'frequency');
    native(() => this[NATIVE].add(check.string(word, 'word'), count));
    return this;
  }

  /** Takes a word away, jieba's own too: no text is cut so that it is a token. */
  remove(word: string): this {
    native(() => this[NATIVE].remove(check.string(word, 'word')));
    return this;
  }

  /** How often a word counts; 0 where it was taken away, `undefined` where neither jieba nor the user has it. */
  frequency(word: string): number | undefined {
    return native(() => this[NATIVE].frequency(check.string(word, 'word'))) ?? undefined;
  }

  /** The least frequency with which a word would be cut as a whole. */
  suggestFrequency(word: string): number {
    return native(() => this[NATIVE].suggestFrequency(check.string(word, 'word')));
  }
}

/** A dictionary, or words to be added to a new one. */
export const dictionary: check.Check<Dictionary | Words> = (value, name) =>
  value instanceof Dictionary ? value : words(value, name);

/** `given` as the addon takes it. */
export function nativeDictionary(given: Dictionary | Words): NativeDictionary {
  return (given instanceof Dictionary ? given : new Dictionary(given))[NATIVE];
}
