// What the engine leaves behind goes, and operators see what waits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { coreSweeps } from '../../src/upkeep/sweeps.ts';
import { BacklogGauge, backlogOf } from '../../src/webhooks/deliveries/backlog.ts';
import { deleteRegistration } from '../../src/webhooks/registrations/store.ts';
import { createTestAccount, type TestService } from '../support/service.ts';
import { deliveriesOf, emit, register, sql, startEngine } from './engine-harness.ts';

let service: TestService;
let accountId: string;
let webhookId: string;

// Without workers, so that what waits keeps waiting.
beforeAll(async () => {
  service = await startEngine({ env: { ROLES: 'web,render' } });
  accountId = (await createTestAccount(service.core)).accountId;
  webhookId = await register(service.core, accountId, { url: 'http://127.0.0.1:9/' });
});
afterAll(() => service.stop());

async function sweep(name: string): Promise<void> {
  const found = coreSweeps(service.core, 3_650).find((task) => task.name === name);
  await found?.run(new AbortController().signal);
}

async function makeDelivery(): Promise<void> {
  await sql(
    service.core.db,
    `INSERT INTO core.delivery (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, due_at, created_at)
     SELECT $1, 'whd_' || md5(core.clock_now()::text), $2, 1, 'evt_1', 'queue.dlq', 'pending', 0, core.clock_now(), core.clock_now()`,
    [accountId, webhookId],
  );
}

test('the backlog counts events without a number, and deliveries that are due', async () => {
  const before = await backlogOf(service.core.db);
  expect(before).toMatchObject({ deliveriesDue: 0, oldestDueSeconds: 0 });
  await emit(service.core, accountId, 3);
  await makeDelivery();
  await service.advance(60);
  const { eventsWaiting, deliveriesDue, oldestDueSeconds } = await backlogOf(service.core.db);
  expect([eventsWaiting - before.eventsWaiting, deliveriesDue]).toEqual([3, 1]);
  expect(oldestDueSeconds).toBeGreaterThanOrEqual(60);
  expect(oldestDueSeconds).toBeLessThan(90);
  const gauge = new BacklogGauge(service.core.db);
  expect(gauge.metrics()).toEqual([]);
  await gauge.sweep().run(new AbortController().signal);
  expect(gauge.metrics().map(({ name, value }) => [name, Math.floor(value)])).toEqual([
    ['qm_events_waiting', eventsWaiting],
    ['qm_deliveries_due', 1],
    ['qm_deliveries_oldest_due_seconds', expect.any(Number)],
  ]);
});

test('deliveries are kept for 30 days and no longer, listed or stored', async () => {
  await service.advance(29 * 86_400);
  await makeDelivery();
  await sweep('webhooks.retention');
  expect(await deliveriesOf(service.core, accountId, webhookId)).toHaveLength(2);
  await service.advance(86_400);
  expect(await deliveriesOf(service.core, accountId, webhookId)).toHaveLength(1);
  await sweep('webhooks.retention');
  expect(await sql(service.core.db, 'SELECT delivery_id FROM core.delivery')).toHaveLength(1);
});

test('the line of a deleted webhook is removed, others stay', async () => {
  const other = await register(service.core, accountId, { url: 'http://127.0.0.1:9/' });
  for (const id of [webhookId, other]) {
    await sql(service.core.db, 'INSERT INTO core.delivery_line VALUES ($1, $2, 0, NULL)', [accountId, id]);
  }
  await service.core.db.transaction((tx) => deleteRegistration(tx, accountId, webhookId));
  await sweep('webhooks.lines');
  expect(await sql(service.core.db, 'SELECT webhook_id FROM core.delivery_line')).toEqual([{ webhook_id: other }]);
});
