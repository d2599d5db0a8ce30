// What most tests of the console need: a service, an account with some money, Chromium, and a receiver that is called from here.
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';
import { startBrowser, type TestBrowser } from './browser.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from './service.ts';

export class ConsoleBench {
  readonly service: TestService;
  readonly chromium: TestBrowser;
  readonly receiver: Receiver;
  readonly account: TestAccount;
  /** Calls of the account. */
  readonly call: Client;

  private constructor(service: TestService, chromium: TestBrowser, receiver: Receiver, account: TestAccount) {
    this.service = service;
    this.chromium = chromium;
    this.receiver = receiver;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  static async start(usd = 5): Promise<ConsoleBench> {
    const [service, chromium, receiver] = await Promise.all([
      startTestService({ env: LOCAL_TARGETS }),
      startBrowser(),
      Receiver.start(),
    ]);
    return new ConsoleBench(service, chromium, receiver, await createTestAccount(service.core, usd));
  }

  async stop(): Promise<void> {
    await Promise.all([this.service.stop(), this.chromium.close(), this.receiver.stop()]);
  }
}
