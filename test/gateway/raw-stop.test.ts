// A stop while streams are open: what was made is charged, what was half received is not kept, and the process does not wait for them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openRaw } from '../support/raw.ts';
import { client, createTestAccount, startTestService } from '../support/service.ts';
import { type DepotState, depotModule } from './raw-fixture.ts';

/** What stopping may take in all. */
const PIECES = 3;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a stop ends streams in order: what was made is charged, no hold is left, half a body is not stored', async () => {
  const state: DepotState = { blobs: new Map(), taken: 0, gate: Promise.resolve(), made: 0 };
  const bench = await startTestService({ database, extraModules: [depotModule(state)] });
  const account = await createTestAccount(bench.core, 1);
  const authorization = `Bearer ${account.secret}`;
  const upload = await openRaw(bench.url);
  upload.send(
    `PUT /depot/north/half HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-length: 200000\r\n\r\n`,
  );
  // Slow, and fast enough to be waited for.
  const trickle = setInterval(() => upload.send('x'.repeat(1_000)), 100);
  await expect.poll(() => state.taken).toBeGreaterThan(2_000);
  const told = await fetch(`${bench.url}/depot-story/1000?pause=${PIECES}&forever`, {
    method: 'POST',
    headers: { authorization },
  });
  const ended = told.text().then(
    () => 'whole',
    () => 'cut',
  );
  await expect.poll(() => state.made).toBe(PIECES);

  await bench.stop();
  clearInterval(trickle);
  expect(await ended).toBe('cut');
  expect(await upload.receive()).toMatch(/^HTTP\/1\.1 503 [\s\S]*SERVICE_UNAVAILABLE/);
  expect(state.blobs.size).toBe(0);

  const after = await startTestService({ database, extraModules: [depotModule(state)] });
  const { body } = await client(after.url, account.secret)('GET', '/v1/account/balance');
  const { rows } = await after.core.db.query<{ held: bigint; holds: bigint }>(
    {
      name: 'test_stop_holds',
      text: `SELECT w.held_nanos AS held, (SELECT count(*) FROM core.hold h WHERE h.account_id = $1 AND h.status = 'active') AS holds
               FROM core.wallet w WHERE w.account_id = $1`,
    },
    [account.accountId],
  );
  expect([body.data.balance_usd, rows[0]]).toEqual([1 - PIECES * 0.00001, { held: 0n, holds: 0n }]);
  await after.stop();
});
