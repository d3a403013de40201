// A service: is the text that is posted a near-duplicate of one that came before? curl -d '一段文字' http://127.0.0.1:8080
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Index } from '@x/simhash-native';

// Without a folder the index is gone with the process.
const folder = process.argv[2];
const posts = folder ? await Index.open(folder, { durability: 'commit' }) : new Index();

const server = createServer(async (request, response) => {
  const posted = await text(request);
  // Of two equal texts that come at once one is kept: a check and an addition are one step.
  const [checked] = await posts.checkAndAddManyAsync([posted]);
  response.setHeader('content-type', 'application/json');
  response.end(`${JSON.stringify(checked)}\n`);
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`);
});
process.once('SIGTERM', () => server.close(() => posts.close()));
