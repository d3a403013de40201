/** A sample of a corpus with something to find in it: random documents, and those near them. */
import { abortable } from './abort';
import { binding } from './binding';
import { bit } from './bitmap';
import { type Doc, iterable, type Text, textOf } from './documents';
import type { Fingerprinter } from './fingerprinter';
import type { NativeSample } from './native';
import { NATIVE } from './native-part';
import type { DocId } from './statements';

/** Documents that can be read twice: an array, or a function that begins anew. */
export type Corpus =
  | readonly SampledDoc[]
  | (() => Iterable<SampledDoc> | AsyncIterable<SampledDoc>);

/** A document; without an id its position is one, from 0. */
export type SampledDoc = Doc | { readonly id?: DocId | undefined; readonly text: Text };

/** A document of a sample. */
export interface Sampled {
  readonly id: string;
  readonly text: Text;
}

/** What is drawn. */
export interface Drawing {
  /** How many documents at random, and at most how many near them. */
  readonly size: number;
  readonly seed: number;
  /** Documents that are taken whatever is drawn, and in place of those nearby. */
  readonly named: ReadonlySet<string> | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Documents per call into the addon. */
const BATCH = 4096;

/** The sample in the order of the corpus. */
export async function draw(
  corpus: Corpus,
  native: NativeSample,
  { size, seed, named, signal }: Drawing,
): Promise<Sampled[]> {
  const next = xorshift(seed);
  const chosen: { position: number; doc: Sampled }[] = [];
  let total = 0;
  // Vitter's algorithm R: every document is chosen with the same probability, in one pass.
  for await (const doc of documents(corpus, signal)) {
    const place = total < size ? total : next(total + 1);
    if (place < size) chosen[place] = { position: total, doc };
    total++;
  }
  if (total > size) {
    const positions = new Set(chosen.map(({ position }) => position));
    const texts = chosen.map(({ doc }) => doc.text);
    if (named === undefined) await abortable(signal, (cancel) => native.around(texts, cancel));
    let [position, added] = [0, 0];
    for await (const batch of batches(documents(corpus, signal))) {
      const near =
        named === undefined
          ? await abortable(signal, (cancel) =>
              native.near(
                batch.map(({ text }) => text),
                cancel,
              ),
            )
          : undefined;
      for (const [row, doc] of batch.entries()) {
        const wanted = near === undefined ? named?.has(doc.id) : bit(near, row) && added < size;
        if (wanted && !positions.has(position + row)) {
          chosen.push({ position: position + row, doc });
          added++;
        }
      }
      position += batch.length;
    }
  }
  return chosen.sort((a, b) => a.position - b.position).map(({ doc }) => doc);
}

/** The part of the addon that compares by `maker`. */
export function sampleBy(maker: Fingerprinter, least: number, threads: number): NativeSample {
  return new binding.NativeSample(maker[NATIVE], least, threads);
}

async function* documents(
  corpus: Corpus,
  signal: AbortSignal | undefined,
): AsyncGenerator<Sampled> {
  const source = typeof corpus === 'function' ? corpus() : corpus;
  let position = 0;
  signal?.throwIfAborted();
  for await (const value of iterable<SampledDoc>(source)) {
    signal?.throwIfAborted();
    const id = typeof value === 'object' && 'id' in value ? value.id : undefined;
    yield { id: String(id ?? position), text: textOf(value, position) };
    position++;
  }
}

async function* batches(docs: AsyncIterable<Sampled>): AsyncGenerator<Sampled[]> {
  let batch: Sampled[] = [];
  for await (const doc of docs) {
    batch.push(doc);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Whole numbers below a bound, the same for the same seed: Marsaglia's xorshift, 32 bits. */
function xorshift(seed: number): (bound: number) => number {
  // A state of 0 would stay 0; the golden ratio scatters small seeds.
  let state = Math.imul(seed, 0x9e3779b9) || 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * bound);
  };
}
