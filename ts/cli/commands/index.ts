/** All commands, in the order of help. Each is loaded when it is asked for: a start takes as long as the files that it reads. */
import type { Command } from '../command';

/** A command that is not loaded. */
export interface Entry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

/** Commands that belong together, in the order of help. */
export interface Section<C> {
  readonly title: string;
  readonly commands: readonly C[];
}

export const sections: readonly Section<Entry>[] = [
  {
    title: 'Near-duplicates',
    commands: [
      { name: 'dedup', load: async () => (await import('./dedup.js')).dedup },
      { name: 'clusters', load: async () => (await import('./clusters.js')).clusters },
      { name: 'pairs', load: async () => (await import('./pairs.js')).pairs },
      { name: 'match', load: async () => (await import('./match.js')).match },
      { name: 'explain', load: async () => (await import('./explain.js')).explain },
      { name: 'unmark', load: async () => (await import('./unmark.js')).unmarking },
    ],
  },
  {
    title: 'An index that stays',
    commands: [
      { name: 'index build', load: async () => (await import('./index-build.js')).indexBuild },
      { name: 'index add', load: async () => (await import('./index-add.js')).indexAdd },
      { name: 'index query', load: async () => (await import('./index-query.js')).indexQuery },
      { name: 'index stats', load: async () => (await import('./index-stats.js')).indexStats },
      {
        name: 'index convert',
        load: async () => (await import('./index-convert.js')).indexConvert,
      },
      { name: 'index verify', load: async () => (await import('./index-verify.js')).indexVerify },
      {
        name: 'index compact',
        load: async () => (await import('./index-compact.js')).indexCompact,
      },
      {
        name: 'index snapshot',
        load: async () => (await import('./index-snapshot.js')).indexSnapshot,
      },
      { name: 'index export', load: async () => (await import('./index-export.js')).indexExport },
    ],
  },
  {
    title: 'A server',
    commands: [{ name: 'serve', load: async () => (await import('./serve.js')).serving }],
  },
  {
    title: 'More than one machine',
    commands: [
      { name: 'spark dedup', load: async () => (await import('./spark-dedup.js')).sparkDedup },
      { name: 'spark match', load: async () => (await import('./spark-match.js')).sparkMatch },
    ],
  },
  {
    title: 'One text at a time',
    commands: [
      { name: 'fingerprint', load: async () => (await import('./fingerprint.js')).fingerprint },
      { name: 'segment', load: async () => (await import('./segment.js')).segment },
    ],
  },
  {
    title: 'Choosing options',
    commands: [
      { name: 'plan', load: async () => (await import('./plan.js')).plan },
      { name: 'tune', load: async () => (await import('./tune.js')).tuning },
      { name: 'eval', load: async () => (await import('./eval.js')).evaluation },
      { name: 'report', load: async () => (await import('./report.js')).reporting },
    ],
  },
  {
    title: 'This program',
    commands: [
      { name: 'completions', load: async () => (await import('./completions.js')).completion },
      { name: 'doctor', load: async () => (await import('./doctor.js')).doctor },
      { name: 'help', load: async () => (await import('./help.js')).help },
      { name: 'version', load: async () => (await import('./version.js')).version },
    ],
  },
];

export const entries: readonly Entry[] = sections.flatMap(({ commands }) => commands);

/** All of them, loaded. */
export async function loaded(): Promise<readonly Section<Command>[]> {
  const load = async ({ title, commands }: Section<Entry>) => ({
    title,
    commands: await Promise.all(commands.map(({ load }) => load())),
  });
  return Promise.all(sections.map(load));
}
