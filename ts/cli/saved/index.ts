/** An index with the ids of its records: opened, and saved so that both files fit each other or stay as they were. */
import type { FingerprinterOptions, Index } from '../..';
import { SavedIndexError, UsageError } from '../exit';
import type { Search } from '../near';
import { checkDistinct, Draft, type Output, openOutput } from '../output';
import type { Terminal } from '../terminal';
import { digestOf, idsPath, readIds } from './files';
import { Ids, IdsWriter } from './ids';
import { scan } from './scan';

/** An index of the command line has fingerprints alone: nothing is verified, and no texts are stored. */
export const BARE = { method: 'simhash', verify: false, texts: false } as const;

export interface SavedIndex {
  readonly index: Index<'simhash', false>;
  readonly ids: Ids;
}

/** The path that `--index` gives. */
export function required(
  { index }: { readonly index: string | undefined },
  command: string,
): string {
  if (index === undefined) {
    throw new UsageError(`${command} needs --index INDEX`, 'index build makes one');
  }
  return index;
}

/**
 * Opens `path` and its ids.
 *
 * @throws InputError where it cannot be read; SavedIndexError and the library's errors where it is damaged.
 */
export async function openSaved(
  path: string,
  threads: number,
  signal: AbortSignal,
): Promise<SavedIndex> {
  const { Index } = await import('../../index.js');
  const scanned = scan(await readIds(path), idsPath(path));
  const made = { ...scanned.header.fingerprinter, ...BARE, threads };
  // First, because the library says where in the file damage is.
  const index = await Index.open(path, { ...made, signal });
  const ids = new Ids(path, scanned, await digestOf(path, signal));
  if (index.size !== ids.length) {
    throw new SavedIndexError(
      `${path} has ${index.size} documents, ${idsPath(path)} has ${ids.length}; build the index again`,
    );
  }
  return { index, ids };
}

/** How a saved index is searched. */
export interface SavedSearch {
  readonly maxDistance: number | undefined;
  readonly limit: number | undefined;
  readonly threads: number;
  readonly signal: AbortSignal;
}

/** Opens `path` for searches by fingerprint, the nearest first; those equally near in the order in which they were added. */
export async function searchSaved(
  path: string,
  { maxDistance, limit, threads, signal }: SavedSearch,
): Promise<Search> {
  const { index, ids } = await openSaved(path, threads, signal);
  return async (batch) => {
    const texts = batch.map(({ text }) => text);
    const found = await index.searchManyAsync(texts, { maxDistance, limit, signal });
    return batch.map((_document, row) => ({
      matches: found.get(row).map(({ id, distance }) => ({ id: ids.get(id), distance })),
      truncated: found.isTruncated(row),
    }));
  };
}

/** A saved index in the making. */
export class Saving {
  readonly #draft: Draft;
  readonly #idsOutput: Output;
  readonly #writer: IdsWriter;

  private constructor(draft: Draft, idsOutput: Output, writer: IdsWriter) {
    this.#draft = draft;
    this.#idsOutput = idsOutput;
    this.#writer = writer;
  }

  /** Begins `path` anew with options, or goes on from its old ids. */
  static async begin(
    path: string,
    start: FingerprinterOptions | Ids,
    inputs: readonly string[],
    terminal: Terminal,
  ): Promise<Saving> {
    checkDistinct(path, inputs);
    // Before its ids are: what cannot be an index must not get ids either.
    const draft = new Draft(path, terminal);
    const idsOutput = openOutput(idsPath(path), inputs, terminal);
    return new Saving(draft, idsOutput, await IdsWriter.create(idsOutput, start));
  }

  /** Ids of the next documents. */
  async add(documents: readonly { readonly id: string }[]): Promise<void> {
    await this.#writer.add(documents.map(({ id }) => id));
  }

  /** Both files appear. */
  async commit(index: Index<'simhash', false>, signal: AbortSignal): Promise<void> {
    await index.save(this.#draft.path, { signal });
    await this.#writer.seal(await digestOf(this.#draft.path, signal));
    // In this order: see `ids.ts`.
    await this.#idsOutput.commit();
    this.#draft.commit();
  }

  /** Nothing appears, unless `commit` came before. */
  discard(): void {
    this.#idsOutput.discard();
    this.#draft.discard();
  }
}
