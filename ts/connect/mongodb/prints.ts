/** The fingerprints of documents: how they are made, and how they are written. */
import type { Long } from 'mongodb';
import { FINGERPRINTER, Fingerprinter, type FingerprinterOptions } from '../../fingerprinter';
import type { Fingerprints } from '../../fingerprints';
import { given } from '../../given';
import { driver } from './open';
import type { Settings } from './settings';

/** The options of a fingerprinter among those of a run. */
export function fingerprinterOptions(settings: Settings): FingerprinterOptions {
  const names = Object.keys(FINGERPRINTER) as (keyof FingerprinterOptions)[];
  return given(Object.fromEntries(names.map((name) => [name, settings[name]])));
}

/** Makes and writes them. */
export interface Prints {
  readonly of: (texts: readonly string[]) => Promise<Fingerprints>;
  /** As a document has it; `null` where a text has none. */
  readonly written: (fingerprint: bigint | undefined) => string | Long | null;
  /** What {@link written} has made; `undefined` for what it has not. */
  readonly read: (value: unknown) => bigint | undefined;
  /** A text as it is compared, without what `cutAfter` takes away. */
  readonly cut: (text: string) => string;
  /** Whether nothing is left of a text that is normalised. */
  readonly isEmpty: (text: string) => boolean;
}

export async function prints(settings: Settings, as: 'string' | 'long'): Promise<Prints> {
  const { Long } = await driver();
  const fingerprinter = new Fingerprinter(fingerprinterOptions(settings));
  const patterns = [settings.cutAfter ?? []].flat();
  const cut = (text: string) => cutAt(text, patterns);
  return {
    of: (texts) =>
      fingerprinter.fingerprintManyAsync(texts.map(cut), given({ signal: settings.signal })),
    written: (value) => {
      if (value === undefined) return null;
      if (as === 'long') return Long.fromBigInt(BigInt.asIntN(64, value));
      return value.toString(16).padStart(16, '0');
    },
    read: (value) => {
      if (typeof value === 'string' && /^[0-9a-f]{16}$/.test(value)) return BigInt(`0x${value}`);
      return value instanceof Long ? BigInt.asUintN(64, value.toBigInt()) : undefined;
    },
    cut,
    isEmpty: (text) => fingerprinter.normalize(cut(text)) === '',
  };
}

/** A text up to where the first of these begins. */
function cutAt(text: string, patterns: readonly string[]): string {
  const places = patterns.map((pattern) => text.indexOf(pattern)).filter((at) => at >= 0);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
}
