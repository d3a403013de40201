import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Cluster, Folder, jsonLines, ROOT, SAMPLE } from './cli-run';

const folder = new Folder();
const labels = jsonLines<Cluster>(
  readFileSync(join(ROOT, 'examples', 'sample.labels.jsonl'), 'utf8'),
);
const documents = jsonLines<{ id: string; text: string; source: string; time: string }>(
  readFileSync(SAMPLE, 'utf8'),
);

/** Each member of a cluster to the representative. */
function representatives(clusters: readonly Cluster[]): Map<string, string> {
  return new Map(
    clusters.flatMap(({ representative, members }) =>
      members.map(({ id }) => [id, representative] as const),
    ),
  );
}

/** Documents that are neither alone nor the first of their cluster. */
function redundant(clusters: readonly Cluster[]): string[] {
  return clusters.flatMap(({ representative, members }) =>
    members.map(({ id }) => id).filter((id) => id !== representative),
  );
}

test('the labels name documents of the sample, each once, the first of a cluster first', () => {
  const position = new Map(documents.map(({ id }, index) => [id, index]));
  expect(position.size).toBe(documents.length);
  const members = labels.flatMap((cluster) => cluster.members.map(({ id }) => id));
  expect(new Set(members).size).toBe(members.length);
  for (const { representative, members: ids } of labels) {
    const positions = ids.map(({ id }) => position.get(id) ?? Number.NaN);
    expect(ids[0]?.id).toBe(representative);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
  }
});

/** Clusters that a run finds, against the labels. */
async function score(...options: string[]) {
  const args = ['dedup', SAMPLE, '-o', 'unique', '--clusters', 'clusters', '--json', ...options];
  const { status, stdout } = await folder.run(args);
  expect(status).toBe(0);
  const found = folder.records<Cluster>('clusters');
  const [truth, result] = [representatives(labels), representatives(found)];
  const linked = redundant(found);
  const right = linked.filter((id) => {
    const label = truth.get(id);
    return label !== undefined && label === truth.get(result.get(id) ?? '');
  });
  expect(JSON.parse(stdout)).toMatchObject({
    read: documents.length,
    kept: documents.length - linked.length,
    duplicates: linked.length,
    rejected: 0,
    clusters: found.length,
  });
  return { linked: linked.length, right: right.length, labelled: redundant(labels).length };
}

test('default options find the labelled clusters of the sample: recall 117 of 117, precision 1', async () => {
  expect(await score()).toEqual({ linked: 117, right: 117, labelled: 117 });
});

test('fingerprints within the default distance find 113 of 117, precision 1', async () => {
  // Four one-line posts and reposts differ in 9 or 10 bits, the default distance is 8.
  expect(await score('--method', 'simhash')).toEqual({ linked: 113, right: 113, labelled: 117 });
});

test('distance 12 finds all labelled clusters, and verification keeps the precision at 1', async () => {
  expect(await score('--max-distance', '12')).toEqual({ linked: 117, right: 117, labelled: 117 });
});

test('without verification distance 16 takes bulletins of one template for duplicates', async () => {
  const { linked, right } = await score('--max-distance', '16', '--min-similarity', '0');
  expect(linked).toBeGreaterThan(right);
});
