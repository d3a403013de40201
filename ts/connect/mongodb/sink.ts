/** Where decisions go: into two collections, or as marks into the documents themselves. Only documents of the run are ever changed. */
import type { BulkWriteResult, Collection, Document, MongoBulkWriteError } from 'mongodb';
import { SimHashError } from '../../errors';

/** A document and what was decided. */
export interface Decided {
  readonly id: unknown;
  readonly text: string;
  /** Absent: it is kept. */
  readonly duplicate?: {
    readonly of: unknown;
    /** The original is one of the known collection. */
    readonly known: boolean;
    readonly similarity?: number;
    readonly distance?: number;
  };
}

/** Takes decisions, some at a time. */
export interface Sink {
  /** Writes all of them. */
  write(batch: readonly Decided[]): Promise<void>;
  /** Takes back what the run has written of these documents. */
  forget(ids: readonly unknown[]): Promise<void>;
  /** Takes back all that the run has written. */
  forgetAll(): Promise<void>;
}

/** Most operations of one command that changes documents in place. */
const CHANGES = 1000;

/** Kept documents into one collection, what is known of duplicates into another. */
export class Collections implements Sink {
  readonly #kept: Collection;
  readonly #duplicates: Collection;
  readonly #run: string;
  readonly #hold: () => Promise<void>;
  readonly #fingerprints: ((texts: string[]) => Promise<readonly unknown[]>) | undefined;

  /** `hold` throws when the run is no longer that of this process. */
  constructor(
    [kept, duplicates]: readonly [Collection, Collection],
    run: string,
    hold: () => Promise<void>,
    fingerprints?: (texts: string[]) => Promise<readonly unknown[]>,
  ) {
    [this.#kept, this.#duplicates, this.#run, this.#hold] = [kept, duplicates, run, hold];
    this.#fingerprints = fingerprints;
  }

  async write(batch: readonly Decided[]): Promise<void> {
    const run = this.#run;
    const kept = batch.filter(({ duplicate }) => duplicate === undefined);
    const fingerprints = await this.#fingerprints?.(kept.map(({ text }) => text));
    const documents = kept.map(({ id, text }, at) => ({
      _id: id,
      old_id: id,
      text,
      ...(fingerprints && { fingerprint: fingerprints[at] }),
      run,
    }));
    const duplicates = batch.flatMap(({ id, duplicate }) => {
      if (duplicate === undefined) return [];
      const { of, known, similarity, distance } = duplicate;
      const how = {
        ...(similarity !== undefined && { similarity }),
        ...(distance !== undefined && { distance }),
      };
      return [{ _id: id, duplicateOf: of, ...(known && { known }), ...how, run }];
    });
    await this.#hold();
    await Promise.all([
      this.#insert(this.#kept, documents),
      this.#insert(this.#duplicates, duplicates),
    ]);
  }

  /** Inserts what is not there already. */
  async #insert(collection: Collection, documents: readonly Document[]): Promise<void> {
    if (documents.length === 0) return;
    try {
      await collection.insertMany(documents as never, { ordered: false });
    } catch (error) {
      const failed = duplicateKeys(error);
      if (failed === undefined) throw error;
      const ids = failed.map((at) => documents[at]?.['_id']);
      // An answer that was lost, or another process that had the lease: what the run writes is the same whoever writes it.
      const own = await collection.countDocuments({ _id: { $in: ids as never }, run: this.#run });
      if (own === ids.length) return;
      const other = await collection.findOne({
        _id: { $in: ids as never },
        run: { $ne: this.#run },
      });
      if (other === null) throw error;
      const message = `${collection.namespace} holds a document of somebody else under an _id of the source, ${JSON.stringify(other._id)}; it stays as it is, and the run cannot go on`;
      throw new SimHashError('ERR_SIMHASH_TARGET', message);
    }
  }

  async forget(ids: readonly unknown[]): Promise<void> {
    const own = { _id: { $in: ids as never }, run: this.#run };
    await Promise.all([this.#kept.deleteMany(own), this.#duplicates.deleteMany(own)]);
  }

  async forgetAll(): Promise<void> {
    const own = { run: this.#run };
    await Promise.all([this.#kept.deleteMany(own), this.#duplicates.deleteMany(own)]);
  }
}

/** A field of the duplicates themselves. */
export class Marks implements Sink {
  readonly #collection: Collection;
  readonly #field: string;
  readonly #run: string;
  readonly #hold: () => Promise<void>;

  constructor(collection: Collection, field: string, run: string, hold: () => Promise<void>) {
    [this.#collection, this.#field, this.#run, this.#hold] = [collection, field, run, hold];
  }

  async write(batch: readonly Decided[]): Promise<void> {
    const [field, run] = [this.#field, this.#run];
    const changes = batch.flatMap(({ id, duplicate }) => {
      if (duplicate === undefined) return [];
      const { of, known, similarity, distance } = duplicate;
      const mark = {
        of,
        ...(known && { known }),
        ...(similarity !== undefined && { similarity }),
        ...(distance !== undefined && { distance }),
        run,
      };
      // Only where there is none, or one of this run.
      const free = { $or: [{ [field]: { $exists: false } }, { [`${field}.run`]: run }] };
      const update = { $set: { [field]: mark } };
      return [{ updateOne: { filter: { _id: id as never, ...free }, update } }];
    });
    for (let from = 0; from < changes.length; from += CHANGES) {
      const some = changes.slice(from, from + CHANGES);
      await this.#hold();
      const done: BulkWriteResult = await this.#collection.bulkWrite(some, { ordered: false });
      if (done.matchedCount < some.length)
        await this.#explain(some.map(({ updateOne }) => updateOne.filter._id));
    }
  }

  /** Why marks were not written: documents that are gone take none. */
  async #explain(ids: readonly never[]): Promise<void> {
    const own = `${this.#field}.run`;
    const other = await this.#collection.findOne({
      _id: { $in: ids as never },
      [this.#field]: { $exists: true },
      [own]: { $ne: this.#run },
    });
    if (other === null) return;
    const message = `${this.#collection.namespace}: the document with _id ${JSON.stringify(other._id)} has a field '${this.#field}' that is not of this run; unmark the earlier run, or name another field`;
    throw new SimHashError('ERR_SIMHASH_TARGET', message);
  }

  async forget(ids: readonly unknown[]): Promise<void> {
    await this.#unset({ _id: { $in: ids as never } });
  }

  async forgetAll(): Promise<void> {
    await this.#unset({});
  }

  async #unset(filter: Document): Promise<void> {
    const own = { ...filter, [`${this.#field}.run`]: this.#run };
    await this.#collection.updateMany(own, { $unset: { [this.#field]: '' } });
  }
}

/** The places of documents that were there already; `undefined` where something else went wrong too. */
function duplicateKeys(error: unknown): number[] | undefined {
  const { writeErrors } = error as MongoBulkWriteError;
  if (writeErrors === undefined) return undefined;
  const all = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
  return all.every(({ code }) => code === 11_000) ? all.map(({ index }) => index) : undefined;
}
