/**
 * A run by fingerprints alone (`texts: false`), in one pass: while one batch is read, the one before is hashed and decided, and those before it are
 * written. Nothing goes through files.
 *
 * What is held of a document that is kept is its fingerprint and its `_id`. Both are in the target, which is therefore all that a later process needs: it
 * takes back what stands behind the checkpoint, and reads the rest.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { SimHashError } from '../../errors';
import { given } from '../../given';
import { Index } from '../../live-index';
import { countOf, reasonAt, refuseUnordered } from './copy';
import { projectionOf, reasonOf, textOf } from './document';
import { ahead, Overlap } from './overlap';
import { fingerprinterOptions, type Prints } from './prints';
import { inOrder } from './read';
import type { Counts } from './run';
import type { Decided } from './sink';
import { BATCH, FIRST, IN_FLIGHT, KNOWN, type Stage } from './stage';

/** How often what a run has written is looked at again where it is not what was noted, and milliseconds between. */
const TURNS = 5;
const PAUSE = 200;

/** Fingerprints within so many bits, where nothing else was asked for; nothing verifies them. */
export const DISTANCE = 3;

/** A document that has a text. */
interface Readable {
  readonly id: unknown;
  /** As extended JSON. */
  readonly key: string;
  readonly text: string;
}

/** A batch that was read. */
interface Batch {
  readonly readable: readonly Readable[];
  readonly rejected: Counts['firstRejected'];
  /** Documents of it, and of it and all before. */
  readonly size: number;
  readonly upTo: number;
  readonly lastId: string;
}

/** Reads, decides and writes, from where an earlier process came to. */
export async function pass(stage: Stage, prints: Prints): Promise<void> {
  const { settings, source, run, sink, report, bson } = stage;
  const { signal, filter, limit = Number.POSITIVE_INFINITY } = settings;
  const { lastId, seconds: before = 0 } = run.document;
  const from = lastId === undefined ? undefined : { id: bson.EJSON.parse(lastId, EXACTLY) };
  const begun = performance.now();
  let counts = run.document.counts ?? NONE;
  const total = Math.min(limit, await countOf(source, undefined));
  const seen = await restored(stage, prints, total, counts, from);
  const seconds = () => before + (performance.now() - begun) / 1000;
  const overlap = new Overlap(IN_FLIGHT);
  // Decisions are made in the order of the documents, whichever batch was hashed first.
  let turn: Promise<unknown> = Promise.resolve();
  try {
    for await (const batch of ahead(batches(stage, limit - counts.read, counts.read, from))) {
      signal?.throwIfAborted();
      await run.hold();
      const earlier = turn;
      const decided = (async () => {
        const hashed = await prints.of(batch.readable.map(({ text }) => text));
        await earlier;
        return seen.decide(batch.readable, hashed);
      })();
      decided.catch(() => {});
      turn = decided;
      await overlap.push(
        async () => {
          const of = await decided;
          await sink.write(of.decisions);
          return of;
        },
        async ({ decisions, short, empty, bytes }) => {
          const duplicates = decisions.filter(({ duplicate }) => duplicate !== undefined).length;
          counts = {
            read: counts.read + batch.size,
            kept: counts.kept + decisions.length - duplicates,
            duplicates: counts.duplicates + duplicates,
            rejected: counts.rejected + batch.rejected.length,
            short: counts.short + short,
            empty: counts.empty + empty,
            bytes: counts.bytes + bytes,
            firstRejected: [...counts.firstRejected, ...batch.rejected].slice(0, FIRST),
          };
          await run.note({ phase: 'pass', counts, lastId: batch.lastId, seconds: seconds() });
          report({
            stage: 'write',
            documents: counts.read,
            ...(filter === undefined && { total }),
          });
        },
      );
    }
  } finally {
    await overlap.settled();
  }
  await overlap.end();
  const known = settings.known === undefined ? {} : { known: seen.known };
  const { clusters, indexBytes } = seen.end();
  await run.note({
    countAtEnd: await countOf(source, filter),
    summary: {
      ...{ ...counts, clusters, indexBytes, ...known },
      ...{ truncated: 0, seconds: seconds(), leftovers: [] },
    },
  });
}

