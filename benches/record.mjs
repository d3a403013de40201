// npm run bench -- record [NAME…]     runs the benches of the results page and writes benches/RESULTS.md
//
// Reports are kept in benches/results.json, one per bench and size, each with its date and machine; the page is drawn from
// all of them, so that a bench can be repeated alone. Run it on a machine that does nothing else.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const DATA = join(here, 'results.json');
const PAGE = join(here, 'RESULTS.md');
/** Its summary and its list of missed goals stand there too, between the same marks; the front pages say how fast what most people use is. */
const PERFORMANCE = join(here, '..', 'docs', 'performance.md');
const FRONT = { en: 'README.md', zh: 'docs/zh/index.md' };
const MEASURED = /<!-- measured -->[\s\S]*<!-- \/measured -->/;
const FAST = /<!-- fast -->[\s\S]*<!-- \/fast -->/;
const MISSED = /<!-- missed -->[\s\S]*<!-- \/missed -->/;

/** The page's parts: a bench and the sizes it is run at; without sizes its own. */
const PARTS = [
  { title: 'Linear scan', bench: 'scan' },
  {
    title: 'Search on a sealed index',
    bench: 'search',
    sizes: [1_000_000, 10_000_000, 50_000_000, 100_000_000],
  },
  {
    title: 'Check-and-add on a live index',
    bench: 'stream',
    sizes: [1_000_000, 10_000_000, 50_000_000],
    note: `What an addition costs beyond its search is 460 to 580 ns at 50 M in the runs made for this page, 2.6 to 3.3 reads. It writes a line of the front for each table, which the search has just read, and the record and the line of the id map, which it has not; a third line where the map splits. The ratio lies between 1.44 and 1.64 from run to run, for the search in turns with it (900 to 1,100 ns) varies more than the addition does.`,
  },
  {
    title: 'A window of two days from TypeScript',
    bench: 'window',
    sizes: [1_000_000, 10_000_000, 50_000_000],
  },
  {
    title: 'All pairs within distance 3',
    bench: 'join',
    sizes: [1_000_000, 10_000_000, 50_000_000],
  },
  { title: 'All pairs above a Jaccard similarity', bench: 'overlap' },
  {
    title: 'From text to fingerprint',
    bench: 'fingerprint',
    note: `Windows by script ask for each character how much of one it fills, which is what they cost beside pairs. Weighted accumulation, which TF-IDF uses, is a masked addition for each 16 counters, since a weight has 32 bits; counted and binary features take the kernel of weight 1.`,
  },
  { title: 'Presets by kind of text, one core and all', bench: 'corpora' },
  {
    title: 'Chinese words',
    bench: 'segment',
    note: `jieba-rs 0.11 cuts 1.6 to 1.8 times as fast as 0.10.1, by which the goal of 4 was set. In 21 runs on the day of this page the ratio with HMM lay between 3.5 and 4.9, its median at 4.0: jieba-rs 0.11 gave 41 to 63 MB/s from process to process, ours 204 to 224.`,
  },
  { title: 'Chinese words from TypeScript', bench: 'cut' },
  {
    title: 'Single calls from TypeScript',
    bench: 'single',
    note: `What a call costs beyond Rust is an object for each match and the way across, some 0.3 to 0.7 us.`,
  },
  { title: 'One text after another, by method', bench: 'methods' },
  {
    title: 'Batches from TypeScript',
    bench: 'batch',
    note: `The way across is 9 MB of UTF-16 copied on the JavaScript thread, and made UTF-8 by the workers, sixteen units at a time where the machine has AVX-512 VBMI2.`,
  },
  { title: 'Handing texts to the workers', bench: 'intake' },
  { title: 'Timers meanwhile', bench: 'timers' },
  { title: 'MinHash', bench: 'minhash' },
  { title: 'Reading and sketching alone', bench: 'sketching' },
  {
    title: 'Whole runs of dedup',
    bench: 'dedup',
    note: `Processor seconds are the medians of nine rounds, and so are the wall times by which threads and processes are compared. Stages are told apart from outside, by the checkpoints of a run with --tmp, which writes these too.`,
  },
  { title: 'Growth of dedup', bench: 'growth', sizes: [3_000_000] },
  { title: 'A file of 4 GB within 1 GB', bench: 'large' },
  {
    title: 'On Spark',
    bench: 'spark',
    note: `Stages are what tasks and workers take, without Spark's own threads (its compiler, its collector, its scheduler); the row above them has those too.`,
  },
  { title: 'Reading each format alone', bench: 'reading' },
  {
    title: 'From a MongoDB collection',
    bench: 'mongodb',
    sizes: [100_000, 1_000_000],
    note: `The server is that of the tests, FerretDB on SQLite, on the same two cores as the client: it is slow, sorts in memory, and is what takes most of the time.`,
  },
  {
    title: 'A folder: opened',
    bench: 'open',
    sizes: [1_000_000, 10_000_000, 50_000_000],
    note: `Memory of its own is by how much the anonymous memory of the process grew when the folder was opened. The same process has closed other indexes of the folder before: memory of theirs that it still held and used again is not counted, and what it gave back meanwhile is subtracted, so the figure of the index that is read may be too low.`,
  },
  { title: 'A folder: check-and-add by durability', bench: 'durable' },
  { title: 'A folder: checkpoints meanwhile', bench: 'merges' },
  { title: 'A folder: a snapshot meanwhile', bench: 'pause', sizes: [5_000_000] },
  { title: 'A folder: three readers', bench: 'readers' },
  { title: 'A folder beside SQLite', bench: 'stores' },
  { title: 'The longest sentences', bench: 'sentences' },
  { title: 'A report', bench: 'report', sizes: [1_000_000] },
  { title: 'A server', bench: 'serve' },
  { title: 'One window for several services', bench: 'log' },
  {
    title: 'One window for several services: a snapshot meanwhile',
    bench: 'silence',
    sizes: [5_000_000],
  },
];

