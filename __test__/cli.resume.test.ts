import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { dedupFiles } from '..';
import { ended, Folder } from './cli-run';
import { posix } from './posix';

const posixTest = posix('signals that a process can handle');

const long = process.env.SIMHASH_LONG !== undefined;
if (long) vi.setConfig({ testTimeout: 24 * 3_600_000 });

/** Documents in each of four files, one in nine nearly an earlier one; of a long run 3 million. */
const DOCUMENTS = long ? 750_000 : 12_000;
const ROUNDS = long ? 4 : 3;

function write(path: string, input: number): void {
  let lines: string[] = [];
  writeFileSync(path, '');
  for (let number = 0; number < DOCUMENTS; number++) {
    const from = number % 9 === 8 ? (number >> 1) * 4 : number * 4 + input;
    let random = (Math.imul(from, 0x9e3779b1) ^ 0x5bd1e995) | 1;
    let text = '';
    for (let at = 0; at < 40; at++) {
      random ^= random << 13;
      random ^= random >>> 17;
      random ^= random << 5;
      text += String.fromCodePoint(0x4e00 + ((random >>> 0) % 20_000));
    }
    lines.push(`{"id":"${input}-${number}","text":"${text}${number % 9 === 8 ? '!' : ''}"}\n`);
    if (lines.length === 10_000 || number === DOCUMENTS - 1) {
      writeFileSync(path, lines.join(''), { flag: 'a' });
      lines = [];
    }
  }
}

const corpus = new Folder();
const inputs = [0, 1, 2, 3].map((input) => {
  write(corpus.join(`in-${input}`), input);
  return corpus.join(`in-${input}`);
});

const COMMAND = ['dedup', ...inputs, '-o', 'out', '--clusters', 'clusters', '--mark'];
const within = process.platform === 'linux' ? ['--memory', '0.5G'] : [];

