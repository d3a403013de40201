/** Completions: what a shell answers, where it is there, and that nothing is missing from the scripts. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { loaded } from '../ts/cli/commands';
import { common } from '../ts/cli/parse';
import { Folder } from './cli-run';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const folder = new Folder();
const commands = (await loaded()).flatMap(({ commands }) => commands);
const scripts = new Map<string, string>();
for (const shell of SHELLS) {
  const { status, stdout, stderr } = await folder.run(['completions', shell]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  scripts.set(shell, stdout);
  folder.write(shell, stdout);
}

test.each(SHELLS)('the script of %s has every command and every option', (shell) => {
  const script = scripts.get(shell) ?? '';
  for (const command of commands) {
    for (const word of command.name.split(' ')) expect(script).toContain(word);
    for (const [name, spec] of Object.entries({ ...command.options, ...common(command) })) {
      expect(script).toContain(shell === 'fish' ? `-l ${name} ` : `--${name}`);
      if (spec.kind === 'choice')
        for (const choice of spec.choices) expect(script).toContain(choice);
    }
  }
});

test('another shell is refused, with the nearest', async () => {
  const { status, stderr } = await folder.run(['completions', 'bsh']);
  expect(stderr).toContain("SHELL must be bash, zsh or fish, got 'bsh'");
  expect(stderr).toContain('did you mean bash?');
  expect(status).toBe(2);
});

/** Whether a shell is there; said where it is not. */
function isThere(shell: string): boolean {
  const there = spawnSync(shell, ['-c', ':']).status === 0;
  if (!there) console.log(`not tested: no ${shell} on this machine`);
  return there;
}

describe.each(SHELLS.map((shell) => [shell, isThere(shell)] as const))('%s', (shell, there) => {
  test.runIf(there)('reads its script', () => {
    const { status, stderr } = spawnSync(shell, ['-n', folder.join(shell)], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** What bash would offer for the last of these words. */
function offered(...words: string[]): string[] {
  const typed = ['simhash-native', ...words];
  const script = `source ./bash
    COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${typed.length - 1}
    _simhash_native
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', script], { cwd: folder.path, encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

describe.runIf(isThere('bash'))('bash answers', () => {
  test.each([
    [['de'], ['dedup']],
    [
      ['index', 'co'],
      ['convert', 'compact'],
    ],
    [['dedup', 'in', '--meth'], ['--method']],
    [
      ['dedup', '--method', 's'],
      ['simhash', 'sentences'],
    ],
    [['index', 'build', 'x', '--method', 'b'], []],
    // As bash splits what is typed, and as it does without = among its COMP_WORDBREAKS.
    [['dedup', '--format', '=', 'c'], ['csv']],
    [['completions', 'bash', '--help', '='], []],
    [
      ['dedup', '--cluster', '='],
      ['representative', 'components'],
    ],
    [['dedup', '--format=c'], ['--format=csv']],
    [['dedup', '--output', '=', '-'], []],
    [['help', '--output', '=', 'de'], []],
    [['match', 'x', '--verify', 'o'], ['off']],
    [
      ['completions', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['help', 'fing'], ['fingerprint']],
    [['dedup', 'x'], []],
  ])('%j with %j', (words, expected) => {
    expect(offered(...words).sort()).toEqual([...expected].sort());
  });
});
