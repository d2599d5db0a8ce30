// One service with an account that sends mail, and its relay.
import { expect } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { type RelayFault, startRelay, type TestRelay } from '../support/relay.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;

export const NANOS = 460_000n;
export const SENDER = 'Agent <agent@sender.example.org>';

export class EmailBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly relay: TestRelay | null;
  readonly call: Client;

  constructor(service: TestService, account: TestAccount, relay: TestRelay | null) {
    this.service = service;
    this.account = account;
    this.relay = relay;
    this.call = client(service.url, account.secret);
  }

  /** `relay: false`: with nothing configured. All accounts may send from sender.example.org. */
  static async start({
    relay: hasRelay = true,
    env = {},
    ...options
  }: TestServiceOptions & { relay?: boolean } = {}): Promise<EmailBench> {
    const relay = hasRelay ? await startRelay() : null;
    const service = await startTestService({
      ...options,
      env: { ...(relay === null ? {} : { SMTP_URL: relay.url }), EMAIL_TRUSTED_DOMAINS: 'sender.example.org', ...env },
    });
    return new EmailBench(service, await createTestAccount(service.core, 100), relay);
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.relay?.stop();
  }

  /** Another account of the service. */
  async withAccount(usd = 100): Promise<EmailBench> {
    return new EmailBench(this.service, await createTestAccount(this.service.core, usd), this.relay);
  }

  send(fields: Readonly<Record<string, unknown>> = {}, headers: Record<string, string> = {}) {
    const mail = { from: SENDER, to: 'ada@example.net', subject: 'Hello', text: 'Hello.', ...fields };
    return this.call('POST', '/v1/email/send', mail, headers);
  }

  /** The mail that was accepted. */
  async sent(fields: Readonly<Record<string, unknown>> = {}, headers: Record<string, string> = {}): Promise<Data> {
    const { status, body, text } = await this.send(fields, headers);
    expect(status, text).toBe(200);
    return body.data;
  }

  async get(emailId: string): Promise<Data> {
    return (await this.call('GET', `/v1/email/get/${emailId}`)).body.data;
  }

  /** Spendable, nano-USD. */
  async balance(): Promise<bigint> {
    const { body } = await this.call('GET', '/v1/account/balance');
    return BigInt(Math.round(body.data.balance_usd * 1e9));
  }

  /** Types of the events that were told, oldest first. */
  async events(): Promise<Data[]> {
    const { accountId } = this.account;
    await sequenceAccount(this.service.core.db, accountId);
    const { body } = await this.call('GET', '/v1/account/events/list?limit=100');
    return body.data.items.filter(({ type }: Data) => type.startsWith('email.')).reverse();
  }

  async expectBooksAgree(): Promise<void> {
    const { db, secrets } = this.service.core;
    expect((await examine({ db, secrets, modules })).findings).toEqual([]);
  }

  fail(...faults: readonly RelayFault[]): void {
    this.relay?.faults.push(...faults);
  }
}
