// A service with an account, and how tests of storage call it and look at what is kept.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chargeWork } from '../../src/core/wallet/charge/charge-work.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import type { TestServiceOptions } from '../support/service.ts';
import {
  type Client,
  client,
  createTestAccount,
  type Reply,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

export interface Own extends TestAccount {
  readonly call: Client;
  /** The data of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  data(method: string, path: string, body?: unknown): Promise<any>;
  put(bucket: string, key: string, content: string, rest?: object): Promise<Reply>;
}

export class StorageBench {
  readonly test: TestService;

  constructor(test: TestService) {
    this.test = test;
  }

  static async start(options: TestServiceOptions = {}): Promise<StorageBench> {
    return new StorageBench(await lendService(options));
  }

  get core() {
    return this.test.core;
  }

  async withAccount(usd = 100, bucket: string | null = 'work'): Promise<Own> {
    const account = await createTestAccount(this.core, usd);
    const call = client(this.test.url, account.secret);
    const data: Own['data'] = async (method, path, body) => {
      const reply = await call(method, path, body);
      if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
      return reply.body.data;
    };
    if (bucket !== null) await data('POST', '/v1/storage/bucket/create', { bucket });
    const put: Own['put'] = (of, key, content, rest = {}) =>
      call('POST', '/v1/storage/object/put', { bucket: of, key, content, ...rest });
    return { ...account, call, data, put };
  }

  /** Rows of the account, by table of storage. */
  async rows<Row>(table: string, accountId: string): Promise<Row[]> {
    const text = `SELECT t.* FROM storage.${table} t WHERE t.account_id = $1`;
    return [...(await this.core.db.query<Row>({ name: '', text }, [accountId])).rows];
  }

  async balance(accountId: string): Promise<bigint> {
    const text = 'SELECT w.balance_nanos FROM core.wallet w WHERE w.account_id = $1';
    const { rows } = await this.core.db.query<{ balance_nanos: bigint }>({ name: '', text }, [accountId]);
    return rows[0]?.balance_nanos ?? 0n;
  }

  async credit(accountId: string, usd: number): Promise<void> {
    const amountNanos = BigInt(Math.round(usd * 1e9));
    await this.core.db.transaction((tx) =>
      grantCredit(tx, accountId, { kind: 'paid', amountNanos, expiresInMs: null, note: null }),
    );
  }

  /** Leaves the account without credit: by a call for all that it has. */
  async drain(accountId: string): Promise<void> {
    const units = (await this.balance(accountId)) / 400n;
    await this.core.db.transaction(async (tx) => {
      const opened = await openWallet(tx, accountId);
      if (opened === null) throw new Error('no such account');
      await chargeWork(tx, opened, this.core.prices, [{ capability: 'storage.read', keyId: 'test', units }]);
    });
  }

  stop(): Promise<void> {
    return this.test.stop();
  }
}

export const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields)}`;

/** Files below a folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
