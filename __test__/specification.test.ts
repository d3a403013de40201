/**
 * The package against docs/specification.md: its golden vectors, and a second implementation of the page in Python, which must
 * write the same clusters.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DedupFilesOptions, dedupFiles } from '..';
import { BIN, jsonLines, ROOT, SAMPLE } from './cli-run';
import * as corpora from './specification/corpora';
// @ts-expect-error The generator of the vectors uses it too, so it is plain JavaScript.
import { LINES } from './specification/vectors.mjs';

const FOLDER = join(__dirname, 'specification');
const VECTORS = join(FOLDER, 'vectors', '1');
const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
const present = python.status === 0;
const { CI } = process.env;
if (!present && CI !== undefined)
  throw new Error('CI has to have python3, 3.10 or later: .ci/run installs it');
if (!present) {
  console.log(
    'not tested: the second implementation of the specification needs python3, 3.10 or later',
  );
}

type Line = Record<string, unknown>;

test('the build, the page and the vectors are of one version', () => {
  const { stdout } = spawnSync(process.execPath, [BIN, 'version', '--json']);
  const { specification } = JSON.parse(String(stdout));
  const page = readFileSync(join(ROOT, 'docs', 'specification.md'), 'utf8');
  expect(page.split('\n')[0]).toBe(`# Specification ${specification}`);
  expect(basename(VECTORS)).toBe(String(specification));
});

describe('golden vectors', () => {
  // Keys of bands and plans: crates/index/tests/specification.rs.
  test.each(Object.keys(LINES))('%s', async (name) => {
    const lines = jsonLines<Line>(readFileSync(join(VECTORS, name), 'utf8'));
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const found = await LINES[name](line);
      expect(JSON.parse(JSON.stringify(found)), JSON.stringify(line)).toEqual(line);
    }
  });

  test('every file has its test', () => {
    const byRust = ['band-keys.jsonl', 'plan.jsonl'];
    expect(readdirSync(VECTORS).sort()).toEqual([...Object.keys(LINES), ...byRust].sort());
  });

  test.runIf(present)('the Python agrees with all of them', () => {
    const { stdout, status } = spawnSync('python3', [
      join(FOLDER, 'simhash_spec.py'),
      'vectors',
      VECTORS,
    ]);
    expect(String(stdout)).toMatch(/^\d+ vectors, 0 wrong$/m);
    expect(status).toBe(0);
  });
});

/** One run of both. */
interface Run {
  readonly inputs: readonly string[];
  readonly options: DedupFilesOptions;
}

/** The options as the Python takes them. */
function flags({ inputs, options }: Run): string[] {
  const { method, cluster, keep, verify, minSimilarity, maxVerifications, ...rest } = options;
  const given = Object.entries(rest).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    ...(value === true ? [] : [String(value)]),
  ]);
  const rule = typeof keep === 'object' ? `${keep.order ?? 'largest'}:${keep.field}` : keep;
  const named = { method, cluster, keep: rule, verify: verify === false ? 'off' : verify };
  const numbers = { 'min-similarity': minSimilarity, 'max-verifications': maxVerifications };
  const others = Object.entries({ ...named, ...numbers }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  return ['dedup', ...inputs, ...given, ...others];
}

/** Runs in one process, so that what is known of a text is known to all of them. */
const DRIVER = `
import contextlib, json, sys
sys.path.insert(0, sys.argv[1])
import simhash_spec
for line in sys.stdin:
    arguments, out, err = json.loads(line)
    sys.argv[1:] = arguments
    with open(out, 'w') as stdout, open(err, 'w') as stderr:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            simhash_spec.main()
    print(out, flush=True)
`;

