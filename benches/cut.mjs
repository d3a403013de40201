// Chinese words from TypeScript: `cutMany` in words and offsets, and `cut` of @node-rs/jieba on the same texts; processor time of one thread.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { install } from './peers/install.mjs';
import { best, load } from './texts.mjs';

/** So many documents. */
const DOCUMENTS = 600;

/** `--size 0`: without the peer. */
export async function bench(options) {
  const { cut, cutMany } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : DOCUMENTS;
  const { name, texts: all } = load('zh-news-eventmonitor');
  const texts = all.slice(0, size || 20);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const rate = async (work) => {
    const seconds = await best(options, () => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1e6;
    });
    return bytes / 1e6 / seconds;
  };
  const own = [];
  for (const hmm of [true, false]) {
    const how = { hmm, threads: 1 };
    const value = await rate(() => cutMany(texts, { as: 'offsets', ...how }));
    own.push({ what: `cutMany, offsets, ${label(hmm)}`, value, unit: 'MB/s', hmm });
    const words = await rate(() => cutMany(texts, how));
    own.push({ what: `cutMany, words, ${label(hmm)}`, value: words, unit: 'MB/s', hmm });
    const single = await rate(() => texts.map((text) => cut(text, { hmm })));
    own.push({ what: `cut, ${label(hmm)}`, value: single, unit: 'MB/s', hmm });
  }
  const peers = size === 0 ? new Map() : await peer(texts, rate, cutMany);
  const rows = own.map(({ hmm, ...row }) => {
    const value = peers.get(hmm);
    if (value === undefined) return row;
    const ratio = row.value / value;
    const against = { what: `@node-rs/jieba cut, ${label(hmm)}`, value, ratio, goal: '>= 6' };
    return { ...row, against };
  });
  for (const [hmm, value] of peers)
    rows.push({ what: `@node-rs/jieba cut, ${label(hmm)}`, value, unit: 'MB/s' });
  const setup = `${name}: ${texts.length} documents, ${bytes} bytes, one thread, processor time`;
  return { bench: 'cut', setup, rows };
}

const label = (hmm) => (hmm ? 'HMM' : 'no HMM');

/** The rates of the peer, with HMM and without; none where it could not be installed. */
async function peer(texts, rate, cutMany) {
  const { folder, missing } = install('@node-rs/jieba@2.0.3');
  if (missing !== undefined) {
    console.error(`cut: @node-rs/jieba is left out, the registry did not give it: ${missing}`);
    return new Map();
  }
  const require = createRequire(join(folder, 'package.json'));
  const { Jieba } = require('@node-rs/jieba');
  const { dict } = require('@node-rs/jieba/dict');
  const jieba = Jieba.withDict(dict);
  const rates = new Map();
  for (const hmm of [true, false]) {
    // The answer first: it differs from Python's, and so from ours, in some texts.
    const ours = cutMany(texts, { hmm });
    const same = texts.filter(
      (text, row) => jieba.cut(text, hmm).join('|') === ours[row].join('|'),
    );
    if (same.length < texts.length / 4) throw new Error(`only ${same.length} texts are cut alike`);
    rates.set(
      hmm,
      await rate(() => {
        for (const text of texts) jieba.cut(text, hmm);
      }),
    );
  }
  return rates;
}
