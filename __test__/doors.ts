/** The doors to a duplicate: everything that says of documents whom they duplicate or resemble, in one form. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import {
  type Checked,
  dedup,
  dedupFiles,
  Index,
  type IndexMethod,
  type Method,
  matchFiles,
  pairsFiles,
} from '..';
import { Folder } from './cli-run';
import { METHODS, of } from './indexes';

export const folder = new Folder();

/** Of a document whom it duplicates and how much it resembles it; undefined: it is kept. */
export type Decided = { readonly of: number; readonly similarity: number } | undefined;

/** What a door says of documents, which are places of the input. */
export interface Told<T> {
  /** By place. */
  readonly about: readonly T[];
  /** The places whose candidates a limit cut, as far as the door says it. */
  readonly cut: ReadonlySet<number>;
  /** What it connects. */
  readonly links: readonly (readonly [number, number])[];
}

export type Door<T, M extends Method = IndexMethod> = (
  texts: readonly string[],
  method: M,
) => Promise<Told<T>>;

/** Stored whole. */
export const TEXTS = { maxLength: 2 ** 24 };

const NONE: ReadonlySet<number> = new Set();

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Decisions with what they connect. */
function deciding(about: readonly Decided[], cut = NONE): Told<Decided> {
  const links = about.flatMap((one, place) =>
    one === undefined ? [] : [[place, one.of] as const],
  );
  return { about, cut, links };
}

/** Outcomes of an index by place in the input. */
export function places(checked: Iterable<Checked>): Told<Decided> {
  const [kept, cut]: [number[], Set<number>] = [[], new Set()];
  const about = Array.from(checked, ({ id, duplicateOf, similarity, truncated }, place) => {
    if (truncated) cut.add(place);
    if (duplicateOf === undefined) {
      if (id !== kept.push(place) - 1) throw new Error(`${place} has id ${id}`);
      return undefined;
    }
    return { of: kept[duplicateOf] ?? -1, similarity: similarity ?? -1 };
  });
  return deciding(about, cut);
}

/** Decisions of `dedup`, by which the other doors are judged. */
export async function deduplicated(
  texts: readonly string[],
  method: Method,
): Promise<Told<Decided>> {
  const [about, cut]: [Decided[], Set<number>] = [[], new Set()];
  for await (const { index, duplicateOf, similarity, truncated } of dedup(texts, { method })) {
    if (truncated) cut.add(index);
    about.push(
      duplicateOf === undefined ? undefined : { of: duplicateOf, similarity: similarity ?? -1 },
    );
  }
  return deciding(about, cut);
}

interface Cluster {
  readonly members: readonly { readonly id: number; readonly similarity?: number }[];
}

/** Decisions by a clusters file whose ids are places: what a cluster keeps comes first in it. */
export function clustered(file: string, count: number): Told<Decided> {
  const decided: Decided[] = Array.from({ length: count }, () => undefined);
  for (const { members } of folder.records<Cluster>(file)) {
    const [first, ...others] = members;
    for (const { id, similarity = -1 } of others) decided[id] = { of: first?.id ?? -1, similarity };
  }
  return deciding(decided);
}

let files = 0;
const names = new WeakMap<readonly string[], string>();

/** A file of the texts whose ids are their places. */
export function written(texts: readonly string[]): string {
  const known = names.get(texts);
  if (known !== undefined) return known;
  const name = folder.join(fileOf(texts.map((text, id) => ({ id, text }))));
  names.set(texts, name);
  return name;
}

