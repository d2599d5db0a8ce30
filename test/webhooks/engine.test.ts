// What happens between a committed event and the receiver, on one process.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sendEvents } from '../../src/core/events/outbox.ts';
import { deliveryRecord } from '../../src/core/webhooks/delivery-record.ts';
import { endDeliveries, redeliver } from '../../src/core/webhooks/delivery-store.ts';
import { deleteRegistration, replaceSigningSecret } from '../../src/core/webhooks/registration-store.ts';
import { deliverTest } from '../../src/core/webhooks/test-delivery.ts';
import { createTestAccount, type TestService } from '../support/service.ts';
import {
  deliveriesOf,
  deliveryWhen,
  emit,
  type Received,
  type Receiver,
  register,
  sql,
  startEngine,
  startReceiver,
  until,
  verify,
} from './engine-harness.ts';

let service: TestService;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startEngine();
});
afterAll(() => service.stop());
afterEach(() => Promise.all(receivers.splice(0).map((receiver) => receiver.close())));

async function receive(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return receiver;
}

async function account(): Promise<string> {
  return (await createTestAccount(service.core)).accountId;
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (_received: Received, res: import('node:http').ServerResponse) =>
    res.writeHead(code, headers).end('what went wrong');

interface WebhookState {
  readonly status: string;
  readonly disabled_reason: string | null;
  readonly failed_attempts: number;
  readonly failing_since: number | null;
}

async function stateOf(webhookId: string): Promise<WebhookState> {
  const [row] = await sql<WebhookState>(service.core.db, 'SELECT * FROM core.webhook WHERE webhook_id = $1', [
    webhookId,
  ]);
  return row as WebhookState;
}

describe('a delivery', () => {
  test('reaches every subscribed webhook, signed, with the event as its body', async () => {
    const receiver = await receive();
    const accountId = await account();
    const headers = { authorization: 'Bearer of good news', 'x-team': 'ops' };
    const webhookId = await register(service.core, accountId, { url: `${receiver.url}/a`, headers });
    await register(service.core, accountId, { url: `${receiver.url}/b`, events: ['account.updated', 'queue.dlq'] });
    await register(service.core, accountId, { url: `${receiver.url}/c`, events: ['account.updated'] });
    await emit(service.core, accountId);
    await until(() => receiver.seen.length === 2);
    const [received] = receiver.seen.filter(({ path }) => path === '/a') as [Received];
    const event = verify(received);
    expect(event).toMatchObject({
      type: 'queue.dlq',
      account_id: accountId,
      test: false,
      data: { object: { n: 0 } },
    });
    expect(received.headers).toMatchObject({ ...headers, 'content-type': 'application/json' });
    expect(received.headers['webhook-id']).toBe((event as { id: string }).id);
    const delivery = await deliveryWhen(service.core, accountId, webhookId, (row) => row.status !== 'pending');
    const record = deliveryRecord(delivery);
    expect(record).toMatchObject({
      delivery_id: expect.stringMatching(/^whd_[0-9A-Za-z]{20,}$/),
      webhook_id: webhookId,
      event_id: (event as { id: string }).id,
      event_type: 'queue.dlq',
      status: 'succeeded',
      attempt: 1,
      next_attempt_at: null,
      http_status: 204,
      error_code: null,
      attempts: [{ attempt: 1, http_status: 204, error_code: null }],
    });
    const shown = JSON.stringify(record);
    expect(shown).not.toContain('good news');
    expect(shown).not.toContain(received.headers['webhook-signature']);
    expect(record.request_headers).toMatchObject({ 'webhook-id': record.event_id, 'x-team': '****' });
  });

  test('is made for no event of a transaction that rolled back', async () => {
    const receiver = await receive();
    const accountId = await account();
    await register(service.core, accountId, { url: receiver.url });
    const failing = service.core.db.transaction(async (tx) => {
      sendEvents(tx, [{ accountId, type: 'queue.dlq', data: { object: {} }, requestId: null }], Date.now());
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await emit(service.core, accountId);
    await until(() => receiver.seen.length > 0);
    expect(receiver.seen.map(({ body }) => JSON.parse(body).data)).toEqual([{ object: { n: 0 } }]);
  });

  test('starts at once after the commit, not at the next look for what is due', async () => {
    const receiver = await receive();
    const accountId = await account();
    await register(service.core, accountId, { url: receiver.url });
    const latencies: number[] = [];
    for (let n = 1; n <= 41; n += 1) {
      await emit(service.core, accountId);
      const committedMs = performance.now();
      await until(() => receiver.seen.length === n);
      latencies.push((receiver.seen[n - 1] as Received).atMs - committedMs);
    }
    latencies.sort((a, b) => a - b);
    console.log(
      `first attempt after ${latencies[20]?.toFixed(1)} ms at the median, ${latencies[39]?.toFixed(1)} ms p97`,
    );
    // 13 ms on an idle machine (the target is 50); a look alone, every 200 ms and twice in a row, would take about 200.
    expect(latencies[20]).toBeLessThan(120);
  });

  test('of thousands of events arrives once for each, numbered without gaps', async () => {
    const receiver = await receive();
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: `${receiver.url}/a` });
    await register(service.core, accountId, { url: `${receiver.url}/b` });
    await Promise.all(Array.from({ length: 10 }, () => emit(service.core, accountId, 100)));
    await until(() => receiver.seen.length >= 2_000, 20_000);
    for (const path of ['/a', '/b']) {
      const sequences = receiver.seen
        .filter((received) => received.path === path)
        .map(({ body }) => JSON.parse(body).sequence as number)
        .sort((a, b) => a - b);
      const first = sequences[0] as number;
      expect(sequences).toEqual(Array.from({ length: 1_000 }, (_, i) => first + i));
    }
    await until(async () =>
      (await deliveriesOf(service.core, accountId, webhookId)).every((row) => row.status === 'succeeded'),
    );
  });

  test('is signed by both secrets during a rotation, and by the new one afterwards', async () => {
    const receiver = await receive();
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: receiver.url });
    const next = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    const rotate = (untilMs: number) =>
      service.core.db.transaction((tx) =>
        replaceSigningSecret(tx, service.core.secrets, accountId, webhookId, { secret: next, last4: 'next' }, untilMs),
      );
    await emit(service.core, accountId);
    await until(() => receiver.seen.length === 1);
    await rotate(Date.now() + 86_400_000 * 365);
    await emit(service.core, accountId);
    await until(() => receiver.seen.length === 2);
    verify(receiver.seen[1] as Received);
    verify(receiver.seen[1] as Received, next);
    await sql(
      service.core.db,
      `UPDATE core.webhook SET previous_secret_until = core.clock_now() WHERE webhook_id = $1`,
      [webhookId],
    );
    await emit(service.core, accountId);
    await until(() => receiver.seen.length === 3);
    verify(receiver.seen[2] as Received, next);
    expect(() => verify(receiver.seen[2] as Received)).toThrow();
  });
});

