// One transaction on one connection. Statements are pipelined; the first failure is reported as the cause of all later ones.
import pg from 'pg';
import { textArray } from './arrays.ts';
import { sqlState } from './errors.ts';
import { lockedAccounts, lockShards } from './shard-lock.ts';
import type { SqlValue, Statement } from './statement.ts';
import { type EncodedValue, encodeValues } from './statement.ts';

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
  /** Sends what is corked: the database works on it while what follows is made. */
  flush(): void;
  /** Tells the listeners of `topic` in this process once the transaction is committed. Only a hint: a crash loses it. */
  hint(topic: string): void;
}

export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the outcome of a COMMIT is not known', { cause });
    this.name = 'CommitUnknown';
  }
}

const commit: Statement = { name: 'commit', text: 'COMMIT' };
const rollback: Statement = { name: 'rollback', text: 'ROLLBACK' };

export class ClientTransaction implements Transaction {
  readonly #client: pg.PoolClient;
  readonly hints = new Set<string>();
  #failure: unknown;
  #pending = new Set<Promise<unknown>>();
  /** Accounts whose shards are locked; null on plain PostgreSQL. */
  readonly #shardsOf: Set<string> | null;

  constructor(client: pg.PoolClient, distributed: boolean) {
    this.#client = client;
    this.#shardsOf = distributed ? new Set() : null;
  }

  query<R>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    const encoded = encodeValues(values);
    if (this.#shardsOf !== null) this.#lockShards(this.#shardsOf, lockedAccounts(statement, encoded));
    return this.#send<R>(statement, encoded);
  }

  #lockShards(locked: Set<string>, accounts: readonly string[]): void {
    const further = accounts.filter((accountId) => !locked.has(accountId));
    if (further.length === 0) return;
    for (const accountId of further) locked.add(accountId);
    void this.#send(lockShards, [textArray(further)]);
  }

  #send<R>(statement: Statement, values: EncodedValue[]): Promise<Rows<R>> {
    const sent = send<R>(this.#client, statement, values);
    const watched = sent.catch((error: unknown) => {
      // The first failure is the reason; what follows it in the pipeline only says that the transaction is aborted.
      this.#failure ??= error;
    });
    this.#pending.add(watched);
    void watched.then(() => this.#pending.delete(watched));
    return sent;
  }

  hint(topic: string): void {
    this.hints.add(topic);
  }

  cork(): void {
    const stream = streamOf(this.#client);
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  flush(): void {
    streamOf(this.#client).uncork();
    // This cork ends with the tick, also where nothing was corked before.
    this.cork();
  }

  /** Waits for every statement sent, and throws the first failure: nothing may be committed behind an unseen error. */
  async awaitAnswers(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async commit(): Promise<void> {
    let tag: string;
    try {
      tag = (await execute(this.#client, commit, [])).command;
    } catch (error) {
      throw new CommitUnknown(error);
    }
    // A failed statement before it turns COMMIT into ROLLBACK: its error is the reason.
    if (tag !== 'COMMIT') {
      await this.awaitAnswers();
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
      await execute(this.#client, rollback, []);
      return undefined;
    } catch (error) {
      return error;
    }
  }
}

export async function send<R>(client: pg.PoolClient, statement: Statement, values: EncodedValue[]): Promise<Rows<R>> {
  const { rows, rowCount } = await execute(client, statement, values);
  return { rows: rows as R[], count: rowCount ?? 0 };
}

/** Sends at once, behind what was sent before. Rejects with the PostgreSQL error. */
function execute(client: pg.ClientBase, { name, text }: Statement, values: EncodedValue[]): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    // Made of a text: a configuration with the name in it would be copied, property by property, for each execution.
    const query = new pg.Query(text, values) as pg.Query & { name: string; callback: Answered };
    query.name = name;
    query.callback = (error, result) => (error ? reject(error) : resolve(result));
    client.query(query);
  });
}

type Answered = (error: Error | null, result: pg.QueryResult) => void;

function streamOf(client: pg.PoolClient): { cork(): void; uncork(): void } {
  return (client as unknown as { connection: { stream: { cork(): void; uncork(): void } } }).connection.stream;
}
