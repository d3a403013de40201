// What tsc does not make: the ES module facades, the native part, the page of reports, and the declarations of each entry in one file.
// What no source stands behind any more goes, so that it is not packed.
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateDtsBundle } from 'dts-bundle-generator';
import { buildSync } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [from, to] = [join(root, 'ts'), join(root, 'dist')];
const wanted = (name) =>
  /^((index|level|log|mongodb)\.mjs|(index|level|log|mongodb)\.d\.mts|native\.js|.*\.node)$/.test(
    name,
  );

const sourceOf = (name) => name.replace(/(\.d)?(\.ts|\.js|\.js\.map)$/, '.ts');
for (const name of readdirSync(to, { recursive: true })) {
  const stale = /\.(js|ts|map|css|html)$/.test(name) && !existsSync(join(from, sourceOf(name)));
  if (stale || name.endsWith('.node')) rmSync(join(to, name));
}
// Modules of ours that are asked for late are CommonJS like all: Node's import of one first loads what it needs for ES modules, which takes
// as long as a small run.
for (const name of readdirSync(to, { recursive: true }).filter((name) => name.endsWith('.js'))) {
  const code = readFileSync(join(to, name), 'utf8');
  const late = code.replace(
    /\bimport\(('\.[^']+')\)/g,
    'Promise.resolve().then(() => require($1))',
  );
  if (late !== code) writeFileSync(join(to, name), late);
}
for (const name of readdirSync(from).filter(wanted)) copyFileSync(join(from, name), join(to, name));

// The pages of reports and of two texts: one script and one style each, which are put into the page.
const page = join('report', 'page');
buildSync({
  absWorkingDir: join(from, page),
  entryPoints: ['main.ts', 'main.css', 'explain.ts', 'explain.css'],
  outdir: join(to, page),
  bundle: true,
  minify: true,
  charset: 'utf8',
  format: 'iife',
  target: ['chrome123', 'firefox125', 'safari17.5'],
});
for (const name of ['main.html', 'explain.html']) {
  copyFileSync(join(from, page, name), join(to, page, name));
}

// Declarations of the addon, which those of the modules that hold it are read with.
copyFileSync(join(from, 'native.d.ts'), join(to, 'native.d.ts'));
const entry = {
  filePath: join(to, 'index.d.ts'),
  output: { noBanner: true, exportReferencedTypes: false },
};
const [rolled] = generateDtsBundle([entry], {
  preferredConfigPath: join(root, 'scripts/roll.json'),
});
// Those of the other entries take from the first whatever both have, so that it is the same.
const kept = ['level', 'log', 'mongodb'].map((name) => join('connect', `${name}.d.ts`));
for (const name of readdirSync(to, { recursive: true })) {
  if (name.endsWith('.d.ts') && !kept.includes(name)) rmSync(join(to, name));
}
writeFileSync(join(to, 'index.d.ts'), rolled);
