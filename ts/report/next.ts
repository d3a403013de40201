/** What a page tells its reader to run next: with the same files, read and cut into features as in the run. */
import { FINGERPRINTER } from '../fingerprinter';
import { FORM } from '../form';
import { given } from '../given';
import { file, flags, PROGRAM, unsaid } from '../shell';
import type { Next } from './about';
import type { Made, Written } from './write';

/** Files that a command names: of a thousand nobody wants to see all. */
const FILES = 20;
/** What the page calls its file of labels. */
const LABELS = '--labels labels.jsonl';

/** How documents are read, and what makes their features; not how fast. */
const { threads: _threads, ...FEATURES } = FINGERPRINTER;
const SAME: readonly string[] = [...Object.keys(FORM), ...Object.keys(FEATURES)];

export function next({ result, inputs, others }: Written, made: Made): Next {
  const { minSimilarity, temporary, database } = made;
  const used = Object.entries({ ...made, ...database?.form }).filter(([name]) =>
    SAME.includes(name),
  );
  const same = Object.fromEntries(used);
  const least = minSimilarity === 0 ? undefined : minSimilarity;
  const options = [LABELS, ...flags({ minSimilarity: least, ...same })].join(' ');
  const all = database === undefined ? [...inputs, ...others] : ['documents.jsonl'];
  const files = all.slice(0, FILES).map(file);
  const more = all.length - files.length;
  const clusters = file(temporary ? 'clusters.jsonl' : result);
  const docs = files.map((name) => `--docs ${name}`).join(' ');
  const left = unsaid(same);
  return {
    tune: `${PROGRAM} tune ${files.join(' ')} ${options}`,
    // Matches are no clusters, and of a collection there are no files yet.
    ...(made.command === 'match' || database !== undefined
      ? {}
      : { eval: `${PROGRAM} eval ${clusters} ${docs} ${options}` }),
    ...given({
      more: more === 0 ? undefined : more,
      unsaid: left.length === 0 ? undefined : left,
    }),
  };
}
