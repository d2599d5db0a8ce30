// What do lists save? Searches over vectors that gather, as embeddings do, exactly and by lists, one after the other, and the share
// of the exact answer that the lists found. One thread, no server, no database.

import { Resident } from '../src/modules/vector/engine/embedded/collection/resident.ts';
import { ArenaPool } from '../src/modules/vector/engine/embedded/memory/arena.ts';
import { median, print, ratioRow } from './support/report.ts';

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000);
const DIMENSION = Number(process.env.BENCH_DIMENSION ?? 256);
const QUERIES = Number(process.env.BENCH_ROUNDS ?? 200);
const TOP_K = 10;
const ROWS_PER_MIDDLE = 100;
/** How far rows stray from their middle, in its own size. */
const SPREAD = 1;

let state = 1;
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 31 - 1;
}
const normal = () => random() + random() + random();
const middles = Array.from({ length: ROWS / ROWS_PER_MIDDLE }, () => Float32Array.from({ length: DIMENSION }, normal));
function make(): Float32Array {
  const middle = middles[Math.floor(((random() + 1) / 2) * middles.length) % middles.length] as Float32Array;
  return middle.map((value) => value + SPREAD * normal());
}

const ref = { accountId: 'a', collectionId: 'c', dimension: DIMENSION, metric: 'cosine', version: 1 } as const;
const resident = new Resident(new ArenaPool(2 ** 30), ref);
resident.expect(ROWS);
for (let i = 0; i < ROWS; i += 1)
  resident.upsert({ id: `row-${i}`, version: 1, embedding: new Uint8Array(make().buffer), metadata: null });

// Processor time, not time: others may use the machine.
let longestMs = 0;
let last = process.threadCpuUsage();
const watch = setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  longestMs = Math.max(longestMs, (user + system) / 1000);
  last = process.threadCpuUsage();
}, 1);
const begunMs = performance.now();
const built = await resident.buildLists((work) => work());
const buildMs = performance.now() - begunMs;
clearInterval(watch);
if (!built) throw new Error('no lists were built');

const exactMs: number[] = [];
const listsMs: number[] = [];
let found = 0;
let scanned = 0;
for (let i = 0; i < QUERIES; i += 1) {
  const search = { vector: make(), topK: TOP_K, filter: null };
  const at = performance.now();
  const exact = await resident.search({ ...search, exact: true });
  const between = performance.now();
  const approximate = await resident.search({ ...search, exact: false });
  listsMs.push(performance.now() - between);
  exactMs.push(between - at);
  const ids = new Set(exact.matches.map(({ id }) => id));
  found += approximate.matches.filter(({ id }) => ids.has(id)).length;
  scanned += approximate.rowsScanned;
}
const recall = found / QUERIES / TOP_K;
print(`Vector lists: ${ROWS} x ${DIMENSION}, ${TOP_K} best, one thread (${QUERIES} queries)`, [
  ratioRow(
    'exact / by lists',
    exactMs.map((ms, i) => ms / (listsMs[i] as number)),
    1,
  ),
  { what: 'recall', value: recall.toFixed(3), target: '≥ 0.98', met: recall >= 0.98 },
  { what: 'rows looked at', value: `${((100 * scanned) / QUERIES / ROWS).toFixed(1)} %` },
  { what: 'exact', value: `p50 ${median(exactMs).toFixed(2)} ms` },
  { what: 'by lists', value: `p50 ${median(listsMs).toFixed(2)} ms` },
  { what: 'building them, beside searches', value: `${(buildMs / 1000).toFixed(1)} s` },
  { what: 'its longest slice', value: `${longestMs.toFixed(0)} ms`, target: '≤ 20 ms', met: longestMs <= 20 },
]);
