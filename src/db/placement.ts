// Which node of a distributed engine (Citus) has the rows of an account: account → shard → node, as the coordinator knows it. Every node takes
// every statement and passes on what is of another one, so a map that is old is slow and never wrong. The shard lock (shard-lock.ts) holds on
// every node: a move takes it on all of them.
import type pg from 'pg';
import { Coalescer } from '../lib/coalesce.ts';
import { lruOf } from '../lib/lru.ts';
import { textArray } from './arrays.ts';
import { withClient } from './client.ts';
import { statement } from './statement.ts';
import type { Queryable } from './transaction.ts';

interface PlacementOptions {
  readonly coordinator: Queryable;
  readonly connection: pg.ClientConfig;
  /** Called for what keeps the map from being read, and for a node that is not reached. */
  readonly onError: (error: Error) => void;
}

export interface Node {
  readonly name: string;
  readonly connection: pg.ClientConfig;
}

const READ_EVERY_MS = 60_000;
const REACH_WITHIN_MS = 2_000;
const ACCOUNTS_REMEMBERED = 100_000;
const ACCOUNTS_PER_LOOKUP = 500;

// A worker knows the shards only if it has the metadata. Shards of the coordinator are reached there anyway.
const readShards = statement(
  'placement_read_shards',
  `SELECT citus_version() AS version, s.shardid AS shard, n.nodename AS host, n.nodeport::int AS port
     FROM pg_dist_shard s
     JOIN pg_dist_placement p ON p.shardid = s.shardid
     LEFT JOIN pg_dist_node n ON n.groupid = p.groupid AND n.groupid <> 0 AND n.noderole = 'primary' AND n.isactive
                              AND n.hasmetadata AND n.metadatasynced
    WHERE s.logicalrelid = 'core.wallet'::regclass`,
);
const findShards = statement(
  'placement_find_shards',
  `SELECT get_shard_id_for_distribution_column('core.wallet', a.account_id) AS shard
     FROM unnest($1::text[]) WITH ORDINALITY a(account_id, place) ORDER BY a.place`,
);

export class Placement {
  readonly #options: PlacementOptions;
  readonly #shards = lruOf<bigint>(ACCOUNTS_REMEMBERED);
  readonly #lookups: Coalescer<string, bigint>;
  readonly #reached = new Map<string, Node>();
  #version = '';
  #nodes: ReadonlyMap<bigint, Node | null> = new Map();
  #reading: Promise<void> | null = null;
  #first: Promise<void> | null = null;
  readonly #timer: NodeJS.Timeout;

  constructor(options: PlacementOptions) {
    this.#options = options;
    this.#lookups = new Coalescer({
      batchMax: ACCOUNTS_PER_LOOKUP,
      run: (_, accounts) => this.#tellFailure(this.#find(accounts)),
    });
    this.#timer = setInterval(() => this.readAgain(), READ_EVERY_MS).unref();
  }

  /** Of an account that was learned; null: it is not known yet, or no more. */
  shardOf(accountId: string): bigint | null {
    const shard = this.#shards.get(accountId);
    return shard !== undefined && this.#nodes.has(shard) ? shard : null;
  }

  /** Null: the coordinator. */
  nodeOf(shard: bigint): Node | null {
    return this.#nodes.get(shard) ?? null;
  }

  /** Of the engine, once the map was read: as citus_version() answers it. */
  get version(): string {
    return this.#version;
  }

  /** Makes the shard of the account known; if that fails, the account is of the coordinator for now. */
  async learn(accountId: string): Promise<void> {
    try {
      this.#first ??= this.#readOnce();
      await this.#first;
      if (this.shardOf(accountId) !== null) return;
      const shard = await this.#lookups.add('', accountId);
      this.#shards.set(accountId, shard);
      if (!this.#nodes.has(shard)) this.readAgain();
    } catch {
      // Told where it failed, once for all that wait.
      this.#first = null;
    }
  }

  /** Reads the map once more, in the background: something hints that it is old. */
  readAgain(): void {
    if (this.#first !== null) this.#readOnce().catch(() => undefined);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #readOnce(): Promise<void> {
    this.#reading ??= this.#tellFailure(this.#read()).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #tellFailure<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      this.#options.onError(new Error('the placement of shards cannot be read', { cause: error }));
      throw error;
    }
  }

  async #read(): Promise<void> {
    interface Row {
      readonly version: string;
      readonly shard: bigint;
      readonly host: string | null;
      readonly port: number | null;
    }
    const { rows } = await this.#options.coordinator.query<Row>(readShards, []);
    this.#version = rows[0]?.version ?? '';
    const addresses = new Map(rows.map(({ host, port }) => [`${host}:${port}`, { host, port }]));
    for (const [name, { host, port }] of addresses)
      if (host !== null && port !== null && !this.#reached.has(name)) await this.#reach(name, host, port);
    this.#nodes = new Map(rows.map(({ shard, host, port }) => [shard, this.#reached.get(`${host}:${port}`) ?? null]));
  }

  async #reach(name: string, host: string, port: number): Promise<void> {
    const connection = connectionTo(this.#options.connection, host, port);
    try {
      await withClient({ ...connection, connectionTimeoutMillis: REACH_WITHIN_MS }, (client) =>
        client.query('SELECT 1'),
      );
      this.#reached.set(name, { name, connection });
    } catch (error) {
      this.#options.onError(
        new Error(`node ${name} is not reached: its accounts go by the coordinator`, { cause: error }),
      );
    }
  }

  async #find(accounts: readonly string[]): Promise<bigint[]> {
    const { rows } = await this.#options.coordinator.query<{ shard: bigint }>(findShards, [textArray(accounts)]);
    return rows.map(({ shard }) => shard);
  }
}

/** As `connection`, to another server. */
function connectionTo(connection: pg.ClientConfig, host: string, port: number): pg.ClientConfig {
  const { connectionString } = connection;
  if (connectionString === undefined) return { ...connection, host, port };
  const url = new URL(connectionString);
  url.searchParams.set('host', host);
  url.searchParams.set('port', String(port));
  return { ...connection, connectionString: url.href };
}
