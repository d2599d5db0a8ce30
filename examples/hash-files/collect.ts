// Takes all results and prints them sorted by path: node collect.ts

import { call } from '../quartermaster.ts';

interface Result {
  readonly path: string;
  readonly sha256: string;
  readonly lines: number;
}

const results: Result[] = [];
for (;;) {
  const { items } = await call('queue/consume', { queue: 'results', max_messages: 10 });
  if (items.length === 0) break;
  results.push(...items.map((item: { payload: Result }) => item.payload));
  const receipts = items.map((item: { receipt_handle: string }) => item.receipt_handle);
  await call('queue/ack', { queue: 'results', receipts });
}
results.sort((a, b) => (a.path < b.path ? -1 : 1));
for (const { sha256, lines, path } of results) console.log(`${sha256} ${lines} ${path}`);
