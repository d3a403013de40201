// A collection without its near-duplicates. MONGODB_URI=… node tfidf-mongodb.mjs IN
import { readFileSync } from 'node:fs';
import { dedupCollection } from '@x/simhash-native/mongodb';
import { MongoClient } from 'mongodb';

const client = new MongoClient(process.env.MONGODB_URI);
const db = client.db('recipe');
const news = db.collection('news');
const lines = readFileSync(process.argv[2], 'utf8').trim().split('\n');
await news.insertMany(lines.map((line) => JSON.parse(line)).map(({ id, text }) => ({ _id: id, text })));

await dedupCollection(news, db.collection('unique'), { textField: 'text' });

for await (const { _id, duplicateOf } of db.collection('unique.duplicates').find().sort({ _id: 1 }))
  console.log(_id, duplicateOf);
await client.close();
