// node scripts/third-party.mjs [--check] [FILE]: writes the notices of every crate that the native part links, on any platform that
// it is published for, into THIRD-PARTY.md, below a heading that this script looks for; what is above it is written by hand. With
// --check it changes nothing, and says what is missing.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import parse from 'spdx-expression-parse';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const file = args.find((name) => name.endsWith('.md')) ?? join(root, 'THIRD-PARTY.md');
const HEADING = '# Crates in the native part\n';

/** By what a text is known as that of a licence, in order of preference where a crate lets us choose: the shorter first. */
const LICENCES = {
  MIT: /Permission is hereby granted, free of charge, to any\s+person obtaining a copy/i,
  ISC: /Permission to use, copy, modify, and\/?(or)? ?distribute this software for any/i,
  Zlib: /provided 'as-is', without any express or implied/,
  'BSL-1.0': /Boost Software License/,
  'BSD-2-Clause': /Redistribution and use in source and binary forms/,
  'BSD-3-Clause': /Redistribution and use in source and binary forms[\s\S]*endorse/,
  'bzip2-1.0.6': /The origin of this software must not be misrepresented/,
  'Unicode-3.0': /UNICODE LICENSE V3/,
  'Apache-2.0': /Apache License\s+Version 2\.0/,
};

/** Texts beside those that the expression of a crate asks for: of sources of others that it carries. */
const CARRIED = { 'zstd-sys': ['zstd/LICENSE'], encoding_rs: ['LICENSE-WHATWG'] };

/** Files that have to travel with a crate under any licence. */
const NOTICE = /^(NOTICE|LICENSE-THIRD-PARTY)/i;

/** Whose text is not in the crate: that of the licence it names, with the authors that its manifest has. */
const standard = {
  MIT: (authors) => `The MIT License (MIT)

Copyright (c) ${authors}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  'Apache-2.0': (authors) => `Copyright ${authors}

Licensed under the Apache License, Version 2.0, whose text is in this file, above and below.`,
};

const cargo = (...given) =>
  execFileSync('cargo', given, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });

/** Linked crates of others, of the native part and of the worker, by name and version, for all targets of the package together. */
function linked() {
  const { napi } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const targets = napi.targets.flatMap((target) => ['--target', target]);
  const packages = ['-p', 'simhash-node', '-p', 'simhash-worker'];
  const what = [...packages, '--edges', 'normal,no-proc-macro', '--prefix', 'none'];
  const tree = cargo('tree', '--locked', ...what, ...targets, '--format', '{p}');
  const metadata = JSON.parse(cargo('metadata', '--locked', '--format-version', '1'));
  const names = new Set(
    [...tree.matchAll(/^(\S+) v(\S+)/gm)].map(([, name, at]) => `${name} ${at}`),
  );
  return metadata.packages
    .filter(({ name, version, source }) => source !== null && names.has(`${name} ${version}`))
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** The licences under which we take a crate: of alternatives the preferred one. */
function chosen(tree) {
  if (tree.conjunction === 'and') return [...chosen(tree.left), ...chosen(tree.right)];
  if (tree.conjunction === 'or') {
    const either = [chosen(tree.left), chosen(tree.right)].filter(known);
    const rank = (ids) => Math.max(...ids.map((id) => Object.keys(LICENCES).indexOf(id)));
    return either.sort((a, b) => rank(a) - rank(b))[0] ?? chosen(tree.left);
  }
  return [tree.exception === undefined ? tree.license : `${tree.license} WITH ${tree.exception}`];
}
const known = (ids) => ids.every((id) => id in LICENCES);

/** The texts that travel with a crate. */
function notices({ name, version, license, authors, manifest_path }) {
  const ids = [...new Set(chosen(parse(license.replaceAll('/', ' OR '))))];
  if (!known(ids)) {
    throw new Error(`${name} ${version} is under ${ids.join(' and ')}: nobody has looked at that`);
  }
  const folder = dirname(manifest_path);
  const read = (path) => tidy(readFileSync(join(folder, path), 'utf8'));
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => entry.name).sort();
  const candidates = names
    .filter((path) => /^(licen[sc]e|copying|unlicense)/i.test(path))
    .map(read);
  const texts = ids.map((id) => {
    const found = candidates.find((text) => LICENCES[id].test(text));
    if (found !== undefined) return found;
    const by = authors.length > 0 ? authors.join(', ') : `the authors of ${name}`;
    if (id in standard) return standard[id](by);
    throw new Error(
      `${name} ${version} is under ${id}, and its text is not in ${names.join(', ')}`,
    );
  });
  const beside = [...(CARRIED[name] ?? []), ...names.filter((path) => NOTICE.test(path))].map(read);
  return { ids, texts: [...new Set([...texts, ...beside])] };
}

/** Without what differs between copies of one text: ends of lines, indentation, empty lines around it. */
function tidy(text) {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\t', '  ').split('\n');
  const used = lines.map((line) => line.trimEnd());
  const indent = Math.min(...used.filter(Boolean).map((line) => line.search(/\S/)));
  return used
    .map((line) => line.slice(indent))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function generated() {
  const crates = linked().map((crate) => ({ ...crate, ...notices(crate) }));
  const byText = new Map();
  for (const { name, version, texts } of crates) {
    for (const whole of texts) {
      const at = Math.max(whole.search(LICENCES.MIT), 0);
      const [holders, text] = [whole.slice(0, at).trim(), whole.slice(at)];
      // A text is the same text however its lines are broken.
      const words = text.replace(/\s+/g, ' ');
      const held = byText.get(words) ?? { text, of: new Map() };
      held.of.set(holders, [...(held.of.get(holders) ?? []), `${name} ${version}`]);
      byText.set(words, held);
    }
  }
  const rows = crates.map(
    ({ name, version, ids }) => `| ${name} | ${version} | ${ids.join(' and ')} |`,
  );
  const block = (text) => `\`\`\`text\n${text}\n\`\`\`\n`;
  const texts = [...byText.values()].map(({ text, of }) => {
    // Who holds the rights is said of each; the permission, which is the same, once below all of them.
    if (of.size === 1) {
      const [[holders, names]] = of;
      return `## ${names.join(', ')}\n\n${block([holders, text].filter(Boolean).join('\n\n'))}`;
    }
    const each = [...of].map(([holders, names]) => `${names.join(', ')}:\n\n${block(holders)}`);
    const all = new Set([...of.values()].flat());
    return `## ${all.size} crates\n\n${each.join('\n')}\nand for each of them:\n\n${block(text)}`;
  });
  return `${HEADING}
Written by \`node scripts/third-party.mjs\`. These ${crates.length} crates are linked into the native part of at least one platform, under the
licence that is named; of a choice of licences it is the one that we take. The standard library of Rust is linked too; its own
notices are in COPYRIGHT-library.html of each platform's package.

| crate | version | licence |
|---|---|---|
${rows.join('\n')}

${texts.join('\n')}`;
}

const now = readFileSync(file, 'utf8');
const at = now.indexOf(HEADING);
const own = at < 0 ? `${now.trimEnd()}\n\n` : now.slice(0, at);
const wanted = own + generated();
if (!args.includes('--check')) {
  writeFileSync(file, wanted);
} else if (wanted !== now) {
  const lines = (text) => text.split('\n').filter((line) => /^\| \S+ \| [\d.]/.test(line));
  const has = new Set(lines(now));
  const missing = lines(wanted).filter((row) => !has.has(row));
  console.error('THIRD-PARTY.md does not say what is linked: node scripts/third-party.mjs');
  for (const row of missing) console.error(`missing: ${row}`);
  process.exitCode = 1;
}
