// The same batch of documents through TypeScript and in Rust: what the way across costs.

import { runRust } from './run.mjs';
import { best, load } from './texts.mjs';

export async function bench(options) {
  const { Fingerprinter } = await import('../dist/index.mjs');
  const { name, texts, bytes } = load('zh-news-eventmonitor');
  const fingerprinter = new Fingerprinter();
  const rate = (seconds) => bytes / 1e6 / seconds;
  // Rust before and after: the machine may change its speed in between.
  const before = runRust('batch', options).rows[0].value;
  const asynchronous = rate(await best(options, () => fingerprinter.fingerprintManyAsync(texts)));
  const synchronous = rate(await best(options, () => fingerprinter.fingerprintMany(texts)));
  const native = Math.max(before, runRust('batch', options).rows[0].value);
  const against = (value) => ({
    what: 'Rust batch',
    value: native,
    ratio: native / value,
    goal: '<= 1.1 (Rust rate / this)',
  });
  return {
    bench: 'batch',
    setup: `${name}: ${texts.length} documents, ${bytes} bytes, default options, all cores`,
    rows: [
      { what: 'Rust batch', value: native, unit: 'MB/s' },
      {
        what: 'fingerprintManyAsync',
        value: asynchronous,
        unit: 'MB/s',
        against: against(asynchronous),
      },
      { what: 'fingerprintMany', value: synchronous, unit: 'MB/s', against: against(synchronous) },
    ],
  };
}
