// The pgvector engine: searches a copy of the vectors in the database, brought up to date before a search that needs it. This process holds no
// vectors. See README.md beside this file.

import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Sweep } from '../../../../core/background/sweeper/sweep.ts';
import type { Logger } from '../../../../core/process/logger.ts';
import { type ConnectionConfig, Database, type Queryable } from '../../../../db/database.ts';
import { statement } from '../../../../db/statement.ts';
import { exactBackoffMs } from '../../../../lib/backoff.ts';
import {
  CollectionGone,
  type CollectionRef,
  type IndexState,
  type Search,
  type SearchResult,
  type VectorEngine,
} from '../port.ts';
import { searchExact } from './exact-search.ts';
import { graphOf, tendGraphs } from './graph.ts';
import { countMatching, isWorthScanning, searchGraph } from './graph-search.ts';
import { pull } from './pull.ts';
import { removeCopy, removeOrphans } from './removal.ts';
import { hasPgvector, prepareSchema } from './schema.ts';

export { hasPgvector };

const CONNECTIONS = 4;
const BUSY_BACKOFF = { firstMs: 5, maxMs: 250 };
/** Once the pause has grown to this, nobody is asked again without one. */
const TURNS_TAKEN_PAUSE_MS = 40;
/** A scan of so many rows takes tens of milliseconds: measured with pgvector, 100,000 x 768 take 60. */
const EXACT_ROWS_MAX = 20_000;
const GRAPH_FROM_ROWS = 50_000;
/** Rows that a scan of a graph may see: from there on comparing all that pass is hardly slower. */
const SEEN_MAX = 5_000;
const KNOWN_MAX = 10_000;
const COLD: IndexState = { state: 'cold', bytes: 0 };

