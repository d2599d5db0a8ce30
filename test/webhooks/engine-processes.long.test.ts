// Several processes on one database, and processes that stop.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestAccount, type TestService } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import {
  deliveriesOf,
  emit,
  type Receiver,
  register,
  sql,
  startEngine,
  startReceiver,
  until,
  verify,
} from './engine-harness.ts';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

async function start(options: Parameters<typeof startEngine>[0] = {}): Promise<TestService> {
  const service = await startEngine(options);
  ending.push(() => service.stop());
  return service;
}

async function receive(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  ending.push(() => receiver.close());
  return receiver;
}

test('two processes deliver each event once, and never attempt one delivery twice at a time', async () => {
  const one = await start();
  const two = await start({ database: one.database });
  const running = new Map<string, number>();
  let atOnce = 0;
  const receiver = await receive(async ({ path, headers }, res) => {
    const delivery = `${path} ${headers['webhook-id']}`;
    const now = (running.get(delivery) ?? 0) + 1;
    running.set(delivery, now);
    atOnce = Math.max(atOnce, now);
    await sleep(Math.random() * 20);
    running.set(delivery, now - 1);
    // Some fail once, so that retries of both processes are among them.
    if (Math.random() < 0.05) res.statusCode = 503;
  });
  const owners = await Promise.all([1, 2, 3].map(() => createTestAccount(one.core)));
  for (const { accountId } of owners)
    for (const path of ['a', 'b', 'c']) {
      await register(one.core, accountId, { url: `${receiver.url}/${accountId}/${path}`, retryPolicy: 'aggressive' });
    }
  const sends = owners.flatMap(({ accountId }) =>
    Array.from({ length: 8 }, (_, i) => emit((i % 2 === 0 ? one : two).core, accountId, 25)),
  );
  await Promise.all(sends);
  const statuses = () =>
    sql<{ status: string; count: bigint }>(one.core.db, 'SELECT status, count(*) FROM core.delivery GROUP BY 1');
  await until(async () => {
    // A lease that ends while its attempt is under way would let another one begin.
    if ([...running.values()].every((attempts) => attempts === 0)) await one.advance(1);
    const rows = await statuses();
    return rows.length === 1 && rows[0]?.status === 'succeeded';
  });
  expect(await statuses()).toEqual([{ status: 'succeeded', count: 1_800n }]);
  expect(atOnce).toBe(1);
  const served = [one, two].map(async ({ url }) => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/qm_webhook_attempts_total\{outcome="succeeded"\} (\d+)/.exec(metrics)?.[1] ?? 0);
  });
  const [byOne = 0, byTwo = 0] = await Promise.all(served);
  expect(byOne + byTwo).toBe(1_800);
});

describe('a process that stops', () => {
  test('gives attempts that cannot end in time back, uncounted, and the next process makes them at once', async () => {
    const keeper = await start({ env: { ROLES: 'web,render' } });
    const first = await startEngine({ database: keeper.database });
    let hang = true;
    const receiver = await receive(() => (hang ? new Promise(() => undefined) : undefined));
    const { accountId } = await createTestAccount(keeper.core);
    const webhookId = await register(keeper.core, accountId, { url: receiver.url });
    await emit(keeper.core, accountId, 3);
    await until(() => receiver.seen.length > 0);
    await first.stop();
    const rows = await deliveriesOf(keeper.core, accountId, webhookId);
    expect(rows.map((row) => [row.status, row.attempt, row.attempts])).toEqual(Array(3).fill(['pending', 0, null]));
    const [webhook] = await sql<{ failed_attempts: number }>(
      keeper.core.db,
      'SELECT failed_attempts FROM core.webhook WHERE webhook_id = $1',
      [webhookId],
    );
    expect(webhook?.failed_attempts).toBe(0);
    hang = false;
    const before = receiver.seen.length;
    await start({ database: keeper.database });
    await until(() => receiver.seen.length === before + 3);
    for (const received of receiver.seen) verify(received);
    expect(new Set(receiver.ids()).size).toBe(3);
  });
});

test('a process without the role work commits events and delivers none; one with it delivers them within a second', async () => {
  const api = await start({ env: { ROLES: 'web,render' } });
  const receiver = await receive();
  const { accountId } = await createTestAccount(api.core);
  await register(api.core, accountId, { url: receiver.url });
  await emit(api.core, accountId);
  await sleep(500);
  expect(receiver.seen).toHaveLength(0);
  await start({ database: api.database, env: { ROLES: 'work,render' } });
  await until(() => receiver.seen.length === 1);
  await emit(api.core, accountId);
  const committedMs = performance.now();
  await until(() => receiver.seen.length === 2);
  expect(performance.now() - committedMs).toBeLessThan(allowedMs(1_000));
});
