/**
 * The ids of a saved index: which record each position is.
 *
 * The index numbers documents from 0; `INDEX.ids.jsonl` beside it has their ids in that order:
 *
 * ```text
 * {"ids":"simhash-native","version":1,"fingerprinter":{…}}   how texts became fingerprints
 * "d001"                                                     one line per document
 * "d002"
 * {"documents":2,"index":"<sha-256>","lines":"<sha-256>"}    a seal: of the index file, of all lines above
 * ```
 * Adding documents copies the lines and appends further ones with a further seal. Two files cannot be replaced in one
 * step, and need not be: the ids are written first and hold the old seal as well, so they fit the old index and the new
 * one, whichever a crash leaves behind. What fits neither is refused.
 */
import { createHash } from 'node:crypto';
import type { FingerprinterOptions } from '../..';
import { SavedIndexError } from '../exit';
import type { Output } from '../output';
import { idsPath } from './files';
import { MAGIC, NEWLINE, type Scanned, VERSION } from './scan';

/** The ids of an index that was opened; in memory as the bytes of the file, eight bytes a document on top. */
export class Ids {
  /** The file up to the end of the seal that fits the index. */
  readonly bytes: Buffer;
  readonly fingerprinter: FingerprinterOptions;
  readonly #starts: Float64Array;

  /**
   * Those of `index`, a saved index with this digest.
   *
   * @throws SavedIndexError where the ids are of another one.
   */
  constructor(index: string, { bytes, header, starts, seals }: Scanned, digest: string) {
    const seal = seals.findLast((candidate) => candidate.index === digest);
    if (seal === undefined) {
      throw new SavedIndexError(
        `${idsPath(index)} does not belong to ${index}: they are of two runs, or the first is cut short; build the index again`,
      );
    }
    this.bytes = bytes.subarray(0, seal.end);
    this.fingerprinter = header.fingerprinter;
    this.#starts = starts.subarray(0, seal.documents);
  }

  /** Number of documents. */
  get length(): number {
    return this.#starts.length;
  }

  /** The record's id of a position. */
  get(position: number): string {
    const start = this.#starts[position] ?? 0;
    const end = this.bytes.indexOf(NEWLINE, start);
    return JSON.parse(this.bytes.toString('utf8', start, end)) as string;
  }
}

/** Writes an ids file: of a new index, or one that goes on from the ids of an old one. */
export class IdsWriter {
  readonly #output: Output;
  readonly #hash = createHash('sha256');
  #documents: number;

  private constructor(output: Output, documents: number) {
    this.#output = output;
    this.#documents = documents;
  }

  static async create(output: Output, start: FingerprinterOptions | Ids): Promise<IdsWriter> {
    const old = start instanceof Ids ? start : undefined;
    const writer = new IdsWriter(output, old?.length ?? 0);
    if (old !== undefined) await writer.#append(old.bytes);
    else {
      const header = { ids: MAGIC, version: VERSION, fingerprinter: start };
      await writer.#append(`${JSON.stringify(header)}\n`);
    }
    return writer;
  }

  async add(ids: readonly string[]): Promise<void> {
    this.#documents += ids.length;
    await this.#append(ids.map((id) => `${JSON.stringify(id)}\n`).join(''));
  }

  /** Ends the file for an index with this digest. */
  async seal(index: string): Promise<void> {
    const lines = this.#hash.copy().digest('hex');
    await this.#append(`${JSON.stringify({ documents: this.#documents, index, lines })}\n`);
  }

  async #append(text: string | Uint8Array): Promise<void> {
    this.#hash.update(text);
    await this.#output.write(text);
  }
}
