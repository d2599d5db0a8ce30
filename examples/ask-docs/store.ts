// Embeds the paragraphs of a directory's Markdown files and keeps them: node store.ts [directory]
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../quartermaster.ts';

const PARAGRAPHS_PER_CALL = 100;

const directory = process.argv[2] ?? '.';
const collection = process.env.COLLECTION ?? 'paragraphs';
const paragraphs = globSync('**/*.md', { cwd: directory, exclude: ['**/node_modules/**'] }).flatMap((path) =>
  readFileSync(join(directory, path), 'utf8')
    .split(/\n\n+/)
    .map((text, n) => ({ id: `${path}#${n}`, path, text: text.slice(0, 4_000) }))
    .filter(({ text }) => /\p{L}/u.test(text)),
);
for (let i = 0; i < paragraphs.length; i += PARAGRAPHS_PER_CALL) {
  const some = paragraphs.slice(i, i + PARAGRAPHS_PER_CALL);
  const { data } = await call('ai/embed', {
    model: process.env.EMBED_MODEL ?? 'auto',
    input: some.map(({ text }) => text),
  });
  if (i === 0) await call('vector/collection/create', { collection, dimension: data[0].embedding.length });
  // The same paragraph has the same id: storing a directory again replaces what was stored.
  const vectors = some.map(({ id, path, text }, n) => ({ id, embedding: data[n].embedding, metadata: { path, text } }));
  await call('vector/upsert', { collection, vectors });
}
console.log(`stored ${paragraphs.length} paragraphs`);
