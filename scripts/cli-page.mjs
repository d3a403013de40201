// node scripts/cli-page.mjs      writes docs/cli.md: the help of every command, as the built command line prints it
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { sections } = createRequire(import.meta.url)('../dist/cli/commands/index.js');

const INTRODUCTION = `# Command line

This page is what \`simhash-native help\` prints; \`node scripts/cli-page.mjs\` writes it. Data goes to standard output, messages to standard error. The
[guides](guide/files.md) show the commands at work.

\`\`\`sh
npx @x/simhash-native dedup examples/sample.jsonl -o unique.jsonl --clusters clusters.jsonl
npx @x/simhash-native explain '今天多云转小雨，气温12～18℃，请带伞。' '今天多云转小雨，气温12～19℃，请带伞。'
npx @x/simhash-native explain --in examples/sample.jsonl d005 d021
npx @x/simhash-native fingerprint examples/sample.jsonl | head -n 3
npx @x/simhash-native segment examples/sample.jsonl | head -n 3
npx @x/simhash-native doctor
\`\`\`

Options can be kept in a file: \`--config run.json\` with \`{ "minSimilarity": 0.9, "textField": ["title", "body"] }\`. The names are those of the flags in
camel case; flags win. \`--print-config\` prints all options in that form. \`completions bash\` (zsh, fish) prints what a shell needs to complete commands
and options.
`;

/** The page. */
export function page() {
  const parts = sections.flatMap(({ title, commands }) => [
    `## ${title}`,
    ...commands.flatMap(({ name }) => [`### ${name}`, block(`help ${name}`)]),
  ]);
  return `${[INTRODUCTION, block('help'), ...parts].join('\n\n')}\n`.replace('\n\n\n', '\n\n');
}

/** What a command prints, under a comment by which a test runs it again. */
function block(command) {
  const bin = join(root, 'dist', 'cli', 'bin.js');
  const printed = execFileSync(process.execPath, [bin, ...command.split(' ')], {
    encoding: 'utf8',
  });
  return `<!-- ${command} -->\n\`\`\`text\n${printed.trimEnd()}\n\`\`\``;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  writeFileSync(join(root, 'docs', 'cli.md'), page());
