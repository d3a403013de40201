/** Ranges and defaults that comments of the library state are those that it checks, and those of the command line's help. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './cli-run';

const require = createRequire(import.meta.url);
const { INDEX } = require('../dist/index-options.js') as {
  INDEX: Record<string, (value: unknown, name: string) => unknown>;
};
const { OPTIONS } = require('../dist/option-table.js') as {
  OPTIONS: Record<string, { kind: string; min?: number; max?: number; help: string }>;
};

/** A number as comments write it: 1024, 65,536, 2^32 - 1. */
function read(written: string): number {
  const [, power, less] = /^2\^(\d+)(?: - (\d+))?$/.exec(written) ?? [];
  return power === undefined ? Number(written.replaceAll(',', '')) : 2 ** +power - +(less ?? 0);
}

const OTHERS = ['seed', 'limit'];

const NUMBER = String.raw`(2\^\d+(?: - \d+)?|\d[\d,]*(?:\.\d+)?)`;

/** Numeric properties of all interfaces: file, name, and what their comments say of range and default. */
const said = readdirSync(join(ROOT, 'ts'))
  // The `maxDistance` of a measure is that of an edit distance.
  .filter((file) => file.endsWith('.ts') && file !== 'native.d.ts' && file !== 'measure.ts')
  .flatMap((file) => {
    const text = readFileSync(join(ROOT, 'ts', file), 'utf8');
    const properties = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+)\?: number\b/g;
    return [...text.matchAll(properties)].map(([, comment = '', name = '']) => {
      const words = comment.replace(/\n\s*\*/g, '').replace(/\s+/g, ' ');
      const range = new RegExp(`${NUMBER} to ${NUMBER}`).exec(words)?.slice(1).map(read);
      const initial = new RegExp(`Default ${NUMBER}`).exec(words)?.[1];
      return { file, name, range, initial: initial === undefined ? undefined : read(initial) };
    });
  });

test('ranges of options of an index are those that are checked', () => {
  const own = said.filter(
    ({ file, name }) =>
      /^(index-options|comparison|fingerprinter)\.ts$/.test(file) && name in INDEX,
  );
  const ranged = own.filter(({ range }) => range !== undefined);
  expect(new Set(ranged.map(({ name }) => name)).size).toBeGreaterThan(10);
  for (const { name, range = [] } of ranged) {
    const [least = 0, most = 0] = range;
    for (const value of [least, most]) expect(() => INDEX[name]?.(value, name), name).not.toThrow();
    for (const value of [least - 1, most + 1])
      expect(() => INDEX[name]?.(value, name), `${name}: ${value}`).toThrow();
  }
});

test('ranges and defaults of the table of options are those of the comments', () => {
  let compared = 0;
  for (const [name, { min, max, help }] of Object.entries(OPTIONS)) {
    if (min === undefined || max === undefined) continue;
    const initial = /without it (\d[\d.]*)/.exec(help)?.[1];
    // The `seed` of an index is another one, and so is the `limit` of a search.
    for (const one of said.filter((one) => one.name === name && !OTHERS.includes(name))) {
      const where = `${one.file}, ${name}`;
      if (one.range !== undefined) expect(one.range, where).toEqual([min, max]);
      if (initial !== undefined && one.initial !== undefined)
        expect(one.initial, where).toBe(Number(initial));
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(20);
});
