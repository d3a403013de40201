/**
 * What a line of labels or of a result says: these documents belong together, or this one stands alone.
 *
 * Both sides have the same forms, which are those that the command line writes: clusters
 * (`{ representative, members: [{ id }] }`, or an array of ids, the first of which is kept), pairs
 * (`{ a, b, similarity?, label? }`) and decisions (`{ id, duplicateOf? }`).
 */
import { typeError } from './errors';
import { show } from './options';

/** Names a document. `7` and `'7'` are the same. */
export type DocId = string | number;

/** A cluster of documents; the first, or the representative, is the one that is kept. */
export type ClusterStatement =
  | readonly DocId[]
  | {
      readonly representative: DocId;
      readonly members: readonly (DocId | { readonly id: DocId })[];
    };

/** Two documents that are alike, or are known not to be. */
export interface PairStatement {
  readonly a: DocId;
  readonly b: DocId;
  /** 0 to 1. Without it that of `label`. */
  readonly similarity?: number | undefined;
  /** What a person said: 1 or true for duplicates, 0 or false for different texts. Default 1. */
  readonly label?: 0 | 1 | boolean | undefined;
}

/** What became of a document. */
export interface DecisionStatement {
  /** Its id; without one its `index`. */
  readonly id?: DocId | undefined;
  /** Its position in the stream. */
  readonly index?: number | undefined;
  /** The document that was kept in its place. */
  readonly duplicateOf?: DocId | null | undefined;
  /** 0 to 1. */
  readonly similarity?: number | undefined;
}

/** A line of labels or of a result. */
export type Statement = ClusterStatement | PairStatement | DecisionStatement;

/** A statement in one form. */
export type Said =
  | { readonly ids: readonly string[] }
  | { readonly a: string; readonly b: string; readonly similarity: number };

/** Why a value is no statement. */
class Unclear extends Error {}

/** What a value says, or why it says nothing. */
export function said(value: unknown): Said | string {
  try {
    if (Array.isArray(value)) return { ids: value.map(idOf) };
    if (typeof value !== 'object' || value === null) return `${show(value)} is no statement`;
    return ofObject(value as Record<string, unknown>);
  } catch (error) {
    if (error instanceof Unclear) return error.message;
    throw error;
  }
}

/**
 * What the element `name` of an argument says.
 *
 * @throws TypeError where it says nothing.
 */
export function saidBy(value: unknown, name: string): Said {
  const answer = said(value);
  if (typeof answer === 'string') throw typeError(`${name}: ${answer}`);
  return answer;
}

function ofObject(value: Record<string, unknown>): Said {
  const { a, b, index, id = index, duplicateOf, members, representative } = value;
  if (members !== undefined) {
    if (!Array.isArray(members)) throw new Unclear(`members is ${show(members)}, not an array`);
    const first = representative === undefined ? [] : [idOf(representative)];
    return { ids: [...first, ...members.map(memberOf)] };
  }
  if (a !== undefined && b !== undefined) {
    return { a: idOf(a), b: idOf(b), similarity: similarityOf(value) };
  }
  if (id === undefined) {
    throw new Unclear('no cluster (representative, members), pair (a, b) or decision (id)');
  }
  if (duplicateOf === undefined || duplicateOf === null) return { ids: [idOf(id)] };
  return { a: idOf(duplicateOf), b: idOf(id), similarity: similarityOf(value) };
}

function memberOf(member: unknown): string {
  const named = typeof member === 'object' && member !== null && 'id' in member;
  return idOf(named ? member.id : member);
}

function idOf(id: unknown): string {
  if (typeof id === 'string') return id;
  // Beyond 2^53 JavaScript has already rounded it: two ids would become one.
  if (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER) return String(id);
  throw new Unclear(`${show(id)} is no id: a string, or a number within 2^53`);
}

function similarityOf({ similarity, label = 1 }: Record<string, unknown>): number {
  if (typeof similarity === 'number' && similarity >= 0 && similarity <= 1) return similarity;
  if (similarity !== undefined && similarity !== null) {
    throw new Unclear(`similarity is ${show(similarity)}, not a number from 0 to 1`);
  }
  if (label === 0 || label === 1 || typeof label === 'boolean') return Number(label);
  throw new Unclear(`label is ${show(label)}, not 0 or 1`);
}