describe('a failed attempt', () => {
  test('is repeated by the schedule with the same webhook-id, until the last one exhausts the delivery', async () => {
    const receiver = await receive(status(500));
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: receiver.url });
    await emit(service.core, accountId);
    const pausesSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    for (const [i, seconds] of pausesSeconds.entries()) {
      const row = await deliveryWhen(service.core, accountId, webhookId, (delivery) => {
        return delivery.attempts !== null && JSON.parse(delivery.attempts).length === i + 1;
      });
      expect(row).toMatchObject({ status: 'pending', attempt: i + 1, http_status: 500, error_code: 'http_status' });
      const [clock] = await sql<{ now: number }>(service.core.db, 'SELECT core.clock_now() AS now');
      const waitMs = (row.due_at as number) - (clock?.now as number);
      expect(waitMs).toBeGreaterThan(seconds * 800 - 2_000);
      expect(waitMs).toBeLessThan(seconds * 1_200 + 1);
      await service.advance(seconds * 1.2);
    }
    const ended = await deliveryWhen(service.core, accountId, webhookId, (row) => row.status !== 'pending');
    expect(deliveryRecord(ended)).toMatchObject({ status: 'exhausted', attempt: 10, next_attempt_at: null });
    expect(deliveryRecord(ended).attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(deliveryRecord(ended).response_snippet).toBe('what went wrong');
    expect(receiver.seen).toHaveLength(10);
    expect(new Set(receiver.ids()).size).toBe(1);
    for (const received of receiver.seen) verify(received);
  });

  test('that asks for more time gets it, up to twice the planned pause', async () => {
    const receiver = await receive(status(503, { 'retry-after': '8' }));
    const greedy = await receive(status(429, { 'retry-after': '86400' }));
    const accountId = await account();
    const rows = await Promise.all(
      [receiver, greedy].map(async ({ url }) => {
        const webhookId = await register(service.core, accountId, { url, retryPolicy: 'default' });
        return webhookId;
      }),
    );
    await emit(service.core, accountId);
    const waits: number[] = [];
    for (const webhookId of rows) {
      const row = await deliveryWhen(service.core, accountId, webhookId, (delivery) => delivery.attempts !== null);
      const [attempt] = JSON.parse(row.attempts as string) as [{ at: string; latency_ms: number }];
      waits.push(((row.due_at as number) - Date.parse(attempt.at) - attempt.latency_ms) / 1_000);
    }
    expect(waits[0]).toBeCloseTo(8, 1);
    expect(waits[1]).toBeCloseTo(10, 1);
  });

  test('with 410 fails the delivery, disables the webhook and skips what else is pending', async () => {
    let answer = status(500);
    const receiver = await receive((received, res) => answer(received, res));
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: receiver.url });
    await emit(service.core, accountId, 3);
    await until(() => receiver.seen.length === 3);
    answer = status(410);
    await emit(service.core, accountId);
    await until(async () => (await stateOf(webhookId)).status === 'disabled');
    expect(await stateOf(webhookId)).toMatchObject({ disabled_reason: 'gone' });
    const statuses = (await deliveriesOf(service.core, accountId, webhookId)).map((row) => row.status);
    expect(statuses.sort()).toEqual(['failed', 'skipped', 'skipped', 'skipped']);
    await emit(service.core, accountId);
    await service.advance(400);
    expect((await deliveriesOf(service.core, accountId, webhookId)).length).toBe(4);
    expect(receiver.seen).toHaveLength(4);
  });

  test('after a success counts anew; ten over five days without one disable the webhook', async () => {
    let code = 500;
    const receiver = await receive((received, res) => status(code)(received, res));
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: receiver.url });
    const attempts = async (count: number) => {
      const before = receiver.seen.length;
      await emit(service.core, accountId, count);
      await until(() => receiver.seen.length >= before + count);
    };
    await attempts(12);
    await until(async () => (await stateOf(webhookId)).failed_attempts === 12);
    code = 200;
    await attempts(1);
    await until(async () => (await stateOf(webhookId)).failed_attempts === 0);
    expect(await stateOf(webhookId)).toMatchObject({ status: 'enabled', failing_since: null });
    await sql(service.core.db, `UPDATE core.delivery SET due_at = NULL, status = 'cancelled' WHERE webhook_id = $1`, [
      webhookId,
    ]);
    code = 500;
    await attempts(10);
    await until(async () => (await stateOf(webhookId)).failed_attempts === 10);
    expect((await stateOf(webhookId)).status).toBe('enabled');
    await sql(
      service.core.db,
      `UPDATE core.webhook SET failing_since = failing_since - interval '5 days' WHERE webhook_id = $1`,
      [webhookId],
    );
    await emit(service.core, accountId);
    await until(async () => (await stateOf(webhookId)).status === 'disabled');
    expect(await stateOf(webhookId)).toMatchObject({ disabled_reason: 'failing' });
    const left = await deliveriesOf(service.core, accountId, webhookId);
    expect(left.filter((row) => row.status === 'pending' || row.due_at !== null)).toEqual([]);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/qm_webhooks_disabled_total\{reason="failing"\} [1-9]/);
    expect(metrics).toMatch(/qm_webhook_attempts_total\{outcome="failed"\} \d\d/);
  });

  test('at an address that may not be reached fails the delivery at once', async () => {
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: 'https://10.0.0.1/' });
    await emit(service.core, accountId);
    const row = await deliveryWhen(service.core, accountId, webhookId, (delivery) => delivery.status !== 'pending');
    expect(row).toMatchObject({ status: 'failed', error_code: 'refused', http_status: null, attempt: 1, due_at: null });
  });
});

