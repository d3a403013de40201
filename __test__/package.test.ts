import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Folder, ROOT } from './cli-run';

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}
interface Manifest {
  readonly version: string;
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly engines: { readonly node: string };
  readonly napi: { readonly binaryName: string };
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
/** An empty project into which the tarball is installed. */
const project = new Folder();
let packed: Packed;

function npm(cwd: string, ...args: string[]): string {
  const env = { ...process.env, npm_config_loglevel: 'error' };
  return execFileSync('npm', args, { cwd, env, encoding: 'utf8' });
}

beforeAll(() => {
  const to = `--pack-destination=${project.path}`;
  packed = JSON.parse(npm(ROOT, 'pack', '--json', '--ignore-scripts', to))[0] as Packed;
  project.write('package.json', '{ "private": true }\n');
  // Offline: a package that needs another one, or a download, cannot be installed so.
  const options = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
  npm(project.path, 'install', ...options, `./${packed.filename}`);
  // What a TypeScript project on Node has beside it.
  mkdirSync(project.join('node_modules/@types'));
  symlinkSync(
    join(ROOT, 'node_modules/@types/node'),
    project.join('node_modules/@types/node'),
    'dir',
  );
});

describe('the tarball', () => {
  const paths = () => packed.files.map(({ path }) => path);

  test('holds the build, the manifest, README and licences, nothing else', () => {
    const outside = paths().filter((path) => !path.startsWith('dist/'));
    expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'THIRD-PARTY.md', 'package.json']);
    const odd = paths().filter((path) => !/\.(js|mjs|d\.ts|d\.mts|node)$/.test(path));
    const page = ['dist/report/page/page.css', 'dist/report/page/page.html'];
    expect(odd.sort()).toEqual(['LICENSE', 'README.md', 'THIRD-PARTY.md', ...page, 'package.json']);
  });

  test('holds what has a source, and every entry that the manifest names', () => {
    const stale = paths().filter((path) => {
      const source = path.replace(/^dist/, 'ts').replace(/(\.d)?\.(js|ts)$/, '.ts');
      const made = /\/native\.js$|\.node$/.test(path);
      return path.startsWith('dist/') && !made && !existsSync(join(ROOT, source));
    });
    expect(stale).toEqual([]);
    const named = JSON.stringify(manifest).matchAll(/"(?:\.\/)?(dist\/[^"*]+)"/g);
    for (const [, path] of named) expect(paths()).toContain(path);
  });

  test('holds one file of declarations for each entry, without what is internal', () => {
    const declarations = paths().filter((path) => /\.d\.m?ts$/.test(path));
    expect(declarations.sort()).toEqual([
      'dist/connect/level.d.ts',
      'dist/connect/mongodb.d.ts',
      'dist/index.d.mts',
      'dist/index.d.ts',
      'dist/level.d.mts',
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

  test('holds no native part but that of this platform', () => {
    const native = paths().filter((path) => path.endsWith('.node'));
    expect(native.length).toBeLessThan(2);
    for (const path of native) {
      expect(path).toContain(
        `dist/${manifest.napi.binaryName}.${process.platform}-${process.arch}`,
      );
    }
  });

  test('is below 20 MB unpacked, dictionary included', () => {
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(`packed ${megabytes(packed.size)}, unpacked ${megabytes(packed.unpackedSize)}`);
    expect(packed.unpackedSize).toBeLessThan(20e6);
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

describe('installed with --ignore-scripts in an empty project', () => {
  const use = `
    const index = new Index({ maxDistance: 3, texts: false });
    const checked = [index.checkAndAdd(7n), index.checkAndAdd(7n)];
    console.log(JSON.stringify(checked));`;
  const printed = '[{"id":0},{"duplicateOf":0,"verified":false,"distance":0}]\n';
  const node = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: project.path, encoding: 'utf8' });

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

  test('the command line is there', () => {
    const command = project.join('node_modules/.bin/simhash-native');
    const version = execFileSync(process.platform === 'win32' ? `${command}.cmd` : command, [
      'version',
    ]);
    expect(version.toString()).toBe(`${manifest.version}\n`);
  });
});
