// A consumer of a queue: messages are acknowledged when the disk has what was decided of them. node examples/consumer.mjs FOLDER
import { Index } from '@x/simhash-native';

/** Stands for Kafka, NATS or Redis: whatever gives messages, and gives those again that were not acknowledged. */
async function* queue() {
  const texts = ['望海港开通南美航线，单程二十三天。', '市图书馆周末延长开放时间。', '望海港开通南美航线，单程二十三天！'];
  for (const [offset, text] of texts.entries()) {
    yield { offset, text, acknowledge: () => console.log(`acknowledged ${offset}`) };
  }
}

// A message that comes again, after a crash, is answered as it was the first time.
const index = await Index.open(process.argv[2], {
  keys: true,
  onSameKey: 'repeat',
  durability: 'commit',
});
const seen = [];
const messages = async function* () {
  for await (const message of queue()) {
    seen.push(message);
    yield message;
  }
};
const key = ({ offset }) => String(offset);
for await (const checked of index.checkAndAddAll(messages(), { text: 'text', key })) {
  const message = seen.shift();
  const original = checked.duplicateOf === undefined ? 'new' : `a duplicate of ${checked.key}`;
  console.log(`message ${message.offset}: ${original}`);
  message.acknowledge();
}
await index.close();
