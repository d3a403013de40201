/** What a report beside a run cannot be written to: said before the run, which may take hours. */
import { type BigIntStats, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SimHashError, typeError } from '../errors';
import { isPattern, partsOf, standsFor } from './pattern';

/** Links that are followed, as many as Linux does. */
const LINKS = 40;
/** Endings of the files that a folder of texts is read for. */
const TEXTS = /\.(txt|text|md|html?)$/i;
const NEXT = 'the next run would read the page as a document. Write it elsewhere';

/** What a run reads, and what it writes beside its report: files, and folders. */
interface Others {
  readonly inputs: readonly string[];
  readonly outputs: readonly (string | undefined)[];
}

/** Refuses a report that a run reads or writes by whatever name, and one that cannot be a file. */
export function refuseReport(report: string, { inputs, outputs }: Others): void {
  const own = placeOf(report);
  const said = statOf(own);
  for (const other of [...inputs, ...outputs]) {
    if (other === undefined || other === '-') continue;
    const is = placeOf(other) === own || isSame(said, statOf(other));
    if (is) throw notItsOwn(report, `the run reads or writes as ${other}`);
  }
  refuseAmong(report, inputs);
  const cannot = (why: string) =>
    new SimHashError('ERR_SIMHASH_OUTPUT', `cannot write ${report}: ${why}`);
  if (said?.isDirectory()) throw cannot('it is a folder');
  const folder = dirname(own);
  if (!statOf(folder)?.isDirectory()) throw cannot(`there is no folder ${folder}`);
}

/** Refuses a report that a folder or a pattern of the inputs stands for: the page would be a document of the next run. */
export function refuseAmong(report: string, inputs: readonly string[]): void {
  const own = placeOf(report);
  for (const input of inputs) {
    if (isPattern(input)) {
      const { folder, parts } = partsOf(input);
      const path = below(realFolder(folder), own);
      if (path !== undefined && standsFor(parts, path)) {
        throw notItsOwn(report, `the pattern ${input} of the inputs stands for: ${NEXT}`);
      }
      continue;
    }
    if (!statOf(input)?.isDirectory()) continue;
    const path = below(placeOf(input), own);
    const isRead = path?.every((name) => !name.startsWith('.')) && TEXTS.test(own);
    if (isRead)
      throw notItsOwn(report, `lies in ${input}, all texts of which the run reads: ${NEXT}`);
  }
}

/** The parts of a path below a folder; `undefined` where it is elsewhere. */
function below(folder: string, path: string): string[] | undefined {
  const inside = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  return path.startsWith(inside) ? path.slice(inside.length).split(sep) : undefined;
}

/** Whether this is a file, or nothing yet: what can be read when it has been written, unlike a pipe or a device. */
export function isFile(path: string): boolean {
  return statOf(path)?.isFile() ?? true;
}

function notItsOwn(report: string, which: string): TypeError {
  return typeError(
    `report must be a file of its own, got ${report}, which ${which}`,
    'ERR_INVALID_ARG_VALUE',
  );
}

/** Where a file is, or would be made: its folder and its name, behind all links, of which the last may lead to nothing. */
function placeOf(path: string, links = LINKS): string {
  const whole = resolve(path);
  const folder = realFolder(dirname(whole));
  const place = join(folder, basename(whole));
  let target: string;
  try {
    target = readlinkSync(place);
  } catch {
    return place;
  }
  return links === 0 ? place : placeOf(resolve(folder, target), links - 1);
}

function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** `undefined` where nothing is, or nothing that can be asked. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
