/** The page of a report as a file: what is in it, what is not, and that it appears whole or not at all. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dedupFiles, matchFiles, reportFiles } from '..';
import { foretell } from '../dist/cli/foretold.js';
import { Folder, SAMPLE } from './cli-run';

const folder = new Folder();

interface Figures {
  readonly all: { readonly documents: number; readonly duplicates: number };
  readonly unknown: number;
  readonly rejected: number;
  readonly others: number;
  readonly areMatches: boolean;
  readonly found: {
    readonly groups: number;
    readonly duplicates: number;
    readonly sizes: [number, number][];
    readonly similarities: number[];
    readonly distances: number[];
    readonly unmeasured: number;
  };
  readonly inputs: {
    readonly bars: { name: string; documents: number; duplicates: number }[];
    readonly more: number;
  };
  readonly lengths: { name: number; documents: number; duplicates: number }[];
  readonly dates?: {
    readonly unit: string;
    readonly bars: { name: string; documents: number; duplicates: number }[];
    readonly undated: { documents: number };
  };
  readonly examples: { readonly members: { id?: string; text?: string }[] }[];
}

/** The data of a page. */
function dataOf(name: string, id = 'figures'): Figures {
  const page = folder.read(name);
  const [, data = ''] = new RegExp(`id="${id}">(.*?)</script>`, 's').exec(page) ?? [];
  return JSON.parse(data) as Figures;
}

const lines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

const LONG =
  '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天，比绕行缩短一周。首航的货轮装了两千个标准箱。';

