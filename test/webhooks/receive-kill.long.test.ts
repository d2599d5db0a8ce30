// 10^4 deliveries while the service is killed again and again: senders come again until they are answered 2xx. Each delivery is one message, none
// is two, and what was charged is what was published.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';
import { randomOf, seed } from '../support/soak.ts';

const DELIVERIES = 10_000;
const KILLS = 8;
const SENDERS = 32;

let place: Place;
let service: ServiceProcess;
beforeAll(async () => {
  place = await createPlace();
  service = await startProcess(place);
});
afterAll(() => place?.remove());

test(`10^4 deliveries and ${KILLS} kills: each one message, none twice (SEED=${seed})`, {
  timeout: 900_000,
}, async () => {
  const random = randomOf(seed);
  const call = client(place.url, place.operatorKey());
  await call('POST', '/v1/queue/create', { name: 'inbound' });
  const { body } = await call('POST', '/v1/account/webhooks/receive/create', {
    name: 'kill',
    verify: { scheme: 'github', secret: 'secret-of-github' },
    to: { queue: 'inbound' },
  });
  const { url } = body.data;
  let next = 0;
  let answered = 0;
  let repeats = 0;
  let tries = 0;
  const deliver = async (id: number) => {
    const text = JSON.stringify({ id });
    const signature = createHmac('sha256', 'secret-of-github').update(text).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-github-delivery': `delivery-${id}`,
      'x-hub-signature-256': `sha256=${signature}`,
    };
    for (;;) {
      tries += 1;
      try {
        const answer = await request(url, { method: 'POST', headers, body: text });
        await answer.body.dump();
        if (answer.statusCode === 202 || answer.statusCode === 200) {
          if (answer.statusCode === 200) repeats += 1;
          answered += 1;
          return;
        }
        expect([429, 503]).toContain(answer.statusCode);
      } catch (error) {
        if (error instanceof Error && error.name === 'AssertionError') throw error;
      }
      await sleep(20);
    }
  };
  const sender = async () => {
    while (next < DELIVERIES) {
      const id = next;
      next += 1;
      await deliver(id);
    }
  };
  const sending = Promise.all(Array.from({ length: SENDERS }, sender));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await expect
      .poll(() => answered, { timeout: 300_000, interval: 2 })
      .toBeGreaterThan((DELIVERIES / (KILLS + 1)) * kill);
    // Somewhere between verification, commit and answer.
    await sleep(random(15));
    await service.end('SIGKILL');
    service = await startProcess(place);
  }
  await sending;
  expect(answered).toBe(DELIVERIES);

  const found = new Map<string, number>();
  for (;;) {
    const { body: got } = await call('POST', '/v1/queue/consume', { queue: 'inbound', max_messages: 10 });
    const { items } = got.data;
    if (items.length === 0) break;
    for (const { payload } of items) found.set(payload.delivery_id, (found.get(payload.delivery_id) ?? 0) + 1);
    const receipts = items.map(({ receipt_handle: receipt }: { receipt_handle: string }) => receipt);
    await call('POST', '/v1/queue/ack', { queue: 'inbound', receipt_handles: receipts });
  }
  expect(found.size).toBe(DELIVERIES);
  expect([...found.values()].filter((times) => times !== 1)).toEqual([]);
  // Killed between commit and answer: the repeat was known.
  expect(repeats).toBeGreaterThan(0);
  expect(tries).toBeGreaterThan(DELIVERIES);

  const usage = await call('GET', `/v1/account/usage?key_id=${body.data.receiver_id}&from=2020-01-01T00:00:00Z`);
  const published = usage.body.data.by_capability.filter(
    (one: { capability: string }) => one.capability === 'queue.publish',
  );
  expect(published.reduce((sum: number, one: { units: number }) => sum + one.units, 0)).toBe(DELIVERIES);
});
