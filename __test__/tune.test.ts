import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Statement,
  similarity,
  sweep,
  type Trial,
  type TuneOptions,
  type Tuning,
  tune,
} from '..';
import { Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

interface Doc {
  readonly id: string;
  readonly text: string;
}
const sample = jsonLines<Doc>(readFileSync(SAMPLE, 'utf8'));
const LABELS = join(ROOT, 'examples', 'sample.labels.jsonl');
const labels = jsonLines<Statement>(readFileSync(LABELS, 'utf8'));
const folder = new Folder();

/** The same but for the clock. */
const timeless = ({ documentsPerSecond: _, ...trial }: Trial) => trial;

test('the whole sample of the repository has the duplicates that its labels say', async () => {
  const seen: Trial[] = [];
  const tuning = await tune(sample, { onTrial: (trial) => seen.push(trial) });
  expect(tuning).toMatchObject({ documents: 303, redundant: 117, trials: seen });
  expect(tuning.trials.map(({ options }) => options)).toEqual(sweep());
  for (const { precision, evaluation, bytesPerDocument, documentsPerSecond } of tuning.trials) {
    expect(precision).toBe(evaluation.pairPrecision);
    expect(precision).toBe(1);
    expect(bytesPerDocument).toBeGreaterThan(0);
    expect(documentsPerSecond).toBeGreaterThan(0);
  }
  const byLabels = await tune(sample, { labels });
  const recalls = (trials: readonly Trial[]) => trials.map(({ recall }) => recall);
  expect(recalls(byLabels.trials)).toEqual(recalls(tuning.trials));
});

test('the recommendation is the first that reaches the goal, else the best', async () => {
  const { trials, recommended } = await tune(sample, { goal: 0.95 });
  expect(recommended).toBe(trials.find(({ recall }) => recall >= 0.95));
  const few = await tune(sample, {
    goal: 1,
    trials: [{ method: 'exact' }, { maxDistance: 6 }, { maxDistance: 3 }],
  });
  expect(few.recommended).toBe(few.trials[1]);
  const none = await tune(['一', '二', '三'], { goal: 0 });
  expect(none).toMatchObject({ documents: 3, redundant: 0 });
  expect(none).not.toHaveProperty('recommended');
});

describe('a sample', () => {
  const options: TuneOptions = { sample: 60, trials: [{ maxDistance: 16 }] };

  test('is the same for the same seed, whatever the threads, and differs for another', async () => {
    const one = await tune(sample, options);
    const again = await tune(sample, { ...options, threads: 1 });
    expect(again.trials.map(timeless)).toEqual(one.trials.map(timeless));
    expect(again.documents).toBe(one.documents);
    const others = await Promise.all(
      [2, 3, 4].map(async (seed) => (await tune(sample, { ...options, seed })).redundant),
    );
    expect(others.some((redundant) => redundant !== one.redundant)).toBe(true);
  });

  test('is of the size asked for and the documents near it, each once', async () => {
    const corpus = async function* () {
      for (const doc of sample) yield doc;
    };
    const { documents, redundant } = await tune(corpus, { ...options, seed: 7 });
    expect(documents).toBeGreaterThan(60);
    expect(documents).toBeLessThanOrEqual(120);
    // Every document that was added is near one that was drawn, so each adds to what is redundant, or to a chain of it.
    expect(redundant).toBeGreaterThanOrEqual(documents - 60);
  });

  test('with labels has every document that they name', async () => {
    const named = labels.flatMap((label) => ('members' in label ? label.members : []));
    const { documents } = await tune(sample, { ...options, sample: 1, labels });
    expect([named.length, named.length + 1]).toContain(documents);
  });
});

test('truth follows the features and the threshold that are asked for', async () => {
  const texts = sample.map(({ text }) => text);
  for (const [ngram, minSimilarity] of [
    [1, 0.9],
    [3, 0.6],
  ] as const) {
    const trials = [{ method: 'simhash', maxDistance: 16, cluster: 'components' }] as const;
    const { redundant } = await tune(texts, { ngram, minSimilarity, trials });
    // Components, by spreading the lowest name.
    const name = texts.map((_, row) => row);
    for (const [b, second] of texts.entries()) {
      for (const [a, first] of texts.slice(0, b).entries()) {
        if (name[a] === name[b] || similarity(first, second, { ngram }) < minSimilarity) continue;
        const [low, high] = [
          Math.min(name[a] ?? 0, name[b] ?? 0),
          Math.max(name[a] ?? 0, name[b] ?? 0),
        ];
        for (const [row, other] of name.entries()) if (other === high) name[row] = low;
      }
    }
    expect(redundant).toBe(texts.length - new Set(name).size);
  }
});

test('a trial without verification needs no threshold of its own, and may have none', async () => {
  const unverified = { method: 'minhash', verify: false } as const;
  const { trials } = await tune(sample, { minSimilarity: 0.7, trials: [unverified] });
  expect(trials.map(({ options }) => options)).toEqual([unverified]);
  const both = tune(sample, { trials: [{ ...unverified, minSimilarity: 0.7 }] });
  await expect(both).rejects.toThrow('minSimilarity must be left out beside verify: false');
});

test('a trial of other units does not take over a length', async () => {
  for (const own of [{ preset: 'jieba-tfidf' }, { features: 'jieba' }] as const) {
    const { trials } = await tune(sample, { ngram: 3, trials: [own] });
    expect(trials.map(({ options }) => options)).toEqual([own]);
  }
});

test('an abort rejects with its reason, before and during', async () => {
  const reason = new Error('enough');
  await expect(tune(sample, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const onTrial = () => controller.abort(reason);
  await expect(tune(sample, { signal: controller.signal, onTrial })).rejects.toBe(reason);
});

test('misuse is refused with Node’s codes', async () => {
  const type = { code: 'ERR_INVALID_ARG_TYPE' };
  await expect(tune('ab' as never)).rejects.toMatchObject(type);
  await expect(tune([7 as never])).rejects.toMatchObject(type);
  await expect(tune([], { labels: 7 as never })).rejects.toMatchObject(type);
  await expect(tune([], { trials: [{ distance: 3 } as never] })).rejects.toThrow('trials[0]');
  const range = { code: 'ERR_OUT_OF_RANGE' };
  await expect(tune([], { sample: 0 })).rejects.toMatchObject(range);
  await expect(tune([], { trials: [{ maxDistance: 17 }] })).rejects.toMatchObject(range);
  await expect(tune(['一'], { minSimilarity: 0 })).rejects.toMatchObject(range);
});

describe('on the command line', () => {
  test('the recommended command runs, and finds what the table says', async () => {
    const { status, stdout, stderr } = await folder.run(['tune', SAMPLE, '--id-field', 'id']);
    expect(status).toBe(0);
    expect(stderr).toContain('303 documents, 117 of them redundant');
    const rows = stdout.split('\n');
    expect(rows.filter((row) => row.startsWith('→'))).toHaveLength(1);
    const command = rows.at(-2)?.split(' ') ?? [];
    expect(command.slice(0, 2)).toEqual(['npx', '@x/simhash-native']);
    expect((await folder.run([...command.slice(2), '--clusters', 'found'])).status).toBe(0);
    const scored = await folder.run(['eval', 'found', '--labels', LABELS, '--json']);
    const { documentRecall } = JSON.parse(scored.stdout) as { documentRecall: number };
    expect(documentRecall).toBeGreaterThanOrEqual(0.99);
  });

  test('--json has the trials, the recommendation and its command; a malformed line is told once', async () => {
    folder.write('docs', `${readFileSync(SAMPLE, 'utf8')}{"id": 1}\n`);
    const args = ['tune', 'docs', '--sample', '100', '--json', '-q', '--ngram', '3'];
    const { status, stdout, stderr } = await folder.run(args);
    expect({ status, stderr }).toEqual({ status: 1, stderr: 'docs:304: no field text\n' });
    const told = JSON.parse(stdout) as { trials: unknown; command: unknown };
    expect(told).toMatchObject({ rejected: 1, options: { ngram: 3, sample: 100 } });
    expect(told.trials).toHaveLength(sweep().length);
    expect(told.command).toMatch(/^npx @x\/simhash-native dedup docs -o unique .*--ngram 3/);
  });

  test('the command has a switch that was given, and none that was not', async () => {
    const command = async (...args: string[]) => {
      const { stdout } = await folder.run([
        'tune',
        SAMPLE,
        '--sample',
        '50',
        '--json',
        '-q',
        ...args,
      ]);
      return (JSON.parse(stdout) as { command: string }).command;
    };
    const jieba = ['--preset', 'jieba-tfidf'];
    expect(await command(...jieba)).not.toContain('hmm');
    expect(await command(...jieba, '--no-hmm')).toMatch(/ --no-hmm( --|$)/);
  });

  test('what is tried on files is what is tried on the same documents', async () => {
    // Two documents have the id of others.
    const docs = [...sample, { ...sample[7], id: sample[3]?.id }, { ...sample[9], id: 'same' }];
    folder.write('docs', docs.map((doc) => `${JSON.stringify(doc)}\n`).join(''));
    const told = async (...args: string[]) => {
      const { stdout, stderr } = await folder.run(['tune', 'docs', '--json', '-q', ...args]);
      expect(stderr).toBe('');
      const { documents, redundant, recommended, trials } = JSON.parse(stdout) as Tuning;
      return { documents, redundant, recommended, trials: trials.map(timeless) };
    };
    const drawn = { sample: 60, seed: 3, ngram: 3, minSimilarity: 0.7 };
    const args = ['--sample', '60', '--seed', '3', '--ngram', '3', '--min-similarity', '0.7'];
    for (const [options, more] of [
      [{}, []],
      [{ labels }, ['--labels', LABELS]],
    ] as const) {
      const { trials, recommended, ...expected } = await tune(docs as Doc[], {
        ...drawn,
        ...options,
      });
      expect(await told(...args, ...more)).toEqual({
        ...expected,
        recommended: recommended?.options,
        trials: trials.map(timeless),
      });
    }
  });

  test('labels decide in place of similarity', async () => {
    const { stdout } = await folder.run(['tune', SAMPLE, '--labels', LABELS, '--json', '-q']);
    expect(JSON.parse(stdout)).toMatchObject({ documents: 303, redundant: 117 });
  });
});
