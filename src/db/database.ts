// The way to PostgreSQL: two small pools (hot lanes, everything else) of pipelined connections, transactions with retry.
// Hot connections plan by index only: generic plans made on an empty table must not turn into sequential scans later.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { encodeValues } from './encode.ts';
import { isConnectionError, sqlState } from './errors.ts';
import type { SqlValue, Statement } from './statement.ts';
import { typeParsers } from './types.ts';

export { isConnectionError, sqlState };

/** How to reach the database; `host` may be a socket directory. */
export type ConnectionConfig = pg.ClientConfig;

export interface Rows<R> {
  readonly rows: R[];
  readonly count: number;
}

/** Something statements can be sent to: a transaction, or the database itself (each statement its own transaction). */
export interface Queryable {
  /** Sends at once; several un-awaited calls on one transaction travel together. Rejects with the PostgreSQL error. */
  query<R = Record<string, unknown>>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>>;
}

export interface Transaction extends Queryable {
  /** Starts sending several statements as one write to the socket until the next tick. */
  cork(): void;
}

export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the outcome of a COMMIT is not known', { cause });
    this.name = 'CommitUnknown';
  }
}

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
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_bitmapscan=off',
  'jit=off',
  // Planning is charged to a plan made for given values by this figure: high enough, the plan made once is kept (9 plans for
  // 323 executions). Its gain is not certain: 40 and 43 µs of user time a publish against 47 and 58 without, in two noisy pairs.
  'cpu_operator_cost=0.1',
];
const transactionTriesMax = 4;
/** How long a statement waits for a server that restarts. Nothing has been sent yet, so waiting is always safe. */
const CONNECT_FOR_MS = 5_000;
const CONNECT_PAUSE_MS = 100;
// A peer that is gone without a word must not hold its callers: far above what the longest statement takes.
const STATEMENT_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
const begin: Statement = { name: 'begin', text: 'BEGIN' };
const commit: Statement = { name: 'commit', text: 'COMMIT' };
const rollback: Statement = { name: 'rollback', text: 'ROLLBACK' };

export interface DatabaseOptions {
  readonly connection: ConnectionConfig;
  readonly hotConnections?: number;
  readonly connections?: number;
  /** Called for errors of idle connections: PostgreSQL restarting is not a reason to end the process. */
  readonly onIdleError?: (error: Error) => void;
}

export class Database implements Queryable {
  readonly hot: Pool;
  readonly #general: Pool;

  constructor(options: DatabaseOptions) {
    const onIdleError = options.onIdleError ?? (() => undefined);
    this.hot = new Pool(options.connection, options.hotConnections ?? 6, hotSettings, onIdleError);
    this.#general = new Pool(options.connection, options.connections ?? 6, ['jit=off'], onIdleError);
  }

  query<R>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    return this.#general.query(statement, values);
  }

  /** Runs `body` in a transaction, again when PostgreSQL asks for a retry (40001, 40P01). Throws CommitUnknown when COMMIT got no answer. */
  transaction<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#general.transaction(body);
  }

  /** Throws when the server does not answer now; unlike statements it does not wait for one that restarts. */
  ping(): Promise<void> {
    return this.#general.ping();
  }

  async end(): Promise<void> {
    await Promise.all([this.hot.end(), this.#general.end()]);
  }
}

export class Pool implements Queryable {
  readonly #pool: pg.Pool;

  constructor(
    connection: ConnectionConfig,
    max: number,
    settings: readonly string[],
    onIdleError: (error: Error) => void,
  ) {
    const options = [...sessionSettings, ...settings].map((setting) => `-c ${setting}`).join(' ');
    this.#pool = new pg.Pool({
      ...connection,
      max,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      options,
      types: typeParsers,
      pipeline: true,
    } as pg.PoolConfig);
    // Connections that end because the pool ends are nothing to report.
    this.#pool.on('error', (error) => {
      if (!this.#pool.ending) onIdleError(error);
    });
    // The pool listens only while a client is idle; one that is lost at work also fails its statements, which is how it is noticed.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
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
        if (attempt >= transactionTriesMax || !isRetryable(error)) throw error;
      }
    }
  }

  /**
   * Runs `body` once and sends COMMIT right behind the statements that it left un-awaited: one round trip fewer.
   * Run again like `transaction`. Throws CommitUnknown when COMMIT got no answer.
   */
  pipelined<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#retrying(() => this.#once(body, true));
  }

  async #once<T>(body: (tx: Transaction) => Promise<T>, commitAtOnce = false): Promise<T> {
    const client = await this.#connect();
    const tx = new ClientTransaction(client);
    let broken: unknown;
    try {
      const opened = tx.query(begin, []);
      opened.catch(() => undefined); // a broken connection also fails the statements behind it, whose errors are reported
      const value = await body(tx);
      if (!commitAtOnce) await tx.settled();
      await tx.commit();
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

class ClientTransaction implements Transaction {
  readonly #client: pg.PoolClient;
  #failure: unknown;
  #pending = new Set<Promise<unknown>>();

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  query<R>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    const sent = send<R>(this.#client, statement, encodeValues(values));
    const watched = sent.catch((error: unknown) => {
      // The first failure is the reason; what follows it in the pipeline only says that the transaction is aborted.
      this.#failure ??= error;
    });
    this.#pending.add(watched);
    void watched.then(() => this.#pending.delete(watched));
    return sent;
  }

  cork(): void {
    const stream = streamOf(this.#client);
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  /** Waits for every statement sent, and throws the first failure: nothing may be committed behind an unseen error. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async commit(): Promise<void> {
    let tag: string;
    try {
      tag = (await this.#client.query({ name: commit.name, text: commit.text })).command;
    } catch (error) {
      throw new CommitUnknown(error);
    }
    // A failed statement before it turns COMMIT into ROLLBACK: its error is the reason.
    if (tag !== 'COMMIT') {
      await this.settled();
      throw new Error(`COMMIT answered ${tag}`);
    }
  }

  /** The failure behind "the transaction is aborted" (25P02), else the error itself. */
  reasonOf(error: unknown): unknown {
    return sqlState(error) === '25P02' ? (this.#failure ?? error) : error;
  }

  /** Answers the reason when the connection cannot be used again. */
  async rollback(): Promise<unknown> {
    try {
      await Promise.all(this.#pending);
      await this.#client.query({ name: rollback.name, text: rollback.text });
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

async function send<R>(client: pg.PoolClient, statement: Statement, values: unknown[]): Promise<Rows<R>> {
  const result = await client.query({ name: statement.name, text: statement.text, values });
  return { rows: result.rows as R[], count: result.rowCount ?? 0 };
}

function streamOf(client: pg.PoolClient): { cork(): void; uncork(): void } {
  return (client as unknown as { connection: { stream: { cork(): void; uncork(): void } } }).connection.stream;
}

function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}
