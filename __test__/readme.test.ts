import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect } from 'vitest';
import { type Block, blocks } from './blocks';
import { BIN, Folder, ROOT } from './cli-run';
import { posix } from './posix';
import { project as install } from './project';
import { parquet, sample, sheet, texts } from './shapes';

/** All of them. */
const test = posix('bash and links to programs');

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const readme = read('README.md');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Pages whose programs and commands run here, in the order of a reader: later ones use what earlier ones have made. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/guide/files.md',
  'docs/guide/streams.md',
  'docs/guide/live.md',
  'docs/guide/index-folder.md',
  'docs/guide/choose.md',
  'docs/words.md',
  'docs/cli.md',
  'docs/report.md',
  'docs/zh/report.md',
  'docs/zh/cli.md',
  'docs/durable.md',
  'docs/sentences.md',
  'docs/zh/index.md',
  'docs/zh/guide/files.md',
  'docs/zh/guide/streams.md',
  'docs/zh/guide/live.md',
  'docs/zh/guide/index-folder.md',
  'docs/zh/guide/choose.md',
];

const all = PAGES.flatMap(blocks);
const named = ({ page, line }: Block) => `${page}:${line}`;

test('README has fewer than 250 lines', () => {
  expect(readme.split('\n').length).toBeLessThan(250);
});

/** A project that has installed this package, beside a copy of the sample. */
const project = new Folder();
beforeAll(() => {
  install(project);
  cpSync(join(ROOT, 'examples'), project.join('examples'), { recursive: true });
  // The files of "Your files, in two minutes": the sample in each shape.
  for (const name of ['news.jsonl', 'today.jsonl'])
    cpSync(join(ROOT, 'examples', 'sample.jsonl'), project.join(name));
  texts(project.join('texts'), sample);
  for (const { comment, code } of all)
    if (comment?.startsWith('file ')) project.write(comment.split(' ')[1] ?? '', code);
  project.write('export.csv', sheet(sample));
  project.write('train.parquet', parquet(sample));
});

describe('TypeScript', () => {
  const typed = all.filter(({ language }) => language === 'ts');

  test('there is an example in English and one in Chinese', () => {
    expect(typed.length).toBeGreaterThanOrEqual(2);
    expect(typed.map(({ page }) => page)).toEqual(
      expect.arrayContaining(['README.md', 'docs/zh/index.md']),
    );
  });

  const nameOf = ({ page, line }: Block) => `${page.replaceAll(/\W/g, '-')}-${line}`;
  let compiled = '';
  beforeAll(() => {
    // A folder for each, since programs leave files.
    for (const block of typed) {
      mkdirSync(project.join(nameOf(block)));
      project.write(join(nameOf(block), 'program.mts'), block.code);
    }
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = '--strict --target es2022 --module node16 --types node --skipLibCheck false';
    compiled = spawnSync(
      process.execPath,
      [
        ...[tsc, ...options.split(' '), '--lib', 'es2023,esnext.disposable'],
        ...typed.map((block) => join(nameOf(block), 'program.mts')),
      ],
      { cwd: project.path, encoding: 'utf8' },
    ).stdout;
  });

  test('all compile strictly', () => {
    expect(compiled).toBe('');
  });

  test.each(typed.map((block) => [named(block), block] as const))(
    '%s prints what the next block shows',
    (_name, block) => {
      const printed = execFileSync(process.execPath, ['program.mjs'], {
        cwd: project.join(nameOf(block)),
        encoding: 'utf8',
      });
      const shown = all.find(
        ({ page, language, line }) =>
          page === block.page && language === 'text' && line > block.line,
      );
      expect(printed).toBe(shown?.code);
    },
  );
});

describe('shell', () => {
  const lines = all
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, code, line }) =>
      code
        .trim()
        .split('\n')
        .map((command, index) => [`${page}:${line + 1 + index}: ${command}`, command] as const),
    );

  test.each(lines.filter(([, command]) => command.startsWith('npm ')))(
    '%s names scripts that exist',
    (_name, command) => {
      const names = [...command.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name = '']) => name);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(['install', ...Object.keys(scripts)]).toContain(name);
    },
  );

  // A command that stands in several pages runs once: an index is not built twice.
  const commands = lines.filter(
    ([, command], at) =>
      !command.startsWith('npm ') && lines.findIndex(([, other]) => other === command) === at,
  );
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

test.each(['README.md', 'docs/zh/index.md'])('the records of %s come to what it shows', (page) => {
  const own = new Folder();
  install(own);
  const shown = blocks(page);
  const file = shown.find(({ comment }) => comment?.startsWith('file '));
  const result = shown.find(({ comment }) => comment?.startsWith('is '));
  const command = shown.find(({ line, language }) => language === 'sh' && line > (file?.line ?? 0));
  own.write(file?.comment?.split(' ')[1] ?? '', file?.code ?? '');
  const { status } = spawnSync('bash', ['-c', command?.code ?? ''], { cwd: own.path });
  expect(status).toBe(0);
  expect(own.read(result?.comment?.split(' ')[1] ?? '')).toBe(result?.code);
  expect(own.read('unique.jsonl')).toBe(file?.code.split('\n').slice(0, 2).join('\n').concat('\n'));
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
    const table = read('docs/errors.md').split('<!-- errors -->')[1]?.split('\n## ')[0] ?? '';
    const source = readFileSync(join(ROOT, 'ts', 'errors.ts'), 'utf8');
    expect(codes(table).sort()).toEqual(codes(source).sort());
    expect(codes(table).length).toBeGreaterThan(0);
  });

  test('the page of the command line has every command, as the built command line prints it', async () => {
    const { page } = await import('../scripts/cli-page.mjs');
    expect(read('docs/cli.md'), 'node scripts/cli-page.mjs writes it').toBe(page());
  });
});

test('the picture of README is what the command line prints', async () => {
  const { drawn, lines, picture, timeless } = await import('../scripts/picture.mjs');
  expect(timeless(drawn()), 'node scripts/picture.mjs writes it').toBe(timeless(picture(lines())));
});

describe('links', () => {
  const pages = [
    ...['README.md', 'CONTRIBUTING.md'],
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !/^(\.vitepress|api)\//.test(name))
      .map((name) => `docs/${name}`),
  ];
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|\/)([^)\s]+)\)/g)].map(([, link = '']) => {
      const [path = '', anchor] = link.split('#');
      return { page, link, target: path === '' ? page : join(dirname(page), path), anchor };
    }),
  );

  test('every relative link leads to a file', () => {
    expect(links.length).toBeGreaterThan(100);
    const dead = links.filter(({ target }) => !existsSync(join(ROOT, target)));
    expect(dead.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
  });

  test('every link into a page leads to one of its headings', () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-');
    const inner = links.filter(
      ({ anchor, target }) => anchor !== undefined && target.endsWith('.md'),
    );
    expect(inner.length).toBeGreaterThan(5);
    const dead = inner.filter(
      ({ target, anchor }) =>
        ![...read(target).matchAll(/^#+ (.*)$/gm)].some(([, title = '']) => slug(title) === anchor),
    );
    expect(dead.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
  });
});

test('every test that docs/architecture.md names exists', () => {
  const page = read('docs/architecture.md');
  const named = [...page.matchAll(/`([\w./-]+\.(?:rs|ts))`: `([^`]+)`/g)];
  expect(named.length).toBeGreaterThan(8);
  const missing = named.filter(([, file = '', name = '']) => {
    const path = join(ROOT, file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(name);
  });
  expect(missing.map(([match]) => match)).toEqual([]);
});
