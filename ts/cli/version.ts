/** What runs: for `version` and for the summaries of `--json`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of docs/specification.md that decisions follow. */
const SPECIFICATION = 1;

export interface Versions {
  readonly 'simhash-native': string;
  readonly specification: number;
  readonly node: string;
  readonly platform: string;
}

export function versions(): Versions {
  // Beside dist/, in the checkout as in the package.
  const manifest = readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return {
    'simhash-native': version,
    specification: SPECIFICATION,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
  };
}