describe('figures', () => {
  test('are those of the run, which has its own outputs as without a report', async () => {
    const [output, clusters, report] = ['u.jsonl', 'c.jsonl', 'r.html'].map((name) =>
      folder.join(name),
    );
    const plain = await dedupFiles(SAMPLE, folder.join('plain.jsonl'));
    const summary = await dedupFiles(SAMPLE, output, { clusters, report, dateField: 'time' });
    expect(folder.read('u.jsonl')).toBe(folder.read('plain.jsonl'));
    const { kept, duplicates } = summary;
    expect({ kept, duplicates }).toEqual({ kept: plain.kept, duplicates: plain.duplicates });
    const data = dataOf('r.html');
    expect(data.all).toEqual({ documents: kept + duplicates, duplicates });
    expect(data.found.groups).toBe(summary.clusters);
    expect(data.found.duplicates).toBe(duplicates);
    const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
    expect(sum(data.found.similarities) + data.found.unmeasured).toBe(duplicates);
    for (const bars of [data.lengths, data.inputs.bars, data.dates?.bars ?? []]) {
      expect(sum(bars.map(({ documents }) => documents))).toBe(kept + duplicates);
      expect(sum(bars.map((bar) => bar.duplicates))).toBe(duplicates);
    }
    expect(sum(data.found.sizes.map(([size, many]) => (size - 1) * many))).toBe(duplicates);
    expect(summary.report).toMatchObject({ documents: kept + duplicates, duplicates, unknown: 0 });
  });

  test('are the same beside the run and from its clusters, whatever the threads', async () => {
    const [clusters, a, b] = ['c.jsonl', 'a.html', 'b.html'].map((name) => folder.join(name));
    for (const [report, threads] of [
      [a, 1],
      [b, 2],
    ] as const) {
      await reportFiles(clusters ?? '', SAMPLE, report ?? '', { dateField: 'time', threads });
    }
    expect(folder.read('a.html')).toBe(folder.read('b.html'));
    expect(dataOf('a.html')).toEqual(dataOf('r.html'));
  });

  test('say what the clusters name and no input has', async () => {
    folder.write('few.jsonl', readFileSync(SAMPLE, 'utf8').split('\n').slice(0, 5).join('\n'));
    const { unknown, duplicates, groups } = await reportFiles(
      folder.join('c.jsonl'),
      folder.join('few.jsonl'),
      folder.join('few.html'),
    );
    expect(unknown).toBeGreaterThan(0);
    expect(unknown + duplicates).toBe(dataOf('r.html').found.duplicates);
    expect(groups).toBe(dataOf('r.html').found.groups);
  });

  test('of documents with one id count as many as the clusters name', async () => {
    const text = (at: number) => `${LONG}${at}`;
    folder.write('same.jsonl', lines([1, 1, 1, 2].map((id, at) => ({ id, text: text(at) }))));
    const summary = await dedupFiles(folder.join('same.jsonl'), folder.join('s.jsonl'), {
      report: folder.join('same.html'),
    });
    expect(dataOf('same.html').all).toEqual({ documents: 4, duplicates: summary.duplicates });
  });

  test.each([
    [['1000-01-01', '9999-12-31', '2026-02-31'], 'century', 90],
    [['1900', '2026-11-24', '20260431'], 'decade', 13],
    [['2024-02-29', '2025-03-01', '2025-02-29'], 'month', 14],
  ])(
    'of dates %j are by %s, in %d bars, without dates that do not exist',
    async (all, unit, bars) => {
      const records = all.map((time, id) => ({ id, time, text: `${LONG}${id}` }));
      folder.write('dates.jsonl', lines(records));
      await dedupFiles(folder.join('dates.jsonl'), folder.join('d.jsonl'), {
        report: folder.join('dates.html'),
        dateField: 'time',
      });
      const { dates } = dataOf('dates.html');
      expect(dates).toMatchObject({ unit, undated: { documents: 1 } });
      expect(dates?.bars).toHaveLength(bars);
    },
  );

  test('of matches tell the two sides apart, though their ids are the same', async () => {
    folder.write(
      'new.jsonl',
      lines([
        { id: 1, text: LONG },
        { id: 2, text: '另一条消息说的是别的事情，和上面那条没有关系，图书馆周末开放到九点。' },
      ]),
    );
    folder.write(
      'old.jsonl',
      lines([
        { id: 2, text: `${LONG}（转载）` },
        { id: 1, text: '完全不同的一段话，讲的是春天种树的时候要注意的几件小事，浇水和施肥。' },
      ]),
    );
    const summary = await matchFiles(folder.join('new.jsonl'), folder.join('m.jsonl'), {
      against: folder.join('old.jsonl'),
      report: folder.join('m.html'),
    });
    expect(summary.matched).toBe(1);
    const data = dataOf('m.html');
    expect(data).toMatchObject({
      areMatches: true,
      others: 2,
      all: { documents: 2, duplicates: 1 },
    });
    const [example] = data.examples;
    expect(example?.members.map(({ id, text }) => [id, text])).toEqual([
      ['1', LONG],
      ['2', `${LONG}（转载）`],
    ]);
  });
});

