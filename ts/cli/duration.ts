/** Lengths of time as they are typed: `2d`, `36h`, `90m`, `30s`, `250ms`. */
import { UsageError } from './exit';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The longest timer there is: one that is longer ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** {@link durationOf} for what becomes a timer. */
export function timerOf(typed: string, flag: string): number {
  const milliseconds = durationOf(typed, flag);
  if (milliseconds <= LONGEST_TIMER) return milliseconds;
  throw new UsageError(
    `${flag} must be at most ${LONGEST_TIMER} ms, about 24 days, got '${typed}'`,
  );
}

/** Milliseconds of what was typed behind a flag. */
export function durationOf(typed: string, flag: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(typed) ?? [];
  const milliseconds = Math.round(Number(amount) * (UNITS[unit] ?? Number.NaN));
  if (milliseconds >= 1 && milliseconds <= Number.MAX_SAFE_INTEGER) return milliseconds;
  throw new UsageError(`${flag} must be a length of time, as 30s, 90m, 36h or 2d, got '${typed}'`);
}
