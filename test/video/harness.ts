// One service with the sandbox, one account, and calls of video for tests.
import { expect } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { eventually } from '../cron/harness.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Data = any;

export const QUICK = { prompt: 'A paper boat.', model: 'sandbox/storyboard-1', duration_seconds: 1 };

export class VideoBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly call: Client;

  protected constructor(service: TestService, account: TestAccount) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  static async start(env: Record<string, string> = {}, usd = 100, database?: TestDatabase): Promise<VideoBench> {
    const service = await startTestService({ env: { VIDEO_SANDBOX_THREADS: '2', ...env }, database });
    return new VideoBench(service, await createTestAccount(service.core, usd));
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100): Promise<VideoBench> {
    return new VideoBench(this.service, await createTestAccount(this.service.core, usd));
  }

  async ok(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await this.call(method, path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  }

  /** Status, code, param and code_detail of a call that must fail. */
  async fails(method: string, path: string, body?: unknown): Promise<(string | number | undefined)[]> {
    const { status, body: answer, text } = await this.call(method, path, body);
    expect(answer?.ok, text).toBe(false);
    return [status, answer.error.code, answer.error.param, answer.error.code_detail];
  }

  generate(over: Record<string, unknown> = {}): Promise<Data> {
    return this.ok('POST', '/v1/video/generate', { ...QUICK, ...over });
  }

  get(id: string): Promise<Data> {
    return this.ok('GET', `/v1/video/get/${id}`);
  }

  /** The job once it has ended. */
  ended(id: string): Promise<Data> {
    return eventually(async () => {
      const job = await this.get(id);
      return job.finished_at === null ? null : job;
    }, 120_000);
  }

  async running(id: string): Promise<Data> {
    return eventually(async () => {
      const job = await this.get(id);
      return job.state === 'running' ? job : null;
    });
  }

  async balance(): Promise<{ balance: number; held: number }> {
    const { balance_usd: balance, held_usd: held } = await this.ok('GET', '/v1/account/balance');
    return { balance, held };
  }

  /** Types of the account's events and their objects, in their order. */
  async events(): Promise<{ type: string; object: Data }[]> {
    await sequenceAccount(this.service.core.db, this.account.accountId);
    const { items } = await this.ok('GET', '/v1/account/events/list?limit=100');
    return items.reverse().map((event: Data) => ({ type: event.type, object: event.data.object }));
  }

  /** What the doctor finds wrong with the account's books. */
  async findings(): Promise<string[]> {
    const patient = { db: this.service.core.db, secrets: null, modules };
    return (await examineAccount(patient, this.account.accountId)).map(({ message }) => message);
  }
}
