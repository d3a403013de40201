/** Ctrl-C, termination, a terminal that hangs up: the first asks the work to stop cleanly, the second stops the process. */
import { constants } from 'node:os';
import { SimHashError } from '../errors';
import type { Terminal } from './terminal';

/** What to do about a run that stopped and has kept what it did. */
export const GO_ON = 'to resume from here, run the same command again with --resume';

/** What people are told of a run that was stopped. */
export interface Stopped {
  /** What became of the output. */
  readonly left: string;
  /** How to go on. */
  readonly next: string;
}

/**
 * Runs `work` with a signal that Ctrl-C raises. Its status is the result; that of the signal if one ended it, once people
 * have been told what became of the output, which goes to standard output (`-`) or to a file, and how to go on, as far as `stopped` does not say it.
 */
export async function interruptible(
  terminal: Terminal,
  output: string | undefined,
  work: (signal: AbortSignal) => Promise<number>,
  stopped?: Partial<Stopped>,
): Promise<number> {
  const interrupt = new Interrupt(terminal);
  try {
    return await work(interrupt.signal);
  } catch (error) {
    if (interrupt.status === undefined) throw error;
    const files = output === '-' ? 'the output is incomplete' : 'no output was written';
    const anew = 'to resume, run the same command again: it starts from the beginning';
    const { left = files, next = anew } = stopped ?? {};
    terminal.say(`interrupted; ${left}`);
    if (error instanceof SimHashError && error.code === 'ERR_SIMHASH_SETTLED') {
      terminal.say(error.message);
    }
    terminal.say(next);
    return interrupt.status;
  } finally {
    interrupt.release();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

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
