// Publishes one message for every file of a directory: node producer.ts [directory]

import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../quartermaster.ts';

const PUBLISHED_AT_ONCE = 16;
const SKIPPED = new Set(['node_modules', '.git', 'data']);

const files = [...filesOf(process.argv[2] ?? '.')];

// A worker that dies holds its files for ten seconds; then others get them.
await call('queue/create', { name: 'files', visibility_timeout_default: 10 });
await call('queue/create', { name: 'results' });

// One key a message: a call repeated because its answer was lost publishes nothing twice. The next run of this program is new work.
const run = randomUUID();
const left = [...files.entries()];
async function publishSome(): Promise<void> {
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [n, path] = next;
    await call('queue/publish', { queue: 'files', payload: { path }, idempotency_key: `${run} ${n}` });
  }
}
await Promise.all(Array.from({ length: PUBLISHED_AT_ONCE }, publishSome));
console.log(`published ${files.length} files`);

function* filesOf(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* filesOf(path);
    else if (entry.isFile()) yield path;
  }
}
