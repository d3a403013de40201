// What must stay apart: pairs that people call different, pages made from one template, labelled pairs.
import { open, paraphrases, truths } from './corpora.mjs';
import { labelled } from './labelled.mjs';

/** Whom each document is kept for, by place: itself where it is kept. */
async function kept(dedup, docs, options) {
  const of = docs.map((_, row) => row);
  for await (const { index, duplicateOf } of dedup(docs, { ...options, batch: 65_536 }))
    of[index] = duplicateOf ?? index;
  return of;
}

/** Pairs that people call different, under the default options: none may be linked unless their character pairs are alike. */
async function judged({ dedup, jaccard }) {
  const by = { ngram: 2, normalize: { whitespace: 'remove' } };
  const different = paraphrases().filter(({ label }) => label === 0);
  const texts = [...new Set(different.flatMap(({ text_a, text_b }) => [text_a, text_b]))];
  const number = new Map(texts.map((text, row) => [text, row]));
  const of = await kept(dedup, texts, by);
  const alike = [];
  let [linked, together, copies] = [0, 0, 0];
  for (const { text_a, text_b } of different) {
    const [a, b] = [number.get(text_a), number.get(text_b)];
    const similarity = jaccard(text_a, text_b, by);
    if (similarity === 1) copies++;
    if (similarity >= 0.8) {
      alike.push({ similarity, text_a, text_b, linked: of[a] === of[b] });
      continue;
    }
    linked += Number(of[a] === b || of[b] === a);
    together += Number(of[a] === of[b] && a !== b);
  }
  return { pairs: different.length, texts: texts.length, linked, together, copies, alike };
}

/** Pages of one template: different ones with half and more in common, and how many of them are in one cluster. */
async function templates(library) {
  const { dedup } = library;
  const [truth] = truths('zh-docs-tidb').filter(({ set }) => set === 'zh-docs-tidb');
  if (truth === undefined) return undefined;
  const { docs, labels } = open(truth, library);
  const number = new Map(docs.map(({ id }, row) => [id, row]));
  const hard = labels.filter(({ similarity }) => similarity < 0.8);
  const merged = {};
  for (const cluster of ['components', 'representative']) {
    const of = await kept(dedup, docs, { ngram: truth.ngram, normalize: truth.normalize, cluster });
    const together = hard.filter(({ a, b }) => of[number.get(a)] === of[number.get(b)]);
    merged[cluster] = together.length;
  }
  return {
    documents: docs.length,
    pairs: hard.length,
    most: Math.max(...hard.map(({ similarity }) => similarity)),
    merged,
  };
}

/** All; the first two where their corpora are there. */
export async function controls(library) {
  const people = paraphrases().length > 0 ? await judged(library) : undefined;
  return { people, templates: await templates(library), labelled: await labelled(library) };
}