const oneSnapshot = statement('vector_pg_snapshot', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
const selectState = statement(
  'vector_pg_state',
  `SELECT p.version, p.row_count,
          NOT p.has_wide AND coalesce((SELECT x.indisvalid FROM pg_index x WHERE x.indexrelid = to_regclass($3)), false) AS has_graph
     FROM vector.collection c
     LEFT JOIN vector_index.progress p ON p.account_id = $1 AND p.collection_id = $2
    WHERE c.account_id = $1 AND c.collection_id = $2`,
);

interface CopyState {
  readonly version: bigint | null;
  readonly row_count: bigint;
  readonly has_graph: boolean;
}

export interface PgvectorEngineOptions {
  readonly connection: ConnectionConfig;
  readonly log: Pick<Logger, 'error'>;
  /** What to search on, which stays open at the end; connections of its own when absent, since scans hold them for long. */
  readonly db?: Database;
  /** Up to so many rows that pass are all compared, beside a graph too; 20,000 when absent. */
  readonly exactRowsMax?: number;
  /** How many rows a search on a graph may see before it is done exactly; 5,000 when absent. */
  readonly seenMax?: number;
  /** The smallest collection that gets a graph; 50,000 rows when absent. */
  readonly graphFromRows?: number;
}

/** The database must have the extension: see hasPgvector. */
export function createPgvectorEngine(options: PgvectorEngineOptions): PgvectorEngine {
  return new PgvectorEngine(options);
}

export class PgvectorEngine implements VectorEngine {
  readonly name = 'pgvector';
  /** Work on what all processes share. */
  readonly sweeps: readonly Sweep[] = [
    { name: 'vector.pgvector_orphans', intervalMs: 60_000, run: (signal) => this.removeOrphans(signal) },
    { name: 'vector.pgvector_graphs', intervalMs: 30_000, run: (signal) => this.tendGraphs(signal) },
  ];
  readonly #options: PgvectorEngineOptions;
  readonly #db: Database;
  readonly #pulling = new Map<string, Promise<boolean>>();
  readonly #removing = new Set<Promise<void>>();
  /** Collections whose copy this process found up to date, the latest last. */
  readonly #known = new LRUCache<string, true>({ max: KNOWN_MAX });
  readonly #closing = new AbortController();
  readonly #counted = { pulls: 0, pulledRows: 0, exact: 0, graph: 0, short: 0 };
  #typeOid: Promise<number> | undefined;

  constructor(options: PgvectorEngineOptions) {
    this.#options = options;
    this.#db =
      options.db ?? new Database({ connection: options.connection, connections: CONNECTIONS, hotConnections: 1 });
  }

  async search(ref: CollectionRef, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[]> {
    signal.throwIfAborted();
    if (this.#closing.signal.aborted) throw new Error('the vector engine is closed');
    try {
      return await untilAborted(this.#search(ref, searches, signal), signal);
    } catch (error) {
      if (error instanceof CollectionGone) this.forget(ref.accountId, ref.collectionId);
      throw error;
    }
  }

  indexState({ accountId, collectionId }: CollectionRef): IndexState {
    const key = keyOf(accountId, collectionId);
    if (this.#pulling.has(key)) return { state: 'loading', bytes: 0 };
    return this.#known.has(key) ? { state: 'ready', bytes: 0 } : COLD;
  }

  forget(accountId: string, collectionId: string): void {
    this.#known.delete(keyOf(accountId, collectionId));
    const removing = this.#removeCopy(accountId, collectionId).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  gauges(): Readonly<Record<string, number>> {
    return {
      pulls: this.#counted.pulls,
      pulled_rows: this.#counted.pulledRows,
      pulls_under_way: this.#pulling.size,
      exact_searches: this.#counted.exact,
      graph_searches: this.#counted.graph,
      short_graph_searches: this.#counted.short,
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#removing, ...this.#pulling.values()]);
    if (this.#options.db === undefined) await this.#db.end();
  }

  async removeOrphans(signal: AbortSignal): Promise<boolean> {
    await this.#prepareOnce();
    return removeOrphans(this.#db, signal);
  }

  async tendGraphs(signal: AbortSignal): Promise<boolean> {
    await this.#prepareOnce();
    const { connection, graphFromRows = GRAPH_FROM_ROWS } = this.#options;
    return tendGraphs({ db: this.#db, connection, fromRows: graphFromRows, signal });
  }

  async #search(ref: CollectionRef, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[]> {
    const typeOid = await this.#prepareOnce();
    for (let tries = 1; ; tries += 1) {
      const results = await this.#answer(ref, searches, signal);
      if (results !== null) return results;
      const caughtUp = await this.#catchUp(ref, typeOid);
      const pauseMs = exactBackoffMs(BUSY_BACKOFF, tries);
      if (!caughtUp || pauseMs >= TURNS_TAKEN_PAUSE_MS) await sleep(pauseMs, undefined, { signal });
      this.#closing.signal.throwIfAborted();
    }
  }

  /** Null when the copy is older than the question. */
  #answer(ref: CollectionRef, searches: readonly Search[], signal: AbortSignal): Promise<SearchResult[] | null> {
    return this.#db.transaction(async (tx) => {
      await tx.query(oneSnapshot, []);
      const values = [ref.accountId, ref.collectionId, `vector_index.${graphOf(ref)}`];
      const [state] = (await tx.query<CopyState>(selectState, values)).rows;
      if (state === undefined) throw new CollectionGone();
      if (state.version === null || Number(state.version) < ref.version) return null;
      this.#known.set(keyOf(ref.accountId, ref.collectionId), true);
      const results: SearchResult[] = [];
      for (const search of searches) {
        signal.throwIfAborted();
        results.push(await this.#answerOne(tx, ref, search, state));
      }
      return results;
    });
  }

  async #answerOne(tx: Queryable, ref: CollectionRef, search: Search, state: CopyState): Promise<SearchResult> {
    const { filter, exact } = search;
    const { exactRowsMax = EXACT_ROWS_MAX, seenMax = SEEN_MAX } = this.#options;
    if (state.has_graph && !exact) {
      const filtered = filter !== null && filter.length > 0;
      const rowsMatched = filtered ? await countMatching(tx, ref, filter) : Number(state.row_count);
      const extent = { rows: Number(state.row_count), rowsMatched, seenMax };
      if (rowsMatched > exactRowsMax && isWorthScanning(search, extent)) {
        const found = await searchGraph(tx, ref, search, extent);
        this.#counted[found === null ? 'short' : 'graph'] += 1;
        if (found !== null) return found;
      }
    }
    this.#counted.exact += 1;
    return searchExact(tx, ref, search);
  }

  /** False when another process is at it. Searches of one collection wait for one pull. */
  #catchUp(ref: CollectionRef, typeOid: number): Promise<boolean> {
    const key = keyOf(ref.accountId, ref.collectionId);
    const underWay = this.#pulling.get(key);
    if (underWay !== undefined) return underWay;
    const pulling = this.#pull(ref, typeOid).finally(() => this.#pulling.delete(key));
    this.#pulling.set(key, pulling);
    return pulling;
  }

  async #pull(ref: CollectionRef, typeOid: number): Promise<boolean> {
    const pulled = await pull(this.#db, ref, typeOid, this.#closing.signal);
    if (pulled === null) return false;
    this.#counted.pulls += 1;
    this.#counted.pulledRows += pulled.rows;
    return true;
  }

  #prepareOnce(): Promise<number> {
    this.#typeOid ??= prepare(this.#db).catch((error: unknown) => {
      this.#typeOid = undefined;
      throw error;
    });
    return this.#typeOid;
  }

  async #removeCopy(accountId: string, collectionId: string): Promise<void> {
    try {
      await this.#prepareOnce();
      await removeCopy(this.#db, accountId, collectionId, this.#closing.signal);
    } catch (error) {
      this.#options.log.error({ err: error }, 'the copy of a deleted collection stays until the next sweep');
    }
  }
}

async function prepare(db: Database): Promise<number> {
  if (!(await hasPgvector(db)))
    throw new Error('the database has no extension "vector" of release 0.8 or later in its search path');
  return prepareSchema(db);
}

const keyOf = (accountId: string, collectionId: string) => `${accountId} ${collectionId}`;

/** Rejects with the reason of `signal` as soon as it is aborted; the statement under way ends by itself. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
