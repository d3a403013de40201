/** Deciding: the documents of a file, by `dedupFiles`, into a file of decisions. */
import { rm } from 'node:fs/promises';
import { dedupFiles } from '../../dedup-files';
import { SimHashError } from '../../errors';
import { given } from '../../given';
import { KEEP, without } from './copy';
import { keepFields } from './document';
import type { Settings } from './settings';
import { FIRST, type Stage } from './stage';
import { fileMark } from './work';

/** Decides all documents, of which `count` were read. */
export async function decide(stage: Stage, count: number): Promise<void> {
  const { settings, source, known, run, work, report } = stage;
  const { rejected, first } = await without(work, source.namespace);
  const total = count - rejected;
  const options = {
    ...ofLines(settings),
    mark: true,
    tmp: work.folder,
    // A report is made of them.
    ...(settings.report === undefined ? {} : { clusters: work.path('clusters') }),
    ...(known === undefined ? {} : { known: work.path('known') }),
    onProgress: ({ documents }: { documents: number }) =>
      report({ stage: 'decide', documents, total }),
  } as const;
  const [from, to] = [work.path('source'), work.path('decided')];
  // Of another process, that had read other documents perhaps.
  await rm(work.path('clusters'), { force: true });
  const anew = (error: unknown) => {
    // What was read has grown since.
    if (!(error instanceof SimHashError) || !BEGIN_ANEW.includes(error.code)) throw error;
    return dedupFiles(from, to, options);
  };
  const summary = await dedupFiles(from, to, { ...options, resume: true }).catch(anew);
  await run.note({
    phase: 'write',
    summary: {
      ...summary,
      read: summary.read + rejected,
      rejected: summary.rejected + rejected,
      firstRejected: [...first, ...summary.firstRejected].slice(0, FIRST),
    },
    position: 0,
    offset: 0,
    ...given({ decided: await fileMark(to) }),
  });
}

/** How a run over files of lines of a collection is to decide. */
export function ofLines(settings: Settings) {
  const {
    textField: _text,
    textFields: _texts,
    texts: _stored,
    filter: _filter,
    limit: _limit,
    known: _known,
    append: _append,
    mark: _mark,
    markField: _field,
    fingerprint: _fingerprint,
    batch: _batch,
    lease: _lease,
    onProgress: _progress,
    tmp: _tmp,
    report: _report,
    reportTexts: _reportTexts,
    dateField: _dateField,
    keep,
    ...compared
  } = settings;
  const order = typeof keep === 'object' ? keep.order : undefined;
  const rule = keepFields(settings).length > 0 ? { field: KEEP, ...given({ order }) } : keep;
  const form = { format: 'jsonl', encoding: 'utf-8', maxRecord: 2 ** 30 } as const;
  return { ...compared, ...given({ keep: rule }), ...form };
}

/** What the checkpoint of a run over files says that is not of the same files. */
const BEGIN_ANEW: readonly string[] = ['ERR_SIMHASH_INPUT_CHANGED', 'ERR_SIMHASH_INDEX_MISMATCH'];
