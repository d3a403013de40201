/** Figures in pages: tables and sentences say what benches/results.json and the page of quality say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explain } from '..';
import { fast } from '../benches/record.mjs';
import { ROOT } from './cli-run';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Report {
  readonly setup: string;
  readonly rows: readonly {
    readonly what: string;
    readonly value: number;
    readonly against?: { readonly what: string; readonly value: number; readonly ratio: number };
  }[];
}
const results = JSON.parse(read('benches/results.json')) as Record<string, Report>;
const quality = read('docs/quality.md');

/** A row of a report, and what it is held against. */
function row(report: string, what: string, against?: string) {
  const found = results[report]?.rows.find(
    (row) => row.what === what && (against === undefined || row.against?.what === against),
  );
  if (found === undefined) throw new Error(`no row ${what} of ${report}`);
  return found;
}

describe('tables', () => {
  /** What a page in Chinese says for a cell. */
  const CHINESE: Readonly<Record<string, string>> = {
    method: '方法',
    'recall, long texts': '长文召回率',
    'recall, short texts': '短文召回率',
    precision: '准确率',
    'bytes/document': '每篇字节数',
    'documents/s, long': '长文每秒篇数',
    'documents/s, short': '短文每秒篇数',
    exact: 'exact（完全相同）',
    'simhash, distance 3': 'simhash，距离 3',
    'simhash, distance 8': 'simhash，距离 8',
    'sentences, 5': 'sentences，5 句',
    'minhash, 16 bands of 8': 'minhash，16 段各 8 行',
    'minhash (default)': 'minhash（默认）',
    'brute-force': 'brute-force（比较所有配对）',
    'shingle not given': '不给单位',
    default: '默认',
    pairs: '双字',
    'simhash, default': 'simhash，默认',
    'simhash, pairs': 'simhash，双字',
  };
  const inChinese = (table: string) =>
    table.replaceAll(/(?<=\| )[^|]+(?= \|)/g, (cell) =>
      (CHINESE[cell] ?? cell)
        .replace(/^(en-.*), (\d)-grams$/, '$1，$2 字母一组')
        .replace(/, (\d)-grams$/, '，$1 字一组'),
    );

  test.each([
    ['of methods', 'docs/guide/choose.md', 'method | recall, long'],
    ['of methods', 'docs/zh/guide/choose.md', 'method | recall, long'],
    ['of what the default finds', 'docs/guide/choose.md', 'shingle not given'],
    ['of what the default finds', 'docs/zh/guide/choose.md', 'shingle not given'],
  ])('that %s in %s is that of the quality page', (_, page, head) => {
    const measured = new RegExp(`^\\| ${head.replace('|', '\\|')}.*\\n(?:\\|.*\\n)+`, 'm').exec(
      quality,
    )?.[0];
    expect(measured?.split('\n').length).toBeGreaterThan(7);
    const shown = page.includes('/zh/') ? inChinese(measured ?? '') : measured;
    expect(read(page)).toContain(shown);
  });

  const page = read('benches/RESULTS.md');
  const summary = /<!-- measured -->[\s\S]*<!-- \/measured -->/;
  const missed = /<!-- missed -->[\s\S]*<!-- \/missed -->/;

  test('of the performance page are those of the results page', () => {
    const measured = summary.exec(page)?.[0] ?? '';
    expect(measured.split('\n').length).toBeGreaterThan(15);
    const performance = read('docs/performance.md');
    expect(summary.exec(performance)?.[0]).toBe(measured);
    expect(missed.exec(page)?.[0]).toContain('\n- ');
    expect(missed.exec(performance)?.[0]).toBe(missed.exec(page)?.[0]);
  });

  test.each([
    ['README.md', 'en'],
    ['docs/zh/index.md', 'zh'],
  ])('how fast it is, in %s, is what was measured', (name, language) => {
    const said = fast(results, language) as string;
    expect(said.split('\n').length).toBeGreaterThan(9);
    expect(read(name), 'npm run bench -- record writes it').toContain(said);
    const goals = missed.exec(page)?.[0].split('\n- ').length ?? 0;
    expect(said).toContain(` ${goals - 1} `);
  });
});

