// Loaded before the service under test (`--import`): writes its memory to MEMORY_FILE, a line of JSON every MEMORY_EVERY_MS. At SIGUSR2 it
// collects garbage, writes a line that says so, and with MEMORY_SNAPSHOTS=on a heap snapshot beside the file, which takes memory of its own.
import { appendFileSync, readFileSync } from 'node:fs';
import { getHeapStatistics, writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const file = process.env.MEMORY_FILE as string;
let snapshots = 0;

function note(afterCollection: boolean): void {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const { malloced_memory: malloced } = getHeapStatistics();
  // What the system may take back at any time is no growth.
  const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8');
  const anonymous = Number(/Anonymous:\s+(\d+)/.exec(rollup)?.[1] ?? 0) * 1024;
  const lazyFree = Number(/LazyFree:\s+(\d+)/.exec(rollup)?.[1] ?? 0) * 1024;
  const memory = { rss, anonymous, lazyFree, heapTotal, heapUsed, external, arrayBuffers, malloced };
  appendFileSync(file, `${JSON.stringify({ atMs: Date.now(), afterCollection, ...memory })}\n`);
}

function collected(): void {
  globalThis.gc?.();
  note(true);
  if (process.env.MEMORY_SNAPSHOTS !== 'on') return;
  snapshots += 1;
  writeHeapSnapshot(`${file}.${snapshots}.heapsnapshot`);
  appendFileSync(file, `${JSON.stringify({ snapshot: snapshots })}\n`);
}

// Its threads load this too.
if (isMainThread) {
  setInterval(() => note(false), Number(process.env.MEMORY_EVERY_MS)).unref();
  process.on('SIGUSR2', collected);
}
