// Chinese words: ours and jieba-rs in Rust, and `cut` of @node-rs/jieba from JavaScript on the same texts.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { install } from './peers/install.mjs';
import { runRust } from './run.mjs';
import { best, load } from './texts.mjs';

/** So many documents, as in Rust. */
const DOCUMENTS = 600;

/** `--size 0`: without the peer. */
export async function bench(options) {
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : DOCUMENTS;
  const report = runRust('segment', at >= 0 ? options.with(at + 1, String(size || 20)) : options);
  if (size === 0) return report;
  const { folder, missing } = install('@node-rs/jieba@2.0.3');
  if (missing !== undefined) {
    console.error(`segment: @node-rs/jieba is left out, the registry did not give it: ${missing}`);
    return report;
  }
  const require = createRequire(join(folder, 'package.json'));
  const { Jieba } = require('@node-rs/jieba');
  const { dict } = require('@node-rs/jieba/dict');
  const start = performance.now();
  const jieba = Jieba.withDict(dict);
  report.rows.push({
    what: '@node-rs/jieba, dictionary built',
    value: performance.now() - start,
    unit: 'ms',
  });
  const texts = load('zh-news-eventmonitor').texts.slice(0, size);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  for (const hmm of [true, false]) {
    const name = `cut, ${hmm ? 'HMM' : 'no HMM'}`;
    const ours = report.rows.find(({ what }) => what === name)?.value;
    const seconds = await best(options, () => {
      for (const text of texts) jieba.cut(text, hmm);
    });
    const value = bytes / 1e6 / seconds;
    report.rows.push({
      what: `@node-rs/jieba ${name}, strings out`,
      value,
      unit: 'MB/s',
      against: { what: `${name}, in Rust`, value: ours, ratio: value / ours },
    });
  }
  return report;
}
