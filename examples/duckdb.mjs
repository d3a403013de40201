// Rows of a query by DuckDB over a Parquet file, without near-duplicates: node examples/duckdb.mjs IN.parquet OUT.parquet
// (The columns alone: npx @x/simhash-native dedup IN.parquet -o OUT.parquet)
import { DuckDBInstance } from '@duckdb/node-api';
import { dedup } from '@x/simhash-native';

const [from, to] = process.argv.slice(2).map((path) => `'${path.replaceAll("'", "''")}'`);
const connection = await (await DuckDBInstance.create()).connect();
await connection.run('CREATE TABLE kept (row UBIGINT)');

// Batch after batch: the texts need not fit in memory.
async function* rows() {
  const query = `SELECT file_row_number AS row, text FROM read_parquet(${from}, file_row_number = true)`;
  for await (const batch of (await connection.stream(query)).yieldRowObjectJs()) yield* batch;
}

const appender = await connection.createAppender('kept');
const decisions = dedup(rows(), { text: 'text', onMissing: 'reject' });
for await (const { index, status } of decisions) {
  if (status !== 'kept') continue;
  appender.appendUBigInt(BigInt(index));
  appender.endRow();
}
appender.closeSync();
const { read, kept, duplicates, rejected } = await decisions.summary;
console.log(`read ${read} = kept ${kept} + duplicates ${duplicates} + rejected ${rejected}`);

await connection.run(
  `COPY (SELECT * EXCLUDE file_row_number FROM read_parquet(${from}, file_row_number = true)
   WHERE file_row_number IN (SELECT row FROM kept) ORDER BY file_row_number) TO ${to} (FORMAT parquet)`,
);
