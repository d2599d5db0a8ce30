// Answers a question from the web, and names its sources: node research.ts 'question'
import { hash } from 'node:crypto';
import { call } from '../quartermaster.ts';

const [question] = process.argv.slice(2);
if (question === undefined) throw new Error("node research.ts 'question'");
const collection = process.env.COLLECTION ?? 'research';
const model = process.env.EMBED_MODEL ?? 'auto';

const { items: results } = await call('web/search', { query: question, count: 5 });
const pages = await Promise.all(
  results.map(({ url }: { url: string }) => call('web/fetch', { url }).catch(() => ({ url, content: '' }))),
);
const passages = pages.flatMap(({ url, content }: { url: string; content: string }) =>
  content
    .split(/\n\n+/)
    .filter((text) => /\p{L}/u.test(text))
    .map((text, n) => ({ id: hash('sha256', `${url}#${n}`), url, text: text.slice(0, 2_000) })),
);
if (passages.length === 0) throw new Error('no page of those found could be read');

// The question comes first, in the same call: one model embeds it and what it is compared with.
const some = passages.slice(0, 99);
const { data } = await call('ai/embed', { model, input: [question, ...some.map(({ text }) => text)] });
await call('vector/collection/create', { collection, dimension: data[0].embedding.length });
const vectors = some.map(({ id, url, text }, n) => ({ id, embedding: data[n + 1].embedding, metadata: { url, text } }));
await call('vector/upsert', { collection, vectors });
const { items } = await call('vector/query', { collection, embedding: data[0].embedding, top_k: 4 });

const found = items.map(({ metadata }: { metadata: { url: string; text: string } }) => metadata);
const { choices } = await call('ai/chat', {
  model: process.env.CHAT_MODEL ?? 'auto',
  messages: [
    { role: 'system', content: 'Answer from the texts that you are given, and from nothing else.' },
    { role: 'user', content: `${question}\n\n${found.map(({ text }: { text: string }) => text).join('\n\n')}` },
  ],
});
console.log(choices[0].message.content);
for (const url of new Set(found.map((each: { url: string }) => each.url))) console.log(`-- ${url}`);
