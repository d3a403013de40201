// How late timers are while documents are fingerprinted: is the event loop free?
import { load } from './texts.mjs';

export async function bench(options) {
  const { Fingerprinter } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const count = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 100_000;
  const { name, texts } = load('zh-news-eventmonitor');
  // Paragraphs of a few hundred characters, as often as needed.
  const documents = Array.from({ length: count }, (_, i) => texts[i % texts.length].slice(0, 500));
  const fingerprinter = new Fingerprinter();
  await fingerprinter.fingerprintManyAsync(documents.slice(0, 100));
  const interval = 5;
  const lateness = [];
  let due = performance.now() + interval;
  const timer = setInterval(() => {
    const now = performance.now();
    lateness.push(Math.max(0, now - due));
    due = now + interval;
  }, interval);
  const start = performance.now();
  const pending = fingerprinter.fingerprintManyAsync(documents);
  const copying = performance.now() - start;
  const results = await pending;
  const seconds = (performance.now() - start) / 1000;
  clearInterval(timer);
  if (results.length !== count) throw new Error(`${results.length} of ${count} results`);
  lateness.sort((a, b) => a - b);
  const worst = lateness.at(-1) ?? 0;
  return {
    bench: 'timers',
    setup: `${name}: ${count} texts of at most 500 characters, fingerprintManyAsync, a timer every ${interval} ms`,
    rows: [
      { what: 'the whole batch', value: seconds, unit: 's' },
      { what: 'before the call returns', value: copying, unit: 'ms' },
      { what: 'timers fired', value: lateness.length, unit: '' },
      { what: 'median lateness', value: lateness[lateness.length >> 1] ?? 0, unit: 'ms' },
      {
        what: 'worst lateness',
        value: worst,
        unit: 'ms',
        against: { what: '20 ms', value: 20, ratio: worst / 20, goal: '<= 1 on an idle machine' },
      },
    ],
  };
}
