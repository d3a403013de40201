/** The two streams of a command: data on standard output, everything for people on standard error. */
import { once } from 'node:events';
import { isatty } from 'node:tty';
import { redacted } from '../connect/url';
import { EXIT } from './exit';

const { NO_COLOR } = process.env;

export class Terminal {
  /** Standard error is a terminal: a progress bar may be drawn over. */
  readonly interactive = isatty(2);
  /** Data goes to the same screen: nothing may be drawn between its lines. */
  readonly isShared = this.interactive && isatty(1);
  readonly #colour = this.interactive && !NO_COLOR;
  #drawn = false;
  #stdout: NodeJS.WriteStream | undefined;
  #stderr: NodeJS.WriteStream | undefined;

  /** Writes data, and waits where the reader is slower than we are; the signal ends the waiting. */
  async write(data: string | Uint8Array, signal?: AbortSignal): Promise<void> {
    if (this.#drawn) this.redraw('');
    // Not before: touching `process.stdout` can make its pipe non-blocking, and `dedup -o -` writes to it from Rust.
    this.#stdout ??= process.stdout.on('error', (error) => this.#ended(error));
    if (!this.#stdout.write(data)) await once(this.#stdout, 'drain', { signal });
  }

  /** One line for people. */
  say(line: string): void {
    if (this.#drawn) this.redraw('');
    this.#tell(`${line}\n`);
  }

  /** An error, with an optional second line that says what would be right. */
  fail(message: string, hint?: string): void {
    const label = this.#colour ? '\u001B[31merror:\u001B[39m' : 'error:';
    this.say(`${label} ${message}`);
    if (hint !== undefined) this.say(`  ${hint}`);
  }

  /** Draws over the current line; an empty text removes it. Only where `interactive`. */
  redraw(line: string): void {
    this.#drawn = line !== '';
    this.#tell(`\r\u001B[2K${line}`);
  }

  /** Characters per line of standard error. */
  get width(): number {
    return process.stderr.columns ?? 80;
  }

  #tell(text: string): void {
    // Where standard error is closed, nobody is left to tell that.
    this.#stderr ??= process.stderr.on('error', () => {});
    // All that people are told passes here, errors of any origin too: none shows a password of an address.
    this.#stderr.write(redacted(text));
  }

  /** A reader that closes early, such as `head`, has what it wants: end quietly, as if everything had been read. */
  #ended(error: NodeJS.ErrnoException): void {
    // A socket, which is what Node gives its children for pipes, is reset where it is closed before all is read.
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') process.exit(EXIT.done);
    this.fail(`cannot write standard output: ${error.message}`);
    process.exit(EXIT.io);
  }
}
