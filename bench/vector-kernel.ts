// How near is exact search to what the memory allows? The first pass beside plain reading of the same bytes by the same thread,
// and whole searches over 100,000 x 768 beside the first pass alone. Nothing but one thread: no server, no database.

import { Resident } from '../src/modules/vector/engine/embedded/collection/resident.ts';
import type { Chunk } from '../src/modules/vector/engine/embedded/collection/vectors.ts';
import { Vectors } from '../src/modules/vector/engine/embedded/collection/vectors.ts';
import { prepareQuery } from '../src/modules/vector/engine/embedded/exact/quantize.ts';
import { CANDIDATES_AT, QUERY_INT16_AT, SCAN_ROWS_MAX } from '../src/modules/vector/engine/embedded/kernel/kernel.ts';
import { ArenaPool } from '../src/modules/vector/engine/embedded/memory/arena.ts';
import type { Filter } from '../src/modules/vector/engine/port.ts';
import { median, print, ratioRow } from './support/report.ts';

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000);
const DIMENSION = 768;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 31);
const MIB = 2 ** 20;

let state = 1;
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 31 - 1;
}
const randomVector = () => Float32Array.from({ length: DIMENSION }, () => random() + random() + random());

function time(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

async function timeAsync(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

// The bytes of the first pass in one piece each, as a collection has them.
const pool = new ArenaPool(2048 * MIB);
const vectors = new Vectors(pool, DIMENSION, true);
const ref = { accountId: 'a', collectionId: 'c', dimension: DIMENSION, metric: 'cosine', version: 1 } as const;
const resident = new Resident(pool, ref);
resident.expect(ROWS);
const fillMs = time(() => {
  for (let i = 0; i < ROWS; i += 1) {
    const embedding = new Uint8Array(randomVector().buffer);
    vectors.write(vectors.add(ROWS - i), embedding);
    const metadata = { half: i % 2, twentieth: i % 20, thousandth: i % 1000 };
    resident.upsert({ id: `row-${i}`, version: 1, embedding, metadata });
  }
});
const bytes = ROWS * vectors.smallStride;
const query = prepareQuery(randomVector(), true);
const inUse = (chunk: Chunk) => Math.min(chunk.capacity, vectors.size - chunk.start);

function readAll(): void {
  for (const chunk of vectors.chunks)
    chunk.arena.kernel.read(chunk.small, Math.floor((inUse(chunk) * vectors.smallStride) / 64) * 64);
}

function scanAll(): void {
  for (const chunk of vectors.chunks) {
    const { arena } = chunk;
    arena.int16.set(query.int16, QUERY_INT16_AT / 2);
    const count = Math.min(inUse(chunk), SCAN_ROWS_MAX);
    const { scale, norm, slack } = query;
    const { smallStride } = vectors;
    arena.kernel.scan(
      chunk.small,
      smallStride,
      0,
      0,
      count,
      QUERY_INT16_AT,
      scale,
      norm,
      slack,
      0,
      Number.MAX_VALUE,
      CANDIDATES_AT,
    );
  }
}

/** The first pass by the query's int16 values, whatever is chosen for this processor. */
function scanAllByInt16(): void {
  const kernels = new Set(vectors.chunks.map(({ arena }) => arena.kernel));
  const chosen = [...kernels].map(({ digits }) => digits.value);
  for (const { digits } of kernels) digits.value = 0;
  scanAll();
  for (const [i, { digits }] of [...kernels].entries()) digits.value = chosen[i] as number;
}

const search = (filter: Filter | null, topK = 10) =>
  resident.search({ vector: randomVector(), topK, filter, exact: true });
const filters: [string, Filter | null, number][] = [
  ['exact, 10 best', null, 10],
  ['exact, 1,000 best', null, 1000],
  ['exact, 10 best of 50 %', [{ key: 'half', op: 'eq', value: 1 }], 10],
  ['exact, 10 best of 5 %', [{ key: 'twentieth', op: 'eq', value: 1 }], 10],
  ['exact, 10 best of 0.1 %', [{ key: 'thousandth', op: 'eq', value: 1 }], 10],
];
const readMs: number[] = [];
const scanMs: number[] = [];
const int16Ms: number[] = [];
const searchMs = new Map<string, number[]>(filters.map(([name]) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  readMs.push(time(readAll));
  scanMs.push(time(scanAll));
  int16Ms.push(time(scanAllByInt16));
  for (const [name, filter, topK] of filters) searchMs.get(name)?.push(await timeAsync(() => search(filter, topK)));
}

const perSecond = (ms: number) => `${(bytes / ms / 1e6).toFixed(1)} GB/s`;
const whole = searchMs.get('exact, 10 best') ?? [];
print(`Vector kernel: ${ROWS} x ${DIMENSION}, one thread (${ROUNDS} interleaved rounds)`, [
  ratioRow(
    'first pass / plain reading of the same bytes',
    scanMs.map((ms, i) => (readMs[i] as number) / ms),
    0.5,
  ),
  ratioRow(
    'first pass alone / whole exact search',
    whole.map((ms, i) => (scanMs[i] as number) / ms),
    0.5,
  ),
  ratioRow(
    'first pass by int16 values / as chosen here',
    int16Ms.map((ms, i) => ms / (scanMs[i] as number)),
  ),
  { what: 'plain reading', value: perSecond(median(readMs)) },
  { what: 'first pass', value: `${perSecond(median(scanMs))}, ${median(scanMs).toFixed(2)} ms` },
  ...[...searchMs].map(([what, all]) => ({ what, value: `p50 ${median(all).toFixed(2)} ms` })),
  { what: 'a row taken in', value: `${((fillMs / ROWS / 2) * 1000).toFixed(1)} µs (making it included)` },
  {
    what: 'memory a row',
    value: `${Math.round(resident.bytes / ROWS)} bytes, ${DIMENSION * 4} of them its f32 values`,
  },
]);
