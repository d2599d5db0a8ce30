// What happens between a committed event and the receiver, on one process.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sendEvents } from '../../src/core/events/outbox.ts';
import { deliveryRecord } from '../../src/webhooks/deliveries/record.ts';
import { endDeliveries, redeliver } from '../../src/webhooks/deliveries/store.ts';
import { deliverTest } from '../../src/webhooks/deliveries/test-delivery.ts';
import { deleteRegistration, replaceSigningSecret } from '../../src/webhooks/registrations/store.ts';
import { entering } from '../support/enter.ts';
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
  stateOf,
  status,
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
    expect(received.headers['webhook-id']).toBe((event as { event_id: string }).event_id);
    const delivery = await deliveryWhen(service.core, accountId, webhookId, (row) => row.status !== 'pending');
    const record = deliveryRecord(delivery);
    expect(record).toMatchObject({
      delivery_id: expect.stringMatching(/^whd_[0-9A-Za-z]{20,}$/),
      webhook_id: webhookId,
      event_id: (event as { event_id: string }).event_id,
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
    await until(() => receiver.seen.length >= 2_000);
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

/** An event of another account, later than all before, has arrived. */
async function nextArrives(): Promise<void> {
  const [receiver, other] = [await receive(), await account()];
  await register(service.core, other, { url: receiver.url });
  await emit(service.core, other);
  await until(() => receiver.seen.length > 0);
}

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
    await nextArrives();
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
    const sender = { accountId, requestId: 'req_test', enter: entering(accountId) };
    const delivery = await deliverTest(service.core, sender, webhookId, { a: [1] });
    expect(delivery).toMatchObject({ status: 'failed', attempt: 1, http_status: 500, due_at: null });
    expect(verify(receiver.seen[0] as Received)).toMatchObject({
      type: 'wallet.expired',
      test: true,
      request_id: 'req_test',
      data: { object: { a: [1] } },
    });
    expect(await deliveriesOf(service.core, accountId, webhookId)).toEqual([delivery]);
    expect((await stateOf(service.core, webhookId)).failed_attempts).toBe(0);
    await service.advance(60);
    await nextArrives();
    expect(receiver.seen).toHaveLength(1);
    expect(await deliverTest(service.core, sender, 'wh_unknown00000000000000', {})).toBeNull();
  });
});
