// What a line of each vector file says, from what it asks. The generator and the test share it.
import {
  containment,
  cosine,
  dedup,
  explain,
  Fingerprinter,
  jaccard,
  levenshtein,
  minHash,
  sentences,
} from '../../dist/index.js';

const hex = (hash) => hash.toString(16).padStart(16, '0');
const auto = new Fingerprinter();
const by = (ngram) => (ngram === undefined ? auto : new Fingerprinter({ ngram }));

/** The similarity that `dedup` reports, whatever it is; 0 where the texts have no feature in common. */
async function reported(a, b, verify) {
  const options = { method: 'brute-force', verify, minSimilarity: 1e-6 };
  let similarity = 0;
  for await (const decision of dedup([a, b], options))
    similarity = decision.similarity ?? similarity;
  return similarity;
}

/** By file: the line of an input. */
export const LINES = {
  'normalise.jsonl': ({ text }) => ({ text, normalised: auto.normalize(text) }),
  'features.jsonl': ({ text, ngram }) => {
    const counted = by(ngram).features(text);
    return { text, ngram, features: counted.map(({ token, weight }) => [token, weight]) };
  },
  'feature-hash.jsonl': ({ text }) => {
    // One sentence of one word is hashed as it is.
    const [sentence] = sentences(text, { minLength: 0, normalize: false });
    return { text, hash: hex(sentence.hash) };
  },
  'fingerprint.jsonl': ({ text, ngram }) => {
    const fingerprint = by(ngram).fingerprint(text);
    return { text, ngram, fingerprint: fingerprint === undefined ? null : hex(fingerprint) };
  },
  'signature.jsonl': ({ text, hashes }) => ({
    text,
    hashes,
    signature: [...minHash(text, { hashes })],
  }),
  'sentences.jsonl': ({ text }) => ({
    text,
    sentences: sentences(text, { count: 64, minLength: 1 }).map(({ hash, length, index }) => [
      hex(hash),
      length,
      index,
    ]),
  }),
  'numbers.jsonl': ({ text }) => ({ text, numbers: explain(text, '').numbers[0] }),
  'similarity.jsonl': async ({ a, b }) => ({
    a,
    b,
    jaccard: jaccard(a, b),
    containment: containment(a, b),
    cosine: cosine(a, b),
    levenshtein: levenshtein(auto.normalize(a), auto.normalize(b)),
    auto: await reported(a, b, 'auto'),
  }),
};
