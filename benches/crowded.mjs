// Recall where limits cut: pairs planted in crowds of texts that share a template, and crowds that differ in a number only.

/** Characters of a text; each pair of neighbours is a feature. */
const LENGTH = 120;
/** Characters that own passages and templates are drawn from: enough that two passages have hardly a pair in common. */
const CHARACTERS = 5000;
/** Sizes of crowds: as many texts share one template. */
const SIZES = [300, 3000, 30_000];
/** What the template is of a text; of two texts of a crowd the similarity is then .54, .67, .74. */
const SHARES = [0.7, 0.8, 0.85];
/** Similarities of planted pairs: at least these, and as little above as one character allows. */
const TARGETS = [0.8, 0.9];

/** Numbers below `most`, always the same ones. */
function numbers(seed) {
  let state = seed >>> 0 || 1;
  return (most) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % most;
  };
}

const passage = (next, length) =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + next(CHARACTERS)));

function jaccard(a, b) {
  const pairs = (text) => new Set(text.slice(1).map((character, at) => text[at] + character));
  const [left, right] = [pairs(a), pairs(b)];
  const both = [...left].filter((pair) => right.has(pair)).length;
  return both / (left.size + right.size - both);
}

/** The same text with the end of its own passage replaced, as much of it as leaves the two this similar. */
function altered(text, head, own, target, next) {
  let found = text;
  for (let length = 1; length <= own; length++) {
    const tail = passage(next, length);
    const other = [...text.slice(0, head + own - length), ...tail, ...text.slice(head + own)];
    if (jaccard(text, other) < target) break;
    found = other;
  }
  return found;
}

/** Documents of crowds of this size, shuffled, with the ids of the planted pairs by target. */
export function crowds(size, share, texts = Math.max(size, 3000)) {
  const next = numbers(size * 31 + Math.round(share * 100));
  const docs = [];
  const pairs = TARGETS.map(() => []);
  for (let crowd = 0; crowd < texts / size; crowd++) {
    const own = Math.round(LENGTH * (1 - share));
    const head = Math.round((LENGTH - own) / 2);
    const [before, after] = [passage(next, head), passage(next, LENGTH - own - head)];
    const fresh = () => [...before, ...passage(next, own), ...after];
    const planted = Math.min(1000, Math.round(size / 10));
    const add = (text) => docs.push({ id: docs.length, text: text.join('') }) - 1;
    for (let pair = 0; pair < planted; pair++) {
      const target = pair % TARGETS.length;
      const text = fresh();
      pairs[target].push([add(text), add(altered(text, head, own, TARGETS[target], next))]);
    }
    for (let rest = size - 2 * planted; rest > 0; rest--) add(fresh());
  }
  return { docs: shuffled(docs, next), pairs };
}

/** Documents that differ in a number: all of them resemble each other. */
export function numbered(size) {
  const next = numbers(size);
  const [before, after] = [passage(next, LENGTH), passage(next, LENGTH)];
  const text = (number) => [...before, number, ...after].join('');
  return Array.from({ length: size }, (_, id) => ({ id, text: text(id) }));
}

function shuffled(docs, next) {
  for (let at = docs.length - 1; at > 0; at--) {
    const other = next(at + 1);
    [docs[at], docs[other]] = [docs[other], docs[at]];
  }
  return docs;
}

/** The share of pairs of which one is dropped for the other, or both for a third one. */
export function recall(pairs, originals) {
  const of = (id) => originals.get(id) ?? id;
  return pairs.filter(([a, b]) => of(a) === of(b)).length / pairs.length;
}

/** The original of each document that is dropped. */
async function originals(dedup, docs, options) {
  const found = new Map();
  for await (const { doc, duplicateOf } of dedup(docs, { batch: 4096, ...options }))
    if (duplicateOf !== undefined) found.set(doc.id, docs[duplicateOf].id);
  return found;
}

export async function bench(options) {
  const { dedup } = await import('../dist/index.mjs');
  const at = options.indexOf('--size');
  const most = at >= 0 ? Number(options[at + 1]) : SIZES[SIZES.length - 1];
  const rows = [];
  for (const size of SIZES.filter((size) => size <= most)) {
    for (const share of SHARES) {
      const { docs, pairs } = crowds(size, share);
      const between = (share / (2 - share)).toFixed(2);
      for (const cluster of ['representative', 'components']) {
        const found = await originals(dedup, docs, { cluster });
        for (const [target, similarity] of TARGETS.entries()) {
          rows.push({
            what: `${cluster}: pairs at ${similarity} in crowds of ${size} at ${between}`,
            value: recall(pairs[target], found),
            unit: 'recall',
          });
        }
      }
    }
  }
  const docs = numbered(Math.min(most, 3000));
  for (const keep of ['first', 'last']) {
    for (const method of ['minhash', 'simhash']) {
      const found = await originals(dedup, docs, { keep, method });
      rows.push({
        what: `${method}, keep ${keep}: kept of ${docs.length} texts that differ in a number`,
        value: docs.length - found.size,
        unit: 'documents',
      });
    }
  }
  return { bench: 'crowded', setup: `texts of ${LENGTH} characters around templates`, rows };
}
