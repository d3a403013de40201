/**
 * The tarballs that are published, installed without a network. The Node that runs what is installed is the one that runs the tests, or
 * the one that SIMHASH_TEST_NODE names.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { Folder, ROOT } from './cli-run';
import { registry } from './registry';

interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}
interface Manifest {
  readonly version: string;
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly publishConfig?: unknown;
  readonly private?: boolean;
  readonly engines: { readonly node: string };
  readonly napi: { readonly binaryName: string; readonly targets: readonly string[] };
}

/** The Node that uses the package. */
const NODE = process.env['SIMHASH_TEST_NODE'] ?? process.execPath;
/** The platform of this machine, as packages are named. */
const HERE = [process.platform, process.arch, ...abi()].join('-');
function abi(): string[] {
  if (process.platform !== 'linux') return process.platform === 'win32' ? ['msvc'] : [];
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return [header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'];
}
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
/** What is packed: manifests under `staged`, and `tarballs`. */
const made = new Folder();
/** An empty project into which the tarballs are installed. */
const project = new Folder();
/** The package that people install, and that with the native part of this machine. */
let packed: Packed;
let native: Packed;

const staged = (name: string) =>
  JSON.parse(made.read(join('staged', name, 'package.json'))) as Manifest;
const tarball = ({ filename }: Packed) => made.join(join('tarballs', filename));
const paths = (of: Packed) => of.files.map(({ path }) => path);

// npm on Windows is a script, which only a shell runs.
const shell = process.platform === 'win32';
const run = promisify(execFile);
function npm(cwd: string, ...args: string[]) {
  const env = { ...process.env, npm_config_loglevel: 'error' };
  const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
  return run('npm', [...args, ...options], { cwd, env, encoding: 'utf8', shell });
}

/** What is packed as the worker for x64: the program itself is tested by its crate, and by the workflow that builds it. */
const WORKER = '#!/bin/sh\necho worker "$@"\n';

beforeAll(async () => {
  mkdirSync(made.join('workers'));
  made.write('workers/simhash-native-worker-x86_64-unknown-linux-gnu', WORKER);
  const args = ['--workers', made.join('workers'), '--to', made.path];
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'pack.mjs'), ...args], { stdio: 'pipe' });
  const all = JSON.parse(made.read(join('tarballs', 'packed.json'))) as Packed[];
  // A release has the native parts of all platforms here, a clone that of this machine.
  const named = (name: string) => all.find((one) => one.name === name) as Packed;
  [packed, native] = [named('@x/simhash-native'), named(`@x/simhash-native-${HERE}`)];
  expect(all.at(-1)).toBe(packed);
  project.write('package.json', '{ "private": true }\n');
  // Offline: a package that needs another one, or a download, cannot be installed so.
  await npm(project.path, 'install', '--offline', tarball(packed), tarball(native));
  // What a TypeScript project on Node has beside it.
  mkdirSync(project.join('node_modules/@types'));
  symlinkSync(
    join(ROOT, 'node_modules/@types/node'),
    project.join('node_modules/@types/node'),
    'junction',
  );
});

