/** Two texts side by side: what only one of them has, and where numbers are. */
import { type Change, changes } from '../../cli/difference';
import { h } from './dom';

/** Units of a text that are looked at one by one: what a reader takes for one character. */
const segmenter =
  'Segmenter' in Intl ? new Intl.Segmenter(undefined, { granularity: 'grapheme' }) : undefined;

function graphemes(text: string): string[] {
  if (segmenter === undefined) return [...text];
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/**
 * Digits with what stands between them, and numbers written in ideographs. Those of one sign are often no numbers (一般), and some of two
 * signs are words (万一, 千万, 一一).
 */
const NUMBER =
  /[0-9０-９]+(?:[.,:：．，/-][0-9０-９]+)*[%％‰]?|第?(?!(?<![0-9０-９])(?:万一|千万|一一)(?![零〇一二三四五六七八九十百千万亿两]))[零〇一二三四五六七八九十百千万亿两]{2,}|第[一二三四五六七八九十]/gu;

/** A sign of a number. */
const DIGIT = /[0-9０-９零〇一二三四五六七八九十百千万亿两]/u;

/** What texts that begin with this are in: the shapes of ideographs differ from language to language. */
function languageOf(text: string): string | undefined {
  if (/[\u3040-\u30ff]/u.test(text)) return 'ja';
  if (/[\uac00-\ud7af]/u.test(text)) return 'ko';
  return /\p{Script=Han}/u.test(text) ? 'zh' : undefined;
}

/** A stretch of a text that the other one has not. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The same, with what the other text has there; it may be empty. */
interface Own extends Stretch {
  readonly other: string;
}

/** What differs between two texts. */
export interface Difference {
  readonly places: number;
  readonly first: HTMLElement;
  readonly second: HTMLElement;
}

/** Where single characters agree by chance between two changes, the two are one: it reads better. */
const CHANCE = 1;

/** Both texts as elements. */
export function compared(first: string, second: string): Difference {
  const all = joined(first, changes(first, second, graphemes));
  let moved = 0;
  const left: Own[] = [];
  const right: Own[] = [];
  for (const { at, removed, added } of all) {
    left.push({ from: at, to: at + removed.length, other: added });
    right.push({ from: at + moved, to: at + moved + added.length, other: removed });
    moved += added.length - removed.length;
  }
  return {
    places: all.length,
    first: shown(first, left, 'gone'),
    second: shown(second, right, 'new'),
  };
}

/** A text with its numbers marked. */
export function plain(text: string): HTMLElement {
  return shown(text, [], 'gone');
}

function joined(text: string, all: readonly Change[]): Change[] {
  const result: Change[] = [];
  for (const change of all) {
    const last = result.at(-1);
    const end = last === undefined ? 0 : last.at + last.removed.length;
    const between = text.slice(end, change.at);
    const size = Math.max(change.removed.length, change.added.length);
    if (last !== undefined && [...between].length <= CHANCE && size + length(last) > 2) {
      const removed = last.removed + between + change.removed;
      result[result.length - 1] = {
        at: last.at,
        removed,
        added: last.added + between + change.added,
      };
    } else result.push(change);
  }
  return result;
}

function length({ removed, added }: Change): number {
  return Math.max(removed.length, added.length);
}

/** A text in parts: alike or not, a number or not. */
function shown(text: string, own: readonly Own[], kind: 'gone' | 'new'): HTMLElement {
  const element = h('div', { class: 'text', dir: 'auto', lang: languageOf(text) });
  const numbers = Array.from(text.matchAll(NUMBER), ({ 0: number, index }) => {
    const place = { from: index, to: index + number.length };
    return { ...place, isOther: own.some((stretch) => isChanged(stretch, place)) };
  });
  const there = own.filter(({ from, to }) => from < to);
  const ends = new Set([
    0,
    text.length,
    ...[...there, ...numbers].flatMap(({ from, to }) => [from, to]),
  ]);
  const sorted = [...ends].sort((a, b) => a - b);
  for (let place = 0; place + 1 < sorted.length; place++) {
    const [from = 0, to = 0] = [sorted[place], sorted[place + 1]];
    const part = text.slice(from, to);
    const inside = ({ from: start, to: end }: Stretch) => start <= from && to <= end;
    const number = numbers.find(inside);
    const name = number && (number.isOther ? 'number other' : 'number');
    if (there.some(inside)) {
      element.append(h(kind === 'gone' ? 'del' : 'ins', { class: name }, visible(part)));
    } else element.append(name === undefined ? part : h('span', { class: name }, part));
  }
  return element;
}

/** Whether a number is another one in the other text: part of it is changed, or digits stand beside it there. */
function isChanged({ from, to, other }: Own, number: Stretch): boolean {
  if (from < to) return from < number.to && number.from < to;
  return number.from <= from && from <= number.to && DIGIT.test(other);
}

/** What is only the end of a line would not be seen. */
function visible(part: string): string {
  return /^[\r\n]+$/.test(part) ? `↵${part}` : part;
}
