import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bytes, count, duration, oneLine, plural } from '../ts/cli/format';
import { describe as describePosition, ProgressReport } from '../ts/cli/progress';
import type { Terminal } from '../ts/cli/terminal';
import { suggest } from '../ts/suggest';

describe('suggest', () => {
  const names = ['dedup', 'fingerprint', 'explain', 'help', 'version'];

  test.each([
    ['dedup', 'dedup'],
    ['ddeup', 'dedup'],
    ['dedpu', 'dedup'],
    ['dedupe', 'dedup'],
    ['fingreprnt', 'fingerprint'],
    ['vresion', 'version'],
  ])('%s is taken for %s', (word, name) => {
    expect(suggest(word, names)).toBe(name);
  });

  test.each(['', 'x', 'index', 'frobnicate', 'replicate'])('%s is near nothing', (word) => {
    expect(suggest(word, names)).toBeUndefined();
  });
});

describe('numbers as people read them', () => {
  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_500, '1.5 kB'],
    [2_000_000_000, '2.0 GB'],
  ])('%i bytes are %s', (value, text) => {
    expect(bytes(value)).toBe(text);
  });

  test.each([
    [0, '0:00'],
    [75, '1:15'],
    [3_599.6, '1:00:00'],
  ])('%f seconds are %s', (value, text) => {
    expect(duration(value)).toBe(text);
  });

  test('whole numbers are written as in English', () => {
    const some = [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 20 ** 9, Number.MAX_SAFE_INTEGER];
    for (const value of some) expect(count(value)).toBe(value.toLocaleString('en-US'));
  });

  test('one is singular', () => {
    expect([plural(0, 'cluster'), plural(1, 'cluster'), plural(2_000, 'cluster')]).toEqual([
      '0 clusters',
      '1 cluster',
      '2,000 clusters',
    ]);
  });

  test('what a terminal would obey does not get through', () => {
    expect(oneLine('a\n\tb\u001B[31mc\u009Bd')).toBe('a b [31mc d');
  });
});

