// A service with the realtime module: accounts of it, calls, and streams that are read event by event.
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { expect } from 'vitest';
import { type Client, client, createTestAccount, type TestAccount, type TestService } from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

export interface StreamedEvent {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what was published
  readonly data: any;
}

export interface Listener {
  readonly status: number;
  /** The next message; null: the stream has ended. */
  next(): Promise<StreamedEvent | null>;
  /** So many. */
  take(count: number): Promise<StreamedEvent[]>;
  leave(): void;
}

/** Opens GET /v1/realtime/stream at a process. `after`: sent as Last-Event-ID. */
export async function listen(url: string, query: string, secret: string | null, after?: string): Promise<Listener> {
  const controller = new AbortController();
  const reply = await fetch(`${url}/v1/realtime/stream?${query}`, {
    headers: {
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(after === undefined ? {} : { 'last-event-id': after }),
    },
    signal: controller.signal,
  });
  const events = (reply.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  const next = async () => {
    const { value, done } = await events.read().catch(() => ({ value: undefined, done: true }));
    if (done || value === undefined) return null;
    return { id: value.id, event: value.event, data: JSON.parse(value.data) };
  };
  return {
    status: reply.status,
    next,
    async take(count) {
      const taken: StreamedEvent[] = [];
      while (taken.length < count) {
        const event = await next();
        if (event === null) throw new Error(`the stream ended after ${taken.length} of ${count} events`);
        taken.push(event);
      }
      return taken;
    },
    leave: () => controller.abort(),
  };
}

export class RealtimeBench {
  readonly service: TestService;
  readonly account: TestAccount;
  readonly call: Client;

  constructor(service: TestService, account: TestAccount) {
    this.service = service;
    this.account = account;
    this.call = client(service.url, account.secret);
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<RealtimeBench> {
    const service = await lendService({ env });
    return new RealtimeBench(service, await createTestAccount(service.core, 5));
  }

  /** The same service for another account. */
  async another(scopes: string[] | null = null): Promise<RealtimeBench> {
    return new RealtimeBench(this.service, await createTestAccount(this.service.core, 5, scopes));
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of several capabilities
  async ok(method: string, path: string, body?: object): Promise<any> {
    const reply = await this.call(method, `/v1/realtime/${path}`, body);
    expect(reply.body.error ?? null).toBeNull();
    return reply.body.data;
  }

  async publish(channel: string, event: string, data: unknown): Promise<string> {
    return (await this.ok('POST', 'publish', { channel, event, data })).items[0].message_id;
  }

  listen(channels: string, after?: string): Promise<Listener> {
    return listen(this.service.url, `channels=${channels}`, this.account.secret, after);
  }
}
