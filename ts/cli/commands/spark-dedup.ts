import { defineCommand } from '../command';
import { deciding, keepOf } from '../deciding';
import { count, plural } from '../format';
import { jobOf, readOf, spark, sparking } from '../spark';

const { cluster, keep, 'keep-by': keepBy } = deciding;

export const sparkDedup = defineCommand({
  name: 'spark dedup',
  summary: 'dedup on Spark, for data that does not fit on one machine',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files or folders of JSON lines or Parquet, or addresses of them, which every executor can read; with --order-by what --format reads',
  },
  addresses: 'any',
  options: { ...sparking, cluster, keep, 'keep-by': keepBy },
  examples: [
    'spark dedup news.jsonl -o out',
    'spark dedup s3://b/in -o s3://b/out --master spark://h:7077',
    'spark dedup /data/in.parquet -o /data/out --emit-command',
  ],
  notes: [
    'Gives the result of dedup, byte for byte. OUT gets records (kept lines unchanged, or kept rows with all columns), clusters (the clusters file), and rejects if lines were rejected, each as a folder of parts in order, complete if it has a file _SUCCESS.',
    'Needs Java 17, a Python with simhash_spark, pyspark, pandas and pyarrow (python3, or the one that SIMHASH_SPARK_PYTHON names), and the program simhash-native-worker (on the PATH, or named by SIMHASH_WORKER), which is sent to the executors. The command says what is missing.',
    'The order of documents decides which one is kept: files in the given order, those of a folder by name, then lines; for Parquet all files by name, then rows. Other formats need --order-by. A document without an id gets its position as id, where dedup uses the line number.',
    'Methods are minhash, simhash to a distance of 4, sentences and exact. brute-force compares all pairs, and larger distances would put texts into too many buckets: neither can be distributed. Files must not be compressed, except Parquet. docs/scale.md says when to use Spark, and what it costs.',
  ],
  async run(inputs, values, terminal) {
    const { cluster, keep } = values;
    const by = keepOf(values);
    const key =
      typeof by === 'object' && 'field' in by ? by.field : by === 'newest' ? 'date' : undefined;
    const job = jobOf('spark dedup', inputs, values, { cluster, keep });
    return spark(
      key === undefined ? job : { ...job, key },
      values,
      (counted) => {
        const { kept = 0, duplicates = 0, clusters = 0, truncated = 0 } = counted;
        return [
          readOf(counted, { kept, duplicates }),
          `${plural(clusters, 'cluster')}, ${count(truncated)} texts had more candidates than were looked at`,
        ];
      },
      terminal,
    );
  },
});
