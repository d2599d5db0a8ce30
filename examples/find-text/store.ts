// Stores the passages of every text file of a directory: node store.ts [directory]

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { call } from '../quartermaster.ts';
import { embed } from './embed.ts';

const LINES = 12;
const OVERLAP = 4;
const PASSAGES_PER_CALL = 200;
const BYTES_MAX = 200_000;
const SKIPPED = new Set(['node_modules', '.git', 'data']);
const TEXT = /\.(?:ts|js|mjs|json|md|sql|txt|yml|yaml|toml|css|html|sh)$/;

interface Passage {
  readonly path: string;
  /** Of its first line, from 1. */
  readonly line: number;
  readonly text: string;
}

const directory = process.argv[2] ?? '.';
const passages = [...filesOf(directory)].flatMap((path) =>
  passagesOf(relative(directory, path), readFileSync(path, 'utf8')),
);
const collection = process.env.COLLECTION ?? 'passages';
for (let i = 0; i < passages.length; i += PASSAGES_PER_CALL) {
  const some = passages.slice(i, i + PASSAGES_PER_CALL);
  const embeddings = await embed(some.map(({ text }) => text));
  if (i === 0) await call('vector/collection/create', { collection, dimension: embeddings[0]?.length });
  // The same passage has the same id: storing a directory again replaces what was stored.
  const vectors = some.map(({ path, line }, n) => ({
    id: `${path}:${line}`,
    embedding: embeddings[n],
    metadata: { path, line, type: path.slice(path.lastIndexOf('.') + 1) },
  }));
  await call('vector/upsert', { collection, vectors });
}
console.log(`stored ${passages.length} passages`);

function passagesOf(path: string, text: string): Passage[] {
  const lines = text.split('\n');
  const found: Passage[] = [];
  for (let start = 0; start < lines.length; start += LINES - OVERLAP) {
    const passage = lines.slice(start, start + LINES).join('\n');
    if (passage.trim() !== '') found.push({ path, line: start + 1, text: passage });
    if (start + LINES >= lines.length) break;
  }
  return found;
}

function* filesOf(from: string): Generator<string> {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const path = join(from, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesOf(path);
    else if (entry.isFile() && TEXT.test(entry.name) && readFileSync(path).length <= BYTES_MAX) yield path;
  }
}
