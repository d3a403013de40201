/** Ctrl-C and termination: the first asks the work to stop cleanly, the second stops the process. */
import { constants } from 'node:os';
import type { Terminal } from './terminal';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export class Interrupt {
  readonly #controller = new AbortController();
  readonly #terminal: Terminal;
  #status: number | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    for (const name of SIGNALS) process.on(name, this.#onSignal);
  }

  /** For the work that is to be stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** 128 + the number of the signal that came, 130 for SIGINT; `undefined` while none came. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Gives the signals back to Node. */
  release(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    const status = 128 + constants.signals[name];
    if (this.#status !== undefined) process.exit(status);
    this.#status = status;
    // A terminal has just echoed ^C, perhaps behind the progress bar.
    const start = this.#terminal.interactive ? '\n' : '';
    this.#terminal.say(`${start}stopping; once more stops at once`);
    this.#controller.abort();
  };
}