describe('the page', () => {
  test('runs its own script and style, by their hashes, and nothing else', () => {
    const page = folder.read('r.html');
    const [, policy = ''] = /Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    expect(policy).toMatch(/^default-src 'none'; /);
    const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const script = /<script>(.*?)<\/script>/s.exec(page)?.[1];
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1];
    expect(policy).toContain(`script-src ${hash(script)}`);
    expect(policy).toContain(`style-src ${hash(style)}`);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    // Nothing is loaded, and no handler or style stands in the markup.
    expect(page).not.toMatch(/\s(src|href)=(?!"#)/);
    expect(page).not.toMatch(/\son\w+=|\sstyle=/);
  });

  test('holds no sign of a text that ends a script', async () => {
    const hostile = `${LONG}</script><script>alert(1)</script><!--\u2028\u2029<img src=x onerror=alert(2)>`;
    folder.write(
      'bad.jsonl',
      lines([
        { id: '</script>', text: hostile },
        { id: 'b', text: `${hostile}。` },
      ]),
    );
    await dedupFiles(folder.join('bad.jsonl'), folder.join('b.jsonl'), {
      report: folder.join('bad.html'),
    });
    const page = folder.read('bad.html');
    expect(page.match(/<\/script>/g)).toHaveLength(3);
    expect(page).not.toMatch(/[\u2028\u2029]|<!--|<img/);
    expect(dataOf('bad.html').examples[0]?.members[0]).toMatchObject({
      id: '</script>',
      text: hostile,
    });
  });

  test('holds as much of texts as is asked for', async () => {
    const long = LONG.repeat(40);
    folder.write(
      'long.jsonl',
      lines([
        { id: 1, text: long },
        { id: 2, text: `${long}尾` },
      ]),
    );
    const texts = async (reportTexts: 'all' | 'cut' | 'none') => {
      const report = folder.join(`${reportTexts}.html`);
      await dedupFiles(folder.join('long.jsonl'), folder.join('l.jsonl'), { report, reportTexts });
      return dataOf(`${reportTexts}.html`).examples[0]?.members.map(({ text }) => text?.length);
    };
    expect(await texts('all')).toEqual([long.length, long.length + 1]);
    expect(await texts('cut')).toEqual([1000, 1000]);
    expect(await texts('none')).toEqual([undefined, undefined]);
    expect(folder.read('none.html')).not.toContain(LONG.slice(0, 8));
  });

  test('of many clusters shows some of them, and stays small', async () => {
    // Characters by a generator of numbers (Lehmer's), so that no two texts are alike.
    const one = (at: number) => {
      let state = at + 1;
      const next = () => {
        state = (state * 48_271) % 2_147_483_647;
        return String.fromCodePoint(0x4e00 + (state % 8000));
      };
      return Array.from({ length: 1200 }, next).join('');
    };
    const records = Array.from({ length: 700 }, (_, at) => [
      { id: `a${at}`, text: one(at) },
      { id: `b${at}`, text: `${one(at)}尾` },
    ]).flat();
    folder.write('many.jsonl', lines(records));
    const { report, clusters } = await dedupFiles(
      folder.join('many.jsonl'),
      folder.join('o.jsonl'),
      { report: folder.join('many.html') },
    );
    expect(clusters).toBe(700);
    expect(report?.groups).toBe(700);
    expect(report?.shown).toBeGreaterThan(300);
    expect(report?.shown).toBeLessThanOrEqual(450);
    expect(statSync(folder.join('many.html')).size).toBeLessThan(5_000_000);
    expect(dataOf('many.html').all).toEqual({ documents: 1400, duplicates: 700 });
  });
});

describe('refused', () => {
  const report = folder.join('never.html');
  test.each([
    ['standard input', () => dedupFiles('-', folder.join('x.jsonl'), { report }), 'standard input'],
    [
      'standard output',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report: '-' }),
      'file of its own',
    ],
    ['a dry run', () => dedupFiles(SAMPLE, undefined, { report, dryRun: true }), 'dryRun'],
    [
      'clusters in CSV',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report, clusters: folder.join('c.csv') }),
      'JSON lines',
    ],
    [
      'the output itself',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report: folder.join('x.jsonl') }),
      'file of its own',
    ],
    [
      'an input',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report: SAMPLE }),
      'file of its own',
    ],
    [
      'a folder that is not there',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report: folder.join('no/r.html') }),
      'there is no folder',
    ],
    [
      'what is for a report, without one',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { reportTexts: 'none' }),
      'report',
    ],
    [
      'matches that are not written',
      () => matchFiles(SAMPLE, folder.join('x.jsonl'), { against: SAMPLE, report, remove: true }),
      'remove',
    ],
  ])('%s, before anything is written', async (_name, run, message) => {
    await expect(run()).rejects.toThrow(message);
    expect(existsSync(folder.join('x.jsonl'))).toBe(false);
    expect(existsSync(report)).toBe(false);
  });

  describe('what the run reads or writes by another name', () => {
    const at = (name: string) => folder.join(`same/${name}`);
    const output = at('x.jsonl');
    mkdirSync(at(''), { recursive: true });
    mkdirSync(at('texts'));
    folder.write('same/texts/a.txt', LONG);
    folder.write('same/in.jsonl', lines([{ id: 1, text: LONG }]));
    linkSync(at('in.jsonl'), at('hard.html'));
    symlinkSync('x.jsonl', at('dangling.html'));
    symlinkSync('in.jsonl', at('soft.html'));
    symlinkSync(at(''), folder.join('other'));
    mkdirSync(at('r.html'));
    const ran = (report: string, options = {}, input = at('in.jsonl')) =>
      dedupFiles(input, output, { report, ...options });
    test.each([
      ['a link to the output that is not there yet', () => ran(at('dangling.html'))],
      ['a link to an input', () => ran(at('soft.html'))],
      ['the file of an input', () => ran(at('hard.html'))],
      ['the output in a folder of another name', () => ran(folder.join('other/x.jsonl'))],
      ['the clusters', () => ran(at('c.html'), { clusters: at('c.html') })],
      ['rejects', () => ran(at('c.html'), { rejects: folder.join('other/c.html') })],
      ['known documents', () => ran(at('soft.html'), { known: at('in.jsonl') }, SAMPLE)],
      ['a text of a folder', () => ran(at('texts/r.html'), {}, at('texts'))],
      [
        'the matches',
        () => matchFiles(SAMPLE, at('c.html'), { against: SAMPLE, report: at('c.html') }),
      ],
    ])('%s, before the run', async (_name, run) => {
      const before = readdirSync(at('')).sort();
      await expect(run()).rejects.toMatchObject({
        code: 'ERR_INVALID_ARG_VALUE',
        message: expect.stringMatching(/^report must be a file of its own, got .*, which /),
      });
      expect(readdirSync(at('')).sort()).toEqual(before);
    });

    describe('what a later run would read as a document', () => {
      const texts = (name: string) => at(`texts/${name}`);
      mkdirSync(texts('sub'));
      mkdirSync(texts('.hidden'));
      folder.write('same/texts/b.html', `<p>${LONG}</p>`);
      const patterned = (pattern: string, report: string) => ran(report, {}, texts(pattern));
      const refused = (input: string) => ({
        code: 'ERR_INVALID_ARG_VALUE',
        message: expect.stringMatching(
          new RegExp(`^report must be a file of its own, got .*${input}.*the next run would read`),
        ),
      });

      test.each([
        ['*.html', 'report.html'],
        ['*', 'report.html'],
        ['../*/[a-c].*ml', 'c.html'],
        ['**/*.html', 'report.html'],
        ['**/*.html', 'sub/report.html'],
      ])('a page that %s stands for, before the first run', async (pattern, name) => {
        await expect(patterned(pattern, texts(name))).rejects.toMatchObject(refused('pattern'));
        expect(existsSync(output)).toBe(false);
        expect(existsSync(texts(name))).toBe(false);
      });

      test('a page that was there before, by pattern and by folder, before the run', async () => {
        const there = texts('b.html');
        await expect(patterned('*.html', there)).rejects.toMatchObject(refused('pattern'));
        await expect(ran(there, {}, texts('.'))).rejects.toMatchObject(refused('all texts'));
        expect(existsSync(output)).toBe(false);
        expect(folder.read('same/texts/b.html')).toContain(LONG);
      });

      test('patterns of known documents and of those to look among', async () => {
        const report = texts('report.html');
        const run = ran(report, { known: texts('*.html') }, SAMPLE);
        await expect(run).rejects.toMatchObject(refused('pattern'));
        const match = matchFiles(SAMPLE, output, { against: texts('*.html'), report });
        await expect(match).rejects.toMatchObject(refused('pattern'));
        expect(existsSync(output)).toBe(false);
      });

      test('by the command report too', async () => {
        for (const [docs, said] of [
          [texts('*.html'), 'pattern'],
          [texts('.'), 'all texts'],
        ] as const) {
          await expect(
            reportFiles(folder.join('c.jsonl'), docs, texts('report.html')),
          ).rejects.toMatchObject(refused(said));
        }
      });

      test.each([
        ['*.htm', 'report.html'],
        ['*.html', 'sub/report.html'],
        ['*.html', '.report.html'],
        ['**/*.html', '.hidden/report.html'],
      ])('of %s a page named %s is none', async (pattern, name) => {
        const { report } = await patterned(pattern === '*.htm' ? 'a.*' : pattern, texts(name));
        expect(report).toMatchObject({ documents: 1 });
        rmSync(texts(name));
        rmSync(output);
      });

      test('of a folder, what lies in a hidden one is none', async () => {
        const { report } = await ran(texts('.hidden/report.html'), {}, texts('.'));
        expect(report).toMatchObject({ documents: 2 });
        rmSync(texts('.hidden/report.html'));
        rmSync(output);
      });

      test('other outputs of the run before: the second run says so, before it writes', async () => {
        const within = texts('sub/z.jsonl');
        folder.write('same/texts/sub/a.jsonl', lines([{ id: 1, text: LONG }]));
        const pattern = texts('sub/*.jsonl');
        for (const [output, options] of [
          [within, {}],
          [at('x.jsonl'), { clusters: within }],
          [at('x.jsonl'), { rejects: within }],
        ] as const) {
          await dedupFiles(pattern, output, options);
          const before = readFileSync(within, 'utf8');
          await expect(dedupFiles(pattern, output, options)).rejects.toMatchObject({
            code: 'ERR_SIMHASH_SAME_FILE',
            message: expect.stringContaining('z.jsonl'),
          });
          expect(readFileSync(within, 'utf8')).toBe(before);
          rmSync(within);
        }
        rmSync(at('x.jsonl'));
      });
    });

    test('a folder, before the run', async () => {
      await expect(ran(at('r.html'))).rejects.toMatchObject({
        code: 'ERR_SIMHASH_OUTPUT',
        message: expect.stringContaining('it is a folder'),
      });
      expect(existsSync(output)).toBe(false);
    });

    test('beside them, a page is written', async () => {
      const { report } = await ran(folder.join('other/new.html'));
      expect(report).toMatchObject({ documents: 1 });
      expect(existsSync(at('new.html'))).toBe(true);
    });
  });

  test.each([
    ['an input', () => dedupFiles('/dev/null', folder.join('x.jsonl'), { report }), 'inputs'],
    [
      'known documents',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report, known: '/dev/null' }),
      'inputs',
    ],
    [
      'documents to look among',
      () => matchFiles(SAMPLE, folder.join('x.jsonl'), { report, against: '/dev/null' }),
      'inputs',
    ],
    [
      'clusters',
      () => dedupFiles(SAMPLE, folder.join('x.jsonl'), { report, clusters: '/dev/null' }),
      'JSON lines',
    ],
  ])('a device as %s, before the run', async (_name, run, what) => {
    const message = expect.stringMatching(new RegExp(`${what}.*/dev/null.* a device`));
    await expect(run()).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE', message });
    expect(existsSync(folder.join('x.jsonl'))).toBe(false);
  });

  test('a page that cannot be written after the run: its clusters stay, and the error names them', async () => {
    const [output, report, tmp] = ['late.jsonl', 'late.html', 'tmp'].map((name) =>
      folder.join(name),
    ) as [string, string, string];
    mkdirSync(tmp);
    for (const place of [{}, { tmp }]) {
      // The folder appears when the run has begun.
      const onProgress = () => mkdirSync(report, { recursive: true });
      const error = await dedupFiles(SAMPLE, output, { report, onProgress, ...place }).then(
        () => undefined,
        (error: Error) => error,
      );
      expect(error).toMatchObject({ code: 'ERR_SIMHASH_OUTPUT' });
      const [, result = ''] = / report (\S+) --docs IN$/.exec(error?.message ?? '') ?? [];
      expect(existsSync(output)).toBe(true);
      rmdirSync(report);
      const { duplicates } = await reportFiles(result, SAMPLE, report);
      expect(duplicates).toBe(dataOf('r.html').all.duplicates);
      if ('tmp' in place) expect(readdirSync(tmp)).toEqual([result.slice(tmp.length + 1)]);
      rmSync(report);
    }
    // The next run of this page takes its place, and nothing stays.
    await dedupFiles(SAMPLE, output, { report, tmp });
    expect(readdirSync(tmp)).toEqual([]);
  });

  test('a file that names no clusters; a page that was there stays', async () => {
    folder.write('old.html', 'old');
    folder.write('odd.jsonl', '{"x": 1}\n');
    const wrong = reportFiles(folder.join('odd.jsonl'), SAMPLE, folder.join('old.html'));
    await expect(wrong).rejects.toMatchObject({
      code: 'ERR_SIMHASH_NO_RECORDS',
      message: expect.stringContaining('odd.jsonl:1'),
    });
    await expect(
      reportFiles(folder.join('c.jsonl'), folder.join('none.jsonl'), folder.join('old.html')),
    ).rejects.toMatchObject({ code: 'ERR_SIMHASH_INPUT' });
    expect(folder.read('old.html')).toBe('old');
    expect(readdirSync(folder.path).filter((name) => name.includes('.tmp'))).toEqual([]);
  });
});

