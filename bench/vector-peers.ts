// Beside others at equal recall: searches by lists against the HNSW graph of usearch, filtered searches against pgvector in PGlite.
// All in one process, one search at a time, the same rows. Both peers get the settings that reach the recall; the fastest counts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Index, MetricKind, ScalarKind } from 'usearch';
import { Resident } from '../src/modules/vector/engine/embedded/collection/resident.ts';
import { ArenaPool } from '../src/modules/vector/engine/embedded/memory/arena.ts';
import type { Filter } from '../src/modules/vector/engine/port.ts';
import { median, print, type Row, ratioRow } from './support/report.ts';
import { VectorSource } from './support/vectors.ts';

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000);
const FILTERED_ROWS = Math.min(ROWS, 20_000);
const DIMENSION = Number(process.env.BENCH_DIMENSION ?? 256);
const QUERIES = 200;
const FILTERED_QUERIES = 30;
// Either engine, compiled while it runs, takes up to twice as long at first.
const WARM_UP_MS = 500;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const TOP_K = 10;
const RECALL = 0.98;
const ROWS_PER_MIDDLE = 100;
const EXPANSIONS = [32, 64, 96, 128, 192, 256, 384, 512, 1_024];

const source = new VectorSource(DIMENSION, ROWS / ROWS_PER_MIDDLE);
const rows = Array.from({ length: ROWS }, () => source.next());
const queries = Array.from({ length: QUERIES }, () => source.next());

async function residentOf(count: number): Promise<Resident> {
  const ref = { accountId: 'a', collectionId: 'c', dimension: DIMENSION, metric: 'cosine', version: 1 } as const;
  const resident = new Resident(new ArenaPool(2 ** 30), ref);
  resident.expect(count);
  for (let i = 0; i < count; i += 1) {
    const embedding = new Uint8Array((rows[i] as Float32Array).buffer);
    resident.upsert({
      id: String(i),
      version: 1,
      embedding,
      metadata: { half: i % 2, twentieth: i % 20, thousandth: i % 1000 },
    });
  }
  return resident;
}

type Search = (vector: Float32Array) => Promise<readonly string[]> | readonly string[];

async function warmUp(search: Search, sent: readonly Float32Array[]): Promise<void> {
  const end = performance.now() + WARM_UP_MS;
  while (performance.now() < end) for (const query of sent) await search(query);
}

/** Milliseconds of each round of the queries, by kind; the kinds take turns. */
async function measure(kinds: Readonly<Record<string, Search>>, sent: readonly Float32Array[]) {
  const taken = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [kind, search] of Object.entries(kinds)) {
      const begun = performance.now();
      for (const query of sent) await search(query);
      taken.set(kind, [...(taken.get(kind) ?? []), (performance.now() - begun) / sent.length]);
    }
  }
  return (kind: string) => taken.get(kind) as number[];
}

async function recallOf(
  search: Search,
  sent: readonly Float32Array[],
  truth: readonly ReadonlySet<string>[],
): Promise<number> {
  let found = 0;
  for (const [i, query] of sent.entries()) {
    for (const id of await search(query)) if (truth[i]?.has(id)) found += 1;
  }
  return found / sent.length / TOP_K;
}

const resident = await residentOf(ROWS);
const ours =
  (exact: boolean, filter: Filter | null = null, among = resident): Search =>
  async (vector) =>
    (await among.search({ vector, topK: TOP_K, filter, exact })).matches.map(({ id }) => id);
if (!(await resident.buildLists((work) => work()))) throw new Error('no lists were built');
const truth: ReadonlySet<string>[] = [];
for (const query of queries) truth.push(new Set(await ours(true)(query)));

/** The graph with the least effort that reaches the recall; usearch sets the effort of searches when a graph is opened. */
async function bestGraph() {
  const settings = { metric: MetricKind.Cos, connectivity: 16, dimensions: DIMENSION, quantization: ScalarKind.F32 };
  const settled = { ...settings, multi: false, expansion_add: 128 };
  const built = new Index({ ...settled, expansion_search: 64 });
  const all = new Float32Array(ROWS * DIMENSION);
  for (const [i, row] of rows.entries()) all.set(row, i * DIMENSION);
  const keys = BigUint64Array.from({ length: ROWS }, (_, i) => BigInt(i));
  const begun = performance.now();
  built.add(keys, all, 2);
  const seconds = (performance.now() - begun) / 1000;
  const directory = mkdtempSync(join(tmpdir(), 'qm-bench-'));
  const file = join(directory, 'graph.usearch');
  built.save(file);
  for (const expansion of EXPANSIONS) {
    const graph = new Index({ ...settled, expansion_search: expansion });
    graph.load(file);
    const search: Search = (vector) => [...graph.search(vector, TOP_K, 1).keys].map(String);
    const recall = await recallOf(search, queries, truth);
    if (recall >= RECALL || expansion === EXPANSIONS.at(-1)) {
      rmSync(directory, { recursive: true });
      return { search, recall, expansion, seconds };
    }
  }
  throw new Error('no effort was tried');
}

