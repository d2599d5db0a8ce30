// What follows an attempt that fails: retries by the schedule, and the end of webhooks that fail for good.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deliveryRecord } from '../../src/webhooks/deliveries/record.ts';
import { createTestAccount, type TestService } from '../support/service.ts';
import {
  deliveriesOf,
  deliveryWhen,
  emit,
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
    await until(async () => (await stateOf(service.core, webhookId)).status === 'disabled');
    expect(await stateOf(service.core, webhookId)).toMatchObject({ disabled_reason: 'gone' });
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
    await until(async () => (await stateOf(service.core, webhookId)).failed_attempts === 12);
    code = 200;
    await attempts(1);
    await until(async () => (await stateOf(service.core, webhookId)).failed_attempts === 0);
    expect(await stateOf(service.core, webhookId)).toMatchObject({ status: 'enabled', failing_since: null });
    await sql(service.core.db, `UPDATE core.delivery SET due_at = NULL, status = 'cancelled' WHERE webhook_id = $1`, [
      webhookId,
    ]);
    code = 500;
    await attempts(10);
    await until(async () => (await stateOf(service.core, webhookId)).failed_attempts === 10);
    expect((await stateOf(service.core, webhookId)).status).toBe('enabled');
    const sinceMs = (await stateOf(service.core, webhookId)).failing_since as number;
    const longAgo = new Date(sinceMs - 5 * 86_400_000);
    await sql(service.core.db, 'UPDATE core.webhook SET failing_since = $2 WHERE webhook_id = $1', [
      webhookId,
      longAgo,
    ]);
    await emit(service.core, accountId);
    await until(async () => (await stateOf(service.core, webhookId)).status === 'disabled');
    expect(await stateOf(service.core, webhookId)).toMatchObject({ disabled_reason: 'failing' });
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
