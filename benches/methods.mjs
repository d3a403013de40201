// One text after another through a live index from TypeScript, by method, with and without stored texts: time of a call, and bytes of a
// document beside what `Index.plan` says.
import { best, load } from './texts.mjs';

/** Every choice that `Index.plan` shows. */
const CHOICES = [
  { method: 'minhash' },
  { method: 'minhash', texts: false },
  { method: 'simhash' },
  { method: 'simhash', texts: false },
  { method: 'sentences' },
  { method: 'sentences', texts: false },
  { method: 'exact' },
];

export async function bench(options) {
  const { dedup, Index } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const size = at >= 0 ? Number(options[at + 1].replaceAll('_', '')) : 100_000;
  const sets = ['zh-hotsearch-titles', 'zh-news-eventmonitor'].map(load);
  const rows = [];
  for (const choice of CHOICES) {
    const name = choice.texts === false ? `${choice.method} without texts` : choice.method;
    for (const { name: set, texts: all } of sets) {
      const texts = all.slice(0, size);
      let bytes = 0;
      let kept = 0;
      const seconds = await best(options, () => {
        const index = new Index(choice);
        const before = process.cpuUsage();
        for (const text of texts) index.checkAndAdd(text);
        const { user, system } = process.cpuUsage(before);
        ({ bytes, live: kept } = index.stats());
        index.close();
        return (user + system) / 1e6;
      });
      // But for crowds, of which limits may cut other candidates.
      const expected =
        choice.texts === false ? new Index(choice).checkAndAddMany(texts) : dedup(texts, choice);
      const others = await keptBy(expected);
      if (Math.abs(kept - others) > texts.length / 100)
        throw new Error(`${name}, ${set}: ${kept} kept, ${others} by another door`);
      const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      const { bytesPerDocument } = Index.plan({
        ...choice,
        count: kept,
        averageLength: Math.round(length / texts.length),
      });
      rows.push(
        { what: `${name}, ${set}: checkAndAdd`, value: (seconds * 1e6) / texts.length, unit: 'us' },
        {
          what: `${name}, ${set}: each kept document`,
          value: bytes / kept,
          unit: 'bytes',
          against: {
            what: 'as planned',
            value: bytesPerDocument,
            ratio: bytes / kept / bytesPerDocument,
          },
        },
      );
    }
  }
  return {
    bench: 'methods',
    setup: `${sets.map(({ name, texts }) => `${name} (${Math.min(size, texts.length)})`).join(', ')}; processor time`,
    rows,
  };
}

/** How many documents `dedup` keeps. */
async function keptBy(decisions) {
  let kept = 0;
  for await (const { duplicateOf } of decisions) kept += duplicateOf === undefined ? 1 : 0;
  return kept;
}
