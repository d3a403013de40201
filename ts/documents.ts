/** Documents as a stream: texts, or objects with one. */
import { types } from 'node:util';
import { typeError } from './errors';
import * as check from './options';

/** A text. `Uint8Array` (and so `Buffer`) holds UTF-8; malformed parts of either become U+FFFD. */
export type Text = string | Uint8Array;

/** A document: a text, or an object with one. */
export type Doc = Text | { readonly text: Text };

/** The text of document `index`. */
export function textOf(doc: Doc, index: number): Text {
  const text = typeof doc === 'object' && doc !== null && 'text' in doc ? doc.text : doc;
  if (typeof text === 'string' || types.isUint8Array(text)) return text;
  throw typeError(
    `docs[${index}] must be a string, a Uint8Array or an object with such a text, got ${check.show(text)}`,
  );
}

/** Any iterable but a string, as it is given. */
export function iterable<D>(docs: Iterable<D> | AsyncIterable<D>): typeof docs {
  const methods = typeof docs === 'string' ? {} : Object(docs);
  if (Symbol.asyncIterator in methods || Symbol.iterator in methods) return docs;
  throw typeError(
    `docs must be an iterable or async iterable of documents, got ${check.show(docs)}`,
  );
}

/** Documents one after the other, as `for await` takes them, but for those that are there at once. */
export interface Docs<D> {
  /** The next document, now or later; what is thrown here, or rejected, is the end. */
  next(): IteratorResult<D, undefined> | Promise<IteratorResult<D, undefined>>;
  /** Lets the source clean up. */
  return(): Promise<void>;
}

/** The documents of an {@link iterable}. */
export function iteratorOf<D>(docs: Iterable<D> | AsyncIterable<D>): Docs<D> {
  const given = iterable(docs) as Partial<AsyncIterable<D> & Iterable<D>>;
  const begun = given[Symbol.asyncIterator]?.();
  return begun === undefined ? ofSync((docs as Iterable<D>)[Symbol.iterator]()) : ofAsync(begun);
}

function ofAsync<D>(iterator: AsyncIterator<D>): Docs<D> {
  const { next } = iterator;
  return {
    // What is no promise of this realm, any object with a method `then` and a plain result count too.
    next: () => Promise.resolve(next.call(iterator)).then(result<D>),
    return: async () => {
      const closed = iterator.return?.();
      if (closed !== undefined) object(await closed);
    },
  };
}

function ofSync<D>(iterator: Iterator<D>): Docs<D> {
  const { next } = iterator;
  const close = async () => {
    const closed = iterator.return?.();
    if (closed !== undefined) await object(closed).value;
  };
  return {
    next: () => {
      const { done, value } = result<D>(next.call(iterator));
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
function result<D>(answer: unknown): IteratorResult<D, undefined> {
  const given = object(answer);
  return given.done ? { done: true, value: undefined } : { done: false, value: given.value as D };
}

function object(answer: unknown): { done?: unknown; value?: unknown } {
  if ((typeof answer === 'object' && answer !== null) || typeof answer === 'function')
    return answer;
  throw typeError(`the iterator of docs must give an object, got ${check.show(answer)}`);
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
