// Life cycle of a collection's lists: built beside the searches, calibrated on the collection's own rows before they answer, then checked
// against exact answers. They are rebuilt when the collection has doubled.

import type { TimeSlices } from '../../../../../lib/time-slices.ts';
import type { SearchResult } from '../../port.ts';
import type { ExactSearch } from '../exact/exact-search.ts';
import { prepareQuery } from '../exact/quantize.ts';
import type { ArenaPool } from '../memory/arena.ts';
import { trainCentroids } from './centroids.ts';
import { searchLists } from './list-search.ts';
import { Lists } from './lists.ts';
import { Probes, RANKED } from './probes.ts';

const LISTS_PER_ROOT = 2;
const LISTS_MAX = 4096;
const SAMPLE_PER_LIST = 32;
const CALIBRATION_QUERIES = 128;

/** What a build asks of the collection it belongs to. */
export interface IndexedRows {
  readonly live: number;
  /** One more than the highest row number. */
  readonly size: number;
  isAlive(row: number): boolean;
  /** The rows nearest to a row, best first, itself among them; undefined when the collection has gone meanwhile. */
  neighbours(row: number, count: number): Promise<number[] | undefined>;
}

export class ListIndex {
  readonly #pool: ArenaPool;
  #serving: Lists | undefined;
  #building: Lists | undefined;
  #probes: Probes | undefined;
  #busy = false;
  #disposed = false;
  /** How many rows there were when it was last tried. */
  #rowsTried = 0;

  constructor(pool: ArenaPool) {
    this.#pool = pool;
  }

  get bytes(): number {
    return (this.#serving?.bytes ?? 0) + (this.#building?.bytes ?? 0);
  }

  /** Whether lists should be built for so many rows: there are none yet, or twice the rows of the last attempt. */
  isDue(live: number): boolean {
    return !this.#busy && !this.#disposed && live >= 2 * this.#rowsTried;
  }

  assign(row: number): void {
    this.#serving?.assign(row);
    this.#building?.assign(row);
  }

  unassign(row: number): void {
    this.#serving?.unassign(row);
    this.#building?.unassign(row);
  }

  /** Undefined when only an exact search will do. */
  async search(search: ExactSearch, slices: TimeSlices): Promise<SearchResult | undefined> {
    const probes = this.#probes?.of(search.topK);
    if (this.#serving === undefined || probes === undefined) return undefined;
    return searchLists(search, this.#serving, probes, slices);
  }

  /** Learns from an answer what share of the exact one it had. */
  learn(topK: number, recall: number): void {
    this.#probes?.learn(topK, recall);
    if (this.#probes?.worthless) this.#stopServing();
  }

  /** True when lists answer from now on. Collections whose rows do not gather in lists stay exact. */
  async build(
    search: Pick<ExactSearch, 'vectors' | 'metric'>,
    rows: IndexedRows,
    slices: TimeSlices,
  ): Promise<boolean> {
    this.#busy = true;
    this.#rowsTried = rows.live;
    try {
      const probes = await this.#make(search, rows, slices);
      if (this.#disposed || this.#building === undefined || probes === undefined || probes.worthless) return false;
      this.#stopServing();
      this.#serving = this.#building;
      this.#building = undefined;
      this.#probes = probes;
      return true;
    } finally {
      this.#building?.dispose();
      this.#building = undefined;
      this.#busy = false;
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.#stopServing();
    // one that is being built is given back by its builder, which finds out at its next step
  }

  async #make(
    { vectors, metric }: Pick<ExactSearch, 'vectors' | 'metric'>,
    rows: IndexedRows,
    slices: TimeSlices,
  ): Promise<Probes | undefined> {
    const isStopped = () => this.#disposed;
    const count = Math.min(LISTS_MAX, Math.ceil(Math.sqrt(rows.live) * LISTS_PER_ROOT));
    const sample = sampleRows(rows, count * SAMPLE_PER_LIST);
    if (sample.length < count) return undefined;
    const training = { pool: this.#pool, vectors, metric, sample, lists: count, isStopped };
    const centroids = await trainCentroids(training, slices);
    if (centroids === undefined) return undefined;
    const lists = new Lists(this.#pool, vectors, centroids);
    this.#building = lists;
    for (let row = 0; row < rows.size; row += 1) {
      if (rows.isAlive(row) && lists.listOf(row) === undefined) lists.assign(row);
      if (!slices.isOver) continue;
      await slices.next();
      if (isStopped()) return undefined;
    }
    return this.#calibrate(lists, vectors, metric, rows);
  }

  async #calibrate(
    lists: Lists,
    vectors: ExactSearch['vectors'],
    metric: ExactSearch['metric'],
    rows: IndexedRows,
  ): Promise<Probes | undefined> {
    const ranks: number[][] = [];
    // Others than were learnt from: where a middle began, neighbours are nearer than elsewhere (recall 0.83 came of 0.99 so).
    for (const row of sampleRows(rows, CALIBRATION_QUERIES)) {
      const neighbours = await rows.neighbours(row, RANKED + 1);
      if (neighbours === undefined || this.#disposed) return undefined;
      const rankOf = new Uint32Array(lists.centroids.count);
      for (const [rank, list] of lists.centroids.rankLists(queryOf(vectors, row, metric)).entries())
        rankOf[list] = rank;
      const others = neighbours.filter((other) => other !== row).slice(0, RANKED);
      const found = others.map((other) => lists.listOf(other)).filter((list) => list !== undefined);
      ranks.push(found.map((list) => rankOf[list] as number));
    }
    return new Probes(ranks, lists.centroids.count);
  }

  #stopServing(): void {
    this.#serving?.dispose();
    this.#serving = undefined;
    this.#probes = undefined;
  }
}

function queryOf(vectors: ExactSearch['vectors'], row: number, metric: ExactSearch['metric']) {
  return prepareQuery(vectors.copyOf(row), metric === 'cosine');
}

/** Rows evenly over the numbers, at random within their share. */
function sampleRows(rows: IndexedRows, wanted: number): Uint32Array {
  const step = Math.max(1, rows.size / wanted);
  const sample: number[] = [];
  for (let at = 0; at < rows.size; at += step) {
    const row = Math.floor(at + Math.random() * step);
    if (row < rows.size && rows.isAlive(row)) sample.push(row);
  }
  // the first ones become middles and queries: from everywhere
  for (let i = sample.length - 1; i > 0; i -= 1) {
    const other = Math.floor(Math.random() * (i + 1));
    [sample[i], sample[other]] = [sample[other] as number, sample[i] as number];
  }
  return Uint32Array.from(sample);
}
