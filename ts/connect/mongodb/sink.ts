/** Where decisions go: into two collections, or as marks into the documents themselves. Only documents of the run are ever changed. */
import type { AnyBulkWriteOperation, Collection, Document, MongoBulkWriteError } from 'mongodb';
import { SimHashError } from '../../errors';
import { fieldOf } from './document';
import type { Driver } from './open';
import { after, typeOf } from './order';
import type { Prints } from './prints';
import { ofOthers } from './refuse';

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
  /** Its fingerprint, `undefined` where it has none; absent: it is made where it is asked for. */
  readonly fingerprint?: bigint | undefined;
}

/** A decision that could not be written, and why the run goes on. */
export interface Left {
  readonly id: unknown;
  readonly reason: string;
}

/** Takes decisions, some at a time. */
export interface Sink {
  /** Writes all of them, but for those that it gives. */
  write(batch: readonly Decided[]): Promise<readonly Left[]>;
  /** Takes back what the run has written of these documents. */
  forget(ids: readonly unknown[]): Promise<void>;
  /** Takes back what the run has written of documents behind an id, or all of it. */
  forgetBehind(last?: { readonly id: unknown }): Promise<void>;
}

/** The answer of a server that has a document with the same `_id`. */
const THERE = 11_000;
/** Most operations of one command that changes documents in place. */
const CHANGES = 1000;

/** Kept documents into one collection, what is known of duplicates into another. */
export class Collections implements Sink {
  readonly #kept: Collection;
  readonly #duplicates: Collection;
  readonly #run: string;
  readonly #hold: () => Promise<void>;
  readonly #ejson: Driver['BSON']['EJSON'];
  readonly #prints: Prints | undefined;

  /** `hold` throws when the run is no longer that of this process; without `prints` no document gets a fingerprint. */
  constructor(
    [kept, duplicates]: readonly [Collection, Collection],
    run: string,
    hold: () => Promise<void>,
    ejson: Driver['BSON']['EJSON'],
    prints?: Prints,
  ) {
    [this.#kept, this.#duplicates, this.#run, this.#hold] = [kept, duplicates, run, hold];
    [this.#ejson, this.#prints] = [ejson, prints];
  }

  async write(batch: readonly Decided[]): Promise<readonly Left[]> {
    const run = this.#run;
    const kept = batch.filter(({ duplicate }) => duplicate === undefined);
    const fingerprints = await this.#fingerprintsOf(kept);
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
    return [];
  }

  /** Of these documents as they are written; `undefined`: none are. */
  async #fingerprintsOf(kept: readonly Decided[]): Promise<readonly unknown[] | undefined> {
    const prints = this.#prints;
    if (prints === undefined) return undefined;
    const isMade = kept.every((it) => 'fingerprint' in it);
    const made = isMade
      ? kept.map(({ fingerprint }) => fingerprint)
      : await prints.of(kept.map(({ text }) => text));
    return Array.from(made, prints.written);
  }

  /** Inserts what is not there already. */
  async #insert(collection: Collection, documents: readonly Document[]): Promise<void> {
    if (documents.length === 0) return;
    try {
      // Left to itself the driver gives a document another _id where it is null.
      const how = { ordered: false, forceServerObjectId: true };
      await collection.insertMany(documents as never, how);
    } catch (error) {
      const failed = placesOf(error, [THERE]);
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
      const message = `${collection.namespace} holds a document of somebody else under an _id of the source, ${this.#ejson.stringify(other._id, { relaxed: false })}; it stays as it is, and the run cannot go on`;
      throw new SimHashError('ERR_SIMHASH_TARGET', message);
    }
  }

