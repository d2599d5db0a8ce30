// Answers a question from what store.ts has kept: node ask.ts 'question'
import { call } from '../quartermaster.ts';

const [question] = process.argv.slice(2);
if (question === undefined) throw new Error("node ask.ts 'question'");
const { data } = await call('ai/embed', { model: process.env.EMBED_MODEL ?? 'auto', input: question });
const { items } = await call('vector/query', {
  collection: process.env.COLLECTION ?? 'paragraphs',
  embedding: data[0].embedding,
  top_k: 3,
});
const found = items.map(({ metadata }: { metadata: { path: string; text: string } }) => metadata);
const { model, choices } = await call('ai/chat', {
  model: process.env.CHAT_MODEL ?? 'auto',
  messages: [
    { role: 'system', content: 'Answer from the texts that you are given, and from nothing else.' },
    { role: 'user', content: `${question}\n\n${found.map(({ text }: { text: string }) => text).join('\n\n')}` },
  ],
});
console.log(choices[0].message.content);
console.log(`-- ${model}, from ${found.map(({ path }: { path: string }) => path).join(', ')}`);
