/** Documents made of the bytes of an answer, and those among them that cannot be decoded as they stand. */
import type { Document } from 'mongodb';
import type { Driver } from './open';

/** Makes a document of its bytes. */
export type Read = (bytes: Uint8Array) => Document;

/** What is known of a document that holds a text of bytes that are not UTF-8. Not in the document: a field of any name may be the user's. */
const UNDECODABLE = new WeakMap<Document, { readonly isIdExact: boolean }>();

/** How values are read: with their types. */
const TYPED = { promoteValues: false, useBigInt64: false } as const;

/**
 * Reads documents, whose bytes are checked as they are decoded. One that fails is decoded once more, with U+FFFD in the place of what is not UTF-8, so that the run
 * can say which it was: a server may hold such texts, and one of them must not end the run. A U+FFFD that the document itself has is UTF-8, and passes.
 */
export function reader(bson: Driver['BSON']): Read {
  return (bytes) => {
    try {
      return bson.deserialize(bytes, TYPED);
    } catch {
      // Damaged in another way it fails again.
      const document = bson.deserialize(bytes, { ...TYPED, validation: { utf8: false } });
      // What a document of the id alone has between its length and its end stands in the bytes where the id was decoded without loss.
      const id = bson.serialize({ _id: document['_id'] }).subarray(4, -1);
      UNDECODABLE.set(document, { isIdExact: Buffer.from(bytes).includes(Buffer.from(id)) });
      return document;
    }
  };
}

/** Whether a text of a document has bytes that are not UTF-8. */
export const isUndecodable = (document: Document): boolean => UNDECODABLE.has(document);

/** Whether the id of a document is what the server has. */
export const isIdExact = (document: Document): boolean =>
  UNDECODABLE.get(document)?.isIdExact ?? true;