describe('the tarball', () => {
  test('holds the build, the manifest, README and licence, nothing else', () => {
    const outside = paths(packed).filter((path) => !path.startsWith('dist/'));
    expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    const odd = paths(packed).filter((path) => !/\.(js|js\.map|mjs|d\.ts|d\.mts)$/.test(path));
    const page = ['explain', 'main'].flatMap((name) =>
      ['css', 'html'].map((kind) => `dist/report/page/${name}.${kind}`),
    );
    expect(odd.sort()).toEqual(['LICENSE', 'README.md', ...page, 'package.json']);
  });

  test('holds what has a source, and every entry that the manifest names', () => {
    const stale = paths(packed).filter((path) => {
      const source = path.replace(/^dist/, 'ts').replace(/(\.d)?\.(js|js\.map|ts)$/, '.ts');
      const made = /\/native\.js$/.test(path);
      return path.startsWith('dist/') && !made && !existsSync(join(ROOT, source));
    });
    expect(stale).toEqual([]);
    const named = JSON.stringify(manifest).matchAll(/"(?:\.\/)?(dist\/[^"*]+)"/g);
    for (const [, path] of named) expect(paths(packed)).toContain(path);
  });

  test('holds one file of declarations for each entry, without what is internal', () => {
    const declarations = paths(packed).filter((path) => /\.d\.m?ts$/.test(path));
    expect(declarations.sort()).toEqual([
      'dist/connect/level.d.ts',
      'dist/connect/log.d.ts',
      'dist/connect/mongodb.d.ts',
      'dist/index.d.mts',
      'dist/index.d.ts',
      'dist/level.d.mts',
      'dist/log.d.mts',
      'dist/mongodb.d.mts',
    ]);
    for (const path of declarations) {
      const text = readFileSync(join(ROOT, path), 'utf8');
      expect(text, path).not.toMatch(/\bNative[A-Z]\w*|\bNATIVE\b|@internal|\.\/native\b/);
      const imported = [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)];
      const others = imported.map(([, from]) => from);
      const own = [
        './index.js',
        '../index',
        './connect/level.js',
        './connect/log.js',
        './connect/mongodb.js',
        'mongodb',
      ];
      expect(
        others.filter((from) => !own.includes(from as string)),
        path,
      ).toEqual([]);
    }
    // What is exported is what the sources export, and the classes that the addon fills cannot be made.
    const rolled = readFileSync(join(ROOT, 'dist/index.d.ts'), 'utf8');
    for (const name of ['Matches', 'CheckedItems', 'Clusters', 'PairBatch', 'Signatures']) {
      expect(rolled).toMatch(
        new RegExp(`export declare class ${name}\\b[^{]*\\{[^]*?private constructor\\(\\);`),
      );
    }
    expect(rolled).not.toMatch(
      /export (declare )?(const|type|interface|class) (INDEX_OWN|NotOf|Rows|Make|Open)\b/,
    );
  });

  test('is below 20 MB unpacked with its native part, dictionary included', () => {
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    const [size, unpacked] = [packed.size + native.size, packed.unpackedSize + native.unpackedSize];
    console.log(`packed ${megabytes(size)}, unpacked ${megabytes(unpacked)}`);
    expect(unpacked).toBeLessThan(20e6);
  });

  test('names a package of its own version for each platform, and nothing of the clone', () => {
    const { optionalDependencies, publishConfig, ...main } = staged('main');
    expect(Object.keys(optionalDependencies ?? {}).length).toBe(manifest.napi.targets.length);
    expect(new Set(Object.values(optionalDependencies ?? {}))).toEqual(new Set([manifest.version]));
    expect(optionalDependencies).toHaveProperty(native.name);
    expect(publishConfig).toEqual({ access: 'public', provenance: true });
    for (const own of ['private', 'scripts', 'devDependencies'])
      expect(main).not.toHaveProperty(own);
    // In a clone nothing may be asked for that is not published yet, and nothing be published by mistake.
    expect(manifest.optionalDependencies).toBeUndefined();
    expect(manifest.private).toBe(true);
  });

  test('runs nothing when it is installed and needs no other package', () => {
    const installed = JSON.parse(
      project.read('node_modules/@x/simhash-native/package.json'),
    ) as Manifest;
    const scripts = Object.keys(installed.scripts ?? {});
    expect(scripts.filter((name) => /^(pre|post)?install$/.test(name))).toEqual([]);
    expect(Object.keys(installed.dependencies ?? {})).toEqual([]);
    expect(installed.engines.node).toBe('>=20');
  });
});

