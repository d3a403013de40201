// Writes the golden vectors of docs/specification.md from the built package: node __test__/specification/make-vectors.mjs
// (after `npm run build`). Keys of bands and plans come from a test of the crate:
// SIMHASH_WRITE_VECTORS=1 cargo test -p simhash-index --test specification
//
// All characters are assigned in Unicode 13 and earlier; see the page.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LINES } from './vectors.mjs';

const texts = (...texts) => texts.map((text) => ({ text }));
const chars = (from, count, step = 1) =>
  String.fromCodePoint(...Array.from({ length: count }, (_, at) => from + at * step));
const ARTICLE =
  '青禾市图书馆新馆昨日起试运行。新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位两千三百个。试运行期间每天开放八小时，读者凭身份证入馆。';
const ENGLISH =
  'The new library of Qinghe opened its doors on Monday. Mr. Li said it holds 1.2 million books, e.g. maps and music. Readers need a card.';
const long = chars(0x4e00, 420);

const INPUTS = {
  'normalise.jsonl': [
    ...texts(
      '',
      ' ',
      '\u3000\n',
      'a',
      'Ａ　Ｂ',
      'Straße',
      'ẞ',
      'İstanbul',
      'Iı',
      'ΟΔΟΣ',
      'ὈΔΥΣΣΕΎΣ',
      '①②',
      '㈱',
      'ﬁ',
    ),
    ...texts(
      'ｶﾞ',
      'カ\u3099',
      'e\u0301',
      'é',
      '\u0301e',
      'a \u0301',
      '각',
      '\u1100\u1161\u11a8',
      'Å',
      '\u212b',
      '㎏',
      '½',
    ),
    ...texts(
      '天 气 Good  day 好',
      'a\u00a0b',
      'a\u2028b',
      '中\u2028文',
      'a\u200bb',
      '\ufeffa',
      'a\u001cb',
      '한국 말',
      'か な',
    ),
    ...texts(
      '2026 年 11 月',
      'A\t\r\nB',
      '。 a',
      'a ！',
      '😀 a',
      'a \u{20000} b',
      '\u{1f468}\u200d\u{1f469}',
      'ﷺ',
      '…',
    ),
    ...texts('\u0345', 'ŉ', 'ǰ', '\u1e9b\u0323', '\uff9e', '\u3131 a', '\u00b4 a', '\ufffd'),
  ],
  'features.jsonl': [
    ...texts(
      '',
      '集',
      'abcd',
      '地铁通车',
      'subway',
      '第12集完',
      '用GPT写',
      '柯南EP01',
      '地铁No',
      '中文中文letter',
      'a b c d e f',
    ),
    ...texts(
      '12',
      '1',
      '1a',
      'a1b2c3',
      '😀😀',
      'é1é',
      '３.１４',
      '\u2fff\u3000\u2fff中',
      'ーabcdeー',
      'の a の',
      'x'.repeat(12),
    ),
    ...[1, 2, 3, 5, 8].map((ngram) => ({ text: '中文a b😀c', ngram })),
    ...[2, 8].map((ngram) => ({ text: '中', ngram })),
  ],
  'feature-hash.jsonl': [
    ...[
      1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 97, 127, 128, 129,
      160, 176,
    ],
    ...[
      191, 192, 239, 240, 241, 256, 257, 319, 320, 1023, 1024, 1025, 1088, 1089, 2048, 2049, 3000,
    ],
  ]
    .map((length) => ({ text: 'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(84).slice(0, length) }))
    .concat(texts('中', '中文', '地铁', '用gpt', '😀', 'é', '青禾市图书馆新馆昨日起试运行')),
  'fingerprint.jsonl': [
    ...texts(
      '',
      '地铁通车',
      '地铁四号线今天',
      '地铁四号线今天全线',
      'abcdefghijk',
      'abcdefghijkl',
      'a'.repeat(100),
    ),
    ...texts(
      '四号线今天贯通，全长十六点七公里',
      '四号线今日贯通，全长十六点七公里',
      ARTICLE,
      ENGLISH,
      `【转载】${ARTICLE}`,
      long,
    ),
    ...texts('12345678', '123456789', '0101010101010101', '第1集 第2集 第3集 第4集'),
    ...[1, 2, 3, 5].flatMap((ngram) => [
      { text: '一二三四五六七八', ngram },
      { text: ARTICLE, ngram },
    ]),
  ],
  'signature.jsonl': [
    ...texts('', 'a', '地铁通车', ENGLISH).map(({ text }) => ({ text, hashes: 8 })),
    ...texts('地铁通车', ARTICLE).map(({ text }) => ({ text, hashes: 120 })),
    ...[1, 4, 17, 300].map((hashes) => ({ text: ARTICLE, hashes })),
    { text: long, hashes: 128 },
  ],
  'sentences.jsonl': texts(
    ...[
      '',
      '。',
      '“好。”他说。地铁四号线今天上午全线贯通！Mr. Smith paid $3.50. He left…',
      ARTICLE,
      ENGLISH,
    ],
    ...[
      '一句。一句！一句？另一句',
      'v1.2.3 is out. Get it at a.b.c. OK?! yes',
      'J. Smith, U.S. Army. End. 不。',
      'a.b. c. D. E',
    ],
    ...[
      'first line\nsecond line\r\nthird\u2028fourth\u0085fifth',
      'It is 3.14. It is not.',
      'He said "No." Then "Yes!" (Really.) [Fine.] End',
    ],
    ...[
      'Dept. Of state. NO. Five',
      'etc. And. "Quoted.” “Next',
      '……。。！？”』 后',
      'Ａ．Ｂ。全角．Stop',
      'a;b；c',
      '. . . A. B',
      'Straße. Übung macht. ßa. Éa',
    ],
    ...[
      '$5+5=10 is true!!',
      '１２３。４５６。123.',
      'one.Two three. Four',
      '\ufeff中文。\ufeff',
      '——“”、，：',
      '①第一句话。②第二句话。',
    ],
    ...['abcdefghijklm. Nop', 'vol. A co. B approx. C', 'xmr. A', 'm.r. A'],
  ),
  'numbers.jsonl': texts(
    ...[
      '',
      'no numbers',
      'EP1 ep01 ＥＰ００１',
      '0 00 000',
      '1,000 12,345,678',
      '1,00 2026,100 0,100 1,0000 1,2,3',
    ],
    ...[
      '12,345,67 1,234,5678 999,999 1000,000',
      '6.97 69.7',
      '2026-11-01',
      '2026/11/1 12:30',
      '-5℃ 至 -10℃',
      '\u22125 度',
    ],
    ...[
      'B-2 F16-5',
      '--5 -',
      '-1,024',
      'é-3 中-3',
      '-0 -00',
      '3-第4',
      '第三次会议',
      '第一',
      '十月的最后一天',
      '二十三号卫星',
    ],
    ...[
      '前三季度',
      '票房破5亿 5万 1,000万',
      '千万不要太快',
      '万科和三星在四川开了一个会',
      '三千人 百年老店 百千',
      '710多万名党员',
    ],
    ...[
      '第百 第 十 三名 两块 兩塊',
      '一百二十万册',
      '〇七年 二〇二六年',
      '十一 11',
      '④ 五① ⑩',
      '①②③',
      '第２４集',
      '12第3',
      '九九乘法',
      '三',
    ],
  ),
  'similarity.jsonl': [
    ['', ''],
    ['a', ''],
    ['a', 'a'],
    ['地铁通车', '地铁停运'],
    ['abcdefghij', 'abcdefghijk'],
    [ARTICLE, `【转载】${ARTICLE}`],
    [ARTICLE, ARTICLE.replace('昨日', '今日')],
    [ENGLISH, ENGLISH.replace('Monday', 'Friday')],
    [ARTICLE, ENGLISH],
    [ARTICLE, ARTICLE.slice(0, 40)],
    ['EP100', 'EP1000'],
    ['价格100元', '价格10000元'],
    ['2026年11月1日', '2026年11月11日'],
    ['哈哈', '哈哈哈哈'],
    ['第1集', '第2集'],
    [long, `${long.slice(0, 200)}甲乙${long.slice(202)}`],
    [long, long.slice(0, 410)],
    [long, long.slice(0, 399)],
    [long, [...long].reverse().join('')],
    ['12345'.repeat(40), '12345'.repeat(41)],
    ['12345'.repeat(40), '12345'.repeat(39)],
    [`${ARTICLE}${ARTICLE}`, ARTICLE],
  ].map(([a, b]) => ({ a, b })),
};

const folder = join(dirname(fileURLToPath(import.meta.url)), 'vectors', '1');
mkdirSync(folder, { recursive: true });
for (const [name, line] of Object.entries(LINES)) {
  const lines = await Promise.all(INPUTS[name].map(line));
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
