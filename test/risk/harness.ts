// An account that scores calls, on one service or on several processes of one database.
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Data = any;

export class RiskBench {
  readonly service: TestService;
  readonly accountId: string;
  readonly call: Client;

  constructor(service: TestService, { accountId, secret }: { accountId: string; secret: string }) {
    this.service = service;
    this.accountId = accountId;
    this.call = client(service.url, secret);
  }

  static async start(env: Record<string, string> = {}, usd = 20): Promise<RiskBench> {
    const service = await startTestService({ env: { LOG_LEVEL: 'error', ...env } });
    return new RiskBench(service, await createTestAccount(service.core, usd));
  }

  async another(usd = 20): Promise<RiskBench> {
    return new RiskBench(this.service, await createTestAccount(this.service.core, usd));
  }

  stop(): Promise<void> {
    return this.service.stop();
  }

  async data(method: string, path: string, body?: object): Promise<Data> {
    const answer = await this.call(method, `/v1/risk/${path}`, body);
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body.error)}`);
    return answer.body.data;
  }

  score(input: object): Promise<Data> {
    return this.data('POST', 'score', { event: 'login', ...input });
  }

  subject(by: Record<string, string>): Promise<Data> {
    return this.data('GET', `subject?${new URLSearchParams(by)}`);
  }

  rules(rules: readonly object[], thresholds = { review: 40, block: 80 }): Promise<Data> {
    return this.data('PUT', 'rules/set', { thresholds, rules });
  }
}