describe('the tarball of a platform', () => {
  test('holds the native part, and the licences of all that is linked', () => {
    // A compiler that a distribution has built may come without the notices of its library; a release refuses that.
    const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).trim();
    const library = 'COPYRIGHT-library.html';
    const there = existsSync(join(sysroot, 'share', 'doc', 'rust', library));
    expect(paths(native).sort()).toEqual([
      ...(there ? [library] : []),
      'LICENSE',
      'README.md',
      'THIRD-PARTY.md',
      'package.json',
      `${manifest.napi.binaryName}.${HERE}.node`,
    ]);
    expect(native.version).toBe(manifest.version);
    expect(staged(HERE)).toMatchObject({
      os: [process.platform],
      cpu: [process.arch],
      publishConfig: { access: 'public', provenance: true },
      engines: manifest.engines,
    });
  });

  test('says for which libc it is, so that npm takes one of two', () => {
    const libc = (name: string) => staged(name) as unknown as { libc?: readonly string[] };
    for (const arch of ['x64', 'arm64']) {
      expect(libc(`linux-${arch}-gnu`).libc).toEqual(['glibc']);
      expect(libc(`linux-${arch}-musl`).libc).toEqual(['musl']);
    }
  });
});

describe('the tarball of a worker', () => {
  const all = () => JSON.parse(made.read(join('tarballs', 'packed.json'))) as Packed[];
  const worker = () => all().find(({ name }) => name === '@x/simhash-native-worker-linux-x64');

  test('holds the program, and the licences of all that is linked; there is one of each worker that was built', () => {
    const programs = all().filter(({ name }) => name.includes('worker'));
    expect(programs.map(({ name, version }) => [name, version])).toEqual([
      ['@x/simhash-native-worker-linux-x64', manifest.version],
    ]);
    const own = paths(worker() as Packed).filter((path) => !path.startsWith('COPYRIGHT'));
    const texts = ['LICENSE', 'README.md', 'THIRD-PARTY.md', 'package.json'];
    expect(own.sort()).toEqual([...texts, 'simhash-native-worker']);
    expect(staged('worker-x64')).toMatchObject({
      os: ['linux'],
      cpu: ['x64'],
      publishConfig: { access: 'public', provenance: true },
    });
    // Whoever installs the main package does not get it.
    expect(Object.keys(staged('main').optionalDependencies ?? {}).join()).not.toContain('worker');
  });

  test.runIf(HERE.startsWith('linux-x64'))('is what the command line sends to Spark', async () => {
    const folder = new Folder();
    folder.write('package.json', '{ "private": true }\n');
    const tarballs = [packed, native, worker() as Packed].map(tarball);
    await npm(folder.path, 'install', '--offline', ...tarballs);
    const program = folder.join('node_modules/.bin/simhash-native-worker');
    expect(statSync(program).mode & 0o111).toBe(0o111);
    expect(execFileSync(program, ['version'], { encoding: 'utf8' })).toBe('worker version\n');
    // As npx and the scripts of a project find programs.
    const env = {
      ...process.env,
      PATH: `${folder.join('node_modules/.bin')}:${process.env['PATH']}`,
    };
    delete (env as NodeJS.ProcessEnv)['SIMHASH_WORKER'];
    const args = ['spark', 'dedup', 'in.jsonl', '-o', 'out', '--emit-command'];
    const bin = folder.join('node_modules/@x/simhash-native/dist/cli/bin.js');
    const printed = execFileSync(NODE, [bin, ...args], { cwd: folder.path, encoding: 'utf8', env });
    expect(printed).toContain(`"worker":"${program}"`);
  });
});

