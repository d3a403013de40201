/** What `explain` shows of two texts first. */
import { expect, test } from 'vitest';
import { type Change, changes, shown } from '../ts/cli/difference';
import { random } from './fingerprints';

/** The second text, from the first and the changes. */
function applied(a: string, all: readonly Change[]): string {
  let [made, at] = ['', 0];
  for (const change of all) {
    expect(a.slice(change.at, change.at + change.removed.length)).toBe(change.removed);
    made += a.slice(at, change.at) + change.added;
    at = change.at + change.removed.length;
  }
  return made + a.slice(at);
}

/** Characters that both have in one order, by the table of all beginnings. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    for (const [at, other] of b.entries()) {
      const kept = one === other ? (row[at] ?? 0) + 1 : 0;
      next.push(Math.max(kept, row[at + 1] ?? 0, next[at] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test('changes make the second text of the first, and are the fewest', () => {
  const source = random();
  const below = (most: number) => Number(source.next().value % BigInt(most));
  const letters = ['青', '禾', '市', 'a', '😀', '\n'];
  const text = () => Array.from({ length: below(14) }, () => letters[below(6)] ?? '').join('');
  for (let round = 0; round < 3_000; round++) {
    const [a, b] = [text(), text()];
    const all = changes(a, b);
    expect(applied(a, all)).toBe(b);
    const size = all.flatMap(({ removed, added }) => [...removed, ...added]).length;
    expect(size, JSON.stringify([a, b])).toBe(
      [...a].length + [...b].length - 2 * common([...a], [...b]),
    );
  }
});

test('texts that have nothing in common are one change, however long', () => {
  const [a, b] = ['青'.repeat(20_000), '禾'.repeat(30_000)];
  expect(changes(`x${a}y`, `x${b}y`)).toEqual([{ at: 1, removed: a, added: b }]);
  expect(shown(a, changes(a, b))).toEqual(['difference   most of the text']);
});

test('each place is a line, with what is around it', () => {
  const a =
    '望海市地铁四号线二期工程今天贯通，线路全长十六点七公里，设站十二座，从老火车站一直通到滨海新区。';
  const b = a.replace('今天', '昨日').replace('新区。', '新区');
  expect(shown(a, changes(a, b))).toEqual([
    'difference   2 changes',
    '  …市地铁四号线二期工程[-今天-]{+昨日+}贯通，线路全长十六点…',
    '  …车站一直通到滨海新区[-。-]',
  ]);
  expect(shown(a, changes(a, a))).toEqual(['difference   none']);
});

test('changes near each other share a line, and many are counted', () => {
  expect(shown('气温12度到18度', changes('气温12度到18度', '气温13度到19度'))).toEqual([
    'difference   2 changes',
    '  气温1[-2-]{+3+}度到1[-8-]{+9+}度',
  ]);
  const gap = '一二三四五六七八九十甲乙丙丁戊己庚辛壬癸子丑';
  const a = `${gap}小`.repeat(30);
  const lines = shown(a, changes(a, `${gap}大`.repeat(30)));
  expect(lines).toHaveLength(14);
  expect(lines[0]).toBe('difference   30 changes');
  expect(lines.at(-1)).toBe('  and 18 more places');
});

test('nothing that a terminal would obey, and white space can be seen', () => {
  const lines = shown(
    '甲乙丙丁戊己庚辛',
    changes('甲乙丙丁戊己庚辛', '甲 \n乙\u001B[31m丙丁戊己庚辛'),
  );
  expect(lines.join('\n')).toBe('difference   2 changes\n  甲{+␣+}乙{+␣[31m+}丙丁戊己庚辛');
});