/** The rows of the summary: what it says, the report, and the row there, by name and by what it is held against. */
const SUMMARY = [
  [
    'one dependent random read, over as much memory as 50 M fingerprints take',
    'search --size 50000000',
    'one dependent random read',
  ],
  [
    'search, k = 3, 50 M fingerprints, that finds nothing',
    'search --size 50000000',
    'search, k = 3, random: finds nothing',
  ],
  ['search, k = 5', 'search --size 50000000', 'search, k = 5, that finds one'],
  ['search, k = 7', 'search --size 50000000', 'search, k = 7, that finds one'],
  ['search, k = 10', 'search --size 50000000', 'search, k = 10, that finds one'],
  ['the usual map of 4 x 16 bits, k = 3', 'search --size 50000000', 'classic 4 x 16 blocks, k = 3'],
  ['bytes of a fingerprint in the tables', 'search --size 50000000', 'tables'],
  ['and of its id', 'search --size 50000000', 'ids'],
  ['sealing a batch of 50 M, all cores', 'search --size 50000000', 'add and seal, all cores'],
  [
    'check and add, 50 M live, merges behind it',
    'stream --size 50000000',
    'check and add, sustained',
  ],
  ['beside its own search', 'stream --size 50000000', 'check and add', 'search'],
  ['99.9 % of them within', 'stream --size 50000000', 'p99.9, wall, merges included'],
  ['all pairs, k = 3, 50 M, one thread', 'join --size 50000000', 'self-join'],
  ['linear scan', 'scan', 'scan'],
  [
    'a text into a two-day window of 50 M, by fingerprints alone, from TypeScript, 99 % within',
    'window --size 50000000',
    'p99',
  ],
  ['one caller, texts per hour', 'window --size 50000000', 'documents per hour, one caller'],
  ['fingerprint, by script (default)', 'fingerprint', 'characters by script, not normalised'],
  ['fingerprint, pairs of characters', 'fingerprint', 'character bigrams, not normalised'],
  ['fingerprint, jieba TF-IDF, top 30', 'segment', 'jieba-tfidf fingerprint, top 30'],
  ['words as Python jieba cuts them', 'segment', 'cut, HMM', 'jieba-rs 0.11 cut'],
  ['npm minhash, 128 positions of the same features', 'minhash', 'npm minhash, strings'],
  ['PyPI rensa', 'minhash', 'rensa RMinHash, strings'],
  ['592,598 documents from file to file, one thread', 'dedup', 'minhash: one thread'],
  ['17,400 news by their longest sentences, in memory', 'sentences', 'in memory, one by one'],
  ['a batch from TypeScript', 'batch', 'fingerprintManyAsync'],
];

const millions = (size) => `${(size / 1e6).toLocaleString('en-US')} M`;

