// Receivers of webhooks, and events sent to them without any capability in between.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { sendEvents } from '../../src/core/events/outbox.ts';
import type { Queryable } from '../../src/db/database.ts';
import type { SqlValue } from '../../src/db/statement.ts';
import type { Services } from '../../src/kit/services.ts';
import { newId } from '../../src/lib/ids.ts';
import type { DeliveryRow } from '../../src/webhooks/deliveries/record.ts';
import { listDeliveries } from '../../src/webhooks/deliveries/store.ts';
import { insertRegistration, type RegistrationSettings } from '../../src/webhooks/registrations/store.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../support/service.ts';

export const signingSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly seen: Received[];
  /** Ids of what came to `path`, in the order of arrival. */
  ids(path?: string): string[];
  close(): Promise<void>;
}

/** Answers as `answer` does; 204 when it does nothing. A promise that never resolves never answers. */
export async function startReceiver(
  answer: (received: Received, res: ServerResponse) => unknown = () => undefined,
  port = 0,
): Promise<Receiver> {
  const seen: Received[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req.setEncoding('utf8')) body += chunk;
    const received = { path: req.url ?? '', headers: req.headers, body, atMs: performance.now() };
    seen.push(received);
    await answer(received, res);
    if (!res.writableEnded) res.writeHead(res.statusCode === 200 ? 204 : res.statusCode).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    seen,
    ids: (path) =>
      seen
        .filter((received) => path === undefined || received.path === path)
        .map(({ headers }) => headers['webhook-id'] as string),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Throws when the signature is not one of `secret`. */
export function verify(received: Received, secret = signingSecret): unknown {
  return new Webhook(secret).verify(received.body, received.headers as Record<string, string>);
}

export function startEngine(options: TestServiceOptions = {}): Promise<TestService> {
  return startTestService({ ...options, env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', ...options.env } });
}

export async function register(
  core: Pick<Services, 'db' | 'secrets'>,
  accountId: string,
  settings: Partial<RegistrationSettings> & { readonly url: string },
): Promise<string> {
  const webhookId = newId('wh_');
  const signing = { secret: signingSecret, last4: signingSecret.slice(-4) };
  const rest = {
    events: ['queue.dlq'],
    description: null,
    retryPolicy: 'default',
    timeoutSeconds: 15,
    headers: {},
    ...settings,
  } as const;
  await core.db.transaction((tx) =>
    insertRegistration(tx, core.secrets, accountId, { ...rest, webhookId, signing }, Date.now()),
  );
  return webhookId;
}

/** Commits `count` events of one transaction. */
export async function emit(
  core: Pick<Services, 'db'>,
  accountId: string,
  count = 1,
  type = 'queue.dlq',
): Promise<void> {
  await core.db.transaction(async (tx) => {
    const events = Array.from({ length: count }, (_, n) => ({
      accountId,
      type,
      data: { object: { n } },
      requestId: null,
    }));
    sendEvents(tx, events, Date.now());
  });
}

export function deliveriesOf(core: Pick<Services, 'db'>, accountId: string, webhookId: string): Promise<DeliveryRow[]> {
  return listDeliveries(core.db, accountId, webhookId, { status: null, eventType: null }, null, 1_000);
}

/** The only delivery of the webhook, once `holds` is true of it. */
export async function deliveryWhen(
  core: Pick<Services, 'db'>,
  accountId: string,
  webhookId: string,
  holds: (delivery: DeliveryRow) => boolean,
): Promise<DeliveryRow> {
  let found: DeliveryRow | undefined;
  await until(async () => {
    [found] = await deliveriesOf(core, accountId, webhookId);
    return found !== undefined && holds(found);
  });
  return found as DeliveryRow;
}

/** Answers with this status and a short text. */
export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (_received: Received, res: ServerResponse) =>
    res.writeHead(code, headers).end('what went wrong');

export interface WebhookState {
  readonly status: string;
  readonly disabled_reason: string | null;
  readonly failed_attempts: number;
  readonly failing_since: number | null;
}

export async function stateOf(core: Pick<Services, 'db'>, webhookId: string): Promise<WebhookState> {
  const [row] = await sql<WebhookState>(core.db, 'SELECT * FROM core.webhook WHERE webhook_id = $1', [webhookId]);
  return row as WebhookState;
}

let statements = 0;
export async function sql<R>(db: Queryable, text: string, values: SqlValue[] = []): Promise<R[]> {
  statements += 1;
  return (await db.query<R>({ name: `test_engine_${statements}`, text }, values)).rows;
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 50_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain`);
    await sleep(5);
  }
}
