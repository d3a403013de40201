/** Documents as a stream: texts, or objects with one. */
import { typeError } from './errors';
import * as check from './options';

/** A text. `Uint8Array` (and so `Buffer`) holds UTF-8; malformed parts of either become U+FFFD. */
export type Text = string | Uint8Array;

/** A document: a text, or an object with one. */
export type Doc = Text | { readonly text: Text };

/** The text of document `index`. */
export function textOf(doc: Doc, index: number): Text {
  const text = typeof doc === 'object' && doc !== null && 'text' in doc ? doc.text : doc;
  if (typeof text === 'string' || text instanceof Uint8Array) return text;
  throw typeError(
    `docs[${index}] must be a string, a Uint8Array or an object with such a text, got ${check.show(text)}`,
  );
}

/** The documents of any iterable but a string. */
export function iteratorOf<D>(
  docs: Iterable<D> | AsyncIterable<D>,
): Iterator<D> | AsyncIterator<D> {
  if (typeof docs !== 'string' && docs !== null && docs !== undefined) {
    if (Symbol.asyncIterator in Object(docs))
      return (docs as AsyncIterable<D>)[Symbol.asyncIterator]();
    if (Symbol.iterator in Object(docs)) return (docs as Iterable<D>)[Symbol.iterator]();
  }
  throw typeError(
    `docs must be an iterable or async iterable of documents, got ${check.show(docs)}`,
  );
}