/** What the run has kept so far, with nothing of it behind the checkpoint. */
async function restored(
  stage: Stage,
  prints: Prints,
  total: number,
  counts: Counts,
  from: { readonly id: unknown } | undefined,
): Promise<Seen> {
  const { run, sink, targets, settings } = stage;
  for (let turn = 0; ; turn++) {
    await run.hold();
    await sink.forgetBehind(from);
    const seen = new Seen(stage, prints, total);
    const { kept, duplicates } = await seen.restore();
    if (kept === counts.kept && duplicates === counts.duplicates) return seen;
    seen.end();
    // The server may have been at work on the last command of a killed process: what it has brought meanwhile is taken back, too.
    if (turn === TURNS) {
      const [into] = targets ?? [];
      const message = `${into?.namespace} and its duplicates hold ${kept} and ${duplicates} documents of the run up to its checkpoint, which noted ${counts.kept} and ${counts.duplicates}: somebody has changed them; empty both, and TARGET.runs, and begin again`;
      throw new SimHashError('ERR_SIMHASH_TARGET', message);
    }
    await sleep(PAUSE, undefined, settings.signal && { signal: settings.signal });
  }
}

const EXACTLY = { relaxed: false } as const;
const NONE: Counts = {
  ...{ read: 0, kept: 0, duplicates: 0, rejected: 0, short: 0, empty: 0, bytes: 0 },
  firstRejected: [],
};

/** The documents of the source behind an id, `most` at most; `count` were read before. */
async function* batches(
  stage: Stage,
  most: number,
  count: number,
  from: { readonly id: unknown } | undefined,
): AsyncGenerator<Batch, void, undefined> {
  const { settings, source, bson } = stage;
  const { filter = {}, signal, batch = BATCH } = settings;
  const end = count + most;
  if (most <= 0) return;
  const reading = { filter, projection: projectionOf(settings), batch, signal };
  for await (const answer of inOrder(source, reading, from)) {
    const documents = answer.slice(0, end - count);
    const [readable, rejected]: [Readable[], Counts['firstRejected']] = [[], []];
    let lastId = '';
    for (const document of documents) {
      const { _id: id } = document;
      lastId = bson.EJSON.stringify(id, EXACTLY);
      refuseUnordered(document, lastId, source, stage.collated);
      count += 1;
      const reason = reasonOf(document, lastId, stage, true);
      if (reason === undefined) {
        readable.push({ id, key: lastId, text: textOf(document, settings) });
      } else {
        rejected.push({ file: source.namespace, line: count, reason: reasonAt(lastId, reason) });
      }
    }
    yield { readable, rejected, size: documents.length, upTo: count, lastId };
    if (count === end) return;
  }
}

/** The documents that are kept, as fingerprints. */
class Seen {
  readonly #stage: Stage;
  readonly #prints: Prints;
  readonly #index: Index<'simhash', false>;
  /** Bit i is 1 where document i of the index has a duplicate. */
  #clustered = new Uint8Array(1 << 10);
  known = 0;

