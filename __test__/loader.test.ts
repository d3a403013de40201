import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder, ROOT } from './cli-run';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

/** A copy of the package, with its native part or without, under a version of its own; `platforms` are those it is published for. */
function copy(native: boolean, version = manifest.version, platforms?: readonly string[]): Folder {
  const folder = new Folder();
  const filter = (path: string) => native || !path.endsWith('.node');
  cpSync(join(ROOT, 'dist'), folder.join('dist'), { recursive: true, filter });
  const names = platforms?.map((platform) => [`@x/simhash-native-${platform}`, version]);
  const published = names && { optionalDependencies: Object.fromEntries(names) };
  folder.write('package.json', JSON.stringify({ ...manifest, version, ...published }));
  return folder;
}

/** The error of requiring it, or nothing. */
function loaded(folder: Folder, env: NodeJS.ProcessEnv = {}) {
  const code = `
    try { require('./dist'); console.log('{}'); }
    catch (error) {
      const { name, code, message } = error;
      console.log(JSON.stringify({ name, code, message, cause: error.cause instanceof Error }));
    }`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', code], {
    cwd: folder.path,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return JSON.parse(stdout) as { name?: string; code?: string; message?: string; cause?: boolean };
}

test('a package without its native part names platform, what was tried and what to do', () => {
  const error = loaded(copy(false));
  expect(error).toMatchObject({
    name: 'SimHashError',
    code: 'ERR_SIMHASH_BINDING',
    cause: true,
  });
  const platform = `${process.platform}-${process.arch}`;
  expect(error.message).toContain(`has no native part for ${platform}`);
  expect(error.message).toMatch(/^Tried: .*simhash\.[\w-]+\.node, @x\/simhash-native-[\w-]+\.$/m);
  expect(error.message).toContain('In a clone, build it with `npm run build`');
  if (process.platform === 'linux')
    expect(error.message).toMatch(/\(Node v[\d.]+, (glibc [\d.]+|musl)\)/);
  // The loader is generated, and what it says of npm leads elsewhere.
  expect(error.message).not.toMatch(/wasi|npm has a bug/);
});

test('as a dependency it says how npm installs the part, or for which platforms there is one', () => {
  const own = /Tried: .*@x\/simhash-native-([\w-]+)\./.exec(loaded(copy(false)).message ?? '')?.[1];
  const here = loaded(copy(false, manifest.version, [own ?? 'none', 'plan9-mips']));
  expect(here.message).toContain('delete node_modules and install again, on this platform');
  expect(here.message).toContain('--omit=optional');
  const elsewhere = loaded(copy(false, manifest.version, ['plan9-mips', 'plan9-vax']));
  expect(elsewhere.message).toContain('Published are plan9-mips, plan9-vax. For others, build it');
});

test('the file tried is the one that a build makes', () => {
  const [built = 'none'] = readdirSync(join(ROOT, 'dist')).filter((name) => name.endsWith('.node'));
  expect(loaded(copy(false)).message).toContain(built);
});

test('a file named by NAPI_RS_NATIVE_LIBRARY_PATH that is none is named too', () => {
  const error = loaded(copy(false), { NAPI_RS_NATIVE_LIBRARY_PATH: '/does/not/exist.node' });
  expect(error.code).toBe('ERR_SIMHASH_BINDING');
  expect(error.message).toContain('Tried: /does/not/exist.node, ');
});

test('a native part of another version is refused', () => {
  const error = loaded(copy(true, '99.0.0'));
  expect(error).toMatchObject({ name: 'SimHashError', code: 'ERR_SIMHASH_BINDING' });
  expect(error.message).toContain('99.0.0');
  expect(error.message).toContain(`native part of version ${manifest.version}`);
});

test('a whole package loads', () => {
  expect(loaded(copy(true))).toEqual({});
});

test('package and crates have one version', () => {
  const cargo = readFileSync(join(ROOT, 'Cargo.toml'), 'utf8');
  const [, version] = /\[workspace\.package\]\nversion = "(.*)"/.exec(cargo) ?? [];
  expect(version).toBe(manifest.version);
});
