/** Options that several commands share, so that a name means the same thing everywhere. */

/** How near two documents must be. */
export const comparison = {
  'max-distance': {
    kind: 'integer',
    value: 'K',
    min: 0,
    max: 16,
    default: 8,
    help: 'largest Hamming distance of two fingerprints, inclusive',
  },
  'min-similarity': {
    kind: 'number',
    value: 'S',
    min: 0,
    max: 1,
    default: 0.8,
    help: 'least Jaccard similarity of their n-grams, where 0 = do not verify',
  },
} as const;

/** How a text becomes features. */
export const features = {
  features: {
    kind: 'choice',
    value: 'UNIT',
    choices: ['chars', 'words', 'jieba'],
    default: 'chars',
    help: 'what a feature is made of',
  },
  ngram: {
    kind: 'integer',
    value: 'N',
    min: 1,
    max: 8,
    help: 'units per feature; without it 2, for jieba 1',
  },
} as const;

/** Where text and id are in a record. */
export const fields = {
  'text-field': { kind: 'text', value: 'NAME', default: 'text', help: 'field that holds the text' },
  'id-field': {
    kind: 'text',
    value: 'NAME',
    default: 'id',
    help: 'field that holds the id; without it the line number is the id',
  },
} as const;
