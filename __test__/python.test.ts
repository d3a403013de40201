/** The pages for who comes from Python: their programs are those of `examples/python`, and both of each page find what it says. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, Folder, jsonLines, ROOT, SAMPLE } from './cli-run';
import { MongoServer, missing } from './mongo-server';

const PROGRAMS = join(ROOT, 'examples', 'python');
/** Where the virtual environment is that CONTRIBUTING.md and `.ci/run` make. */
const PYTHON = process.env.SIMHASH_PYTHON ?? join(ROOT, '.venv', 'bin', 'python');
const modules = 'import datasketch, jieba, plyvel, pymongo, rapidfuzz, simhash';
const hasPython = existsSync(PYTHON) && spawnSync(PYTHON, ['-c', modules]).status === 0;
const skipped = hasPython
  ? ''
  : ' (skipped: no .venv with examples/python/requirements.txt, or SIMHASH_PYTHON)';
if (!hasPython) console.warn(`Python pages${skipped}`);

/** The recipes, with what their programs take after the sample. */
const RECIPES: Readonly<Record<string, { output?: string; isMongo?: boolean }>> = {
  'tfidf-mongodb': { isMongo: true },
  'longest-sentences': { output: 'sentences' },
  'minhash-script': { output: 'unique.jsonl' },
  'three-ways': {},
  window: {},
};
const names = Object.keys(RECIPES);
const folder = new Folder();

/** The cluster of each labelled document. */
const clusterOf = new Map(
  jsonLines<Cluster>(readFileSync(join(ROOT, 'examples', 'sample.labels.jsonl'), 'utf8')).flatMap(
    ({ representative, members }) => members.map(({ id }) => [id, representative] as const),
  ),
);

/** The rows of a page's table, of lines `[way] id duplicateOf`: how many duplicates are labelled so, and how many are not. */
function rows(language: string, printed: string): string[] {
  const ways = new Map<string, [right: number, wrong: number]>();
  for (const line of printed.trimEnd().split('\n')) {
    const [of = '', id = '', way = ''] = line.split(' ').reverse();
    const counts = ways.get(way) ?? [0, 0];
    const isRight = clusterOf.has(id) && clusterOf.get(id) === clusterOf.get(of);
    counts[isRight ? 0 : 1]++;
    ways.set(way, counts);
  }
  return [...ways].map(
    ([way, [right, wrong]]) =>
      `| ${[language, way].filter(Boolean).join(', ')} | ${right} | ${wrong} |`,
  );
}

const pages = ['docs/python', 'docs/zh/python'].flatMap((at) =>
  names.map((name) => [name, `${at}/${name}.md`] as const),
);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('there is a page for each recipe, and a program in both languages', () => {
  const found = readdirSync(PROGRAMS).filter((name) => /\.(py|mjs)$/.test(name));
  expect(found.sort()).toEqual(names.flatMap((name) => [`${name}.mjs`, `${name}.py`]).sort());
  for (const name of names) {
    const length = read(`examples/python/${name}.py`).trimEnd().split('\n').length;
    expect(length, name).toBeLessThanOrEqual(25);
  }
});

test.each(pages)('%s: the programs in %s are those that run', (name, page) => {
  const shown = read(page);
  for (const [language, ending] of [
    ['python', 'py'],
    ['js', 'mjs'],
  ])
    expect(shown).toContain(
      `\`\`\`${language}\n${read(`examples/python/${name}.${ending}`)}\`\`\`\n`,
    );
});

describe.each(names)('%s', (name) => {
  const { output, isMongo = false } = RECIPES[name] ?? {};
  const without = isMongo && missing !== undefined ? ` (skipped: ${missing})` : '';
  const servers: MongoServer[] = [];
  beforeAll(async () => {
    if (isMongo && without === '') servers.push(await MongoServer.open());
  }, 600_000);
  afterAll(async () => {
    for (const server of servers) await server.close();
  });

  const run = (program: string, file: string, to: string) =>
    execFileSync(
      program,
      [join(PROGRAMS, file), SAMPLE, ...(output === undefined ? [] : [folder.join(to)])],
      {
        cwd: ROOT,
        encoding: 'utf8',
        env: { ...process.env, MONGODB_URI: servers[0]?.uri ?? '' },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
  const texts = pages.filter(([of]) => of === name).map(([, page]) => read(page));

  test.skipIf(without !== '')(`what the program of Node.js finds${without}`, () => {
    const table = rows('Node.js', run(process.execPath, `${name}.mjs`, `ours.${output}`));
    for (const text of texts) expect(text).toContain(`${table.join('\n')}\n`);
  });

  test.skipIf(!hasPython || without !== '')(
    `what the program of Python finds${skipped}${without}`,
    () => {
      const table = rows('Python', run(PYTHON, `${name}.py`, `theirs.${output}`));
      for (const text of texts) expect(text).toContain(`${table.join('\n')}\n`);
    },
  );
});

test('in the window of two days there is as much to find as its page says', () => {
  const kept: { at: number; cluster: string | undefined }[] = [];
  let duplicates = 0;
  for (const { id, time } of jsonLines<{ id: string; time: string }>(
    readFileSync(SAMPLE, 'utf8'),
  )) {
    const [at, cluster] = [Date.parse(time), clusterOf.get(id)];
    const isNear = (old: (typeof kept)[number]) =>
      cluster !== undefined && old.cluster === cluster && at - old.at <= 2 * 86_400_000;
    if (kept.some(isNear)) duplicates++;
    else kept.push({ at, cluster });
  }
  for (const page of ['docs/python/window.md', 'docs/zh/python/window.md'])
    expect(read(page)).toContain(
      `| ${page.includes('zh') ? '标注' : 'labelled'} | ${duplicates} |`,
    );
});

test('the window by edit distance takes the daily reports of other numbers for copies, as its page says', () => {
  const printed = execFileSync(process.execPath, [join(PROGRAMS, 'window.mjs'), SAMPLE, 'edit'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(rows('Node.js', printed)).toEqual(['| Node.js | 42 | 3 |']);
});
