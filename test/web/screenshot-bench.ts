// Screenshots of a service with a browser, for tests.
import { expect } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;

type BenchOptions = NonNullable<Parameters<typeof startTestService>[0]> & { readonly credit?: number };

export class ScreenshotBench {
  readonly service: TestService;
  readonly accountId: string;
  readonly call: Client;
  /** Of requests that `call` is not made for. */
  readonly headers: Readonly<Record<string, string>>;

  private constructor(service: TestService, { accountId, secret }: { accountId: string; secret: string }) {
    this.service = service;
    this.accountId = accountId;
    this.headers = { authorization: `Bearer ${secret}` };
    this.call = client(service.url, secret);
  }

  /** `credit`: in USD. */
  static async start({ credit = 1, ...options }: BenchOptions = {}): Promise<ScreenshotBench> {
    const service = await startTestService(options);
    return new ScreenshotBench(service, await createTestAccount(service.core, credit));
  }

  /** Inline; what the call answers, and the picture. */
  async take(url: string, over: Record<string, unknown> = {}): Promise<{ data: Data; picture: Buffer }> {
    const reply = await this.call('POST', '/v1/web/screenshot', { url, inline: true, ...over });
    expect(reply.status, reply.text.slice(0, 2_000)).toBe(200);
    const { data } = reply.body;
    return { data, picture: Buffer.from(data.content_base64 ?? '', 'base64') };
  }

  /** Status, code and code_detail of a call that must fail. */
  async fails(url: string, over: Record<string, unknown> = {}): Promise<(string | number | undefined)[]> {
    const { status, body, text } = await this.call('POST', '/v1/web/screenshot', { url, inline: true, ...over });
    expect(body.ok, text.slice(0, 500)).toBe(false);
    return [status, body.error.code, body.error.code_detail];
  }

  async balance(): Promise<number> {
    return Number((await this.call('GET', '/v1/account/balance')).body.data.balance_usd);
  }
}
