/** Numbers as people read them. */

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function count(value: number): string {
  return whole.format(value);
}

/** `12k`, `1.5M`: for axes. */
export function compact(value: number): string {
  return value < 10_000 ? whole.format(value) : short.format(value);
}

/** A share in per cent, with as many digits as tell it from none and from all. */
export function percent(part: number, of: number): string {
  if (of === 0) return '–';
  const share = (100 * part) / of;
  if (share === 0 || share === 100) return `${share} %`;
  if (share < 0.1) return '< 0.1 %';
  if (share > 99.9) return '> 99.9 %';
  return `${share.toFixed(1)} %`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A similarity: two digits, and more where it is nearly another. */
export function similar(value: number): string {
  if (value === 1) return '1';
  const text = value.toFixed(2);
  return text === '1.00' ? value.toFixed(4) : text;
}