describe('progress', () => {
  const position = { documents: 3_000, bytes: 2_500_000, totalBytes: 10_000_000, duplicates: 7 };

  test('shows share, rates, time left and duplicates', () => {
    expect(describePosition(position, 2)).toBe(
      '[#####---------------]   25%  3,000 documents  1,500/s  read 1.3 MB/s  7 duplicates  0:06 left',
    );
  });

  test('without a known size there is no share and no time left', () => {
    const { totalBytes: _unknown, ...stream } = position;
    expect(describePosition(stream, 2)).toBe(
      '3,000 documents  1,500/s  read 1.3 MB/s  7 duplicates',
    );
  });

  test('nothing read and no time passed divide nothing by zero', () => {
    const start = { documents: 0, bytes: 0, totalBytes: 0, duplicates: 0 };
    expect(describePosition(start, 0)).toBe('0 documents  0/s  read 0 B/s  0 duplicates');
  });

  const large = {
    documents: 592_598_123,
    bytes: 123_456_789_012,
    totalBytes: 999_999_999_999,
    duplicates: 88_765_432,
  };

  test.each([
    [40, ' 12%  592,598,123 documents  6:59 left'],
    [60, ' 12%  592,598,123 documents  10,044,036/s  6:59 left'],
    [80, ' 12%  592,598,123 documents  10,044,036/s  88,765,432 duplicates  6:59 left'],
    [
      120,
      '[##------------------]   12%  592,598,123 documents  10,044,036/s  read 2.1 GB/s  88,765,432 duplicates  6:59 left',
    ],
    [
      200,
      '[##------------------]   12%  592,598,123 documents  10,044,036/s  read 2.1 GB/s  88,765,432 duplicates  6:59 left',
    ],
  ])('in %i columns whole fields are left out, and never the time left', (columns, line) => {
    expect(describePosition(large, 59, columns)).toBe(line);
  });

  test.each(Array.from({ length: 161 }, (_, row) => row + 40))(
    'what is shown in %i columns fits, and says the time left',
    (columns) => {
      for (const seconds of [0.5, 59, 3_600, 400_000]) {
        for (const position of [large, { ...large, bytes: 1, documents: 3 }]) {
          const line = describePosition(position, seconds, columns);
          expect(line.length).toBeLessThanOrEqual(columns);
          expect(line).toMatch(/(^| )[\d:]+ left$/);
        }
      }
    },
  );

  test.each([
    [
      { documents: 3_000, total: 12_000, before: 1_000, done: 'read' },
      '[#####---------------]   25%  3,000 documents read  1,000/s  0:09 left',
    ],
    [{ documents: 3_000, before: 1_000, done: 'read' }, '3,000 documents read  1,000/s'],
    [
      { documents: 1_000, total: 12_000, before: 1_000, done: 'read' },
      '[##------------------]    8%  1,000 documents read',
    ],
    [
      { documents: 15, total: 12, before: 5, done: 'written' },
      '[####################]  100%  15 documents written  5/s  0:00 left',
    ],
    [{ documents: 0, total: 0, before: 0, done: 'read' }, '0 documents read'],
  ])('of documents of a collection: %j', (position, line) => {
    expect(describePosition(position, 2)).toBe(line);
  });

  test.each([40, 60, 80])('of fifty million documents fits in %i columns', (columns) => {
    const many = { documents: 49_900_000, total: 50_000_000, before: 1, done: 'written' };
    for (const seconds of [5, 59, 400_000]) {
      const line = describePosition(many, seconds, columns);
      expect(line.length).toBeLessThanOrEqual(columns);
      expect(line).toMatch(/99%.* [\d:]+ left$/);
    }
  });

  describe('on a clock', () => {
    beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }));
    afterEach(() => vi.useRealTimers());

    function fake(interactive: boolean) {
      const [said, drawn] = [[] as string[], [] as string[]];
      const terminal = {
        interactive,
        width: 40,
        say: (line: string) => said.push(line),
        redraw: (line: string) => drawn.push(line),
      } as unknown as Terminal;
      return { said, drawn, report: new ProgressReport(terminal) };
    }

    test('no terminal: one line every 10 s', () => {
      const { said, drawn, report } = fake(false);
      for (let second = 0; second < 35; second++) {
        report.update(position);
        vi.advanceTimersByTime(1_000);
      }
      report.end();
      expect({ lines: said.length, drawn }).toEqual({ lines: 3, drawn: [] });
    });

    test('a terminal: a bar no wider than the line, removed at the end', () => {
      const { said, drawn, report } = fake(true);
      vi.advanceTimersByTime(1_000);
      report.update(position);
      report.end();
      expect(said).toEqual([]);
      expect(drawn).toEqual(['working  0:01', ' 25%  3,000 documents  0:03 left', '']);
      vi.advanceTimersByTime(60_000);
      expect(drawn).toHaveLength(3);
    });

    test('each step of a run has a clock of its own, and what was done before it does not count', () => {
      const { drawn, report } = fake(true);
      const at = (documents: number, done: string) =>
        report.update({ documents, done, total: 10_000 });
      at(6_000, 'read');
      vi.advanceTimersByTime(10_000);
      at(7_000, 'read');
      expect(drawn.at(-1)).toBe(' 70%  7,000 documents read  0:30 left');
      at(10, 'read');
      vi.advanceTimersByTime(1_000);
      at(1_010, 'read');
      expect(drawn.at(-1)).toBe(' 10%  1,010 documents read  0:09 left');
      at(1_000, 'written');
      vi.advanceTimersByTime(1_000);
      at(3_000, 'written');
      expect(drawn.at(-1)).toBe(' 30%  2,000/s  0:04 left');
      report.end();
    });

    test('a step that tells nothing is shown by its time', () => {
      const [log, screen] = [fake(false), fake(true)];
      vi.advanceTimersByTime(35_000);
      expect(log.said).toEqual(['working  0:10', 'working  0:20', 'working  0:30']);
      expect(screen.drawn.slice(0, 2)).toEqual(['working  0:01', 'working  0:02']);
      for (const { report } of [log, screen]) report.end();
    });

    test('when all is read it is said how long that is ago, and the line goes on', () => {
      const { said, report } = fake(false);
      vi.advanceTimersByTime(5_000);
      report.update({ ...position, bytes: position.totalBytes });
      vi.advanceTimersByTime(16_000);
      const ends = said.map((line) => line.slice(line.indexOf('all')));
      expect(ends).toEqual(['all read, finishing for 0:05', 'all read, finishing for 0:15']);
      report.end();
    });
  });
});
