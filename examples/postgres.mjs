// From a table of PostgreSQL through a cursor, and what is kept into another one by COPY. PGHOST=… node examples/postgres.mjs
import { once } from 'node:events';
import { dedup } from '@x/simhash-native';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import Cursor from 'pg-cursor';

const [reader, writer] = [new pg.Client(), new pg.Client()];
await Promise.all([reader.connect(), writer.connect()]);

async function* rows(query, batch = 2048) {
  const cursor = reader.query(new Cursor(query));
  for (let some = await cursor.read(batch); some.length > 0; some = await cursor.read(batch)) {
    yield* some;
  }
  await cursor.close();
}

/** A field of COPY's text format. */
const field = (text) => text.replace(/[\\\n\r\t]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

await writer.query('CREATE TABLE news_unique (id bigint, body text)');
const copy = writer.query(copyFrom('COPY news_unique FROM STDIN'));
const decisions = dedup(rows('SELECT id, body FROM news ORDER BY id'), {
  text: 'body',
  onMissing: 'reject',
});
for await (const { status, doc } of decisions) {
  if (status !== 'kept') continue;
  if (!copy.write(`${doc.id}\t${field(doc.body)}\n`)) await once(copy, 'drain');
}
copy.end();
await once(copy, 'finish');
const { read, kept, duplicates, rejected } = await decisions.summary;
console.log(`read ${read} = kept ${kept} + duplicates ${duplicates} + rejected ${rejected}`);
await Promise.all([reader.end(), writer.end()]);
