import { readFileSync } from 'node:fs';
import { given } from '../../given';
import { defineCommand } from '../command';
import { EXIT } from '../exit';
import { bytes, count } from '../format';
import { versions } from '../version';

/** What is found by the bytes of a file; others are named. */
const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'gb18030', 'big5'] as const;

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'show versions, the native part and what it uses of this machine',
  arguments: { usage: '', min: 0, max: 0, help: '' },
  options: { json: { kind: 'flag', help: 'print everything as JSON' } },
  examples: ['doctor', 'doctor --json'],
  notes: [
    'Loads the native part, and segments a sentence to check its dictionary; if either fails, the exit status is 3, and the output says what was tried. The environment variable SIMHASH_SIMD selects another instruction set, which changes no result; if this machine does not have it, the output says so.',
  ],
  async run(_args, values, terminal) {
    const all = versions();
    const { binding } = await import('../../binding.js');
    const { cut } = await import('../../index.js');
    const { availableParallelism, totalmem } = await import('node:os');
    const { words, segmenters, ...machine } = binding.machine();
    const { SIMHASH_SIMD: asked } = process.env;
    const cutting = cut(SENTENCE).join(' ') === WORDS;
    const found = {
      versions: all,
      native: { path: addonPath(), version: binding.version(), optimized: machine.optimized },
      simd: { used: machine.simd, available: machine.simdAvailable, ...given({ asked }) },
      cores: availableParallelism(),
      memory: totalmem(),
      hugePages: hugePages(),
      dictionary: { name: 'jieba 0.42.1', words, segmenters, works: cutting },
      encodings: { found: ENCODINGS, named: 'https://encoding.spec.whatwg.org/#names-and-labels' },
    };
    if (values.json) await terminal.write(`${JSON.stringify(found)}\n`);
    else {
      const { native, simd, dictionary } = found;
      const rows = [
        ['package', `@x/simhash-native ${all['simhash-native']}`],
        ['specification', String(all.specification)],
        ['Node', `${all.node} on ${all.platform}`],
        ['native part', `${native.path ?? 'unknown'}${native.optimized ? '' : ', not optimised'}`],
        [
          'SIMD',
          `${simd.used} (of ${simd.available.join(', ')})${asked && asked !== simd.used ? `, not '${asked}', as SIMHASH_SIMD says` : ''}`,
        ],
        ['machine', `${found.cores} cores, ${bytes(found.memory)}`],
        ['huge pages', found.hugePages],
        [
          'dictionary',
          `${dictionary.name}, ${count(words)} words${cutting ? '' : ': WRONG WORDS'}`,
        ],
        ['segmenters', segmenters.join(', ')],
        ['encodings', `${ENCODINGS.join(', ')} are found, others named`],
      ];
      const lines = rows.map(([name = '', text]) => `${name.padEnd(15)}${text}\n`);
      await terminal.write(lines.join(''));
    }
    return cutting ? EXIT.done : EXIT.io;
  },
});

/** Words of one and more characters, and one that is in no dictionary. */
const SENTENCE = '他来到了网易杭研大厦';
const WORDS = '他 来到 了 网易 杭研 大厦';

/** The file that Node has loaded. */
function addonPath(): string | undefined {
  return Object.keys(require.cache).find((path) => path.endsWith('.node'));
}

/** Whether memory of an index comes in pages of 2 MiB: the system's own word for it. */
function hugePages(): string {
  try {
    const all = readFileSync('/sys/kernel/mm/transparent_hugepage/enabled', 'utf8');
    return /\[(\w+)\]/.exec(all)?.[1] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
