/** Blocks of pages that need a server, Spark or a worker: each runs as the page has it, with addresses and folders of this machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { type Block, blocks } from './blocks';
import { BIN, Folder, ROOT, SAMPLE } from './cli-run';
import { NatsServer, missing as noNats } from './nats-server';
import { project } from './project';
import { missing as noRedis, RedisServer } from './redis-server';

const folder = new Folder();
project(folder);
cpSync(SAMPLE, folder.join('in.jsonl'));

const windows = process.platform === 'win32';
if (windows) console.log('not tested on Windows, which has no bash');

const code = (page: string, language: string, at: number): string => {
  const found = blocks(page).filter((block: Block) => block.language === language)[at];
  if (found === undefined) throw new Error(`${page} has no block ${at} of ${language}`);
  return found.code;
};
const bash = (command: string, env: NodeJS.ProcessEnv = {}, cwd = folder.path) =>
  spawnSync('bash', ['-o', 'pipefail', '-c', command], {
    ...{ cwd, encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 64 << 20 },
  });

describe.skipIf(windows)('a server', () => {
  const started: ChildProcess[] = [];
  afterAll(() => {
    // Of bash, npx and the server, a group of their own.
    for (const { pid, exitCode } of started)
      if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  });

  test('docs/serve.md: a check is answered as the page says', async () => {
    const child = spawn('bash', ['-c', `${code('docs/serve.md', 'sh', 0).trim()} --port 0`], {
      cwd: folder.path,
      detached: true,
    });
    started.push(child);
    let [url, token, said] = ['', '', ''];
    for await (const line of createInterface({ input: child.stderr })) {
      said += `${line}\n`;
      url ||= /listening on (\S+)/.exec(line)?.[1] ?? '';
      token ||= /token, shown this once: (\S+)/.exec(line)?.[1] ?? '';
      if (/is open/.test(line)) break;
    }
    const asked = code('docs/serve.md', 'sh', 1).replace('http://127.0.0.1:8765', url);
    expect(url, said).toMatch(/^http:/);
    expect(asked).toContain(url);
    const first = bash(asked, { TOKEN: token });
    expect(JSON.parse(first.stdout)).toEqual({ id: 0 });
    const near = bash(
      asked.replace('单程二十三天', '单程二十四天').replace('"key":"a"', '"key":"b"'),
      {
        TOKEN: token,
      },
    );
    expect(JSON.parse(near.stdout)).toMatchObject({ duplicateOf: 0, key: 'a', verified: true });
    expect(bash(asked, { TOKEN: 'another' }).stdout).toContain('error');
    process.kill(-(child.pid as number), 'SIGTERM');
    const [status] = await once(child, 'exit');
    expect([0, null]).toContain(status);
  });
});

describe.each(['docs/shared-window.md', 'docs/zh/shared-window.md'])('%s', (page) => {
  const ofRedis = code(page, 'ts', 0);
  const ofNats = code(page, 'ts', 1);
  const own = page.includes('/zh/') ? 'zh' : 'en';
  /** The program of the page, with a log and folders of this test. */
  const programs = {
    redis: ofRedis,
    nats: ofRedis
      .replace(
        /^import .*$/m,
        `${ofNats.split('\n')[0]?.replace('natsLog', 'natsLog, SharedIndex')}`,
      )
      .replace(/^const log = .*$/m, /^const log = .*$/m.exec(ofNats)?.[0] ?? ''),
  };
  const name = (log: string) => `${own}-${log}`;

  test('the programs compile strictly', () => {
    for (const [log, program] of Object.entries(programs)) {
      mkdirSync(folder.join(name(log)));
      folder.write(join(name(log), 'program.mts'), program);
    }
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options =
      '--strict --noEmit --target es2022 --module node16 --types node --lib es2023,esnext.disposable';
    const files = Object.keys(programs).map((log) => join(name(log), 'program.mts'));
    const { stdout } = spawnSync(process.execPath, [tsc, ...options.split(' '), ...files], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });

  test.skipIf(windows).each([
    ['redis', noRedis, RedisServer],
    ['nats', noNats, NatsServer],
  ] as const)('the program prints that a text is new, with %s', async (log, missing, Server) => {
    if (missing !== undefined) return;
    const server = await Server.open();
    try {
      const program = programs[log]
        .replace(/(redis|nats):\/\/[\d.:]+/, server.url)
        .replace('/var/lib/news', './state')
        .replace('/mnt/shared/news-snapshots', './snapshots')
        .replace('replicas: 3', 'replicas: 1');
      folder.write(join(name(log), 'program.mjs'), program);
      const cwd = folder.join(name(log));
      mkdirSync(join(cwd, 'snapshots'), { recursive: true });
      const { stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], {
        ...{ cwd, encoding: 'utf8', timeout: 60_000 },
      });
      expect({ stdout, stderr }).toEqual({ stdout: 'new 0\n', stderr: '' });
    } finally {
      await server.close();
    }
  });
});

