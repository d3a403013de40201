// What tsc does not make: the ES module facades, the native part and its declarations. What no source stands behind any
// more goes, so that it is not packed.
import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [from, to] = [join(root, 'ts'), join(root, 'dist')];
const wanted = (name) =>
  /^((index|level)\.mjs|(index|level)\.d\.mts|native\.js|native\.d\.ts|.*\.node)$/.test(name);

const sourceOf = (name) => name.replace(/(\.d)?(\.ts|\.js)$/, '.ts');
for (const name of readdirSync(to, { recursive: true })) {
  const stale = /\.(js|ts)$/.test(name) && !existsSync(join(from, sourceOf(name)));
  if (stale || name.endsWith('.node')) rmSync(join(to, name));
}
for (const name of readdirSync(from).filter(wanted)) copyFileSync(join(from, name), join(to, name));
