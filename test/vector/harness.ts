// One service and short ways to call it for tests of vectors. Every helper answers `data` of a success.
import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;
type Fields = Record<string, unknown>;

export const QUERY_NANOS = 10_000n;
export const VECTOR_NANOS = 1_000n;
export const UPSERT_NANOS_MIN = 10_000n;

export class VectorBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly call: Client;

  constructor(service: TestService, account: TestAccount) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  static async start(
    options: { database?: TestDatabase; account?: TestAccount; isFresh?: boolean } = {},
  ): Promise<VectorBench> {
    const { database, isFresh } = options;
    const service = await lendService({ database, isFresh });
    return new VectorBench(service, options.account ?? (await createTestAccount(service.core)));
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100, scopes: string[] | null = null): Promise<VectorBench> {
    return new VectorBench(this.service, await createTestAccount(this.service.core, usd, scopes));
  }

  /** The same account on another process. */
  on(other: VectorBench): VectorBench {
    return new VectorBench(other.service, this.account);
  }

  async ok(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  }

  /** The error of a call that must fail with a 4xx; it must not cost anything. */
  async fails(method: string, path: string, body?: unknown): Promise<Data> {
    const spent = await this.spentNanos();
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBeGreaterThanOrEqual(400);
    expect(reply.status, reply.text).toBeLessThan(500);
    expect(await this.spentNanos()).toBe(spent);
    return reply.body.error;
  }

  create(collection: string, dimension: number, fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/vector/collection/create', { collection, dimension, ...fields });
  }

  get(collection: string): Promise<Data> {
    return this.ok('GET', `/v1/vector/collection/get?collection=${collection}`);
  }

  upsert(collection: string, vectors: readonly unknown[], fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/vector/upsert', { collection, vectors, ...fields });
  }

  tryUpsert(collection: string, vectors: readonly unknown[], fields: Fields = {}): Promise<Reply> {
    return this.call('POST', '/v1/vector/upsert', { collection, vectors, ...fields });
  }

  query(collection: string, embedding: unknown, fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/vector/query', { collection, embedding, ...fields });
  }

  async ids(collection: string, embedding: unknown, fields: Fields = {}): Promise<string[]> {
    const { matches } = await this.query(collection, embedding, fields);
    return matches.map(({ id }: { id: string }) => id);
  }

  fetch(collection: string, ids: readonly string[], fields: Fields = {}): Promise<Data> {
    return this.ok('POST', '/v1/vector/fetch', { collection, ids, ...fields });
  }

  remove(collection: string, ids: readonly string[]): Promise<Data> {
    return this.ok('DELETE', '/v1/vector/delete', { collection, ids });
  }

  async spentNanos(): Promise<bigint> {
    const { rows } = await this.service.core.db.query<{ spent: bigint }>(
      {
        name: 'test_vector_spent',
        text: `SELECT coalesce(-sum(amount_nanos), 0) AS spent FROM core.ledger
                WHERE account_id = $1 AND kind IN ('charge', 'capture', 'reversal')`,
      },
      [this.account.accountId],
    );
    return (rows[0] as { spent: bigint }).spent;
  }

  /** One number from the database, for what no answer shows. */
  async number(text: string): Promise<number> {
    const statement = { name: '', text: text.replaceAll('$account', `'${this.account.accountId}'`) };
    const { rows } = await this.service.core.db.query<{ number: number }>(statement, []);
    return (rows[0] as { number: number }).number;
  }
}

/** Embeddings as base64 of little-endian f32. */
export function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64');
}

/** `count` numbers between -1 and 1 that depend on nothing but the seed. */
export function numbers(count: number, seed = 1): number[] {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
