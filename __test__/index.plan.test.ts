import { expect, test } from 'vitest';
import { Index } from '..';

test('a plan says what an index of its options has', () => {
  for (const options of [{}, { maxDistance: 5 }, { plan: 'classic' }, { plan: 'k3-t6' }]) {
    const estimate = Index.plan({ ...options, capacity: 1_000_000 });
    const { plan, tables } = new Index({ ...options, capacity: 1_000_000 }).stats();
    expect([estimate.plan, estimate.tables]).toEqual([plan, tables]);
    expect(estimate.tableBits.length).toBe(tables);
    expect(estimate.prefixBits).toBe(Math.min(...estimate.tableBits));
    expect(estimate.bytesPerFingerprint).toBe(estimate.tableBytes + estimate.idBytes);
    expect(estimate.tableBytes).toBeGreaterThanOrEqual(8 * tables);
  }
});

test('every named plan can be asked for and built', () => {
  const names = Index.planNames();
  expect(names).toContain('k3-t6');
  for (const plan of ['k3-t6', 'k3-t11', 'classic']) {
    expect(Index.plan({ plan, capacity: 50_000_000 })).toMatchObject({ scans: false });
    expect(new Index({ plan }).checkAndAdd(1n)).toEqual({ id: 0 });
  }
});

test('small indexes scan, and say so', () => {
  expect(Index.plan({ capacity: 100 })).toMatchObject({ scans: true, lookups: 0, candidates: 100 });
});

test('what cannot be planned is refused by name', () => {
  const refused = (options: object, code: string) =>
    expect(() => Index.plan(options)).toThrowError(expect.objectContaining({ code }));
  refused({ maxDistance: 17 }, 'ERR_OUT_OF_RANGE');
  refused({ capacity: -1 }, 'ERR_OUT_OF_RANGE');
  refused({ plan: 'k9' }, 'ERR_INVALID_ARG_VALUE');
  refused({ count: 1 }, 'ERR_INVALID_ARG_TYPE');
});
