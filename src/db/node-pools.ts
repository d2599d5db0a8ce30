// Connections of a distributed engine: what is of one account goes to the node that has its rows, the rest to the coordinator.
import { textsOf } from './arrays.ts';
import { isConnectionError, sqlState } from './errors.ts';
import type { Node, Placement } from './placement.ts';
import { namesAccountFirst } from './shard-lock.ts';
import type { SqlValue, Statement } from './statement.ts';
import { CommitUnknown, type Queryable, type Rows, type Transaction } from './transaction.ts';

/** Where statements and transactions go. */
export interface Connections extends Queryable {
  /**
   * Runs `body` in a transaction, again when PostgreSQL asks for a retry (40001, 40P01) or a partition was missing. Throws CommitUnknown when
   * COMMIT got no answer.
   * @param accountId whose rows it is about: on a distributed engine it runs at their node. Absent: at the coordinator.
   */
  transaction<T>(body: (tx: Transaction) => Promise<T>, accountId?: string): Promise<T>;
  /** The same, with COMMIT sent right behind the statements that `body` left un-awaited: one round trip fewer. */
  pipelinedTransaction<T>(body: (tx: Transaction) => Promise<T>, accountId?: string): Promise<T>;
  ping(): Promise<void>;
  end(): Promise<void>;
}

const IS_FAN_OUT = /^\s*\/\*\s*fan-out:/;

export class NodePools implements Connections {
  readonly #coordinator: Connections;
  readonly #placement: Placement;
  readonly #open: (node: Node) => Connections;
  readonly #pools = new Map<Node, Connections>();
  /** Whether a statement is of the account that is its first parameter, and of no table that the coordinator alone has. */
  readonly #ofAccount = new WeakMap<Statement, boolean>();

  /** `open`: the pool of a worker. */
  constructor(coordinator: Connections, placement: Placement, open: (node: Node) => Connections) {
    this.#coordinator = coordinator;
    this.#placement = placement;
    this.#open = open;
  }

  query<R>(statement: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    const accountId = this.#accountOf(statement, values);
    if (accountId === null) return this.#coordinator.query(statement, values);
    return this.#run(
      accountId,
      async (pool) => pool.query<R>(statement, values),
      () => this.#ofAccount.set(statement, false),
    );
  }

  transaction<T>(body: (tx: Transaction) => Promise<T>, accountId?: string): Promise<T> {
    return this.#run(accountId, (pool) => pool.transaction(body));
  }

  pipelinedTransaction<T>(body: (tx: Transaction) => Promise<T>, accountId?: string): Promise<T> {
    return this.#run(accountId, (pool) => pool.pipelinedTransaction(body));
  }

  ping(): Promise<void> {
    return this.#coordinator.ping();
  }

  async end(): Promise<void> {
    await Promise.all([this.#coordinator, ...this.#pools.values()].map((pool) => pool.end()));
  }

  /** What a worker cannot do (0A000), or has no table for (42P01), the coordinator does: nothing was committed. `onMissed`: then. */
  async #run<T>(
    accountId: string | undefined,
    work: (pool: Connections) => Promise<T>,
    onMissed?: () => void,
  ): Promise<T> {
    const pool = accountId === undefined ? this.#coordinator : await this.#poolOf(accountId);
    try {
      return await work(pool);
    } catch (error) {
      if (isConnectionError(error) || error instanceof CommitUnknown) this.#placement.readAgain();
      const state = sqlState(error);
      if (pool === this.#coordinator || (state !== '0A000' && state !== '42P01')) throw error;
      this.#placement.readAgain();
      onMissed?.();
      return work(this.#coordinator);
    }
  }

  async #poolOf(accountId: string): Promise<Connections> {
    if (this.#placement.shardOf(accountId) === null) await this.#placement.learn(accountId);
    const shard = this.#placement.shardOf(accountId);
    const node = shard === null ? null : this.#placement.nodeOf(shard);
    if (node === null) return this.#coordinator;
    let pool = this.#pools.get(node);
    if (pool === undefined) {
      pool = this.#open(node);
      this.#pools.set(node, pool);
    }
    return pool;
  }

  #accountOf(statement: Statement, [first = null]: readonly SqlValue[]): string | null {
    let ofAccount = this.#ofAccount.get(statement);
    if (ofAccount === undefined) {
      ofAccount = namesAccountFirst(statement.text) && !IS_FAN_OUT.test(statement.text);
      this.#ofAccount.set(statement, ofAccount);
    }
    if (!ofAccount) return null;
    if (Buffer.isBuffer(first)) return textsOf(first)[0] ?? null;
    return typeof first === 'string' ? first : null;
  }
}