async function whole(folder: Folder): Promise<string[]> {
  const { status, stderr } = await folder.run([...COMMAND, '-q']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return ['out', 'clusters'].map((name) => folder.read(name));
}

const expected = whole(corpus);

/** A folder of temporary files of its own, and what the run in it has kept. */
class Place extends Folder {
  constructor() {
    super();
    mkdirSync(this.join('tmp'));
  }

  kept(): string[] {
    return readdirSync(this.join('tmp')).flatMap((folder) => {
      try {
        return readdirSync(this.join(`tmp/${folder}`)).map((name) => `tmp/${folder}/${name}`);
      } catch {
        // It has just been removed.
        return [];
      }
    });
  }

  /** Whether a run has come to this stage. */
  isAt(stage: string): boolean {
    return this.kept().some((path) => {
      if (!path.endsWith(stage)) return false;
      // An empty log has its head alone.
      return !stage.startsWith('log') || (size(this.join(path)) ?? 0) > 4096;
    });
  }
}

function size(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** What there is in the folder of a run from when it works on a stage. */
const STAGES = [
  ['sketches', 'log-0000000001'],
  ['looks for equal texts', 'checkpoint-0000000001'],
  ['sorts the keys of bands', 'checkpoint-0000000002'],
  ['compares', 'checkpoint-0000000003'],
  ['writes', 'checkpoint-0000000004'],
] as const;

test.each(STAGES)(
  'killed with -9 while it %s, a run goes on to the same bytes',
  async (_, file) => {
    const place = new Place();
    for (let round = 0; round < ROUNDS; round++) {
      // Some kills in a row, each of a run that goes on.
      for (const resume of [[], ['--resume'], ['--resume']]) {
        const child = place.start([...COMMAND, '--tmp', 'tmp', ...within, ...resume, '-q']);
        const end = ended(child);
        while (child.exitCode === null && !place.isAt(file)) await setTimeout(1);
        await setTimeout(round * 7);
        child.kill('SIGKILL');
        await end;
      }
      const { status, stderr } = await place.run([...COMMAND, '--tmp', 'tmp', '--resume', '-q']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(['out', 'clusters'].map((name) => place.read(name))).toEqual(await expected);
      expect(readdirSync(join(place.path, 'tmp'))).toEqual([]);
    }
  },
);

posixTest.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGQUIT', 131],
] as const)('%s says how to go on from where the run was, and exits %i', async (signal, status) => {
  const place = new Place();
  const child = place.start([...COMMAND, '--tmp', 'tmp', ...within]);
  const end = ended(child);
  while (!place.isAt('log-0000000001')) await setTimeout(1);
  child.kill(signal);
  const stopped = await end;
  expect(stopped).toMatchObject({ status, stdout: '' });
  expect(stopped.stderr).toContain('interrupted; no output was written');
  expect(stopped.stderr).toContain('run the same command again with --resume');
  expect(place.names()).toEqual(['tmp']);
  const [folder = ''] = readdirSync(place.join('tmp'));
  expect(folder).toMatch(/^simhash-run-[0-9a-f]{16}$/);
  expect(statSync(place.join(`tmp/${folder}`)).mode & 0o777).toBe(0o700);
  for (const path of place.kept()) expect(statSync(place.join(path)).mode & 0o777).toBe(0o600);

  // Another run says what it found, and leaves it alone.
  place.write('small', '{"text":"望海港本月开通了一条航线"}\n');
  const other = await place.run(['dedup', 'small', '-o', 'other', '--tmp', 'tmp']);
  expect(other.stderr).toContain(`tmp/${folder} was left by another run`);

  const refused = await place.run([...COMMAND, '--tmp', 'tmp', '--resume', '--keep', 'last']);
  expect(refused.status).toBe(4);
  expect(refused.stderr).toContain('the checkpoint is that of a run with');

  const went = await place.run([...COMMAND, '--tmp', 'tmp', '--resume', '--threads', '1']);
  expect(went).toMatchObject({ status: 0, stdout: '' });
  expect(went.stderr).toMatch(/records of it from the run that stopped/);
  expect(['out', 'clusters'].map((name) => place.read(name))).toEqual(await expected);
  expect(readdirSync(place.join('tmp'))).toEqual([]);
});

test('what cannot go on is refused, and a run without --resume begins anew', async () => {
  const place = new Place();
  place.write('in', '{"text":"望海港本月开通了一条航线"}\n');
  const refused = async (...args: string[]) => {
    const { status, stdout, stderr } = await place.run(['dedup', ...args, '--resume']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    return stderr;
  };
  expect(await refused('in', '-o', 'out')).toContain('--resume must be left out');
  expect(await refused('in', '-o', '-', '--tmp', 'tmp')).toContain('--resume must be left out');
  expect(await refused('-', '-o', 'out', '--tmp', 'tmp')).toContain('--resume must be left out');
  expect(await refused('in', '-o', 'out', '--index', 'index')).toContain('must be left out');

  const child = place.start([...COMMAND, '--tmp', 'tmp', '-q']);
  const end = ended(child);
  while (!place.isAt('log-0000000001')) await setTimeout(1);
  child.kill('SIGKILL');
  await end;
  const [folder] = readdirSync(place.join('tmp'));
  const anew = await place.run([...COMMAND, '--tmp', 'tmp']);
  expect(anew.status).toBe(0);
  expect(anew.stderr).toContain(`removed tmp/${folder}, which a killed run had left`);
  expect(place.read('out')).toEqual((await expected)[0]);
});

test('the library goes on after an abort', async () => {
  const place = new Place();
  const [out, tmp] = [place.join('out'), place.join('tmp')];
  const abort = new AbortController();
  const options = { tmp, clusters: place.join('clusters'), mark: true };
  const run = dedupFiles(inputs, out, { ...options, signal: abort.signal });
  while (!place.isAt('log-0000000001')) await setTimeout(1);
  abort.abort(new Error('enough'));
  await expect(run).rejects.toThrow('enough');
  const other = dedupFiles(inputs, out, { ...options, minSimilarity: 0.5, resume: true });
  await expect(other).rejects.toMatchObject({ code: 'ERR_SIMHASH_INDEX_MISMATCH' });
  const summary = await dedupFiles(inputs, out, { ...options, resume: true });
  expect(summary.resumed).toBeGreaterThan(0);
  expect(summary.stopped).toEqual([]);
  expect(place.read('out')).toEqual((await expected)[0]);
  await expect(dedupFiles(inputs, out, { resume: true })).rejects.toMatchObject({
    code: 'ERR_INVALID_ARG_VALUE',
  });
});