/** What decides how fast this machine is. */
export function machine() {
  let simd = '';
  if (existsSync('/proc/cpuinfo')) {
    const flags = new Set(
      /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1].trim().split(' '),
    );
    simd = ['avx512_vpopcntdq', 'avx512bw', 'avx2'].find((flag) => flags.has(flag)) ?? '';
  }
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return [
    cpus()[0]?.model.trim() ?? 'unknown processor',
    `${cpus().length} cores`,
    simd,
    memory,
    `Node ${process.version}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Runs the benches named, or all; `run` makes the report of one. */
export async function record(wanted, run) {
  const unknown = wanted.filter((name) => !PARTS.some(({ bench }) => bench === name));
  if (unknown.length > 0) throw new Error(`the results page has no bench ${unknown.join(', ')}`);
  const results = existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')) : {};
  for (const { bench, sizes = [undefined] } of PARTS) {
    if (wanted.length > 0 && !wanted.includes(bench)) continue;
    for (const size of sizes) {
      const options = size === undefined ? [] : ['--size', String(size)];
      console.error([bench, ...options].join(' '));
      const report = await run(bench, options);
      results[[bench, ...options].join(' ')] = {
        date: new Date().toISOString().slice(0, 10),
        machine: machine(),
        ...report,
      };
      writeFileSync(DATA, `${JSON.stringify(results, null, 1)}\n`);
    }
  }
  writeFileSync(PAGE, page(results));
  const text = summary(results);
  const goals = MISSED.exec(page(results))?.[0] ?? '';
  rewrite(PERFORMANCE, (old) => old.replace(MEASURED, () => text).replace(MISSED, () => goals));
  for (const [language, name] of Object.entries(FRONT))
    rewrite(join(here, '..', name), (old) => old.replace(FAST, () => fast(results, language)));
}

const rewrite = (path, change) => writeFileSync(path, change(readFileSync(path, 'utf8')));

/** How fast what most people use is, in a language of the front pages. */
export function fast(results, language) {
  const rowOf = (report, row, against) =>
    results[report].rows.find(
      (one) => one.what === row && (against === undefined || one.against?.what === against),
    );
  const of = (report, row) => rowOf(report, row).value;
  const [seconds, memory] = ['one thread', 'one thread, most memory'].map((row) =>
    of('dedup', `minhash: ${row}`),
  );
  const [documents] = /^\d+/.exec(results.dedup.setup);
  const [long] = /\d+(?= characters each)/.exec(results.sentences.setup);
  const [, articles, bytes] = /(\d+) documents, (\d+) bytes of text/.exec(results.reading.setup);
  const deduped = rowOf('reading', 'articles: JSON lines', 'dedup').against.value;
  const rate = (value) => whole(Number(value.toPrecision(2)));
  const added = (what, durability) =>
    rate(
      of('durable', `${what}, minhash, with their texts: ${durability}, one by one, acknowledged`),
    );
  const figures = {
    texts: whole(Number(documents)),
    seconds: number(seconds),
    rate: rate(documents / seconds),
    memory: number(memory),
    articles: whole(Number(articles)),
    kilobytes: (bytes / articles / 1000).toFixed(1),
    articleRate: rate((deduped * 1e6 * articles) / bytes),
    articleBytes: number(deduped),
    long: rate(Number(long)),
    titles: added('titles', 'interval'),
    news: added('news', 'interval'),
    titlesOnDisk: added('titles', 'commit'),
    newsOnDisk: added('news', 'commit'),
    checks: rate(of('serve', 'single checks, 64 connections, interval')),
    words: number(of('cut', 'cut, HMM')),
    where: results.dedup.machine
      .split(', ')
      .slice(0, 2)
      .join(language === 'zh' ? '，' : ', '),
    missed: missedOf(results).length,
    beside: BESIDE.map(({ row, ...says }) => {
      const { ratio, goal = '' } = rowOf(...row).against;
      const [limit = ''] = /[\d.]+/.exec(goal) ?? [];
      return `- ${says[language].replace('{ratio}', number(ratio)).replace('{goal}', limit)}`;
    }).join('\n'),
  };
  const text = SAID[language].replaceAll(/\{(\w+)\}/g, (_, name) => figures[name]);
  const said = language === 'zh' ? text.replace(/ cores/, ' 核') : text;
  return `<!-- fast -->\n\n${said}\n\n<!-- /fast -->`;
}

/** Goals as a list. */
const listed = (misses) =>
  misses.length > 0 ? misses.map((miss) => `- ${miss}`).join('\n') : 'None.';

const whole = (value) => value.toLocaleString('en-US');

/** Rows beside a rival or a limit that the front pages put into words: some that are won, and some that are lost. */
const BESIDE = [
  {
    row: ['cut', 'cut, HMM', '@node-rs/jieba cut, HMM'],
    en: '`cut` reads {ratio} times as much text per second as npm `@node-rs/jieba`.',
    zh: '`cut` 每秒处理的文本是 npm `@node-rs/jieba` 的 {ratio} 倍。',
  },
  {
    row: ['reading', 'titles: JSON lines, gzip', 'its decompressor alone'],
    en: 'Headlines compressed by gzip are read at {ratio} of the rate of the decompressor alone; the goal is at least {goal}.',
    zh: '读取 gzip 压缩的标题，速度是单纯解压的 {ratio}；目标是至少 {goal}。',
  },
  {
    row: ['reading', 'titles: folder', 'dedup'],
    en: 'A folder with each headline in a file of its own is read {ratio} times as fast as the whole of `dedup` runs; the goal is at least {goal}, so that reading costs little.',
    zh: '每条标题单独一个文件的文件夹，读取速度是整个 `dedup` 的 {ratio} 倍；目标是至少 {goal} 倍，好让读取只占很少的时间。',
  },
  {
    row: ['stream --size 50000000', 'check and add', 'search'],
    en: 'To check and add a fingerprint to 50 million takes {ratio} times as long as a search alone; the goal is at most {goal}.',
    zh: '在五千万个指纹里查找并加入一个，用时是只查找的 {ratio} 倍；目标是至多 {goal} 倍。',
  },
];

/** What {@link fast} says. */
const SAID = {
  en: `| with default options, on a machine with {where}; wall time unless said otherwise | |
|---|--:|
| \`dedup\`, from file to file: {texts} Chinese texts, most of them headlines; processor time of one thread | {rate} texts/s: {seconds} s, {memory} MB of memory |
| \`dedup --dry-run\`: {articles} Chinese articles of {kilobytes} KB on average; two threads | {articleRate} texts/s: {articleBytes} MB/s |
| \`checkAndAdd\`, each text as it arrives, index and texts on disk (durability \`interval\`), measured in Rust: headlines | {titles} texts/s |
| the same: news, {long} characters on average | {news} texts/s |
| the same with durability \`commit\`, where each answer waits for the disk: headlines; news | {titlesOnDisk} texts/s; {newsOnDisk} texts/s |
| \`serve\`, the same over HTTP (durability \`interval\`): one headline a request, client on the same machine | {checks} texts/s |
| \`cut\`, Chinese words as Python jieba cuts them; processor time of one thread | {words} MB/s |

Held against others, and against goals of our own:

{beside}

[Performance](docs/performance.md) has all figures, and [the {missed} goals that were missed](docs/performance.md#goals-missed).`,
  zh: `| 默认选项，机器为 {where}；没有注明的都是实际经过的时间 | |
|---|--:|
| \`dedup\`，文件去重：{texts} 条中文，多数是标题；一个线程的处理器时间 | 每秒 {rate} 条：{seconds} 秒，内存 {memory} MB |
| \`dedup --dry-run\`：{articles} 篇中文文章，平均 {kilobytes} KB；两个线程 | 每秒 {articleRate} 篇：{articleBytes} MB/s |
| \`checkAndAdd\`，逐条判断，索引和正文存在磁盘上（持久性 \`interval\`），在 Rust 里测：标题 | 每秒 {titles} 条 |
| 同上：新闻，平均 {long} 字 | 每秒 {news} 条 |
| 同上，持久性 \`commit\`，每次回答都等写入磁盘：标题；新闻 | 每秒 {titlesOnDisk} 条；每秒 {newsOnDisk} 条 |
| \`serve\`，同上，用 HTTP（持久性 \`interval\`）：每个请求一条标题，客户端在同一台机器上 | 每秒 {checks} 条 |
| \`cut\`，按 Python jieba 分词；一个线程的处理器时间 | 每秒 {words} MB |

与其他工具、与自定目标对照：

{beside}

全部数字，以及[没有达到的 {missed} 个自定目标](../performance.md#goals-missed)，见[性能](../performance.md)（英文）。`,
};

