// Takes files from the queue, ten at a time, and publishes checksum and line count of each: node worker.ts
// Ends when there has been nothing to do for five seconds. Start as many as you like, kill any of them at any time.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { call } from '../quartermaster.ts';

interface Message {
  readonly message_id: string;
  readonly receipt_handle: string;
  readonly payload: { readonly path: string };
}

const NEW_LINE = 0x0a;

for (;;) {
  const { items } = await call('queue/consume', { queue: 'files', max_messages: 10, wait_seconds: 5 });
  if (items.length === 0) break;
  for (const message of items as Message[]) await work(message);
}

async function work({ message_id, receipt_handle, payload: { path } }: Message): Promise<void> {
  const content = await readFile(path);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const lines = content.reduce((count, byte) => (byte === NEW_LINE ? count + 1 : count), 0);
  // Should this worker die before the acknowledgement, another one does the same again; the key makes it one result.
  await call('queue/publish', { queue: 'results', payload: { path, sha256, lines }, idempotency_key: message_id });
  await call('queue/ack', { queue: 'files', receipt_handle });
  console.log(path);
}
