// Finds where a text was taken from: node find.ts 'some words of it' [type of file]

import { call } from '../quartermaster.ts';
import { embed } from './embed.ts';

const [text, type] = process.argv.slice(2);
if (text === undefined) throw new Error("node find.ts 'some words' [type of file, such as md]");
const [embedding] = await embed([text]);
const { items } = await call('vector/query', {
  collection: process.env.COLLECTION ?? 'passages',
  embedding,
  top_k: 5,
  ...(type === undefined ? {} : { filter: { type } }),
});
if (items.length === 0) console.log('nothing matches: has store.ts stored this directory?');
for (const { score, metadata } of items) console.log(`${metadata.path}:${metadata.line} ${score.toFixed(3)}`);
