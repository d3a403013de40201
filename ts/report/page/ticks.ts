/** Which bars of an axis have their names below it: as many as there is room for, at round dates where bars are dates. */

/** What a bar of dates stands for. */
export type Unit = 'day' | 'month' | 'year' | 'decade' | 'century';

/** A name below an axis, by the number of its bar. */
export interface Tick {
  readonly at: number;
  readonly name: string;
}

/** Where bars stand: bar n has its middle at `left + step * (n + 0.5)`, and names end at `width`. */
export interface Axis {
  readonly left: number;
  readonly step: number;
  readonly width: number;
}

/** Least space between two names, in pixels. */
const SPACE = 10;

/** Bars that have names: which, and what of the name is shown. */
interface Choice {
  readonly has: (name: string, at: number) => boolean;
  readonly shown?: (name: string) => string;
}

const fromFirst = (every: number): Choice => ({ has: (_, at) => at % every === 0 });
/** Every so many of what names count: `1990s` is decade 199, `1900-1999` is century 19. */
const counted = (digits: number) => (every: number) => ({
  has: (name: string) => Number(name.slice(0, digits)) % every === 0,
});
/** `2026-07`: within a year from January on. */
const months = (every: number): Choice => ({
  has: (name) => (Number(name.slice(5, 7)) - 1) % every === 0,
});
/** January of every so many years, by the year alone. */
const januaries = (every: number): Choice => ({
  has: (name) => name.endsWith('-01') && Number(name.slice(0, 4)) % every === 0,
  shown: (name) => name.slice(0, 4),
});
const daysOf = (pattern: RegExp): Choice => ({ has: (name) => pattern.test(name) });

const ROUND = [1, 2, 5, 10, 20, 25, 50];
/** From the finest on. */
const CHOICES: Readonly<Record<Unit, readonly Choice[]>> = {
  day: [
    ...[1, 2, 7].map(fromFirst),
    daysOf(/-(01|15)$/),
    daysOf(/-01$/),
    daysOf(/-(01|03|05|07|09|11)-01$/),
  ],
  month: [...[1, 2, 3, 6].map(months), ...[1, 2, 5].map(januaries)],
  year: ROUND.map(counted(4)),
  decade: ROUND.map(counted(3)),
  century: ROUND.map(counted(2)),
};

/** Round numbers for a logarithmic axis from 1 to the first that is not below `top`: closer together where there are few powers of ten. */
export function magnitudes(top: number): number[] {
  const steps = top <= 10 ? [1, 2, 3, 5] : top <= 1000 ? [1, 2, 5] : [1];
  const all = [1];
  for (let power = 1; all.length < 2 || (all.at(-1) ?? 1) < top; power *= 10) {
    for (const step of steps) {
      const last = all.at(-1) ?? 1;
      if (step * power > last && (all.length < 2 || last < top)) all.push(step * power);
    }
  }
  return all;
}

/** Where the middle of a name comes to lie so that all of it is between 0 and `width`. */
export function within(middle: number, nameWidth: number, width: number): number {
  return Math.max(nameWidth / 2, Math.min(middle, width - nameWidth / 2));
}

/** The names that fit, without overlap. Of bars that are no dates, or too few for two round dates, every so many from the first. */
export function ticks(
  names: readonly string[],
  unit: Unit | undefined,
  axis: Axis,
  widthOf: (name: string) => number,
): Tick[] {
  for (const choice of unit === undefined ? [] : CHOICES[unit]) {
    const chosen = chosenBy(choice, names);
    if (chosen.length > 1 && fits(chosen, axis, widthOf)) return chosen;
  }
  for (let every = 1; every < names.length; every++) {
    const chosen = chosenBy(fromFirst(every), names);
    if (fits(chosen, axis, widthOf)) return chosen;
  }
  return chosenBy(fromFirst(names.length), names);
}

function chosenBy({ has, shown = (name) => name }: Choice, names: readonly string[]): Tick[] {
  return names.flatMap((name, at) => (has(name, at) ? [{ at, name: shown(name) }] : []));
}

function fits(
  chosen: readonly Tick[],
  { left, step, width }: Axis,
  widthOf: (name: string) => number,
): boolean {
  let end = Number.NEGATIVE_INFINITY;
  return chosen.every(({ at, name }) => {
    const own = widthOf(name);
    const begin = within(left + step * (at + 0.5), own, width) - own / 2;
    const free = begin >= end + SPACE;
    end = begin + own;
    return free;
  });
}