describe('those who judge packages find nothing', () => {
  const judge = (command: string, ...args: string[]) => {
    const bin = join(ROOT, 'node_modules', command);
    const { stdout, stderr, status } = spawnSync(process.execPath, [bin, ...args], {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    return { said: stdout + stderr, status };
  };

  test('publint', () => {
    const all = JSON.parse(made.read(join('tarballs', 'packed.json'))) as Packed[];
    expect(all.length).toBeGreaterThanOrEqual(3);
    for (const one of all) {
      const { said, status } = judge('publint/src/cli.js', tarball(one), '--strict');
      expect(said).toContain('All good!');
      expect(status).toBe(0);
    }
  });

  test('Are the types wrong?', () => {
    const { said, status } = judge('@arethetypeswrong/cli/dist/index.js', tarball(packed));
    expect(said).toContain('No problems found');
    expect(status).toBe(0);
  });
});

describe('from a registry that has every platform', () => {
  test('npm takes the one of this machine, and says what to do where that is left out', async () => {
    const names = Object.keys(staged('main').optionalDependencies ?? {});
    const published = names.map((name) => ({
      manifest: staged(name.replace('@x/simhash-native-', '')),
      // What does not fit this machine is never asked for, so that the bytes do not matter.
      tarball: tarball(name === native.name ? native : packed),
    }));
    const main = { manifest: staged('main'), tarball: tarball(packed) };
    const server = await registry([main, ...published]);
    try {
      const folder = new Folder();
      const install = async (...options: string[]) => {
        folder.write('package.json', '{ "private": true }\n');
        // A cache of its own: what is asked for is what this counts.
        const from = [`--registry=${server.url}`, `--cache=${folder.join('cache')}`];
        await npm(folder.path, 'install', '@x/simhash-native', ...from, ...options);
      };
      await install();
      expect(server.fetched.sort()).toEqual(['@x/simhash-native', native.name]);
      const use = ['-p', "require('@x/simhash-native').toHex(255n)"];
      const node = () => spawnSync(NODE, use, { cwd: folder.path, encoding: 'utf8' });
      expect(node().stdout).toBe('00000000000000ff\n');

      // The way in which a native part is missing most often.
      await npm(folder.path, 'uninstall', '@x/simhash-native', `--registry=${server.url}`);
      await install('--omit=optional');
      const { stderr, status } = node();
      expect(status).toBe(1);
      expect(stderr).toContain(`has no native part for ${HERE} (Node `);
      expect(stderr).toContain('delete node_modules and install again, on this platform');
    } finally {
      await server.close();
    }
  });
});

describe('installed with --ignore-scripts in an empty project', () => {
  const use = `
    const index = new Index({ maxDistance: 3, texts: false });
    const checked = [index.checkAndAdd(7n), index.checkAndAdd(7n)];
    console.log(JSON.stringify(checked));`;
  const printed = '[{"id":0},{"duplicateOf":0,"verified":false,"distance":0}]\n';
  const node = (...args: string[]) =>
    execFileSync(NODE, args, { cwd: project.path, encoding: 'utf8' });

  test('by the Node that is meant', () => {
    console.log(`the package is used by Node ${node('-p', 'process.version').trim()}`);
    expect(node('-p', 'process.execPath').trim()).not.toBe('');
  });

  test('an ES module uses it', () => {
    project.write('use.mjs', `import { Index } from '@x/simhash-native';\n${use}`);
    expect(node('use.mjs')).toBe(printed);
  });

  test('a CommonJS module uses it', () => {
    project.write('use.cjs', `const { Index } = require('@x/simhash-native');\n${use}`);
    expect(node('use.cjs')).toBe(printed);
  });

  test("stores of one's own are a path of their own, for both kinds of modules", () => {
    const keep = `
      const done = async () => {};
      const store = { get: done, put: done, delete: done, close: done, async *entries() {} };
      KeptIndex.open(store).then(async (kept) => console.log(kept.index.similarId('x')));`;
    const from = "'@x/simhash-native/level'";
    project.write('level.mjs', `import { KeptIndex } from ${from};\n${keep}`);
    project.write('level.cjs', `const { KeptIndex } = require(${from});\n${keep}`);
    for (const file of ['level.mjs', 'level.cjs']) expect(node(file)).toBe('0\n');
  });

  test('the connector for MongoDB says what is missing where the driver is not installed', () => {
    const call = "dedupCollection('mongodb://127.0.0.1:1/a.b', 'mongodb://127.0.0.1:1/a.c')";
    const code = `require('@x/simhash-native/mongodb').${call}.catch(({ code, message }) => console.log(code, message));`;
    project.write('mongodb.cjs', code);
    const missing =
      'ERR_SIMHASH_NOT_BUILT the driver for MongoDB is not installed: npm install mongodb\n';
    expect(node('mongodb.cjs')).toBe(missing);
  });

  test('the log over Redis says what is missing where the client is not installed', () => {
    const code =
      "require('@x/simhash-native/log').redisLog('redis://127.0.0.1:1').catch(({ code, message }) => console.log(code, message));";
    project.write('log.cjs', code);
    expect(node('log.cjs')).toBe(
      'ERR_SIMHASH_NOT_BUILT the client for Redis is not installed: npm install redis\n',
    );
  });

  test('the log over NATS says what is missing where the clients are not installed', () => {
    const code =
      "require('@x/simhash-native/log').natsLog('nats://127.0.0.1:1').catch(({ code, message }) => console.log(code, message));";
    project.write('nats.cjs', code);
    expect(node('nats.cjs')).toBe(
      'ERR_SIMHASH_NOT_BUILT the clients for NATS are not installed: npm install @nats-io/jetstream @nats-io/transport-node\n',
    );
  });

  const typed = `import { type CheckedItems, Index, type Match } from '@x/simhash-native';
import { KeptIndex, type Store } from '@x/simhash-native/level';
export declare const store: Store;
export const kept = async (): Promise<CheckedItems<'sentences'>> => {
  const { index } = await KeptIndex.open(store);
  return index.checkAndAddMany(['x']);
};
const found: Match<'simhash'>[] = new Index({ maxDistance: 3, texts: false }).search(1n);
if (found.length > 0) throw new Error('an empty index found something');
// @ts-expect-error unknown option
const wrong = () => new Index({ distance: 3 });
export { wrong };${use}\n`;

  /** Compiles strictly, the declarations of the package too; what the compiler says, and its status. */
  function compiled(file: string, ...options: readonly string[]) {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const strict =
      '--strict --exactOptionalPropertyTypes --target es2022 --lib es2023,esnext.disposable --types node';
    const args = [tsc, ...strict.split(' '), ...options, file];
    const { stdout, status } = spawnSync(process.execPath, args, {
      cwd: project.path,
      encoding: 'utf8',
    });
    return { stdout, status };
  }

  test.each(['mts', 'cts'])('TypeScript (.%s, node16) compiles strictly and uses it', (kind) => {
    project.write(`typed.${kind}`, typed);
    expect(compiled(`typed.${kind}`, '--module', 'node16')).toEqual({ stdout: '', status: 0 });
    expect(node(`typed.${kind.replace('ts', 'js')}`)).toBe(printed);
  });

  test.each([
    ['node10', 'commonjs'],
    ['bundler', 'esnext'],
    ['nodenext', 'nodenext'],
  ])('TypeScript with moduleResolution %s finds both entries', (resolution, module) => {
    project.write('resolved.ts', typed);
    const options = ['--moduleResolution', resolution, '--module', module, '--noEmit'];
    expect(compiled('resolved.ts', ...options)).toEqual({ stdout: '', status: 0 });
  });

  test('an error is told with file and line of the sources', () => {
    project.write('wrong.cjs', "require('@x/simhash-native').toHex('x');");
    const { stderr } = spawnSync(NODE, ['--enable-source-maps', 'wrong.cjs'], {
      cwd: project.path,
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/ at [\s\S]*simhash-native[\\/]ts[\\/]\w+\.ts:\d+:\d+/);
  });

  test('the command line is there', () => {
    const command = project.join('node_modules/.bin/simhash-native');
    const version = execFileSync(process.platform === 'win32' ? `${command}.cmd` : command, [
      'version',
    ]);
    expect(version.toString()).toBe(`${manifest.version}\n`);
  });
});
