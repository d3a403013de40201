/** How documents of files are decided: the options of `dedup`, `clusters` and `plan`. */
import type { Keep } from '..';
import { OPTIONS } from '../option-table';
import type { Values } from './command';
import { UsageError } from './exit';
import {
  candidates,
  comparing,
  comparingOptions,
  fieldsOf,
  resources,
  resourcesOf,
} from './options';

/** How documents are decided. */
export const deciding = {
  ...candidates,
  cluster: { ...OPTIONS.cluster, default: 'representative' },
  keep: {
    kind: 'choice',
    value: 'RULE',
    choices: ['first', 'last', 'longest', 'newest', 'largest', 'smallest'],
    default: 'first',
    help: 'which document of a cluster is kept',
  },
  'keep-by': {
    kind: 'text',
    value: 'NAME',
    help: 'field that newest, largest and smallest compare; without it date for newest',
  },
  'across-files-only': {
    kind: 'flag',
    help: 'documents of one input are never duplicates of each other',
  },
  ...comparing,
  ...resources,
} as const;

type Deciding = Values<typeof deciding>;

/** The values as the library takes them. */
export function decidingOptions(values: Deciding) {
  const compared = {
    ...comparingOptions(values),
    ...fieldsOf(values),
    ...resourcesOf(values),
  };
  const acrossFilesOnly = values['across-files-only'];
  return {
    ...compared,
    cluster: values.cluster,
    keep: keepOf(values),
    ...(acrossFilesOnly ? { acrossFilesOnly } : {}),
  };
}

/** The keep rule as the library takes it. */
export function keepOf({ keep, 'keep-by': field }: Pick<Deciding, 'keep' | 'keep-by'>): Keep {
  if (keep === 'first' || keep === 'last' || keep === 'longest') {
    if (field === undefined) return keep;
    throw new UsageError(`--keep-by is for newest, largest and smallest, not for ${keep}`);
  }
  if (field?.split('.').includes('')) {
    const expected = 'keys separated by dots, none of them empty';
    throw new UsageError(`--keep-by must be ${expected}, got '${field}'`);
  }
  if (keep === 'newest') return field === undefined ? keep : { field };
  if (field === undefined) throw new UsageError(`--keep ${keep} needs --keep-by NAME`);
  return { field, order: keep };
}