  async forget(ids: readonly unknown[]): Promise<void> {
    const own = { _id: { $in: ids as never }, run: this.#run };
    await Promise.all([this.#kept.deleteMany(own), this.#duplicates.deleteMany(own)]);
  }

  async forgetBehind(last?: { readonly id: unknown }): Promise<void> {
    const run = this.#run;
    for (const behind of last === undefined ? [{}] : after(last.id)) {
      const own = { ...behind, run };
      await Promise.all([this.#kept.deleteMany(own), this.#duplicates.deleteMany(own)]);
    }
    if (last === undefined || typeOf(last.id) === 'MaxKey') return;
    // The last of all, which `after` leaves out.
    for (const collection of [this.#kept, this.#duplicates]) {
      const found = await collection.findOne({ run }, { sort: { _id: -1 }, promoteValues: false });
      if (found !== null && typeOf(found._id) === 'MaxKey') {
        await collection.deleteOne({ _id: found._id, run });
      }
    }
  }
}

/** Answers of a server that has no room for a field: the document would be too large with it. */
const NO_ROOM: readonly unknown[] = [10_334, 17_280, 17_419, 17_420];

/** A field of the duplicates themselves. */
export class Marks implements Sink {
  readonly #collection: Collection;
  readonly #field: string;
  readonly #run: string;
  readonly #hold: () => Promise<void>;
  readonly #ejson: Driver['BSON']['EJSON'];

  constructor(
    collection: Collection,
    field: string,
    run: string,
    hold: () => Promise<void>,
    ejson: Driver['BSON']['EJSON'],
  ) {
    [this.#collection, this.#field, this.#run, this.#hold] = [collection, field, run, hold];
    this.#ejson = ejson;
  }

  async write(batch: readonly Decided[]): Promise<readonly Left[]> {
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
    const left: Left[] = [];
    for (let from = 0; from < changes.length; from += CHANGES) {
      const some = changes.slice(from, from + CHANGES);
      await this.#hold();
      const ids = some.map(({ updateOne }) => updateOne.filter._id);
      const { matched, large } = await this.#change(some);
      for (const at of large) left.push({ id: ids[at], reason: 'no room for a mark' });
      if (matched + large.length < some.length) {
        left.push(...(await this.#gone(ids.filter((_, at) => !large.includes(at)))));
      }
    }
    return left;
  }

  /** How many documents there were, and the places of those that would be too large with their mark. */
  async #change(
    changes: AnyBulkWriteOperation[],
  ): Promise<{ matched: number; large: readonly number[] }> {
    try {
      const done = await this.#collection.bulkWrite(changes, { ordered: false });
      return { matched: done.matchedCount, large: [] };
    } catch (error) {
      const large = placesOf(error, NO_ROOM);
      if (large === undefined) throw error;
      return { matched: (error as MongoBulkWriteError).result.matchedCount, large };
    }
  }

  /**
   * Documents that are gone, and take no mark.
   *
   * @throws SimHashError ERR_SIMHASH_TARGET where one is there, and has a field that is not of this run.
   */
  async #gone(ids: readonly never[]): Promise<Left[]> {
    const here = await this.#collection
      .find({ _id: { $in: ids as never } }, { projection: { _id: 1, [this.#field]: 1 } })
      .toArray();
    const isMarked = (it: Document) => fieldOf(it, `${this.#field}.run`) === this.#run;
    const other = here.find((it) => !isMarked(it) && fieldOf(it, this.#field) !== undefined);
    if (other === undefined) {
      const marked = new Set(here.filter(isMarked).map(({ _id }) => this.#name(_id)));
      // One that is there again without a mark is not what was read, or is on its way out.
      const gone = ids.filter((id) => !marked.has(this.#name(id)));
      return gone.map((id) => ({ id, reason: 'gone from the collection' }));
    }
    throw ofOthers(this.#collection, this.#field, this.#name(other._id));
  }

  /** An id as text. */
  #name(id: unknown): string {
    return this.#ejson.stringify(id, { relaxed: false });
  }

  async forget(ids: readonly unknown[]): Promise<void> {
    await this.#unset({ _id: { $in: ids as never } });
  }

  async forgetBehind(last?: { readonly id: unknown }): Promise<void> {
    for (const behind of last === undefined ? [{}] : after(last.id)) await this.#unset(behind);
  }

  async #unset(filter: Document): Promise<void> {
    const own = { ...filter, [`${this.#field}.run`]: this.#run };
    await this.#collection.updateMany(own, { $unset: { [this.#field]: '' } });
  }
}

/** The places of what the server refused for one of these reasons; `undefined` where something else went wrong too. */
function placesOf(error: unknown, codes: readonly unknown[]): number[] | undefined {
  const { writeErrors = [] } = error as MongoBulkWriteError;
  const all = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
  // An error of the command as a whole, such as a connection that broke, names no document.
  if (all.length === 0) return undefined;
  return all.every(({ code }) => codes.includes(code)) ? all.map(({ index }) => index) : undefined;
}