  constructor(stage: Stage, prints: Prints, capacity: number) {
    const { settings } = stage;
    const { maxDistance = DISTANCE, memory } = settings;
    const options = { ...fingerprinterOptions(settings), maxDistance, ...given({ memory }) };
    this.#stage = stage;
    this.#prints = prints;
    this.#index = new Index({
      ...{ ...options, capacity },
      ...{ method: 'simhash', texts: false, keys: true },
    });
  }

  /** Takes in the known documents, and what the run has kept and found to be duplicates; gives the numbers of these. */
  async restore(): Promise<{ kept: number; duplicates: number }> {
    const { known, run, targets, settings, bson } = this.#stage;
    if (known !== undefined) {
      // Where the target is what is known, too, what this run has kept was not there when it began.
      const before = { run: { $ne: run.document.run } };
      for await (const documents of this.#all(known, before, projectionOf(settings))) {
        const usable = documents.flatMap((document) => {
          const key = bson.EJSON.stringify(document['_id'], EXACTLY);
          if (reasonOf(document, key, this.#stage, false) !== undefined) return [];
          return [{ key: KNOWN + key, text: textOf(document, settings), fingerprint: undefined }];
        });
        this.known += usable.length;
        await this.#add(usable);
      }
    }
    const count = { kept: 0, duplicates: 0 };
    if (targets === undefined || run.document.lastId === undefined) return count;
    const [kept, duplicates] = targets;
    const own = { run: run.document.run };
    for await (const documents of this.#all(kept, own, { fingerprint: 1, text: 1 })) {
      const some = documents.map(({ _id, text, fingerprint }) => ({
        key: bson.EJSON.stringify(_id, EXACTLY),
        text: String(text),
        fingerprint: this.#prints.read(fingerprint),
      }));
      count.kept += some.length;
      await this.#add(some);
    }
    for await (const documents of this.#all(duplicates, own, { duplicateOf: 1, known: 1 })) {
      count.duplicates += documents.length;
      for (const { duplicateOf, known: isKnown } of documents) {
        const key = bson.EJSON.stringify(duplicateOf, EXACTLY);
        const id = this.#index.idOf(isKnown === true ? KNOWN + key : key);
        if (id !== undefined) this.#mark(id);
      }
    }
    return count;
  }

  #all(
    collection: NonNullable<Stage['known']>,
    filter: Document,
    projection: Document,
  ): AsyncIterable<Document[]> {
    const { signal, batch = BATCH } = this.#stage.settings;
    return ahead(inOrder(collection, { filter, projection, batch, signal }));
  }

  /** Duplicates of earlier known documents are left out: it is as if all had come in one stream. What the run has kept is no duplicate. */
  async #add(
    documents: readonly { key: string; text: string; fingerprint: bigint | undefined }[],
  ): Promise<void> {
    const without = documents.filter(({ fingerprint }) => fingerprint === undefined);
    const made = [...(await this.#prints.of(without.map(({ text }) => text)))];
    const items = documents.map(({ text, fingerprint }) => {
      return fingerprint ?? made.shift() ?? this.#prints.cut(text);
    });
    await this.#index.checkAndAddManyAsync(items, { keys: documents.map(({ key }) => key) });
  }

  /** Decides some documents, and keeps the fingerprints of those that are kept. */
  async decide(documents: readonly Readable[], hashed: Iterable<bigint | undefined>) {
    const fingerprints = [...hashed];
    // Of a text without a fingerprint the text itself: it is compared by equality.
    const items = documents.map(({ text }, row) => fingerprints[row] ?? this.#prints.cut(text));
    const keys = documents.map(({ key }) => key);
    const outcomes = await this.#index.checkAndAddManyAsync(items, { keys });
    const { EJSON } = this.#stage.bson;
    let [short, empty, bytes] = [0, 0, 0];
    const decisions = documents.map(({ id, text }, row): Decided => {
      const fingerprint = fingerprints[row];
      bytes += Buffer.byteLength(text);
      const outcome = outcomes.get(row);
      if (fingerprint === undefined && outcome !== undefined) {
        if (this.#prints.isEmpty(text)) empty += 1;
        else short += 1;
      }
      if (outcome?.duplicateOf === undefined) return { id, text, fingerprint };
      this.#mark(outcome.duplicateOf);
      const { key = '', similarity, distance } = outcome;
      const known = key.startsWith(KNOWN);
      const of = EJSON.parse(known ? key.slice(KNOWN.length) : key, EXACTLY);
      return { id, text, duplicate: { of, known, ...given({ similarity, distance }) } };
    });
    return { decisions, short, empty, bytes };
  }

  /** What is known at the end. The index is closed. */
  end(): { clusters: number; indexBytes: number } {
    let clusters = 0;
    for (let byte of this.#clustered) for (; byte > 0; byte &= byte - 1) clusters += 1;
    const { bytes: indexBytes } = this.#index.stats();
    this.#index.close();
    return { clusters, indexBytes };
  }

  #mark(id: number): void {
    const at = id >> 3;
    if (at >= this.#clustered.length) {
      const larger = new Uint8Array(2 * at);
      larger.set(this.#clustered);
      this.#clustered = larger;
    }
    this.#clustered[at] = (this.#clustered[at] ?? 0) | (1 << (id & 7));
  }
}