async function pgvector() {
  const db = new PGlite({ extensions: { vector } });
  await db.exec(
    `CREATE EXTENSION vector; CREATE TABLE item (id int PRIMARY KEY, half int, twentieth int, thousandth int, embedding vector(${DIMENSION}))`,
  );
  for (let i = 0; i < FILTERED_ROWS; i += 500) {
    const values = rows.slice(i, Math.min(i + 500, FILTERED_ROWS)).map((row, j) => {
      const n = i + j;
      return `(${n},${n % 2},${n % 20},${n % 1000},'[${row.join(',')}]')`;
    });
    await db.exec(`INSERT INTO item VALUES ${values.join(',')}`);
  }
  await db.exec('CREATE INDEX ON item (half); CREATE INDEX ON item (twentieth); CREATE INDEX ON item (thousandth)');
  await db.exec(
    `SET maintenance_work_mem = '256MB'; CREATE INDEX near ON item USING hnsw (embedding vector_cosine_ops); ANALYZE item`,
  );
  const searchOf =
    (column: string): Search =>
    async (query) => {
      const { rows: found } = await db.query<{ id: number }>(
        `SELECT id FROM item WHERE ${column} = 1 ORDER BY embedding <=> $1 LIMIT ${TOP_K}`,
        [`[${query.join(',')}]`],
      );
      return found.map(({ id }) => String(id));
    };
  return { db, searchOf };
}

const graph = await bestGraph();
const lists = ours(false);
const timesOf = await measure({ lists, graph: graph.search }, queries);
const recall = await recallOf(lists, queries, truth);
const ratio = (a: readonly number[], b: readonly number[]) => a.map((ms, i) => ms / (b[i] as number));
const table: Row[] = [
  ratioRow(
    `searches a second by lists / usearch (${ROWS} x ${DIMENSION})`,
    ratio(timesOf('graph'), timesOf('lists')),
    1,
  ),
  { what: 'recall by lists', value: recall.toFixed(3), target: `≥ ${RECALL}`, met: recall >= RECALL },
  {
    what: 'recall of usearch',
    value: `${graph.recall.toFixed(3)} at expansion ${graph.expansion}, built in ${graph.seconds.toFixed(0)} s by two threads`,
  },
  { what: 'by lists', value: `${median(timesOf('lists')).toFixed(2)} ms` },
  { what: 'usearch', value: `${median(timesOf('graph')).toFixed(2)} ms` },
];

const few = await residentOf(FILTERED_ROWS);
const { db, searchOf } = await pgvector();
const some = queries.slice(0, FILTERED_QUERIES);
const columns: [string, string][] = [
  ['half', '50 %'],
  ['twentieth', '5 %'],
  ['thousandth', '0.1 %'],
];
for (const [column, share] of columns) {
  const own = ours(true, [{ key: column, op: 'eq', value: 1 }], few);
  const kinds: Record<string, Search> = { own };
  const exactly: ReadonlySet<string>[] = [];
  for (const query of some) exactly.push(new Set(await own(query)));
  const ways = {
    'its graph, walked on until enough match': 'SET hnsw.iterative_scan = strict_order; SET enable_indexscan = on',
    'all that match, sorted': 'SET enable_indexscan = off',
  };
  const found: { way: string; recall: number; times: number[]; own: number[] }[] = [];
  for (const [way, settings] of Object.entries(ways)) {
    await db.exec(settings);
    const theirs = searchOf(column);
    const reached = await recallOf(theirs, some, exactly);
    for (const search of [own, theirs]) await warmUp(search, some);
    const taken = await measure({ ...kinds, theirs }, some);
    found.push({ way, recall: reached, times: taken('theirs'), own: taken('own') });
  }
  const fit = found.filter((one) => one.recall >= RECALL).sort((a, b) => median(a.times) - median(b.times));
  const best = fit[0] ?? found[0];
  if (best === undefined) continue;
  table.push(
    ratioRow(
      `filtered, ${share} match / pgvector in PGlite (${FILTERED_ROWS} x ${DIMENSION})`,
      ratio(best.times, best.own),
      5,
    ),
    {
      what: `ours and pgvector, ${share}`,
      value: `${median(best.own).toFixed(2)} ms exact; ${median(best.times).toFixed(2)} ms at recall ${best.recall.toFixed(3)}, ${best.way}`,
    },
  );
}
print(`Vector peers, ${TOP_K} best, one search at a time (${ROUNDS} interleaved rounds)`, table);
await db.close();
