/** Malformed records: the first are named, the rest are counted. */
import { oneLine, plural } from './format';
import type { Terminal } from './terminal';

/** Enough to see what is wrong with a file, few enough to read. */
const NAMED = 10;

export class Rejections {
  readonly #terminal: Pick<Terminal, 'say'>;
  #count = 0;

  constructor(terminal: Pick<Terminal, 'say'>) {
    this.#terminal = terminal;
  }

  get count(): number {
    return this.#count;
  }

  add(file: string, line: number, reason: string): void {
    this.#count++;
    if (this.#count <= NAMED) this.#terminal.say(`${file}:${line}: ${oneLine(reason)}`);
  }

  /** Says how many were not named, where `total` were rejected. */
  end(total = this.#count): void {
    const unnamed = total - Math.min(this.#count, NAMED);
    if (unnamed > 0) this.#terminal.say(`and ${plural(unnamed, 'more rejected record')}`);
  }
}
