/** Numbers as people read them. */

/** A whole number: `1234567` -> `1,234,567`. */
export function count(value: number): string {
  // What Intl loads to do this takes longer than a small run.
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Decimal units, as disks and networks are sold: `1.5 MB`. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let amount = value;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}

/** `75` seconds -> `1:15`, `3675` -> `1:01:15`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** `n thing` or `n things`. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `text` on one line, without what a terminal would obey: each run of space and control characters becomes `gap`. */
export function oneLine(text: string, gap = ' '): string {
  return text.replace(/[\s\p{Cc}]+/gu, gap);
}
