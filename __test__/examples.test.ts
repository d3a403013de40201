import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { BIN, ROOT } from './cli-run';
import { posix } from './posix';
import { parquet, sample } from './shapes';

const posixTest = posix('signals that a process can handle');

const folder = mkdtempSync(join(tmpdir(), 'simhash-examples-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = (name: string) => join(ROOT, 'examples', name);
const print = (name: string, ...args: string[]) =>
  execFileSync(process.execPath, [path(name), ...args], { cwd: ROOT, encoding: 'utf8' });

test('an example has fewer than forty lines', () => {
  const examples = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.mjs'));
  expect(examples.length).toBeGreaterThan(5);
  for (const name of examples) {
    expect(readFileSync(path(name), 'utf8').split('\n').length, name).toBeLessThan(41);
  }
});

test('a window of two days', () => {
  expect(print('window.mjs')).toBe(
    [
      '2026-01-01 a: new, 1 in the window',
      '2026-01-02 b: a duplicate of a, 1 in the window',
      '2026-01-09 c: new, 1 in the window',
      '',
    ].join('\n'),
  );
});

test('a consumer answers messages that come again as the first time', () => {
  const said = [
    'message 0: new',
    'acknowledged 0',
    'message 1: new',
    'acknowledged 1',
    'message 2: a duplicate of 0',
    'acknowledged 2',
    '',
  ].join('\n');
  const index = join(folder, 'consumer');
  expect(print('consumer.mjs', index)).toBe(said);
  expect(print('consumer.mjs', index)).toBe(said);
});

test('rows of an Arrow table', () => {
  expect(print('arrow.mjs')).toMatch(
    /^2 is a duplicate of 1\n2 of 3 rows:\n\{ id: 1n, .*\n\{ id: 3n, .*\n$/,
  );
  const table = tableFromArrays({
    id: sample.map(({ id }) => id),
    text: sample.map(({ text }) => text),
  });
  const file = join(folder, 'sample.arrow');
  writeFileSync(file, tableToIPC(table, 'file'));
  expect(print('arrow.mjs', file)).toContain('\n186 of 303 rows:\n');
});

test('rows of DuckDB keep what the command line keeps', () => {
  const [from, to, expected] = ['in', "it's out", 'expected'].map((name) =>
    join(folder, `${name}.parquet`),
  );
  writeFileSync(from as string, parquet(sample));
  expect(print('duckdb.mjs', from as string, to as string)).toBe(
    'read 303 = kept 186 + duplicates 117 + rejected 0\n',
  );
  execFileSync(process.execPath, [
    BIN,
    'dedup',
    from as string,
    '-o',
    expected as string,
    '--quiet',
  ]);
  const bytes = (path?: string) => readFileSync(path as string);
  const rows = (path?: string) => parquetReadObjects({ file: new Uint8Array(bytes(path)).buffer });
  return Promise.all([rows(to), rows(expected)]).then(([duck, ours]) => expect(duck).toEqual(ours));
});

test('stores of one’s own keep an index', () => {
  const printed = print('stores.mjs');
  expect(printed).toMatch(/^Map .*id: 0/);
  expect(printed).toMatch(/^LevelDB .*id: 0/m);
});

posixTest('a service answers, and knows after its restart what it had', async () => {
  const index = join(folder, 'service');
  const start = async () => {
    const env = { ...process.env, PORT: '0' };
    const child = spawn(process.execPath, [path('http.mjs'), index], { cwd: ROOT, env });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const ask = async (body: string) =>
      (await fetch(`http://127.0.0.1:${line.split(' ').at(-1)}`, { method: 'POST', body })).json();
    const stop = async () => {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    };
    const status = async (body: string) =>
      (await fetch(`http://127.0.0.1:${line.split(' ').at(-1)}`, { method: 'POST', body })).status;
    return { ask, status, stop };
  };
  const text = '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。';
  const first = await start();
  const answers = await Promise.all([first.ask(text), first.ask(text)]);
  expect(answers.filter(({ duplicateOf }) => duplicateOf === 0).length).toBe(1);
  expect(await first.status('长'.repeat(400_000))).toBe(413);
  await first.stop();
  const second = await start();
  expect(await second.ask(`${text}！`)).toMatchObject({ duplicateOf: 0 });
  await second.stop();
});

/** PostgreSQL's programs, where Debian puts them or on the path. */
function postgres(name: string): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const found = versions.map((version) => join('/usr/lib/postgresql', version, 'bin', name));
  return [...found, ...(process.env.PATH ?? '').split(':').map((at) => join(at, name))].find(
    existsSync,
  );
}
const initdb = postgres('initdb');
const skipped = initdb ? '' : ' (skipped: PostgreSQL is not installed)';

test.skipIf(initdb === undefined)(`from PostgreSQL into PostgreSQL${skipped}`, async () => {
  const data = mkdtempSync(join(tmpdir(), 'simhash-postgres-'));
  const port = await freePort();
  // It does not run as root.
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const who = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
  if (who.uid !== undefined) chownSync(data, who.uid, who.gid);
  const made = ['-D', data, '-U', 'me', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(initdb as string, made, { ...who, stdio: 'ignore' });
  const options = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', data];
  const server = spawn(postgres('postgres') as string, options, { ...who, stdio: 'ignore' });
  try {
    const env = { PGHOST: '127.0.0.1', PGPORT: `${port}`, PGUSER: 'me', PGDATABASE: 'postgres' };
    const client = await connected(port);
    await client.query('CREATE TABLE news (id bigint, body text)');
    const text = '望海港开通航线，\t单程\\二十三天，\n2024年比绕行缩短一周。';
    const bodies = [text, `${text}！`, null, '市图书馆周末延长开放时间到晚上九点。', ''];
    for (const [id, body] of bodies.entries()) {
      await client.query('INSERT INTO news VALUES ($1, $2)', [id, body]);
    }
    const run = { cwd: ROOT, env: { ...process.env, ...env }, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync(process.execPath, [path('postgres.mjs')], run);
    expect(stderr).toBe('');
    expect(stdout).toBe('read 5 = kept 3 + duplicates 1 + rejected 1\n');
    const { rows } = await client.query('SELECT id::int, body FROM news_unique ORDER BY id');
    expect(rows).toEqual([0, 3, 4].map((id) => ({ id, body: bodies[id] })));
    await client.end();
  } finally {
    server.kill('SIGINT');
    await once(server, 'exit');
    rmSync(data, { recursive: true });
  }
});

async function connected(port: number): Promise<pg.Client> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'me', database: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (tries === 600) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
