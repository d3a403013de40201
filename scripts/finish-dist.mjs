// What tsc does not make: the ES module facade, the native part and its declarations; tests of stale files, gone.
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [from, to] = [join(root, 'ts'), join(root, 'dist')];
const wanted = (name) =>
  /^(index\.mjs|index\.d\.mts|native\.js|native\.d\.ts|.*\.node)$/.test(name);

for (const name of readdirSync(to).filter((name) => name.endsWith('.node'))) rmSync(join(to, name));
for (const name of readdirSync(from).filter(wanted)) copyFileSync(join(from, name), join(to, name));