/** How a collection was deduplicated. */
interface Way {
  readonly rate: string;
  /** Per cent of the time. */
  readonly asked: number;
  readonly hours: string;
}

describe('sentences', () => {
  const two = (value: number) => value.toFixed(2);
  const whole = (value: number) => value.toFixed(0);
  const threads = ['simhash', 'sentences', 'minhash'].map((method) =>
    two(row('dedup', `${method}: two threads`).against?.ratio ?? 0),
  );
  const percent = (share: string | number) =>
    (Number(share) * 100).toFixed(1).replace(/^100\.0$/, '100');
  const cells = (line: string) => line.split('|').map((cell) => cell.trim());
  const [all = ''] = /^\| \*\*all\*\* \| representative .*$/m.exec(quality) ?? [];
  const [, , , , , recall = '', precision = ''] = cells(all);
  const found = `${percent(recall)} %`;
  /** What the default finds where nothing is said, by corpus: recall and precision. */
  const [unsaid = ''] = /^\| shingle not given .*\n(?:\|.*\n)+/m.exec(quality) ?? [];
  const unsaidRows = unsaid
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => {
      const [, name = '', figures = ''] = cells(line);
      const [recall = 0, precision = 0] = figures.split(/[/,]/).map(Number);
      return { name, recall, precision };
    });
  const range = (shares: number[], to: string) =>
    `${percent(Math.min(...shares))} ${to} ${percent(Math.max(...shares))} %`;
  const isTitles = ({ name }: { name: string }) => name.includes('titles');
  const titlesFound = `${percent(unsaidRows.find(isTitles)?.recall ?? 0)} %`;
  const othersFound = (to: string) =>
    range(
      unsaidRows.filter((row) => !isTitles(row)).map(({ recall }) => recall),
      to,
    );
  const right = (to: string) =>
    range(
      unsaidRows.map(({ precision }) => precision),
      to,
    );
  const sets = new Set(unsaidRows.map(({ name }) => name.split(',')[0])).size;
  const recallOf = (method: string) => {
    const [line = ''] =
      new RegExp(`^\\| ${method.replaceAll(/[()]/g, '\\$&')} \\|.*$`, 'm').exec(quality) ?? [];
    return two(Number(line.split('|')[2]));
  };
  const [simhash, minhash] = [recallOf('simhash, distance 8'), recallOf('minhash (default)')];
  /** Bytes of a document by `Index.plan`, with its text or without: the page of which a test runs the program. */
  const plans = [
    ...read('docs/guide/live.md').matchAll(/^(\w+) +(with texts|without) +(\d+) bytes/gm),
  ];
  const bytes = plans.filter(([, , how]) => how === 'without').map(([, , , size]) => Number(size));
  const [least, most] = [Math.min(...bytes), Math.max(...bytes)];
  const kilobytes = whole(Math.max(...plans.map(([, , , size]) => Number(size))) / 1000);
  const prints = plans.find(([, method, how]) => method === 'simhash' && how === 'without')?.[3];

  const cpu = (report: string, ...names: string[]) => {
    const all = names.map((name) => row(report, name).value);
    return [whole(Math.min(...all)), whole(Math.max(...all))];
  };
  const ways = ['interval', 'commit'];
  const alone = cpu(
    'serve',
    ...ways.map((way) => `single checks, 64 connections, ${way}: CPU of the server`),
  );
  const many = cpu(
    'serve',
    ...ways.map((way) => `check-many of 256, 4 connections, ${way}: CPU of the server`),
  );
  const each = cpu(
    'log',
    ...['in memory', 'Redis', 'NATS'].map((log) => `${log}: CPU of the service`),
  );

  const WINDOW = 'window --size 50000000';
  const p99 = two(row(WINDOW, 'p99').value);
  const held = Math.floor(row(WINDOW, 'memory').value).toFixed(0);
  const blocks = two(
    row('search --size 50000000', 'classic 4 x 16 blocks, k = 3').against?.ratio ?? 0,
  );
  const news = row('sentences', 'in memory, one by one');
  const seconds = news.value.toPrecision(3);
  const author = `${news.against?.value}`;

  /** How a row stands to what it is held against: the page of performance says that it misses its goal, if it does. */
  const beside = (report: string, what: string, against: string) => {
    const { ratio = 0, goal = '' } = row(report, what, against).against ?? {};
    const [, sign, bound] = /^([<>]=) ([\d.]+)/.exec(goal) ?? [];
    expect(sign, `${what}: ${goal}`).toBeDefined();
    const isMissed = sign === '>=' ? ratio < Number(bound) : ratio > Number(bound);
    const listed = new RegExp(`: ${what}.*: ${ratio.toPrecision(3)} × ${against} \\(goal`);
    expect(listed.test(read('docs/performance.md')), `${what}: ${ratio}`).toBe(isMissed);
    return ratio.toPrecision(3);
  };
  const STREAM = ['stream --size 50000000', 'check and add', 'search'] as const;
  const [titles, articles] = ['titles', 'news'].map((what) =>
    Number(
      row(
        'durable',
        `${what}, minhash, with their texts: commit, one by one, acknowledged`,
      ).value.toPrecision(2),
    ).toLocaleString('en-US'),
  );

  /** The two duplicates of the first page. */
  const [a = '', , b = ''] = [...read('README.md').matchAll(/"id": "a\d", "text": "([^"]+)"/g)].map(
    ([, text]) => text,
  );
  const explained = explain(a, b);
  const shared = explained.shared.length;
  const features = shared + explained.onlyA.length + explained.onlyB.length;

  const MONGO = 'mongodb --size 1000000';
  const rate = (what: string) => Math.round(row(MONGO, what).value).toLocaleString('en-US');
  const [verified, alone1] = ['verified', 'by fingerprints alone'].map((way) => ({
    rate: rate(way),
    asked: row(MONGO, `${way}: time in which the database is asked`).value,
    hours: (50e6 / row(MONGO, way).value / 3600).toFixed(1),
  })) as [Way, Way];
  const stages = ['read', 'decide', 'write'].map((stage) =>
    whole(row(MONGO, `verified: stage ${stage}`).value),
  );
  const client = whole(row(MONGO, 'memory of the client, at most').value);

  const REPORT = 'report --size 1000000';
  const page = two(row(REPORT, 'size of the page').value);
  const drawn = two(row(REPORT, 'opened and drawn').value);

  const sample = read('examples/sample.jsonl').trim().split('\n').length;
  const labelled = read('examples/sample.labels.jsonl').trim().split('\n');
  const members = labelled.map((line) => (JSON.parse(line) as { members: [] }).members.length - 1);
  const repeated = members.reduce((sum, one) => sum + one, 0);
  const guides = ['guide/files', 'guide/index-folder', 'guide/choose'];

  test.each([
    [
      'docs/mongodb.md',
      `verified ${verified.rate} documents per second, with the\ndatabase busy in ${whole(verified.asked)} % of the time (reading took ${stages[0]} s, deciding ${stages[1]} s, writing ${stages[2]} s); fingerprints only ${alone1.rate}, with the database busy in ${alone1.asked.toFixed(1)} %`,
    ],
    [
      'docs/mongodb.md',
      `50 million documents would take ${verified.hours} and ${alone1.hours} hours`,
    ],
    ['docs/mongodb.md', `The client used at most ${client} MB`],
    ['docs/mongodb.md', `collection gave ${rate('read alone, one cursor')}`],
    [
      'docs/zh/mongodb.md',
      `核实文本每秒 ${verified.rate} 条，${whole(verified.asked)} % 的时间数据库在忙（读 ${stages[0]} 秒，判断 ${stages[1]} 秒，写 ${stages[2]} 秒）；只比指纹每秒 ${alone1.rate} 条，${alone1.asked.toFixed(1)} % 的时间数据库在忙`,
    ],
    ['docs/zh/mongodb.md', `五千万条要 ${verified.hours} 和 ${alone1.hours} 小时`],
    ['docs/zh/mongodb.md', `客户端最多用了 ${client} MB`],
    ['docs/zh/mongodb.md', `单单读这个集合是每秒 ${rate('read alone, one cursor')} 条`],
    ['docs/report.md', `has ${page} MB, and Chromium has drawn it ${drawn} s after it was opened`],
    ['docs/zh/report.md', `的报告是 ${page} MB，Chromium 打开后 ${drawn} 秒画完`],
    ...['words', ...guides].map((name) => [
      `docs/${name}.md`,
      `${sample} short documents, of which ${repeated} are duplicates`,
    ]),
    ...guides.map((name) => [`docs/zh/${name}.md`, `${sample} 篇短文，其中 ${repeated} 篇是重复`]),
    [
      'README.md',
      `the default found ${titlesFound} of the redundant headlines, and ${othersFound('to')} of the redundant documents of the other sets. Of the links that it made, ${right('to')} also reach`,
    ],
    ['README.md', `(\`representative\`) ${found}, with a precision of ${precision}`],
    [
      'README.md',
      `Of ${['none', 'one', 'two', 'three', 'four', 'five', 'six'][sets]} sets of texts`,
    ],
    [
      'README.md',
      `have ${features} features together, and ${shared} of them are in both: ${whole((100 * shared) / features)} %`,
    ],
    [
      'docs/zh/index.md',
      `有 ${features} 个特征，${shared} 个两篇都有，即 ${whole((100 * shared) / features)} %`,
    ],
    [
      'README.md',
      `gzip are read at ${beside('reading', 'titles: JSON lines, gzip', 'its decompressor alone')}`,
    ],
    [
      'README.md',
      `read ${beside('reading', 'titles: folder', 'dedup')} times as fast as the whole`,
    ],
    ['docs/zh/index.md', `用时是只查找的 ${beside(...STREAM)} 倍`],
    ['README.md', `takes ${beside(...STREAM)} times as long as a search alone`],
    ['README.md', `waits for the disk: headlines; news | ${titles} texts/s; ${articles} texts/s`],
    ['README.md', `takes about ${kilobytes} KB with its text, ${least} to ${most} bytes without`],
    ['README.md', `recall ${simhash} on long texts where MinHash has ${minhash}`],
    [
      'README.md',
      `two threads reach ${threads[0]} and ${threads[1]} of the speed of two processes (${threads[2]} with the default)`,
    ],
    [
      'docs/zh/index.md',
      `默认方法找到了重复标题的 ${titlesFound}，其他语料重复文档的 ${othersFound('到')}；它连起来的配对里，${right('到')} 按`,
    ],
    ['docs/zh/index.md', `找到 ${found}，准确率 ${precision}`],
    [
      'docs/zh/index.md',
      `一千字的文本连正文每篇约 ${kilobytes} KB，不存正文 ${least} 到 ${most} 字节`,
    ],
    ['docs/zh/index.md', `长文的召回率是 ${simhash}，MinHash 是 ${minhash}`],
    ['docs/zh/index.md', `（${threads[0]} 和 ${threads[1]}；默认方法为 ${threads[2]}）`],
    [
      'docs/python/longest-sentences.md',
      `take ${seconds} s one by one in memory, where the author of this method reports ${author} s`,
    ],
    [
      'docs/zh/python/longest-sentences.md',
      `用 ${seconds} 秒；这种方法的作者在别的硬件上报告的是 ${author} 秒`,
    ],
    ['docs/python/tfidf-mongodb.md', `takes ${blocks} times as long as they do at 50 million`],
    ['docs/zh/python/tfidf-mongodb.md', `4 × 16 位的映射要 ${blocks} 倍的时间`],
    [
      'docs/python/window.md',
      `the plan says ${prints} bytes each; a window with merges under way took ${held}`,
    ],
    ['docs/zh/python/window.md', `按计划每条 ${prints} 字节，实测（窗口在合并时）${held} 字节`],
    ['docs/python/window.md', `takes at most ${p99} µs in 99 of 100 cases`],
    ['docs/zh/python/window.md', `100 次里有 99 次不超过 ${p99} 微秒`],
    [
      'docs/shared-window.md',
      `${alone.join(' to ')} µs alone, ${many.join(' to ')} µs by \`check-many\` of 256 | ${each.join(' to ')} µs **in each service**`,
    ],
    [
      'docs/zh/shared-window.md',
      `逐条 ${alone.join(' 到 ')} µs，用 256 条一批的 \`check-many\` 为 ${many.join(' 到 ')} µs | **每个服务** ${each.join(' 到 ')} µs`,
    ],
  ])('%s: %s', (page, sentence) => {
    expect(read(page)).toContain(sentence);
  });
});
