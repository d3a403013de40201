/** Blocks of code of a page: its programs, its commands, and what they print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './cli-run';

export interface Block {
  readonly page: string;
  readonly language: string;
  readonly code: string;
  /** The comment on the line above, as in `<!-- help dedup -->`; `file NAME` above what a file holds, `is NAME` above what it holds afterwards. */
  readonly comment: string | undefined;
  readonly line: number;
}

export function blocks(page: string): Block[] {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  const found: Block[] = [];
  for (const match of markdown.matchAll(/(?:^<!-- (.*) -->\n)?^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const line = markdown.slice(0, match.index).split('\n').length;
    const [, comment, language = '', code = ''] = match;
    found.push({ page, comment, language, code, line });
  }
  return found;
}
