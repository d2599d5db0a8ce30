// Claims of deliveries where each account's is a transaction of its own, as on a distributed engine.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { claimDeliveries } from '../../src/webhooks/deliveries/claim.ts';
import { endUnsentDelivery, writeOutcomes } from '../../src/webhooks/deliveries/outcome.ts';
import { createTestDatabase, type TestDatabase, useAsDistributed } from '../support/database.ts';
import { sql } from './engine-harness.ts';

const INTEGER_MAX = 2_147_483_647;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  await useAsDistributed(database);
  db = new Database({ connection: database.connection, distributed: true });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** A line with one due delivery that was attempted so often: the attempt after the greatest integer cannot be counted. */
async function dueLine(accountId: string, attempt: number) {
  await sql(
    db,
    `INSERT INTO core.delivery (account_id, delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, due_at, created_at)
     VALUES ($1, 'whd_1', 'wh_1', 1, 'evt_1', 'queue.dlq', 'pending', $2, core.clock_now(), core.clock_now())`,
    [accountId, attempt],
  );
  await sql(db, `INSERT INTO core.delivery_line VALUES ($1, 'wh_1', 0, core.clock_now())`, [accountId]);
  return { accountId, webhookId: 'wh_1', room: 1 };
}

test('an account whose claim fails keeps back the deliveries of no other, and why is told', async () => {
  const wanted = await Promise.all([dueLine('acct_a', 0), dueLine('acct_b', INTEGER_MAX), dueLine('acct_c', 3)]);
  const claim = await claimDeliveries(db, wanted);
  expect(claim.lines.map(({ accountId }) => accountId)).toEqual(['acct_a', 'acct_c']);
  expect(claim.deliveries.map(({ accountId, attempt }) => [accountId, attempt])).toEqual([
    ['acct_a', 1],
    ['acct_c', 4],
  ]);
  expect(claim.failures).toMatchObject([{ code: '22003' }]);
});

test('a claim throws when every account fails', async () => {
  await expect(claimDeliveries(db, [await dueLine('acct_d', INTEGER_MAX)])).rejects.toMatchObject({ code: '22003' });
});

const row = `SELECT status, attempt, error_code, http_status, due_at IS NULL AS over FROM core.delivery WHERE account_id = $1`;

test.each(['succeeded', 'failed', 'refused', 'aborted', 'unsent'] as const)(
  'an attempt that ends as %s after another claim took its delivery changes nothing of it',
  async (verdict) => {
    const { accountId, webhookId } = await dueLine(`acct_${verdict}`, 1);
    const write = async (attempt: number) => {
      const delivery = { accountId, deliveryId: 'whd_1', attempt };
      if (verdict === 'unsent') return endUnsentDelivery(db, delivery, 'cancelled', null);
      const result = {
        verdict,
        httpStatus: 200,
        errorCode: 'late',
        latencyMs: 1,
        snippet: null,
        retryAfter: null,
        requestHeaders: '{}',
      };
      const of = { webhookId, attempts: null, retryPolicy: 'default' as const, wasHealthy: true, result };
      await writeOutcomes(db, [{ ...delivery, ...of }]);
    };
    // The lease of the first attempt was over, and the second has the delivery.
    await sql(db, 'UPDATE core.delivery SET attempt = 2 WHERE account_id = $1', [accountId]);
    const [claimed] = await sql(db, row, [accountId]);
    await write(1);
    expect(await sql(db, row, [accountId])).toEqual([claimed]);
    await write(2);
    expect(await sql(db, row, [accountId])).not.toEqual([claimed]);
  },
);