const number = (value) =>
  value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : value >= 100
      ? value.toFixed(0)
      : value >= 1
        ? value.toFixed(2)
        : value.toPrecision(3);
const table = (rows) =>
  rows
    .map(
      (row, at) =>
        `| ${row.join(' | ')} |${
          at === 0
            ? `\n|---|${row
                .slice(1)
                .map(() => '--:')
                .join('|')}|`
            : ''
        }`,
    )
    .join('\n');

/** Whether a goal is missed: of a ratio, or of the value where it has a unit; `<= 4 at 50 M` is asked for at that size alone. */
function missed({ value, unit, against: { ratio, goal = '' } }, size) {
  const [, sign, limit, parts, of, at] =
    /^(<=|>=) ([\d.]+)(?:\/(\d+))?( MB\/s)?(?: at ([\d.]+) M)?/.exec(goal) ?? [];
  if (sign === undefined || (at !== undefined && size !== undefined && size !== Number(at) * 1e6))
    return false;
  const [reached, asked] = [
    of?.trim() === unit ? value : ratio,
    Number(limit) / Number(parts ?? 1),
  ];
  return sign === '<=' ? reached > asked : reached < asked;
}

function part({ title, bench, sizes = [undefined], note }, results, misses) {
  const runs = sizes.flatMap((size) => {
    const report = results[size === undefined ? bench : `${bench} --size ${size}`];
    return report === undefined ? [] : [{ size, report }];
  });
  if (runs.length === 0) return [];
  const key = ({ what, against }) => JSON.stringify([what, against?.what]);
  const rows = [...new Set(runs.flatMap(({ report }) => report.rows.map(key)))].map((wanted) => {
    const [name, limit = ''] = JSON.parse(wanted);
    let goal = '';
    const cells = runs.map(({ size, report }) => {
      const row = report.rows.find((row) => key(row) === wanted);
      if (row === undefined) return '–';
      const { value, unit, against } = row;
      if (against === undefined) return `${number(value)} ${unit}`;
      goal = against.goal ?? goal;
      const miss = missed(row, size);
      if (miss)
        misses.push(
          `${title}: ${[name, size && millions(size)].filter(Boolean).join(', ')}: ${number(against.ratio)} × ${limit} (goal ${goal})`,
        );
      return `${number(value)} ${unit}, ${miss ? `**${number(against.ratio)} ×**` : `${number(against.ratio)} ×`}`;
    });
    return [name, ...cells, limit ?? '', goal];
  });
  const head = [
    '',
    ...runs.map(({ size }) => (size === undefined ? 'measured' : millions(size))),
    'against',
    'goal',
  ];
  const setups = runs.map(
    ({ size, report }) =>
      `- ${[size && millions(size), report.setup].filter(Boolean).join(': ')}. ${report.date}, ${report.machine}.`,
  );
  return [
    `## ${title}`,
    `\`npm run bench -- ${bench}${sizes[0] === undefined ? '' : ' --size N'}\``,
    table([head, ...rows]),
    ...(note === undefined ? [] : [note]),
    setups.join('\n'),
  ];
}

