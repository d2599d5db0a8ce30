// One service, one account, and calls of pdf for tests.
import { expect } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Data = any;

export const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

export class PdfBench {
  readonly service: TestService;
  readonly accountId: string;
  readonly secret: string;
  readonly call: Client;

  protected constructor(service: TestService, { accountId, secret }: { accountId: string; secret: string }) {
    this.service = service;
    this.accountId = accountId;
    this.secret = secret;
    this.call = client(service.url, secret);
  }

  static async start(env: Record<string, string> = {}, usd = 100): Promise<PdfBench> {
    const service = await startTestService({ env: { CHROMIUM_PATH: '', ...env } });
    return new PdfBench(service, await createTestAccount(service.core, usd));
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100): Promise<PdfBench> {
    return new PdfBench(this.service, await createTestAccount(this.service.core, usd));
  }

  async answer(operation: string, body: unknown, headers: Record<string, string> = {}): Promise<Data> {
    const reply = await this.call('POST', `/v1/pdf/${operation}`, body, headers);
    expect(reply.status, reply.text.slice(0, 2_000)).toBe(200);
    return reply.body;
  }

  async ok(operation: string, body: unknown): Promise<Data> {
    return (await this.answer(operation, body)).data;
  }

  /** Status, code, param and code_detail of a call that must fail. */
  async fails(operation: string, body: unknown): Promise<(string | number | undefined)[]> {
    const { status, body: answer, text } = await this.call('POST', `/v1/pdf/${operation}`, body);
    expect(answer?.ok, text.slice(0, 2_000)).toBe(false);
    return [status, answer.error.code, answer.error.param, answer.error.code_detail];
  }

  create(content: string, over: Record<string, unknown> = {}): Promise<Data> {
    return this.ok('create', { type: 'html', content, inline: true, ...over });
  }

  /** The text of each page. */
  async text(pdf: string, pages?: string): Promise<string[]> {
    const read = await this.ok('extract_text', {
      source: { content_base64: pdf },
      ...(pages === undefined ? {} : { pages }),
    });
    return read.pages.map(({ text }: { text: string }) => text);
  }

  async balance(): Promise<number> {
    const { body } = await this.call('GET', '/v1/account/balance');
    return Number(body.data.balance_usd);
  }
}
