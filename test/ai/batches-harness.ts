// An account that makes batches, for tests.
import { expect } from 'vitest';
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { eventually } from '../cron/harness.ts';
import { type Client, client, type TestAccount, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
export type Data = any;

export class BatchCaller {
  readonly account: TestAccount;
  readonly call: Client;
  readonly #service: TestService;

  constructor(service: TestService, account: TestAccount) {
    this.#service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  async create(items: readonly object[]): Promise<Data> {
    const { status, text, body } = await this.call('POST', '/v1/ai/batch/create', { items });
    expect(status, text).toBe(200);
    return body.data;
  }

  async get(id: string): Promise<Data> {
    return (await this.call('GET', `/v1/ai/batch/get/${id}`)).body.data;
  }

  over(id: string, withinMs = 30_000): Promise<Data> {
    return eventually(async () => {
      const batch = await this.get(id);
      return batch.finished_at === null ? null : batch;
    }, withinMs);
  }

  async results(id: string, limit = 100): Promise<Data[]> {
    const items: Data[] = [];
    for (let query = `limit=${limit}`; ; ) {
      const { body, text } = await this.call('GET', `/v1/ai/batch/results/${id}?${query}`);
      expect(body.data, text).toBeDefined();
      items.push(...body.data.items);
      if (!body.data.has_more) return items;
      query = `limit=${limit}&cursor=${encodeURIComponent(body.data.next_cursor)}`;
    }
  }

  async events(): Promise<Data[]> {
    const { core } = this.#service;
    await sequenceAccount(core.db, this.account.accountId);
    const { body } = await this.call('GET', '/v1/account/events/list?limit=100');
    return body.data.items.filter(({ type }: Data) => type.startsWith('ai.batch.'));
  }

  /** In nano-USD; the wallet is what its journal and its captures say. */
  async spent(before: bigint): Promise<bigint> {
    const { rows } = await this.#service.core.db.query<Record<string, bigint>>(books, [this.account.accountId]);
    const { balance, held, journal, captured } = rows[0] as Record<string, bigint>;
    expect([held, BigInt(journal as bigint)]).toEqual([0n, balance]);
    expect(BigInt(captured as bigint)).toBe(before - (balance as bigint));
    return before - (balance as bigint);
  }
}

const books = {
  name: 'test_batch_books',
  text: `SELECT w.balance_nanos AS balance, w.held_nanos AS held,
                (SELECT sum(l.amount_nanos) FROM core.ledger l WHERE l.account_id = $1) AS journal,
                (SELECT coalesce(sum(h.captured_nanos), 0) FROM core.hold h WHERE h.account_id = $1) AS captured
           FROM core.wallet w WHERE w.account_id = $1`,
};

export const many = (count: number, request: object) =>
  Array.from({ length: count }, (_, n) => ({ custom_id: `n-${n}`, ...request }));

export const nanosOf = (items: readonly Data[]) =>
  BigInt(items.reduce((sum, { cost_usd }) => sum + Math.round(cost_usd * 1e9), 0));
