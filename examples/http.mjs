// A service: is the text that is posted a near-duplicate of one that came before? curl -d '一段文字' http://127.0.0.1:8080
import { createServer } from 'node:http';
import { Index } from '@x/simhash-native';

const LONGEST = 1_000_000;
// Without a folder the index is gone with the process.
const folder = process.argv[2];
const posts = folder ? await Index.open(folder, { durability: 'commit' }) : new Index();

async function answer(request) {
  let [chunks, length] = [[], 0];
  for await (const chunk of request) {
    length += chunk.length;
    if (length > LONGEST) return [413, { error: `a text has at most ${LONGEST} bytes` }];
    chunks.push(chunk);
  }
  // Of two equal texts that come at once one is kept: a check and an addition are one step.
  const [checked] = await posts.checkAndAddManyAsync([Buffer.concat(chunks)]);
  return [200, checked];
}

const server = createServer(async (request, response) => {
  const failed = (error) => [503, { error: error.message }];
  const [status, body] = await answer(request).catch(failed);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`, () => status === 413 && request.destroy());
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
});
process.once('SIGTERM', () => server.close(() => posts.close()));