describe('deleting a webhook', () => {
  test('while an attempt runs: its outcome changes nothing, and nothing is sent any more', async () => {
    const answered = Promise.withResolvers<void>();
    const receiver = await receive(() => answered.promise);
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: receiver.url });
    await emit(service.core, accountId, 5);
    await until(() => receiver.seen.length > 0);
    await service.core.db.transaction(async (tx) => {
      expect(await deleteRegistration(tx, accountId, webhookId)).toBe(true);
      await endDeliveries(tx, accountId, webhookId, 'cancelled', Date.now());
    });
    const seen = receiver.seen.length;
    answered.resolve();
    await emit(service.core, accountId);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(receiver.seen).toHaveLength(seen);
    const rows = await deliveriesOf(service.core, accountId, webhookId);
    expect(rows.map((row) => row.status)).toEqual(Array(5).fill('cancelled'));
    expect(rows.every((row) => row.due_at === null && row.http_status === null)).toBe(true);
  });
});

describe('a repeat', () => {
  test('is a new delivery of the same event, with the same webhook-id', async () => {
    const receiver = await receive();
    const accountId = await account();
    const webhookId = await register(service.core, accountId, { url: receiver.url });
    await emit(service.core, accountId);
    const first = await deliveryWhen(service.core, accountId, webhookId, (row) => row.status === 'succeeded');
    const again = await service.core.db.transaction((tx) => redeliver(tx, accountId, first.delivery_id, Date.now()));
    expect(again).toMatchObject({ event_id: first.event_id, status: 'pending', attempt: 0, attempts: null });
    await until(() => receiver.seen.length === 2);
    expect(new Set(receiver.ids()).size).toBe(1);
    expect(receiver.seen[1]?.body).toBe(receiver.seen[0]?.body);
  });

  test('of what does not exist, or of a deleted webhook, is none', async () => {
    const accountId = await account();
    const ask = (id: string) => service.core.db.transaction((tx) => redeliver(tx, accountId, id, Date.now()));
    expect(await ask('whd_00000000000000000000')).toBeNull();
    expect(await ask("'; --\0")).toBeNull();
  });
});

describe('a test event', () => {
  test('is sent once, marked, and recorded; a failure is not repeated and says nothing about the webhook', async () => {
    const receiver = await receive(status(500));
    const accountId = await account();
    const events = ['wallet.expired', 'queue.dlq'];
    const webhookId = await register(service.core, accountId, { url: receiver.url, events });
    const delivery = await deliverTest(service.core, accountId, webhookId, { a: [1] }, 'req_test');
    expect(delivery).toMatchObject({ status: 'failed', attempt: 1, http_status: 500, due_at: null });
    expect(verify(receiver.seen[0] as Received)).toMatchObject({
      type: 'wallet.expired',
      test: true,
      request_id: 'req_test',
      data: { object: { a: [1] } },
    });
    expect(await deliveriesOf(service.core, accountId, webhookId)).toEqual([delivery]);
    expect((await stateOf(webhookId)).failed_attempts).toBe(0);
    await service.advance(60);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(receiver.seen).toHaveLength(1);
    expect(await deliverTest(service.core, accountId, 'wh_unknown00000000000000', {}, 'req_test')).toBeNull();
  });
});