describe('the command line', () => {
  test('makes a page beside a run and from its clusters', async () => {
    const beside = await folder.run(['clusters', SAMPLE, '-o', 'k.jsonl', '--report', 'k.html']);
    expect(beside).toMatchObject({ status: 0 });
    expect(beside.stderr).toMatch(/k\.html: \d+ of \d+ clusters/);
    const { status, stdout } = await folder.run([
      'report',
      'k.jsonl',
      '--docs',
      SAMPLE,
      '-o',
      'k2.html',
      '--json',
    ]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      documents: dataOf('k.html').all.documents,
      unknown: 0,
    });
    expect(dataOf('k2.html')).toEqual(dataOf('k.html'));
  });

  test('an input of any name leaves the page whole', async () => {
    folder.write('{{figures}}', lines([{ id: 1, text: LONG }]));
    const args = ['dedup', '{{figures}}', '-o', 'o.jsonl', '--report', 'odd.html'];
    expect(await folder.run(args)).toMatchObject({ status: 0 });
    expect(dataOf('odd.html').all.documents).toBe(1);
    expect(dataOf('odd.html', 'run')).toMatchObject({ inputs: ['{{figures}}'] });
  });

  test.each([
    [['clusters', SAMPLE, '--report', 'x.html'], 'needs -o FILE'],
    [['report', 'k.jsonl'], '--docs'],
    [
      ['dedup', SAMPLE, '--dry-run', '--report', 'x.html'],
      '--report must be left out beside --dry-run',
    ],
    [['dedup', SAMPLE, '-o', 'x.jsonl', '--report-texts', 'none'], '--report FILE'],
    [['dedup', SAMPLE, '-o', 'x.jsonl', '--report', 'x.html', '--report-texts', 'some'], "'some'"],
    [['match', SAMPLE, '--against', SAMPLE, '--report', 'x.html'], 'needs -o FILE'],
    [
      ['dedup', 'mongodb:///a.b', '-o', 'mongodb:///a.c', '--report', 'x.html', '--no-texts'],
      '--report must be left out beside --no-texts',
    ],
  ])('refuses %j', async (args, message) => {
    const { status, stderr } = await folder.run(args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  test('what a run will take does not depend on its report', async () => {
    const { signal } = new AbortController();
    const report = { report: 'r.html', reportTexts: 'none', dateField: 'time' } as const;
    const plan = await foretell([SAMPLE], report, signal);
    expect(plan?.documents).toBe(dataOf('r.html').all.documents);
  });
});
