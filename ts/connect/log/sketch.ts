/**
 * What stands for a long text in an entry: all that an index which stores no texts makes of one, so that it is made once and not by every
 * service. An index that verifies needs the text itself, and sets of features are larger than the text that they are of.
 */
import { FINGERPRINTER, Fingerprinter, type FingerprinterOptions } from '../../fingerprinter';
import { given } from '../../given';
import { methodOf } from '../../method';
import { MinHasher, type MinHashOptions } from '../../min-hasher';

/** A fingerprint in 16 hexadecimal digits, or a signature as base64 of 32-bit integers, little end first. */
export type Sketch = { readonly print: string } | { readonly signature: string };

/** Bytes in an entry from which a text travels as its sketch. */
export const LONG = 4096;

/** Positions of a signature that an index makes by default. */
const POSITIONS = 128;

/** Sketches of texts; `undefined` for one that has none: of too few features, it is compared by its text. */
export type Sketcher = (texts: readonly string[]) => Promise<readonly (Sketch | undefined)[]>;

/** How an index of these options is sketched for; `undefined`: it needs texts. */
export function sketcherOf(options: Readonly<Record<string, unknown>>): Sketcher | undefined {
  const { texts, verify, minSimilarity } = options;
  const stores = texts ?? !(verify === false || (verify === undefined && minSimilarity === 0));
  const method = methodOf(options);
  if (stores !== false || (method !== 'simhash' && method !== 'minhash')) return undefined;
  const names = Object.keys(FINGERPRINTER) as (keyof FingerprinterOptions)[];
  const own = given(Object.fromEntries(names.map((name) => [name, options[name]])));
  const fingerprinter = new Fingerprinter(own as FingerprinterOptions);
  if (method === 'simhash') {
    return async (texts) => {
      const prints = await fingerprinter.fingerprintManyAsync(texts);
      return texts.map((_, row) => {
        const print = prints.get(row);
        return print === undefined ? undefined : { print: print.toString(16).padStart(16, '0') };
      });
    };
  }
  // One that keeps no signatures takes as many positions as its bands have, which nobody says.
  if (options['signatures'] === false) return undefined;
  const { scheme, seed, hashes = POSITIONS } = options as MinHashOptions;
  const hasher = new MinHasher({ fingerprinter, hashes, ...given({ scheme, seed }) });
  return async (texts) => {
    // What has too few features for a fingerprint is no set to compare.
    const prints = await fingerprinter.fingerprintManyAsync(texts);
    const signatures = await hasher.signatureManyAsync(texts);
    return texts.map((_, row) => {
      const signature = signatures.get(row);
      if (prints.get(row) === undefined || signature === undefined) return undefined;
      const bytes = Buffer.alloc(4 * signature.length);
      for (const [at, value] of signature.entries()) bytes.writeUInt32LE(value, 4 * at);
      return { signature: bytes.toString('base64') };
    });
  };
}

/** What the index takes in place of a text. */
export function itemOf(text: string | Sketch): string | bigint | Uint32Array {
  if (typeof text === 'string') return text;
  if ('print' in text) return BigInt(`0x${text.print}`);
  const bytes = Buffer.from(text.signature, 'base64');
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(4 * at));
}

export function isSketch(value: unknown): value is Sketch {
  if (typeof value !== 'object' || value === null) return false;
  const { print, signature } = value as { print?: unknown; signature?: unknown };
  if (typeof print === 'string') return /^[0-9a-f]{16}$/.test(print);
  if (typeof signature !== 'string' || !/^[\w+/]+=*$/.test(signature)) return false;
  return Buffer.byteLength(signature, 'base64') % 4 === 0;
}
