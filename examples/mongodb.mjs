// A collection of news without its near-duplicates. MONGODB_URI=mongodb://HOST/?… node examples/mongodb.mjs
import { dedupCollection } from '@x/simhash-native/mongodb';
import { MongoClient } from 'mongodb';

const client = new MongoClient(process.env.MONGODB_URI);
const db = client.db('example');
const news = db.collection('news');
await news.insertMany([
  { _id: 1, title: '海港', body: '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天，比绕行缩短一周。' },
  { _id: 2, title: '海港', body: '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天，比绕行缩短一周。（转载）' },
  { _id: 3, title: '公告', body: '关于EP100型水泵的召回公告：请用户在三十日内联系经销商。' },
  { _id: 4, title: '公告', body: '关于EP1000型水泵的召回公告：请用户在三十日内联系经销商。' },
  { _id: 'x5', title: '图书馆', body: '<p>市图书馆周末延长开放时间到晚上九点，读者可凭证件借阅十册图书。</p>' },
  { _id: 'x6', title: '图书馆', body: '市图书馆周末延长开放时间到晚上九点，读者可凭证件借阅十册图书！' },
  { _id: 'x7', title: '没有正文', body: null },
]);

const summary = await dedupCollection(news, db.collection('unique'), {
  textField: 'body',
  normalize: { html: true },
});
const { read, kept, duplicates, rejected, firstRejected } = summary;
console.log(`read ${read} = kept ${kept} + duplicates ${duplicates} + rejected ${rejected}`);
console.log(firstRejected[0].reason);
for (const name of ['unique', 'unique.duplicates']) {
  console.log(name);
  for await (const { run, ...document } of db.collection(name).find({}, { sort: { _id: 1 } })) {
    console.log(document);
  }
}
await client.close();
