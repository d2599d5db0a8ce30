// PostgreSQL access: two small pools (hot lanes, everything else) of pipelined connections, and transactions with retry. Hot connections plan by
// index only: generic plans made on an empty table must not turn into sequential scans later.
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { bindUncopied } from './bind-message.ts';
import { keepsPlans } from './engine-release.ts';
import { isConnectionError, sqlState } from './errors.ts';
import { type Connections, NodePools } from './node-pools.ts';
import { makeMissedPartition } from './partitions.ts';
import { Placement } from './placement.ts';
import type { SqlValue, Statement } from './statement.ts';
import { encodeValues } from './statement.ts';
import { ClientTransaction, CommitUnknown, type Queryable, type Rows, send, type Transaction } from './transaction.ts';
import { typeParsers } from './types.ts';

export { CommitUnknown, isConnectionError, type Queryable, type Rows, sqlState, type Transaction };

/** How to reach the database; `host` may be a socket directory. */
export type ConnectionConfig = pg.ClientConfig;

// How long a statement waits for a lock: lanes and idempotent writes count on it. On a distributed engine the workers take it
// from the role (docs/self-hosting.md).
const LOCK_TIMEOUT_MS = 2_000;
// A transaction whose process was cut off from the network must not hold its wallet for long.
const sessionSettings = [
  'TimeZone=UTC',
  'client_min_messages=warning',
  `lock_timeout=${LOCK_TIMEOUT_MS}`,
  'idle_in_transaction_session_timeout=30s',
];
const hotSettings = [
  'enable_seqscan=off',
  'enable_mergejoin=off',
  'enable_bitmapscan=off',
  'jit=off',
  // Planning is charged to a plan made for given values by this figure: high enough, the plan made once is kept (9 plans for
  // 323 executions). Measured beside the default: 51 against 57 µs of PostgreSQL a publish, 82 against 88 with idempotency keys.
  // Hash joins stay on: without them a commit for 20 accounts compared every account with every row (0.25 against 0.08 ms a statement).
  'cpu_operator_cost=0.1',
];
// For releases that keep every plan made for all values (engine-release.ts).
const plansForValues = ['plan_cache_mode=force_custom_plan'];
const transactionTriesMax = 4;
/** How long a statement waits for a server that restarts. Nothing has been sent yet, so waiting is always safe. */
const CONNECT_FOR_MS = 5_000;
const CONNECT_PAUSE_MS = 100;
// A peer that is gone without a word must not hold its callers: far above what the longest statement takes.
const STATEMENT_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
const begin: Statement = { name: 'begin', text: 'BEGIN' };

export interface DatabaseOptions {
  readonly connection: ConnectionConfig;
  readonly hotConnections?: number;
  readonly connections?: number;
  /** The tables lie on several nodes (storage.ts). Each has as many connections. */
  readonly distributed?: boolean;
  /** How long a statement may take before its connection is given up; a minute when absent. */
  readonly statementTimeoutMs?: number;
  /** Called for errors of idle connections: PostgreSQL restarting is not a reason to end the process. */
  readonly onIdleError?: (error: Error) => void;
  /** Called for each hint of a commit, beside those who listen here. */
  readonly onHint?: (topic: string) => void;
}

export class Database implements Queryable {
  readonly hot: Connections;
  /** A statement that writes or locks, and a transaction, is for accounts of one shard then. */
  readonly distributed: boolean;
  /** Null on plain PostgreSQL. */
  readonly placement: Placement | null;
  readonly #general: Connections;
  readonly #hints = new EventEmitter();

  constructor(options: DatabaseOptions) {
    const { connection, onIdleError = () => undefined, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
    const onHint = (topic: string) => {
      this.hint(topic);
      options.onHint?.(topic);
    };
    const mend = (error: unknown) => makeMissedPartition(this, error);
    this.distributed = options.distributed ?? false;
    const { distributed } = this;
    const common = { connection, distributed, onIdleError, onHint, mend, statementTimeoutMs };
    const hot = { ...common, max: options.hotConnections ?? 6, settings: hotSettings };
    const general = { ...common, max: options.connections ?? 6, settings: ['jit=off'] };
    const [hotPool, generalPool] = [new Pool(hot), new Pool(general)];
    this.placement = distributed ? new Placement({ coordinator: generalPool, connection, onError: onIdleError }) : null;
    this.hot = connectionsOf(hotPool, hot, this.placement);
    this.#general = connectionsOf(generalPool, general, this.placement);
  }

  /** Calls `listener` after each commit of this process whose transaction gave the hint `topic`. Answers what ends that. */
  onHint(topic: string, listener: () => void): () => void {
    this.#hints.on(topic, listener);
    return () => void this.#hints.off(topic, listener);
  }

  /** Those of `items` that may go in one transaction: all on plain PostgreSQL, those of a shard on a distributed engine. */
  byTransaction<T extends { readonly accountId: string }>(items: readonly T[]): (readonly T[])[] {
    const { placement } = this;
    if (placement === null) return items.length === 0 ? [] : [items];
    return [...Map.groupBy(items, ({ accountId }) => placement.shardOf(accountId) ?? accountId).values()];
  }

  /** As a commit of this process with that hint. */
  hint(topic: string): void {
    this.#hints.emit(topic);
  }

  query<R>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    return this.#general.query(statement, values);
  }

