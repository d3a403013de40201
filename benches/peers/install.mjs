// The packages of others that `minhash`, `segment` and `cut` are measured beside, into a folder of the system's temporary directory.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = join(tmpdir(), 'simhash-native-peers');
const python = join(
  folder,
  'venv',
  process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python',
);

const pypi = ['rensa==0.5.0', 'datasketch==1.10.0'];

function quietly(command, args) {
  execFileSync(command, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 300_000,
    shell: process.platform === 'win32',
  });
}

/** Runs `install` unless `there`; why it could not, or nothing. */
function ensure(there, install) {
  if (existsSync(there)) return undefined;
  try {
    install();
    return undefined;
  } catch (error) {
    return (
      String(error.stderr ?? '')
        .trim()
        .split('\n')
        .pop() || error.message
    );
  }
}

/** A package of npm: the folder that has it, or why it could not be installed. */
export function install(name) {
  mkdirSync(folder, { recursive: true });
  const missing = ensure(join(folder, 'node_modules', name.slice(0, name.lastIndexOf('@'))), () => {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n');
    quietly('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', name]);
  });
  return { folder, missing };
}

/** Where the peers of `minhash` are, or why each could not be installed. */
export function peers() {
  const { missing: javascript } = install('minhash@0.0.9');
  const installed = join(folder, `installed-${pypi.join('-')}`);
  const snakes = ensure(installed, () => {
    quietly('python3', ['-m', 'venv', 'venv']);
    quietly(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pypi]);
    writeFileSync(installed, '');
  });
  return { folder, python, missing: { npm: javascript, pypi: snakes } };
}
