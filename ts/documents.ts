/** Documents as a stream: texts, or objects with one. */
import { types } from 'node:util';
import { typeError } from './errors';
import * as check from './options';

/** A text. `Uint8Array` (and so `Buffer`) holds UTF-8; malformed parts of either become U+FFFD. */
export type Text = string | Uint8Array;

/** A document: a text, or an object with one. */
export type Doc = Text | { readonly text: Text };

/** A web stream, also of another realm or a polyfill, as far as it is used. */
export interface WebStream<D> {
  getReader(): {
    read(): PromiseLike<{ readonly done: boolean; readonly value?: D | undefined }>;
    cancel(): PromiseLike<unknown>;
    releaseLock(): void;
  };
}

/** Where documents come from: anything that `for` or `for await` goes through, and web streams. */
export type Documents<D> = Iterable<D> | AsyncIterable<D> | WebStream<D>;

/** Where the text of a document is: in a field, `a.b` for nested ones, or what a function gives for it. */
export type TextSelector<D> = string | ((doc: D) => Text | undefined);

/** A document has no text; `reason` goes on where its name ends. */
export class Missing {
  constructor(readonly reason: string) {}
}

/** The text of a document by a {@link TextSelector}; by default itself or its field `text`. */
export function textBy<D>(selector: TextSelector<D> | undefined): (doc: D) => Text | Missing {
  if (selector === undefined) return ownText;
  const [select, where]: [(doc: D) => unknown, string] =
    typeof selector === 'string'
      ? [fieldOf(selector), `in ${selector}`]
      : [selector, 'by the function text'];
  return (doc) => {
    const text = select(doc);
    return isText(text) ? text : new Missing(`must have a text ${where}, got ${check.show(text)}`);
  };
}

function ownText(doc: unknown): Text | Missing {
  const text = typeof doc === 'object' && doc !== null && 'text' in doc ? doc.text : doc;
  if (isText(text)) return text;
  const expected = 'a string, a Uint8Array or an object with such a text';
  return new Missing(`must be ${expected}, got ${check.show(text)}`);
}

function isText(value: unknown): value is Text {
  return typeof value === 'string' || types.isUint8Array(value);
}

/** The text of document `index`. */
export function textOf(doc: Doc, index: number): Text {
  const text = ownText(doc);
  if (text instanceof Missing) throw typeError(`docs[${index}] ${text.reason}`);
  return text;
}

/** The value of a field, `a.b` for nested ones; `undefined` where an object on the way lacks it. */
export function fieldOf(path: string): (doc: unknown) => unknown {
  const keys = path.split('.');
  return (doc) => {
    let value = doc;
    for (const key of keys) {
      value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    }
    return value;
  };
}

/** Any source but a string: an iterable as it is given, a web stream that is none as one. */
export function iterable<D>(docs: Documents<D>, name = 'docs'): Iterable<D> | AsyncIterable<D> {
  const methods = typeof docs === 'string' ? {} : Object(docs);
  if (Symbol.asyncIterator in methods || Symbol.iterator in methods) {
    return docs as Iterable<D> | AsyncIterable<D>;
  }
  if (typeof methods.getReader === 'function') {
    return { [Symbol.asyncIterator]: () => ofStream(docs as WebStream<D>) };
  }
  throw typeError(
    `${name} must be an iterable, async iterable or web stream of documents, got ${check.show(docs)}`,
  );
}

/** What the standard's own iterator of a web stream does. */
function ofStream<D>(stream: WebStream<D>): AsyncIterator<D, undefined> {
  const reader = stream.getReader();
  return {
    next: async () => {
      try {
        const { done, value } = await reader.read();
        if (!done) return { done, value: value as D };
      } catch (error) {
        reader.releaseLock();
        throw error;
      }
      reader.releaseLock();
      return { done: true, value: undefined };
    },
    return: async () => {
      const cancelled = reader.cancel();
      reader.releaseLock();
      await cancelled;
      return { done: true, value: undefined };
    },
  };
}

/** Documents one after the other, as `for await` takes them, but for those that are there at once. */
export interface Docs<D> {
  /** The next document, now or later; what is thrown here, or rejected, is the end. */
  next(): IteratorResult<D, undefined> | Promise<IteratorResult<D, undefined>>;
  /** Lets the source clean up. */
  return(): Promise<void>;
}

/** The documents of an {@link iterable}. */
export function iteratorOf<D>(docs: Documents<D>, name = 'docs'): Docs<D> {
  const given = iterable(docs, name) as Partial<AsyncIterable<D> & Iterable<D>>;
  const begun = given[Symbol.asyncIterator]?.();
  return begun === undefined
    ? ofSync((given as Iterable<D>)[Symbol.iterator](), name)
    : ofAsync(begun, name);
}

function ofAsync<D>(iterator: AsyncIterator<D>, name: string): Docs<D> {
  const { next } = iterator;
  return {
    // What is no promise of this realm, any object with a method `then` and a plain result count too.
    next: () => Promise.resolve(next.call(iterator)).then((answer) => result<D>(answer, name)),
    return: async () => {
      const closed = iterator.return?.();
      if (closed !== undefined) object(await closed, name);
    },
  };
}

function ofSync<D>(iterator: Iterator<D>, name: string): Docs<D> {
  const { next } = iterator;
  const close = async () => {
    const closed = iterator.return?.();
    if (closed !== undefined) await object(closed, name).value;
  };
  return {
    next: () => {
      const { done, value } = result<D>(next.call(iterator), name);
      if (done === true || !isThenable(value))
        return { done, value } as IteratorResult<D, undefined>;
      return Promise.resolve(value as PromiseLike<D>).then(
        (value) => ({ done: false, value }),
        (error) =>
          close().then(
            () => Promise.reject(error),
            () => Promise.reject(error),
          ),
      );
    },
    return: close,
  };
}

/** What an iterator has answered; nothing is read of it twice. */
function result<D>(answer: unknown, name: string): IteratorResult<D, undefined> {
  const given = object(answer, name);
  return given.done ? { done: true, value: undefined } : { done: false, value: given.value as D };
}

function object(answer: unknown, name: string): { done?: unknown; value?: unknown } {
  if ((typeof answer === 'object' && answer !== null) || typeof answer === 'function')
    return answer;
  throw typeError(`the iterator of ${name} must give an object, got ${check.show(answer)}`);
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
