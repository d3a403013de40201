import { defineCommand } from '../command';
import { deciding, keepOf } from '../deciding';
import { count, plural } from '../format';
import { jobOf, readOf, spark, sparking } from '../spark';

const { cluster, keep, 'keep-by': keepBy } = deciding;

export const sparkDedup = defineCommand({
  name: 'spark dedup',
  summary: 'dedup on Spark, for what does not fit one machine',
  arguments: {
    usage: 'IN...',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'files or folders of JSON lines or Parquet, or addresses of them, which every executor can read; with --order-by what --format reads',
  },
  options: { ...sparking, cluster, keep, 'keep-by': keepBy },
  examples: [
    'spark dedup news.jsonl -o out',
    'spark dedup s3://b/in -o s3://b/out --master spark://h:7077',
    'spark dedup /data/in.parquet -o /data/out --emit-command',
  ],
  notes: [
    'Decides what dedup decides, byte for byte. OUT gets records (kept lines as they were, or kept rows with all columns), clusters (the clusters file), and rejects where lines are none, each as a folder of parts in order, complete where it has a file _SUCCESS.',
    'Needs Java 17, a Python with simhash_spark, pyspark, pandas and pyarrow (python3, or the one that SIMHASH_SPARK_PYTHON names), and the program simhash-native-worker (on the PATH, or named by SIMHASH_WORKER), which goes to the executors by itself. What is missing is said.',
    'The order of documents decides who is kept: files as they are named, those of a folder by name, then lines; of Parquet all files by name, then rows. Other formats need --order-by. A document without an id has its position as id, where dedup counts lines.',
    'Methods are minhash, simhash to a distance of 4, sentences and exact. brute-force compares all with all, and larger distances would put texts into too many buckets: neither can be spread. Files must not be compressed, but for Parquet. docs/scale.md tells when Spark is the right choice, and what it costs.',
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