  /** As of Connections. */
  transaction<T>(body: (tx: Transaction) => Promise<T>, accountId?: string): Promise<T> {
    return this.#general.transaction(body, accountId);
  }

  /** Whether the server answers now: statements wait for one that restarts, whoever asks this wants to know at once. */
  answersWithin(timeoutMs: number): Promise<boolean> {
    const answered = this.#general.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([answered, sleep(timeoutMs, false, { ref: false })]);
  }

  async end(): Promise<void> {
    this.placement?.end();
    await Promise.all([this.hot.end(), this.#general.end()]);
  }
}

function connectionsOf(pool: Pool, options: PoolOptions, placement: Placement | null): Connections {
  if (placement === null) return pool;
  const settings = () => [...options.settings, ...(keepsPlans(placement.version) ? plansForValues : [])];
  return new NodePools(pool, placement, ({ connection }) => new Pool({ ...options, connection, settings: settings() }));
}

export interface PoolOptions {
  readonly connection: ConnectionConfig;
  readonly distributed: boolean;
  readonly max: number;
  readonly settings: readonly string[];
  readonly statementTimeoutMs: number;
  readonly onIdleError: (error: Error) => void;
  readonly onHint: (topic: string) => void;
  /** Mends what made a transaction fail; true: it may run again. */
  readonly mend: (error: unknown) => Promise<boolean>;
}

export class Pool implements Connections {
  readonly #pool: pg.Pool;
  readonly #distributed: boolean;
  readonly #onHint: (topic: string) => void;
  readonly #mend: (error: unknown) => Promise<boolean>;

  constructor({ connection, distributed, max, settings, statementTimeoutMs, onIdleError, onHint, mend }: PoolOptions) {
    this.#distributed = distributed;
    this.#onHint = onHint;
    this.#mend = mend;
    const options = [...sessionSettings, ...settings].map((setting) => `-c ${setting}`).join(' ');
    this.#pool = new pg.Pool({
      ...connection,
      max,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      query_timeout: statementTimeoutMs,
      options,
      types: typeParsers,
      pipeline: true,
    } as pg.PoolConfig);
    // Connections that end because the pool ends are nothing to report.
    this.#pool.on('error', (error) => {
      if (!this.#pool.ending) onIdleError(error);
    });
    // The pool listens only while a client is idle; one that is lost at work also fails its statements, which is how it is noticed.
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      bindUncopied(client);
    });
  }

  async query<R>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    const encoded = encodeValues(values);
    const client = await this.#connect();
    try {
      const result = await send<R>(client, statement, encoded);
      client.release();
      return result;
    } catch (error) {
      client.release(isConnectionError(error));
      throw error;
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    const giveUpAt = performance.now() + CONNECT_FOR_MS;
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (this.#pool.ending || !isConnectionError(error) || performance.now() > giveUpAt) throw error;
        await sleep(CONNECT_PAUSE_MS);
      }
    }
  }

  transaction<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#retrying(() => this.#once(body));
  }

  async #retrying<T>(once: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once();
      } catch (error) {
        if (attempt >= transactionTriesMax || !(isRetryable(error) || (await this.#mend(error)))) throw error;
      }
    }
  }

  /**
   * Runs `body` once and sends COMMIT right behind the statements that it left un-awaited: one round trip fewer.
   * Run again like `transaction`. Throws CommitUnknown when COMMIT got no answer.
   */
  pipelinedTransaction<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#retrying(() => this.#once(body, true));
  }

  async #once<T>(body: (tx: Transaction) => Promise<T>, commitAtOnce = false): Promise<T> {
    const client = await this.#connect();
    const tx = new ClientTransaction(client, this.#distributed);
    let broken: unknown;
    try {
      tx.cork();
      const opened = tx.query(begin, []);
      opened.catch(() => undefined); // a broken connection also fails the statements behind it, whose errors are reported
      const value = await body(tx);
      if (!commitAtOnce) await tx.awaitAnswers();
      await tx.commit();
      for (const topic of tx.hints) this.#onHint(topic);
      return value;
    } catch (error) {
      broken = isConnectionError(error) || error instanceof CommitUnknown ? error : await tx.rollback();
      throw tx.reasonOf(error);
    } finally {
      client.release(broken !== undefined);
    }
  }

  async ping(): Promise<void> {
    await this.#pool.query('SELECT 1');
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}
