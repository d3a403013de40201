/** Names below the axis of a chart: whatever the dates, the width and the font, they fit, are round, and are as many as there is room for. */
import { describe, expect, test } from 'vitest';
import {
  type Axis,
  magnitudes,
  type Tick,
  ticks,
  type Unit,
  within,
} from '../ts/report/page/ticks';

const two = (value: number) => String(value).padStart(2, '0');
/** Names of bars as the addon writes them, from a date on. */
const NAMES: Readonly<Record<Unit, (from: string, at: number) => string>> = {
  day: (from, at) => new Date(Date.parse(from) + 86_400_000 * at).toISOString().slice(0, 10),
  month: (from, at) => {
    const whole = 12 * Number(from.slice(0, 4)) + Number(from.slice(5, 7)) - 1 + at;
    return `${Math.floor(whole / 12)}-${two((whole % 12) + 1)}`;
  },
  year: (from, at) => String(Number(from.slice(0, 4)) + at),
  decade: (from, at) => `${Math.floor(Number(from.slice(0, 4)) / 10) + at}0s`,
  century: (from, at) => {
    const century = Math.floor(Number(from.slice(0, 4)) / 100) + at;
    return `${century}00-${century}99`;
  },
};
const UNITS = Object.keys(NAMES) as Unit[];

const bars = (unit: Unit, from: string, many: number) =>
  Array.from({ length: many }, (_, at) => NAMES[unit](from, at));

/** The axis of a page that is so wide: its edges, the numbers to the left, and a little to the right. */
function axisOf(page: number, many: number): Axis {
  const width = page - 32;
  return { left: 54, step: (width - 54 - 10) / many, width };
}

const font = (pixels: number) => (name: string) => pixels * name.length;
const shown = (all: readonly Tick[]) => all.map(({ name }) => name);
const at400 = (unit: Unit, from: string, many: number) =>
  shown(ticks(bars(unit, from, many), unit, axisOf(400, many), font(7.6)));

describe('at 400 pixels', () => {
  test.each([
    ['hours, which are one day', 'day', '2026-11-24', 1, '2026-11-24'],
    ['days', 'day', '2026-11-22', 3, '2026-11-22 2026-11-23 2026-11-24'],
    ['three weeks', 'day', '2026-11-04', 21, '2026-11-04 2026-11-11 2026-11-18'],
    ['a quarter', 'day', '2026-01-09', 83, '2026-02-01 2026-03-01 2026-04-01'],
    ['half a year', 'month', '2026-01', 6, '2026-01 2026-03 2026-05'],
    ['two years', 'month', '2024-05', 20, '2024-07 2025-01 2025-07'],
    ['seven years', 'month', '2019-02', 84, '2020 2022 2024 2026'],
    ['ten years', 'year', '2017', 10, '2018 2020 2022 2024 2026'],
    ['a lifetime', 'year', '1935', 91, '1940 1960 1980 2000 2020'],
    ['1900 to 2025', 'decade', '1900', 13, '1900s 1950s 2000s'],
    ['eight centuries', 'decade', '1203', 83, '1200s 1400s 1600s 1800s 2000s'],
    ['a thousand years', 'century', '1001', 11, '1000-1099 1500-1599 2000-2099'],
    ['all years', 'century', '1000', 90, '2500-2599 5000-5099 7500-7599'],
  ] as const)('%s', (_span, unit, from, many, names) => {
    expect(at400(unit, from, many).join(' ')).toBe(names);
  });

  test('classes of length', () => {
    const names = '0 10 20 50 100 200 500 1,000 2,000 5,000 10K 20K 50K 100K 200K 500K 1M'.split(
      ' ',
    );
    const every = shown(ticks(names, undefined, axisOf(400, names.length), font(7.6)));
    expect(every).toEqual(names.filter((_, at) => at % 3 === 0));
  });
});

test('names never overlap or leave the drawing, and there are two wherever two have room', () => {
  const froms = ['1003-05-17', '1900-01-01', '1999-12-31', '2024-02-29'];
  const pages = [200, 320, 400, 620, 860, 1280, 2560].flatMap((page) =>
    [6, 7.6, 10].map((pixels) => ({ page, pixels })),
  );
  const wrong: string[] = [];
  for (const unit of UNITS) {
    for (const from of froms) {
      const most = bars(unit, from, 92);
      for (let many = 1; many <= most.length; many++) {
        const names = most.slice(0, many);
        for (const { page, pixels } of pages) {
          const all = ticks(names, unit, axisOf(page, many), font(pixels));
          const flaw = flawOf(all, names, axisOf(page, many), font(pixels));
          if (flaw)
            wrong.push(`${unit}, ${many} from ${from}, ${page} wide: ${flaw}, ${shown(all)}`);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
});

function flawOf(
  all: readonly Tick[],
  names: readonly string[],
  axis: Axis,
  widthOf: (name: string) => number,
): string | undefined {
  let last = Number.NEGATIVE_INFINITY;
  for (const { at, name } of all) {
    const own = widthOf(name);
    const middle = within(axis.left + axis.step * (at + 0.5), own, axis.width);
    if (middle - own / 2 < 0 || middle + own / 2 > axis.width + 1e-9) return 'outside';
    if (middle - own / 2 < last + 8) return 'too near';
    if (!names[at]?.startsWith(name)) return `bar ${at} is not ${name}`;
    last = middle + own / 2;
  }
  const room = axis.step * (names.length - 1) >= 2 * widthOf(names[0] ?? '');
  return all.length < (room ? 2 : 1) ? 'too few' : undefined;
}

test.each([
  [1, [1, 2]],
  [4, [1, 2, 3, 5]],
  [10, [1, 2, 3, 5, 10]],
  [11, [1, 2, 5, 10, 20]],
  [1000, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]],
  [20_000, [1, 10, 100, 1000, 10_000, 100_000]],
])('a logarithmic axis to %d has round numbers, more of them in few powers of ten', (top, all) => {
  expect(magnitudes(top)).toEqual(all);
});