function fileOf(records: readonly { id: number; text: string }[]): string {
  const name = `in.${files++}.jsonl`;
  return folder.write(name, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

async function command(...args: string[]): Promise<void> {
  expect(await folder.run([...args, '-q'])).toMatchObject({ status: 0, stderr: '' });
}

let folders = 0;

/** The doors of an index. */
export const LIVE: Record<string, Door<Decided>> = {
  async 'checkAndAdd, one by one'(texts, method) {
    using index = of(method, { texts: TEXTS });
    return places(texts.map((text) => index.checkAndAdd(text)));
  },
  async checkAndAddMany(texts, method) {
    using index = of(method, { texts: TEXTS });
    const half = texts.length >> 1;
    return places([
      ...index.checkAndAddMany(texts.slice(0, half)),
      ...(await index.checkAndAddManyAsync(texts.slice(half))),
    ]);
  },
  async checkAndAddAll(texts, method) {
    using index = of(method, { texts: TEXTS });
    return places(await collected(index.checkAndAddAll(texts, { batch: 100 })));
  },
  async 'an index saved and opened half way'(texts, method) {
    const [half, file] = [texts.length >> 1, folder.join(`${method}.index`)];
    using before = of(method, { texts: TEXTS });
    const first = [...before.checkAndAddMany(texts.slice(0, half))];
    await before.save(file);
    using after = await Index.open(file, { method } as { method: 'minhash' });
    return places([...first, ...after.checkAndAddMany(texts.slice(half))]);
  },
  async 'an index in a folder, opened three times'(texts, method) {
    const [path, step] = [folder.join(`${method}.${folders++}`), Math.ceil(texts.length / 3)];
    const all: Checked[] = [];
    for (let start = 0; start < texts.length; start += step) {
      const options = start === 0 && method !== 'exact' ? { texts: TEXTS } : {};
      await using index = await Index.open(path, { method, ...options } as { method: 'minhash' });
      for (const one of await index.checkAndAddManyAsync(texts.slice(start, start + step)))
        all.push(one);
      // One opening reads a checkpoint, the other the log alone.
      if (start > 0) await index.compact();
    }
    return places(all);
  },
};

/** The doors of files, which take every method. */
export const FILES: Record<string, Door<Decided, Method>> = {
  async dedupFiles(texts, method) {
    const clusters = folder.join('library.clusters.jsonl');
    await dedupFiles(written(texts), folder.join('unique.jsonl'), { method, clusters });
    return clustered('library.clusters.jsonl', texts.length);
  },
  async 'the command dedup'(texts, method) {
    const outputs = ['-o', 'out.jsonl', '--clusters', 'c.jsonl'];
    await command('dedup', written(texts), ...outputs, '--method', method);
    return clustered('c.jsonl', texts.length);
  },
  async 'the command clusters'(texts, method) {
    await command('clusters', written(texts), '-o', 'c.jsonl', '--method', method);
    return clustered('c.jsonl', texts.length);
  },
  async 'pairsFiles, by the rule'(texts, method) {
    return byRule(await pairs(texts, method));
  },
};

/** An edge to an earlier document. */
export interface Edge {
  readonly a: number;
  readonly similarity: number;
  readonly distance?: number;
}

interface Line extends Edge {
  readonly b: number;
  readonly truncated?: true;
}

function edges(lines: Iterable<Line>, count: number): Told<readonly Edge[]> {
  const about: Edge[][] = Array.from({ length: count }, () => []);
  const [cut, links]: [Set<number>, [number, number][]] = [new Set(), []];
  for (const { a, b, similarity, distance, truncated } of lines) {
    about[b]?.push({ a, similarity, ...(distance !== undefined && { distance }) });
    links.push([a, b]);
    if (truncated) cut.add(b);
  }
  for (const own of about) own.sort((one, other) => one.a - other.a);
  return { about, cut, links };
}

/** The edges of the graph, of each document those to earlier ones. */
export async function pairs(
  texts: readonly string[],
  method: Method,
): Promise<Told<readonly Edge[]>> {
  await pairsFiles(written(texts), folder.join('pairs.jsonl'), { method });
  return edges(folder.records<Line>('pairs.jsonl'), texts.length);
}

/** The first document of each text. */
const firsts = (about: readonly (readonly Edge[])[]): number[] =>
  about.map((own, place) => own.find(({ similarity }) => similarity === 1)?.a ?? place);

/** The most similar, of equals the first. */
const better = (one: Edge, other: Edge) => other.similarity - one.similarity || one.a - other.a;

/** The rule of the specification, applied to all pairs: the most similar kept document decides, of equals the first. */
function byRule({ about, cut }: Told<readonly Edge[]>): Told<Decided> {
  const first = firsts(about);
  const near = about.map((own) => own.filter(({ similarity }) => similarity < 1));
  for (const [place, own] of about.entries())
    for (const { a, similarity } of own)
      if (similarity < 1) near[a]?.push({ a: place, similarity });
  const decided: Decided[] = [];
  for (const [place, text] of first.entries()) {
    // A copy is compared as the first of its text, with what was kept since as well.
    const copy = text === place ? [] : [{ a: text, similarity: 1 }];
    const kept = [...copy, ...(near[text] ?? [])].filter(
      ({ a }) => a < place && decided[a] === undefined,
    );
    const [best] = kept.sort(better);
    decided.push(best && { of: best.a, similarity: best.similarity });
  }
  return deciding(decided, cut);
}

/** What has the edges, of each document those to earlier ones, and takes every method. */
export const EDGES: Record<string, Door<readonly Edge[], Method>> = {
  async 'the command pairs'(texts, method) {
    await command('pairs', written(texts), '-o', 'p.jsonl', '--method', method);
    return edges(folder.records<Line>('p.jsonl'), texts.length);
  },
};

/** What has them of a live index. */
export const JOINS: Record<string, Door<readonly Edge[]>> = {
  async 'the pairs of an index'(texts, method) {
    using index = of(method, { texts: TEXTS });
    await index.addManyAsync(texts);
    const lines: Line[] = [];
    for await (const batch of index.pairs()) for (const line of batch) lines.push(line as Line);
    return edges(lines, texts.length);
  },
};

/** Where old documents end and new ones begin. */
const half = (texts: readonly string[]) => texts.length >> 1;

/** By new document its edges to old ones, the most similar first: what the pairs of old and then new documents say. */
export function between({ about, cut, links }: Told<readonly Edge[]>): Told<readonly Edge[]> {
  const [old, first] = [about.length >> 1, firsts(about)];
  const matches = about.map((own, place) => {
    if (place < old) return [];
    // A copy of a new document has the matches of that one.
    const text = first[place] ?? place;
    const edges = text < old ? own : (about[text] ?? []);
    return edges.filter(({ a }) => a < old).sort(better);
  });
  return { about: matches, cut, links };
}

interface Row {
  readonly id: number;
  readonly matches: readonly { id: number; similarity: number; distance?: number }[];
  readonly truncated?: true;
}

function matched(rows: readonly Row[], count: number): Told<readonly Edge[]> {
  const about: (readonly Edge[])[] = Array.from({ length: count }, () => []);
  const [cut, links]: [Set<number>, [number, number][]] = [new Set(), []];
  for (const { id: place, matches, truncated } of rows) {
    about[place] = matches.map(({ id, ...how }) => ({ a: id, ...how }));
    for (const { id } of matches) links.push([place, id]);
    if (truncated) cut.add(place);
  }
  return { about, cut, links };
}

interface Parted {
  readonly old: string;
  readonly fresh: string;
}

const parts = new WeakMap<readonly string[], Parted>();

/** Two files, of old documents and of new ones. */
function parted(texts: readonly string[]): Parted {
  const known = parts.get(texts);
  if (known !== undefined) return known;
  const records = texts.map((text, id) => ({ id, text }));
  const [old, fresh] = [records.slice(0, half(texts)), records.slice(half(texts))].map(fileOf);
  const made = { old: folder.join(old ?? ''), fresh: folder.join(fresh ?? '') };
  parts.set(texts, made);
  return made;
}

/** What matches new documents with old ones. */
export const MATCHES: Record<string, Door<readonly Edge[], Method>> = {
  async matchFiles(texts, method) {
    const { old, fresh } = parted(texts);
    await matchFiles(fresh, folder.join('m.jsonl'), { method, against: old });
    return matched(folder.records('m.jsonl'), texts.length);
  },
  async 'the command match --against'(texts, method) {
    const { old, fresh } = parted(texts);
    await command('match', fresh, '--against', old, '-o', 'ma.jsonl', '--method', method);
    return matched(folder.records('ma.jsonl'), texts.length);
  },
};

/** Each copy that an index holds is a match of its own there; `first` has the first document of each text. */
export async function matchedByIndex(
  texts: readonly string[],
  method: IndexMethod,
  { about }: Told<readonly Edge[]>,
): Promise<Told<readonly Edge[]>> {
  const [{ old, fresh }, index, first] = [parted(texts), `i.${folders++}`, firsts(about)];
  await command('index', 'build', index, old, '--method', method);
  await command('match', fresh, '--index', index, '-o', 'm.jsonl');
  const rows = folder.records<Row>('m.jsonl').map((row) => {
    const text = first[row.id] ?? row.id;
    const isOld = text < half(texts);
    const matches = row.matches.filter(({ id }) => (isOld ? id === text : id === first[id]));
    return { ...row, matches };
  });
  return matched(rows, texts.length);
}

/** Methods without a live index. */
export const ORACLE = 'brute-force';

export const ALL: readonly Method[] = [...METHODS, ORACLE];

export const isLive = (method: Method): method is IndexMethod => method !== ORACLE;

/** How many documents were compared, and how many were left out. */
export interface Compared {
  readonly compared: number;
  readonly left: number;
}

/**
 * Two doors agree on every connected component of what either connects without a document that a limit touched; more than half of
 * the documents are in such ones.
 */
export function compare<T>(expected: Told<T>, got: Told<T>, which: string): Compared {
  const group = expected.about.map((_, place) => place);
  const root = (place: number): number => {
    let at = place;
    for (let up = group[at] ?? at; up !== at; up = group[at] ?? at) {
      group[at] = group[up] ?? up;
      at = up;
    }
    return at;
  };
  for (const [a, b] of [...expected.links, ...got.links]) {
    const [one, other] = [root(a), root(b)];
    group[Math.max(one, other)] = Math.min(one, other);
  }
  const touched = new Set([...expected.cut, ...got.cut].map(root));
  const [different, found]: [number[], T[][]] = [[], []];
  let compared = 0;
  for (const [place, one] of expected.about.entries()) {
    if (touched.has(root(place))) continue;
    compared++;
    if (isDeepStrictEqual(got.about[place], one)) continue;
    different.push(place);
    if (found.length < 5) found.push([got.about[place] as T, one]);
  }
  expect({ different: different.length, places: different.slice(0, 5), found }, which).toEqual({
    different: 0,
    places: [],
    found: [],
  });
  expect(got.about.length, which).toBe(expected.about.length);
  const left = expected.about.length - compared;
  expect(compared, `${which}: ${left} are left out`).toBeGreaterThan(left);
  return { compared, left };
}

/** Compares every door that takes the method with `dedup` and with the pairs of files. */
export async function compareDoors(
  texts: readonly string[],
  method: Method,
  told: (door: string, compared: Compared) => void,
): Promise<Told<Decided>> {
  const decided = await deduplicated(texts, method);
  const say = (door: string, compared: Compared) => told(`${method}, ${door}`, compared);
  const check = async <T, M extends Method>(
    doors: Record<string, Door<T, M>>,
    how: M,
    expected: Told<T>,
  ) => {
    for (const [name, door] of Object.entries(doors))
      say(name, compare(expected, await door(texts, how), `${method}, ${name}`));
  };
  await check(FILES, method, decided);
  const graph = await pairs(texts, method);
  // A text without a pair is in no line of pairs.
  const all = { ...graph, cut: new Set([...graph.cut, ...decided.cut]) };
  await check(EDGES, method, all);
  const matches = between(all);
  await check(MATCHES, method, matches);
  if (isLive(method)) {
    await check(LIVE, method, decided);
    await check(JOINS, method, all);
    const name = 'match with an index';
    const byIndex = await matchedByIndex(texts, method, graph);
    say(name, compare(matches, byIndex, `${method}, ${name}`));
  }
  return decided;
}
