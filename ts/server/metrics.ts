/** Counters, in the text form of Prometheus. No text and no key of a document comes here. */
import type { Decided } from './engine';

/** Upper bounds of the seconds that requests take. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

interface Timed {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** What stands beside a name. */
const HELP: Readonly<Record<string, readonly [type: 'counter' | 'gauge', help: string]>> = {
  simhash_ready: ['gauge', 'Whether documents are taken.'],
  simhash_connections: ['gauge', 'Connections that are open.'],
  simhash_connections_refused_total: ['counter', 'Connections beyond the most that are taken.'],
  simhash_documents: ['gauge', 'Live documents.'],
  simhash_index_bytes: ['gauge', 'Bytes of the index in memory.'],
  simhash_log_bytes: ['gauge', 'Bytes of changes since the last checkpoint.'],
  simhash_waiting_documents: ['gauge', 'Documents that wait or are being decided.'],
  simhash_batches_total: ['counter', 'Batches of documents that were decided.'],
  simhash_shared_position: ['gauge', 'Entries of the shared log that were applied.'],
  simhash_shared_behind: ['gauge', 'Entries of the shared log that were not applied yet.'],
};

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #times = new Map<string, Timed>();
  readonly #documents = { kept: 0, duplicate: 0, repeated: 0, refused: 0 };

  /** A request that was answered; `route` is the path of the table, never what was asked for. */
  answered(route: string, status: number, seconds: number): void {
    const labels = `route="${route}",status="${status}"`;
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    let timed = this.#times.get(route);
    if (timed === undefined) {
      timed = { counts: BOUNDS.map(() => 0), sum: 0, count: 0 };
      this.#times.set(route, timed);
    }
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    if (at >= 0) timed.counts[at] = (timed.counts[at] ?? 0) + 1;
    timed.sum += seconds;
    timed.count += 1;
  }

  decided(all: readonly Decided[]): void {
    for (const one of all) {
      if (one instanceof Error) this.#documents.refused += 1;
      else if (one.repeated) this.#documents.repeated += 1;
      else if (one.duplicateOf === undefined) this.#documents.kept += 1;
      else this.#documents.duplicate += 1;
    }
  }

  /** The text; `gauges` are the numbers of this moment. */
  text(gauges: Readonly<Record<string, number>>): string {
    const lines: string[] = [];
    const family = (name: string, type: string, help: string, values: readonly string[]) =>
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values);
    family(
      'simhash_requests_total',
      'counter',
      'Requests that were answered.',
      [...this.#requests].map(([labels, count]) => `simhash_requests_total{${labels}} ${count}`),
    );
    family(
      'simhash_request_seconds',
      'histogram',
      'Seconds from the head of a request to its answer.',
      [...this.#times].flatMap(([route, timed]) => histogram(route, timed)),
    );
    family(
      'simhash_checked_total',
      'counter',
      'Documents that were checked, by what became of them.',
      Object.entries(this.#documents).map(
        ([outcome, count]) => `simhash_checked_total{outcome="${outcome}"} ${count}`,
      ),
    );
    for (const [name, value] of Object.entries(gauges)) {
      const [type, help] = HELP[name] ?? ['gauge', name];
      family(name, type, help, [`${name} ${value}`]);
    }
    const { rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [
      `process_resident_memory_bytes ${rss}`,
    ]);
    family('process_cpu_seconds_total', 'counter', 'CPU time of the process.', [
      `process_cpu_seconds_total ${(user + system) / 1e6}`,
    ]);
    return `${lines.join('\n')}\n`;
  }
}

function histogram(route: string, { counts, sum, count }: Timed): string[] {
  const name = 'simhash_request_seconds';
  let below = 0;
  const buckets = BOUNDS.map((bound, at) => {
    below += counts[at] ?? 0;
    return `${name}_bucket{route="${route}",le="${bound}"} ${below}`;
  });
  return [
    ...buckets,
    `${name}_bucket{route="${route}",le="+Inf"} ${count}`,
    `${name}_sum{route="${route}"} ${sum}`,
    `${name}_count{route="${route}"} ${count}`,
  ];
}