function summary(results) {
  const rows = SUMMARY.flatMap(([says, report, name, limit]) => {
    const row = results[report]?.rows.find(
      ({ what, against }) => what === name && (limit === undefined || against?.what === limit),
    );
    if (row === undefined) return [];
    const { value, unit, against } = row;
    const miss = against !== undefined && missed(row);
    return [
      [
        says,
        `${number(value)} ${unit}`,
        against ? `${number(against.ratio)} × ${against.what}` : '',
        miss ? `**${against.goal}**` : (against?.goal ?? ''),
      ],
    ];
  });
  const stated = SUMMARY.map(([, report]) => results[report]).filter(Boolean);
  const where = [...new Set(stated.map(({ date, machine }) => `${date}, ${machine}`))].join('; ');
  return `<!-- measured -->\n\n${table([['', 'measured', 'that is', 'goal, bold if missed'], ...rows])}\n\n${where}.\n\n<!-- /measured -->`;
}

/** The goals that were missed, a line each. */
function missedOf(results) {
  const misses = [];
  for (const one of PARTS) part(one, results, misses);
  return misses;
}

function page(results) {
  const misses = missedOf(results);
  const parts = PARTS.flatMap((one) => part(one, results, []));
  return `${[
    '# Measured',
    'Made by `npm run bench -- record` from `results.json`; do not edit. A ratio (×) is that of the row to what stands under “against”, measured in the\nsame process a moment before; a goal is a limit of that ratio. Times of one thread are processor time.',
    summary(results),
    `## Goals missed\n\n<!-- missed -->\n${listed(misses)}\n<!-- /missed -->`,
    ...parts,
  ].join('\n\n')}\n`;
}
