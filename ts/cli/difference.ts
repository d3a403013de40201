/** Where two texts differ, character by character: the first thing that people want to see of a pair. */
import { oneLine } from './format';

/** A run of characters (code points) that the other text has not, and what it has there. */
export interface Change {
  /** Where it is in the first text, in UTF-16 code units. */
  readonly at: number;
  readonly removed: string;
  readonly added: string;
}

/** Characters added and removed beyond which the rest is one change: 2,000 take 0.1 s and 16 MB. */
const MOST = 2_000;
/** Characters shown before and behind a change. */
const CONTEXT = 10;
/** Lines shown; the rest is counted. */
const SHOWN = 12;

/**
 * The changes that make `b` of `a`, the fewest characters; in order (the greedy algorithm of Myers, 1986). What a character is, `split` says;
 * without it a code point.
 */
export function changes(
  a: string,
  b: string,
  split: (text: string) => readonly string[] = (text) => [...text],
): Change[] {
  const [from, to] = [split(a), split(b)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  const rest = Math.min(from.length, to.length) - start;
  while (end < rest && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  const script = steps(from.slice(start, from.length - end), to.slice(start, to.length - end));
  return merged(from.slice(0, start).join('').length, script);
}

/** A character of the first text, of the second, or of both. */
type Step = readonly [kind: '-' | '+' | '=', character: string];

function steps(a: readonly string[], b: readonly string[]): Step[] {
  const [n, m] = [a.length, b.length];
  const most = Math.min(n + m, MOST);
  /** By diagonal, how far into `a` it is possible to come, before each round. */
  const rounds: Int32Array[] = [];
  const reached = new Int32Array(2 * most + 3);
  const at = (diagonal: number) => reached[diagonal + most + 1] ?? 0;
  for (let round = 0; round <= most; round++) {
    rounds.push(reached.slice(most + 1 - round, most + 2 + round));
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      const down = isDown(diagonal, round, at);
      let x = down ? at(diagonal + 1) : at(diagonal - 1) + 1;
      while (x < n && x - diagonal < m && a[x] === b[x - diagonal]) x++;
      reached[diagonal + most + 1] = x;
      if (x >= n && x - diagonal >= m) return path(a, b, rounds);
    }
  }
  return [...a.map((one) => ['-', one] as const), ...b.map((one) => ['+', one] as const)];
}

function isDown(diagonal: number, round: number, at: (diagonal: number) => number): boolean {
  return diagonal === -round || (diagonal !== round && at(diagonal - 1) < at(diagonal + 1));
}

/** The way back through the rounds. */
function path(a: readonly string[], b: readonly string[], rounds: readonly Int32Array[]): Step[] {
  const found: Step[] = [];
  let [x, y] = [a.length, b.length];
  for (let round = rounds.length - 1; round >= 0; round--) {
    const reached = rounds[round];
    const at = (diagonal: number) => reached?.[diagonal + round] ?? 0;
    const diagonal = x - y;
    const down = isDown(diagonal, round, at);
    const before = round === 0 ? 0 : down ? at(diagonal + 1) : at(diagonal - 1);
    const beforeY = round === 0 ? 0 : before - (down ? diagonal + 1 : diagonal - 1);
    while (x > before && y > beforeY && a[x - 1] === b[y - 1]) {
      found.push(['=', a[--x] ?? '']);
      y--;
    }
    if (round === 0) break;
    if (down) found.push(['+', b[--y] ?? '']);
    else found.push(['-', a[--x] ?? '']);
  }
  return found.reverse();
}

/** Steps that follow each other as one change. */
function merged(start: number, script: readonly Step[]): Change[] {
  const all: Change[] = [];
  let [at, removed, added] = [start, '', ''];
  const close = () => {
    if (removed + added !== '') all.push({ at, removed, added });
    at += removed.length;
    [removed, added] = ['', ''];
  };
  for (const [kind, character] of script) {
    if (kind === '-') removed += character;
    else if (kind === '+') added += character;
    else {
      close();
      at += character.length;
    }
  }
  close();
  return all;
}

/** The lines that show them, each with what is around: `…设站[-十二-]{+二十+}座…`. */
export function shown(a: string, all: readonly Change[]): string[] {
  if (all.length === 0) return ['difference   none'];
  const kept = [...a].length - sum(all.map(({ removed }) => [...removed].length));
  const other = kept + sum(all.map(({ added }) => [...added].length));
  // Of texts that have nothing to do with each other, single characters agree by chance.
  if (kept * 2 < Math.max([...a].length, other)) return ['difference   most of the text'];
  const lines = groups(a, all).map((group) => `  ${line(a, group)}`);
  const more = lines.length > SHOWN ? [`  and ${lines.length - SHOWN} more places`] : [];
  const what = all.length === 1 ? '1 change' : `${all.length} changes`;
  return [`difference   ${what}`, ...lines.slice(0, SHOWN), ...more];
}

function sum(all: readonly number[]): number {
  return all.reduce((total, one) => total + one, 0);
}

/** Changes so near each other that one line shows them. */
function groups(a: string, all: readonly Change[]): Change[][] {
  const found: Change[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const change of all) {
    const between = end < 0 ? [] : [...a.slice(end, change.at)];
    if (end >= 0 && between.length <= 2 * CONTEXT) found.at(-1)?.push(change);
    else found.push([change]);
    end = change.at + change.removed.length;
  }
  return found;
}

function line(a: string, group: readonly Change[]): string {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return '';
  const end = last.at + last.removed.length;
  const [before, behind] = [[...a.slice(0, first.at)], [...a.slice(end)]];
  let text = before.length > CONTEXT ? '…' : '';
  text += oneLine(before.slice(-CONTEXT).join(''));
  let at = first.at;
  for (const change of group) {
    text += oneLine(a.slice(at, change.at));
    if (change.removed !== '') text += `[-${visible(change.removed)}-]`;
    if (change.added !== '') text += `{+${visible(change.added)}+}`;
    at = change.at + change.removed.length;
  }
  text += oneLine(behind.slice(0, CONTEXT).join(''));
  return behind.length > CONTEXT ? `${text}…` : text;
}

/** What is only white space would not be seen. */
function visible(text: string): string {
  return oneLine(text, '␣');
}
