/** The documents of JSON lines in batches, with rejections, counts and progress: how every command on an index reads. */
import { statSync } from 'node:fs';
import { UsageError } from './exit';
import { ProgressReport } from './progress';
import { type Document, records } from './records';
import { Rejections } from './rejections';
import type { Terminal } from './terminal';

/** Documents per call into the addon: all cores have work, and a batch of long texts is still some megabytes. */
const BATCH = 4096;

/** The options that say where text and id are, and whether people want to hear of progress. */
export interface IntakeOptions {
  readonly 'text-field': string;
  readonly 'id-field': string;
  readonly quiet: boolean;
}

export class Intake {
  readonly #inputs: readonly string[];
  readonly #options: IntakeOptions;
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;
  readonly #rejections: Rejections;
  readonly #start = performance.now();
  #documents = 0;
  /** As they lie in the files, and decompressed. */
  #bytes = 0;
  #textBytes = 0;

  /** @throws UsageError where standard input is to be read twice. */
  constructor(
    inputs: readonly string[],
    options: IntakeOptions,
    terminal: Terminal,
    signal: AbortSignal,
  ) {
    if (inputs.filter((input) => input === '-').length > 1) {
      throw new UsageError('standard input (-) can be read only once');
    }
    this.#inputs = inputs;
    this.#options = options;
    this.#terminal = terminal;
    this.#signal = signal;
    this.#rejections = new Rejections(terminal);
  }

  /** Documents so far. */
  get documents(): number {
    return this.#documents;
  }

  /** Malformed records so far. */
  get rejected(): number {
    return this.#rejections.count;
  }

  /** What a summary says of the reading. */
  get figures() {
    const { documents, rejected } = this;
    const seconds = (performance.now() - this.#start) / 1000;
    return { read: documents + rejected, documents, rejected, seconds, bytes: this.#textBytes };
  }

  /** All documents in order. */
  async *batches(): AsyncGenerator<Document[]> {
    const progress = this.#options.quiet ? undefined : new ProgressReport(this.#terminal);
    const totalBytes = sizes(this.#inputs);
    let batch: Document[] = [];
    try {
      for await (const document of this.#records()) {
        batch.push(document);
        if (batch.length < BATCH) continue;
        this.#documents += batch.length;
        progress?.update({ documents: this.#documents, bytes: this.#bytes, totalBytes });
        yield batch;
        batch = [];
      }
      this.#documents += batch.length;
      if (batch.length > 0) yield batch;
    } finally {
      progress?.end();
    }
    this.#rejections.end();
  }

  async *#records(): AsyncGenerator<Document> {
    const { 'text-field': textField, 'id-field': idField } = this.#options;
    const onBytes = (more: number) => {
      this.#bytes += more;
    };
    const onText = (more: number) => {
      this.#textBytes += more;
    };
    const source = { inputs: this.#inputs, textField, idField };
    yield* records({ ...source, signal: this.#signal, onBytes, onText }, this.#rejections);
  }
}

/** Bytes of all inputs together; `undefined` where one is no file. */
function sizes(inputs: readonly string[]): number | undefined {
  let total = 0;
  for (const input of inputs) {
    const about = input === '-' ? undefined : statSync(input, { throwIfNoEntry: false });
    if (about?.isFile() !== true) return undefined;
    total += about.size;
  }
  return total;
}
