// A service and an account on it, with short ways to call: what the harnesses of modules have in common.
import { expect } from 'vitest';
import type { Sweep } from '../../src/core/background/sweeper/sweep.ts';
import {
  type Client,
  client,
  createTestAccount,
  type TestAccount,
  type TestService,
  type TestServiceOptions,
} from './service.ts';
import { lendService } from './shared-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Data = any;

type Constructor<B> = new (service: TestService, account: TestAccount) => B;

const selectSpent = {
  name: 'test_spent',
  text: `SELECT coalesce(-sum(amount_nanos), 0) AS spent FROM core.ledger
          WHERE account_id = $1 AND kind IN ('charge', 'capture', 'reversal')`,
};

export class AccountBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly call: Client;

  constructor(service: TestService, account: TestAccount) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  static async start<B extends AccountBench>(
    this: Constructor<B>,
    { account, ...options }: TestServiceOptions & { readonly account?: TestAccount } = {},
  ): Promise<B> {
    const service = await lendService(options);
    return new this(service, account ?? (await createTestAccount(service.core)));
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100): Promise<this> {
    const own = this.constructor as Constructor<this>;
    return new own(this.service, await createTestAccount(this.service.core, usd));
  }

  /** `data` of a call that must succeed. */
  async ok(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  }

  /** The error of a call that must fail with a 4xx. */
  async fails(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBeGreaterThanOrEqual(400);
    expect(reply.status, reply.text).toBeLessThan(500);
    return reply.body.error;
  }

  async spentNanos(): Promise<bigint> {
    const { rows } = await this.service.core.db.query<{ spent: bigint }>(selectSpent, [this.account.accountId]);
    return (rows[0] as { spent: bigint }).spent;
  }
}

/** Runs a background task until it has nothing to do. */
export async function sweepAll(sweeps: readonly Sweep[], name: string): Promise<void> {
  const sweep = sweeps.find((each) => each.name === name);
  if (sweep === undefined) throw new Error(`no background task is called ${name}`);
  while (await sweep.run(new AbortController().signal));
}
