// Whether open streams of language models leave memory behind: so many stay open for BENCH_SECONDS (3,600 is the hour of performance.md),
// each ends and is replaced by the next of its connection, at a rate that leaves the process idle most of the time. BENCH_SNAPSHOTS=on also
// compares, by constructor, what V8 holds early and late; the snapshots take memory, so resident memory says nothing then.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from './hostile/children.ts';
import { grownClasses, heapClasses } from './support/heap-classes.ts';
import { CHAT_PATH, startModelsService } from './support/models.ts';
import { fineSeconds } from './support/processor.ts';
import { print, slope } from './support/report.ts';
import type { StreamsOrder, StreamsReport } from './support/streams.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 300);
const OPEN = Number(process.env.BENCH_OPEN ?? 1_000);
const EVERY_MS = Number(process.env.BENCH_EVERY_MS ?? 500);
/** Of the longest streams; the shortest have half as many. */
const PIECES = Number(process.env.BENCH_PIECES ?? 120);
const LEAST_SHARE = Number(process.env.BENCH_LEAST_SHARE ?? 0.5);
const SNAPSHOTS = process.env.BENCH_SNAPSHOTS ?? 'off';
const SAMPLE_SECONDS = SECONDS >= 1_200 ? 30 : 5;
/** Garbage is collected, and what is left noted, so often; the first time the heap has taken its size. */
const COLLECT_SECONDS = SECONDS / 12;
const ACCOUNTS = 100;
const SHOWN = 15;
const MB = 1024 * 1024;

interface Sample {
  readonly atMs: number;
  readonly afterCollection: boolean;
  readonly rss: number;
  readonly anonymous: number;
  readonly lazyFree: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly malloced: number;
}

const folder = mkdtempSync(join(tmpdir(), 'qm-bench-memory-'));
const file = join(folder, 'memory');
const lines = () => {
  const text = readFileSync(file, 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line));
};
const samples = (): Sample[] => lines().filter((line) => line.atMs !== undefined);
const collections = () => samples().filter(({ afterCollection }) => afterCollection);
const probe = new URL('./support/memory-probe.ts', import.meta.url).href;
process.env.BENCH_NODE_ARGS = `--expose-gc --import ${probe}`;
const { service, stop } = await startModelsService(ACCOUNTS, {
  MEMORY_FILE: file,
  MEMORY_EVERY_MS: String(SAMPLE_SECONDS * 1_000),
  MEMORY_SNAPSHOTS: SNAPSHOTS,
});
const clients = new Worker<StreamsOrder, StreamsReport>('../support/streams.ts');

const snapshotsTaken = () => lines().filter((line) => line.snapshot !== undefined).length;

async function collect(): Promise<void> {
  const [collected, taken] = [collections().length, snapshotsTaken()];
  process.kill(service.pid, 'SIGUSR2');
  while (collections().length === collected || (SNAPSHOTS === 'on' && snapshotsTaken() === taken)) await sleep(500);
}

await sleep(SAMPLE_SECONDS * 1_000 + 1_000);
const [beganMs, processorBefore] = [Date.now(), fineSeconds([service.pid])];
const running = clients.take({
  url: service.url,
  path: CHAT_PATH,
  secrets: service.accounts.map(({ secret }) => secret),
  connections: OPEN,
  pieces: PIECES,
  everyMs: EVERY_MS,
  leastShare: LEAST_SHARE,
  streams: Number.POSITIVE_INFINITY,
  seconds: SECONDS,
});
for (let n = 1; n <= 12; n += 1) {
  await sleep(Math.max(0, beganMs + n * COLLECT_SECONDS * 1_000 - Date.now()));
  if (SNAPSHOTS === 'off' || n === 1 || n === 12) await collect();
}
const endedMs = Date.now();
const share = (fineSeconds([service.pid]) - processorBefore) / ((endedMs - beganMs) / 1_000);
const { firstMs, pieces, failed } = await running;
await sleep(2_000);
await collect();

const inUse = ({ heapUsed, external }: Sample) => (heapUsed + external) / MB;
const mb = (bytes: number) => (bytes / MB).toFixed(1);
const held = collections();
const idle = held.pop() as Sample;
const minutes = ((held.at(-1) as Sample).atMs - (held[0] as Sample).atMs) / 60_000;
const grown = (inUse(held.at(-1) as Sample) - inUse(held[0] as Sample)) / minutes;
const settledMs = (held[0] as Sample).atMs;
const resident = samples()
  .filter(({ atMs, afterCollection }) => !afterCollection && atMs > settledMs && atMs < endedMs)
  .map(({ rss }) => rss / MB);
const residentGrown = slope(resident, SAMPLE_SECONDS);

process.stdout.write(
  '\nminute: rss anonymous lazyFree heapTotal heapUsed external arrayBuffers malloced (MB; * after a collection)\n',
);
for (const { atMs, afterCollection, ...sample } of samples()) {
  const { rss, anonymous, lazyFree, heapTotal, heapUsed, external, arrayBuffers, malloced } = sample;
  const figures = [rss, anonymous, lazyFree, heapTotal, heapUsed, external, arrayBuffers, malloced].map(mb);
  process.stdout.write(
    `${((atMs - beganMs) / 60_000).toFixed(1)}${afterCollection ? '*' : ''}: ${figures.join(' ')}\n`,
  );
}
if (SNAPSHOTS === 'on') {
  const [early, late] = [1, 2].map((n) => heapClasses(`${file}.${n}.heapsnapshot`));
  process.stdout.write('\ngrown most: constructor, objects, kB\n');
  for (const { name, count, bytes } of grownClasses(early ?? new Map(), late ?? new Map(), SHOWN))
    process.stdout.write(`${name} ${count} ${(bytes / 1024).toFixed(0)}\n`);
}
print(`${OPEN} open streams for ${(SECONDS / 60).toFixed(0)} minutes: ${firstMs.length} streams, ${pieces} pieces`, [
  { what: 'streams that failed', value: String(failed), target: '0', met: failed === 0 },
  { what: 'share of a core', value: `${(100 * share).toFixed(0)} %` },
  {
    what: 'heap and external memory after a collection: a twelfth of the time, the end, no stream any more',
    value: [held[0] as Sample, held.at(-1) as Sample, idle]
      .map((sample) => `${inUse(sample).toFixed(1)} MB`)
      .join(', '),
  },
  { what: 'the same: growth', value: `${grown.toFixed(2)} MB a minute`, target: '≤ 2', met: grown <= 2 },
  {
    what: 'resident memory: a twelfth of the time, the end, slope',
    value: `${resident[0]?.toFixed(0)}, ${resident.at(-1)?.toFixed(0)} MB, ${residentGrown.toFixed(2)} MB a minute`,
    target: '≤ 2',
    met: residentGrown <= 2,
  },
]);
clients.end();
await stop();
rmSync(folder, { recursive: true });
