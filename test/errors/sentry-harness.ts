// What tests of the Sentry endpoints share: a key as a DSN has it, and requests built byte by byte.
import { randomUUID } from 'node:crypto';
import { createTestAccount, type Reply } from '../support/service.ts';
import { ErrorsBench } from './harness.ts';

type Fields = Record<string, unknown>;

export const eventId = () => randomUUID().replaceAll('-', '');

export class SentryBench extends ErrorsBench {
  /** A service, and an account whose key can do nothing but capture; `call` has a key for everything. */
  static async of(bench: ErrorsBench, usd = 100): Promise<SentryBench> {
    const { service } = bench;
    const account = await createTestAccount(service.core, usd);
    const full = new SentryBench(service, account);
    const made = await full.ok('POST', '/v1/account/keys/create', {
      name: 'sentry',
      scopes: ['errors.capture', 'errors.message'],
    });
    full.dsnKey = made.key_secret ?? made.key?.key_secret;
    return full;
  }

  dsnKey = '';

  get dsn(): string {
    return `${this.service.url.replace('//', `//${this.dsnKey}@`)}/v1/errors/sentry/1`;
  }

  url(end = 'envelope', key: string | null = this.dsnKey): string {
    const query = key === null ? '' : `?sentry_key=${key}&sentry_version=7&sentry_client=test%2F1`;
    return `${this.service.url}/v1/errors/sentry/api/1/${end}/${query}`;
  }

  /** Posts bytes without a Content-Type. */
  async post(
    url: string,
    body: Buffer | ReadableStream | string,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const sent = typeof body === 'string' ? Buffer.from(body) : body;
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: sent,
      duplex: 'half',
    } as RequestInit);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith('{') ? JSON.parse(text) : null,
    };
  }

  /** Sends an event as an SDK does and answers the reply. */
  sendEvent(event: Fields, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post(this.url(), envelope(event), headers);
  }

  /** The full record of the only event that was captured with this id. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  async captured(id: string): Promise<any> {
    const { items } = await this.list({ limit: 100 });
    const all = await Promise.all(items.map((item: { event_id: string }) => this.get(item.event_id)));
    const found = all.filter((event) => event.idempotency_key === id);
    if (found.length !== 1) throw new Error(`${found.length} events of ${all.length} have the id ${id}`);
    return found[0];
  }

  countEvents(): Promise<number> {
    return this.number('SELECT count(*)::int AS number FROM errors.event WHERE account_id = $account');
  }
}

/** An envelope with one event, its length told. */
export function envelope(event: Fields, header: Fields = {}): Buffer {
  const payload = JSON.stringify(event);
  const lines = [
    JSON.stringify({ event_id: event.event_id, sent_at: '2026-11-21T00:00:00.000Z', ...header }),
    JSON.stringify({ type: 'event', length: Buffer.byteLength(payload) }),
    payload,
  ];
  return Buffer.from(lines.join('\n'));
}
