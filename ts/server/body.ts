/** Bodies of requests, within their limits, as values that have been checked. */
import type { IncomingMessage } from 'node:http';
import type { Limits } from './limits';
import { busy, invalid, Problem, tooLarge } from './problem';
import { JSON_TYPE, LINES_TYPE, type Route } from './routes';
import { conform, type ObjectSchema } from './schema';

/** Reads bodies; what all of them take together is limited. */
export class Bodies {
  readonly #limits: Limits;
  #bytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** The body of a request as its route takes it: a value, or a value or the reason why there is none for each line. */
  async read(request: IncomingMessage, { takes }: Route): Promise<unknown> {
    if (takes === undefined) return undefined;
    const { many, schema } = takes;
    typed(request, many ? [LINES_TYPE, JSON_TYPE] : [JSON_TYPE]);
    const { line, body } = this.#limits;
    const text = await this.#text(request, many ? body : line);
    return many ? this.#lines(text, schema) : parsed(text, schema, 'the body');
  }

  #lines(text: string, schema: ObjectSchema): (object | Error)[] {
    const { line: most, queue } = this.#limits;
    const lines = text.split('\n');
    // What ends with the end of a line has no line behind it.
    if (lines.at(-1)?.trim() === '') lines.pop();
    if (lines.length > queue)
      throw tooLarge(`at most ${queue} lines are taken, got ${lines.length}`);
    return lines.map((line, row) => {
      const name = `line ${row + 1}`;
      try {
        if (line.length > most || Buffer.byteLength(line) > most) {
          throw tooLarge(`${name} is longer than ${most} bytes`);
        }
        return parsed(line, schema, name);
      } catch (error) {
        return error as Error;
      }
    });
  }

  async #text(request: IncomingMessage, most: number): Promise<string> {
    const said = Number(request.headers['content-length'] ?? 0);
    const larger = () => tooLarge(`the body is longer than ${most} bytes`);
    if (said > most) throw larger();
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      // Not the usual loop, which ends the connection where it is left, and the answer with it.
      const chunksOf = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      for await (const chunk of chunksOf) {
        bytes += chunk.length;
        this.#bytes += chunk.length;
        if (bytes > most) throw larger();
        if (this.#bytes > this.#limits.bodies) throw busy('too many large requests at once');
        chunks.push(chunk);
      }
      return decoder.decode(Buffer.concat(chunks));
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (error instanceof TypeError) throw invalid('the body is not UTF-8');
      throw invalid('the body ended early');
    } finally {
      this.#bytes -= bytes;
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws Problem 415 where the body is said to be something else: a form of a web page cannot say that it is JSON. */
function typed({ headers }: IncomingMessage, types: readonly string[]): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (types.includes(type.trim().toLowerCase())) {
    const { 'content-encoding': encoding = 'identity' } = headers;
    if (encoding === 'identity') return;
    throw new Problem(415, 'no-json', 'Content-Encoding must be left out');
  }
  throw new Problem(415, 'no-json', `Content-Type must be ${types.join(' or ')}`);
}

function parsed(text: string, schema: ObjectSchema, name: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The words of the parser quote the text.
    throw invalid(`${name} is not JSON`);
  }
  conform(value, schema, name);
  return value as object;
}
