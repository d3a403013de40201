import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect } from 'vitest';
import { BIN, Folder, ROOT } from './cli-run';
import { posix } from './posix';
import { parquet, sample, sheet, texts } from './shapes';

/** All of them. */
const test = posix('bash and links to programs');

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

interface Block {
  readonly language: string;
  readonly code: string;
  /** The comment on the line above, as in `<!-- help dedup -->`. */
  readonly comment: string | undefined;
  readonly line: number;
}

function blocks(markdown: string): Block[] {
  const found: Block[] = [];
  for (const match of markdown.matchAll(/(?:^<!-- (.*) -->\n)?^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const line = markdown.slice(0, match.index).split('\n').length;
    found.push({ comment: match[1], language: match[2] ?? '', code: match[3] ?? '', line });
  }
  return found;
}

const all = blocks(readme);
const named = (block: Block) => `line ${block.line}`;

/** A project that has installed this package, beside a copy of the sample. */
const project = new Folder();
beforeAll(() => {
  project.write('package.json', '{ "private": true }\n');
  const modules = join(project.path, 'node_modules');
  for (const folder of ['@x', '@types', '.bin'])
    mkdirSync(join(modules, folder), { recursive: true });
  symlinkSync(ROOT, join(modules, '@x', 'simhash-native'));
  symlinkSync(join(ROOT, 'node_modules', '@types', 'node'), join(modules, '@types', 'node'));
  writeFileSync(join(modules, '.bin', 'simhash-native'), `#!/bin/sh\nexec node '${BIN}' "$@"\n`, {
    mode: 0o755,
  });
  cpSync(join(ROOT, 'examples'), project.join('examples'), { recursive: true });
  // The files of "Your files, in two minutes": the sample in each shape.
  for (const name of ['news.jsonl', 'today.jsonl'])
    cpSync(join(ROOT, 'examples', 'sample.jsonl'), project.join(name));
  texts(project.join('texts'), sample);
  project.write('export.csv', sheet(sample));
  project.write('train.parquet', parquet(sample));
});

describe('TypeScript', () => {
  const typed = all.filter(({ language }) => language === 'ts');

  test('there is an example in English and one in Chinese', () => {
    expect(typed.length).toBeGreaterThanOrEqual(2);
  });

  test.each(typed.map((block) => [named(block), block] as const))(
    '%s compiles strictly and prints what the next block shows',
    (_name, block) => {
      const name = `snippet-${block.line}`;
      project.write(`${name}.mts`, block.code);
      const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
      const options = '--strict --target es2022 --module node16 --types node --skipLibCheck false';
      const compiled = spawnSync(
        process.execPath,
        [tsc, ...options.split(' '), '--lib', 'es2023,esnext.disposable', `${name}.mts`],
        { cwd: project.path, encoding: 'utf8' },
      );
      expect(compiled.stdout).toBe('');
      const printed = execFileSync(process.execPath, [`${name}.mjs`], {
        cwd: project.path,
        encoding: 'utf8',
      });
      const shown = all.find(({ language, line }) => language === 'text' && line > block.line);
      expect(printed).toBe(shown?.code);
    },
  );
});

describe('shell', () => {
  const lines = all
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code, line }) =>
      code
        .trim()
        .split('\n')
        .map((command, index) => [`line ${line + 1 + index}: ${command}`, command] as const),
    );

  test.each(lines.filter(([, command]) => command.startsWith('npm ')))(
    '%s names scripts that exist',
    (_name, command) => {
      const names = [...command.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name = '']) => name);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(['install', ...Object.keys(scripts)]).toContain(name);
    },
  );

  const commands = lines.filter(([, command]) => !command.startsWith('npm '));
  test.each(commands)('%s', (_name, command) => {
    expect(command).toMatch(/^npx @x\/simhash-native /);
    const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', command], {
      cwd: project.path,
      encoding: 'utf8',
    });
    expect(stderr).not.toContain('error');
    expect(status).toBe(0);
  });

  test('no command names the package without its scope, which would be another one', () => {
    const pages = ['README.md', 'CHANGELOG.md', 'docs', 'ts', 'examples', 'benches'].flatMap(
      (name) =>
        name.includes('.')
          ? [name]
          : readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).map((inner) =>
              join(name, inner),
            ),
    );
    const texts = pages.filter((page) => /\.(md|ts|mjs|json|html)$/.test(page));
    expect(texts.length).toBeGreaterThan(50);
    const wrong = texts.filter((page) =>
      /\bnpx (-\S+ )*simhash-native/.test(readFileSync(join(ROOT, page), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('the sample in each shape keeps the same documents', async () => {
    const lines = (name: string) => project.read(name).trimEnd().split('\n');
    const ids = (name: string) => lines(name).map((line) => JSON.parse(line).id as string);
    const kept = ids('unique.jsonl');
    expect(kept.length).toBe(186);
    const copied = readdirSync(project.join('unique-texts'));
    expect(copied.sort()).toEqual(kept.map((id) => `${id}.txt`).sort());
    const rows = new TextDecoder('gb18030').decode(readFileSync(project.join('unique.csv')));
    expect([...rows.matchAll(/^(d\d{3}),"/gm)].map(([, id]) => id)).toEqual(kept);
    const file = new Uint8Array(readFileSync(project.join('unique.parquet'))).buffer;
    expect((await parquetReadObjects({ file })).map(({ id }) => id)).toEqual(kept);
    expect(ids('new-today.jsonl')).toEqual(kept);
  });

  test('the outputs of the commands exist afterwards', () => {
    const names = commands.flatMap(([, command]) =>
      [...command.matchAll(/(?:-o|--clusters|--copy) (\S+)/g)].map(([, name = '']) => name),
    );
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !existsSync(project.join(name)))).toEqual([]);
  });
});

describe('reference', () => {
  const helps = all.filter(({ comment }) => /^(help|plan)\b/.test(comment ?? ''));

  test.each(helps.map((block) => [block.comment ?? '', block.code] as const))(
    'the block of "%s" is what the command prints',
    (command, code) => {
      const printed = execFileSync(process.execPath, [BIN, ...command.split(' ')], {
        encoding: 'utf8',
      });
      expect(code.trimEnd()).toBe(printed.trimEnd());
    },
  );

  test('help and help dedup are shown', () => {
    expect(helps.map(({ comment }) => comment)).toEqual(
      expect.arrayContaining(['help', 'help dedup']),
    );
  });

  test('the table of errors has the codes of ts/errors.ts', () => {
    const codes = (text: string) =>
      [...text.matchAll(/`(ERR_SIMHASH_\w+)`|\| '(ERR_SIMHASH_\w+)'/g)].map(
        ([, code, literal]) => code ?? literal,
      );
    const table = readme.split('<!-- errors -->')[1]?.split('\n## ')[0] ?? '';
    const source = readFileSync(join(ROOT, 'ts', 'errors.ts'), 'utf8');
    expect(codes(table).sort()).toEqual(codes(source).sort());
    expect(codes(table).length).toBeGreaterThan(0);
  });

  test('every relative link leads to a file', () => {
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

test('every test that docs/architecture.md names exists', () => {
  const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  const named = [...page.matchAll(/`([\w./-]+\.(?:rs|ts))`: `([^`]+)`/g)];
  expect(named.length).toBeGreaterThan(8);
  const missing = named.filter(([, file = '', name = '']) => {
    const path = join(ROOT, file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(name);
  });
  expect(missing.map(([match]) => match)).toEqual([]);
});

test.each([
  ['of methods', /^\| method \| recall, long.*\n(?:\|.*\n)+/m],
  ['of what the default finds', /^\| shingle not given \|.*\n(?:\|.*\n)+/m],
])('the table %s is that of the quality page', (_, table) => {
  const page = readFileSync(join(ROOT, 'docs', 'quality.md'), 'utf8');
  const measured = table.exec(page)?.[0];
  expect(measured?.split('\n').length).toBeGreaterThan(7);
  expect(table.exec(readme)?.[0]).toBe(measured);
});

test('the table of figures is that of the results page', () => {
  const results = readFileSync(join(ROOT, 'benches', 'RESULTS.md'), 'utf8');
  const summary = /<!-- measured -->[\s\S]*<!-- \/measured -->/;
  const measured = summary.exec(results)?.[0];
  expect(measured?.split('\n').length).toBeGreaterThan(15);
  expect(summary.exec(readme)?.[0]).toBe(measured);
});