describe('docs/scale.md', () => {
  const worker =
    process.env.SIMHASH_WORKER ?? join(ROOT, 'target', 'release', 'simhash-native-worker');
  const noWorker =
    existsSync(worker) || windows ? undefined : 'cargo build --release -p simhash-worker';
  if (noWorker !== undefined)
    console.log(`not tested: blocks of docs/scale.md need the worker: ${noWorker}`);
  const PYTHON = process.env.SIMHASH_SPARK_PYTHON ?? 'python3';
  const hasSpark =
    spawnSync(PYTHON, ['-c', 'import pyspark, pandas, pyarrow']).status === 0 &&
    spawnSync('java', ['-version']).status === 0;
  if (!hasSpark) console.log('not tested: the block of docs/scale.md on Spark, which is not there');

  test.skipIf(windows || noWorker !== undefined)(
    'the loop over stages marks the duplicates',
    () => {
      const [first = '', loop = ''] = code('docs/scale.md', 'sh', 3).split('\n');
      cpSync(SAMPLE, folder.join('b.jsonl'));
      folder.write(
        'a.jsonl',
        '{"id":"new","text":"青禾市图书馆周末延长开放时间到晚上九点，读者可借阅十册图书。"}\n',
      );
      const set = first.replace('/shared/run', folder.join('run')).replace('PARTS=64', 'PARTS=3');
      expect(set).toContain(folder.join('run'));
      const scale = join(ROOT, 'examples', 'scale.sh');
      const { status, stderr } = bash(`${set}\n${loop.replaceAll('examples/scale.sh', scale)}`, {
        SIMHASH_WORKER: worker,
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(readdirSync(folder.join('run/relate'))).toHaveLength(3);
      expect(readdirSync(folder.join('run/decide'))).toHaveLength(1);
    },
  );

  test.skipIf(windows || noWorker !== undefined || !hasSpark)(
    'the command on Spark keeps what dedup keeps',
    () => {
      const [, command = ''] = code('docs/scale.md', 'sh', 0).split('\n');
      const run = command.replace('node dist/cli/bin.js', `${process.execPath} ${BIN}`);
      const { status, stderr } = bash(run, {
        ...{ SIMHASH_WORKER: worker, SIMHASH_SPARK_PYTHON: PYTHON },
      });
      expect(status, stderr).toBe(0);
      const plain = bash('npx @x/simhash-native dedup in.jsonl -o plain.jsonl');
      expect(plain.status).toBe(0);
      const parts = readdirSync(folder.join('out/records')).filter((part) => /^part-/.test(part));
      expect(
        parts
          .sort()
          .map((part) => folder.read(join('out/records', part)))
          .join(''),
      ).toBe(folder.read('plain.jsonl'));
      const compared = code('docs/scale.md', 'sh', 2);
      const same = bash(
        compared
          .replace('node dist/cli/bin.js', `${process.execPath} ${BIN}`)
          .replace('\n', ' && '),
      );
      expect(same).toMatchObject({ status: 0, stderr: expect.not.stringContaining('differ') });
    },
    600_000,
  );

  test.skipIf(windows || !hasSpark || noWorker !== undefined)(
    'the command on a cluster is one',
    () => {
      const [, command = ''] = code('docs/scale.md', 'sh', 1).split('\n');
      const { status, stdout, stderr } = bash(`${command} --emit-command`, {
        ...{ SIMHASH_WORKER: worker, SIMHASH_SPARK_PYTHON: PYTHON },
      });
      expect(status, stderr).toBe(0);
      expect(stdout).toContain('simhash_spark');
    },
  );
});