describe.runIf(present)('the second implementation writes the same clusters', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simhash-specification-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, texts: readonly string[], seed: number) => {
    const path = join(folder, name);
    writeFileSync(path, corpora.jsonLines(texts, seed));
    return path;
  };
  const one = write('hard-1.jsonl', corpora.hard(1), 1);
  const two = write('hard-2.jsonl', corpora.hard(2), 2);
  const crowd = write('crowd.jsonl', corpora.crowd(3, 400), 3);
  const large = write('large.jsonl', corpora.crowd(4, 1_100), 4);
  const titles = write('titles.jsonl', corpora.titles(5, 320), 5);

  const methods = ['minhash', 'simhash', 'sentences', 'brute-force', 'exact'] as const;
  const modes = ['representative', 'components'] as const;
  const rules = [
    ...(['first', 'last', 'longest', 'newest'] as const),
    ...([{ field: 'rank' }, { field: 'rank', order: 'smallest' }] as const),
  ];
  const runs: Run[] = [];
  const addAll = (inputs: readonly string[], ...options: DedupFilesOptions[]) =>
    runs.push(...options.map((options) => ({ inputs, options })));
  const add = (input: string, ...options: DedupFilesOptions[]) => addAll([input], ...options);
  for (const [at, method] of methods.entries()) {
    for (const cluster of modes) {
      add(SAMPLE, { method, cluster });
      add(one, { method, cluster }, { method, cluster, keep: rules[at + 1] ?? 'last' });
    }
  }
  for (const cluster of modes) {
    for (const keep of rules) add(two, { cluster, keep });
    for (const verify of ['jaccard', 'containment', 'edit', 'cosine', false] as const) {
      add(two, { cluster, verify }, { cluster, verify, method: 'simhash', maxDistance: 12 });
    }
    for (const minSimilarity of [0.5, 0.6, 0.95, 1]) add(two, { cluster, minSimilarity });
    add(two, { cluster, ngram: 3 }, { cluster, bands: 8, rows: 3, maxVerifications: 3 });
    add(two, {
      cluster,
      method: 'sentences',
      sentences: 2,
      verify: false,
      textField: 'body.content',
    });
    add(two, { cluster, method: 'simhash', maxVerifications: 1, idField: 'rank' });
    add(crowd, { cluster }, { cluster, keep: 'last' }, { cluster, maxVerifications: 20 });
    add(crowd, { cluster, method: 'sentences' }, { cluster, method: 'sentences', verify: false });
    add(large, { cluster }, { cluster, method: 'simhash', maxDistance: 16, keep: 'longest' });
    add(titles, { cluster, minSimilarity: 0.5 }, { cluster, verify: false });
    add(titles, { cluster, method: 'brute-force', minSimilarity: 0.6, maxVerifications: 100 });
  }
  for (const [name, texts] of Object.entries(corpora.extremes(6, 200))) {
    const path = write(`${name}.jsonl`, texts, 6);
    for (const method of ['minhash', 'simhash', 'sentences'] as const) {
      add(path, { method }, { method, cluster: 'components', keep: 'longest' });
    }
  }
  // Twice the same file: everything is equal to something of the other input.
  const acrossFilesOnly = true;
  for (const cluster of modes) {
    const across = { cluster, acrossFilesOnly };
    addAll([two, one], { cluster }, ...methods.map((method) => ({ ...across, method })));
    for (const keep of rules) {
      addAll([two, one], { ...across, keep }, { ...across, keep, verify: 'containment' });
      addAll([two, one], { ...across, keep, verify: false, method: 'simhash' });
    }
    addAll([two, two], across, { ...across, keep: 'last', maxVerifications: 3 });
    addAll([one, crowd, two], across, { ...across, verify: false, method: 'simhash' });
  }
  const outputs = runs.map((_, at) => join(folder, `python-${at}.jsonl`));
  const ended = new Map<string, () => void>();
  const written = outputs.map((out) => new Promise<void>((done) => ended.set(out, done)));
  let failed = new Promise<never>(() => {});

  beforeAll(() => {
    const child = spawn('python3', ['-c', DRIVER, FOLDER], { stdio: ['pipe', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (data) => {
      errors += data;
    });
    let rest = '';
    child.stdout.on('data', (data) => {
      const lines = `${rest}${data}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) ended.get(line)?.();
    });
    failed = new Promise((_, reject) =>
      child.on('close', (status) => status !== 0 && reject(new Error(errors))),
    );
    failed.catch(() => {});
    for (const [at, run] of runs.entries()) {
      const out = outputs[at];
      child.stdin.write(`${JSON.stringify([flags(run), out, `${out}.summary`])}\n`);
    }
    child.stdin.end();
  });

  const name = ({ inputs, options }: Run) =>
    `${inputs.map((input) => basename(input)).join(', ')} ${JSON.stringify(options)}`;
  const cut = new Set<string>();
  const rows = runs.map((run, at) => [name(run), run, at] as const);
  test.each(rows)('%s', async (_, { inputs, options }, at) => {
    const clusters = join(folder, `ours-${at}.jsonl`);
    const summary = await dedupFiles(inputs, undefined, { ...options, clusters });
    const out = outputs[at] ?? '';
    await Promise.race([written[at], failed]);
    const { read, kept, duplicates, rejected, clusters: count, truncated } = summary;
    if (truncated > 0) for (const input of inputs) cut.add(basename(input));
    const figures = { read, kept, duplicates, rejected, clusters: count, truncated };
    expect(readFileSync(clusters, 'utf8')).toBe(readFileSync(out, 'utf8'));
    expect(figures).toEqual(JSON.parse(readFileSync(`${out}.summary`, 'utf8')));
  });

  test('limits on candidates cut something of every crowd', () => {
    for (const input of [crowd, large, titles]) expect(cut).toContain(basename(input));
  });
});
