// node scripts/picture.mjs      writes docs/public/run.svg: what the built command line prints, run on the sample
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What is typed, each under the prompt. */
const COMMANDS = [
  'dedup news.jsonl -o unique.jsonl --clusters clusters.jsonl',
  'explain --in news.jsonl d005 d021',
];
/** Lines of an output that are shown; the rest of `explain` is for who looks closer. */
const SHOWN = 5;
const NAME = 'npx @x/simhash-native';

/** The lines of the terminal: those typed and those printed. */
export function lines() {
  const folder = mkdtempSync(join(tmpdir(), 'simhash-picture-'));
  try {
    cpSync(join(root, 'examples', 'sample.jsonl'), join(folder, 'news.jsonl'));
    return COMMANDS.flatMap((command) => {
      const bin = join(root, 'dist', 'cli', 'bin.js');
      const options = { cwd: folder, encoding: 'utf8' };
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [bin, ...command.split(' ')],
        options,
      );
      if (status !== 0) throw new Error(`${command}: ${stderr}`);
      const printed = `${stderr}${stdout}`.trimEnd().split('\n').slice(0, SHOWN);
      return [{ typed: `${NAME} ${command}` }, ...printed.map((text) => ({ text })), { text: '' }];
    }).slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const LINE = 22;
const TOP = 52;
const WIDTH = 860;

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A line of text; what `explain` has taken out and put in has colours, as in a terminal. */
function coloured(text) {
  return escaped(text)
    .replaceAll(/\[-(.*?)-\]/g, '<tspan class="out">[-$1-]</tspan>')
    .replaceAll(/\{\+(.*?)\+\}/g, '<tspan class="in">{+$1+}</tspan>');
}

/** The picture: one element of text for each line, in the colours that the reader's system prefers. */
export function picture(shown) {
  const height = TOP + shown.length * LINE + 6;
  const drawn = shown.map(({ typed, text }, at) => {
    const body =
      typed === undefined ? coloured(text) : `<tspan class="sign">$</tspan> ${escaped(typed)}`;
    return `<text x="20" y="${TOP + at * LINE + 8}"${typed === undefined ? '' : ' class="typed"'}>${body}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>A run of ${NAME} in a terminal</title>
<style>
svg { --back: #f6f8fa; --edge: #d0d7de; --text: #1f2328; --sign: #1a7f37; --in: #116329; --out: #a40e26; }
@media (prefers-color-scheme: dark) {
  svg { --back: #161b22; --edge: #30363d; --text: #e6edf3; --sign: #3fb950; --in: #7ee787; --out: #ffa198; }
}
rect { fill: var(--back); stroke: var(--edge); }
text { fill: var(--text); white-space: pre; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace; }
.typed { font-weight: 600; }
.sign { fill: var(--sign); }
.in { fill: var(--in); }
.out { fill: var(--out); }
</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<circle cx="24" cy="22" r="6" fill="#ff5f57"/><circle cx="44" cy="22" r="6" fill="#febc2e"/><circle cx="64" cy="22" r="6" fill="#28c840"/>
${drawn.join('\n')}
</svg>
`;
}

/** The same picture with the time and the rate of the run left out, which no two runs share. */
export const timeless = (svg) => svg.replaceAll(/in [\d.]+ s \([\d.]+ .B\/s\)/g, 'in … s');

export const PICTURE = join(root, 'docs', 'public', 'run.svg');
export const drawn = () => readFileSync(PICTURE, 'utf8');

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  writeFileSync(PICTURE, picture(lines()));
