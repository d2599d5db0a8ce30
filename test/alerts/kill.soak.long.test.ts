// The service is killed again and again while rules change their states: each change is told once, and none is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTurn } from '../../src/core/background/turns.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { LOOKS } from '../../src/modules/alerts/limits.ts';
import {
  createPlace,
  isAlive,
  type Place,
  type ServiceProcess,
  startProcess,
  until,
  workersOf,
} from '../support/process.ts';
import { client, createTestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';
import { Receiver } from './harness.ts';

const KILLS = rounds(4);
const RULES = 40;
/** Changes of the state of each rule. */
const FLIPS = 6;

let place: Place;
let running: ServiceProcess;
let receiver: Receiver;
let db: Database;
beforeAll(async () => {
  receiver = await Receiver.start();
  place = await createPlace({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', RATE_LIMITS: 'off', WORKERS: '2' });
  running = await startProcess(place);
  db = new Database({ connection: readConnection(place.dataDir) as Connection, connections: 4, hotConnections: 1 });
});
afterAll(async () => {
  await receiver.stop();
  await db?.end();
  await place?.remove();
});

// The next step of each rule is now: the one before is forgotten, so that no test waits for minutes.
const makeDue = {
  name: 'test_alerts_due',
  text: `UPDATE alerts.rule SET due_at = core.clock_now(), looked_at = NULL, attempt = attempt + 1 WHERE account_id = $1`,
};
const countStates = {
  name: 'test_alerts_states',
  text: `SELECT count(*) FILTER (WHERE state = $2 AND looked_at IS NOT NULL)::int AS there FROM alerts.rule WHERE account_id = $1`,
};
const countTold = {
  name: 'test_alerts_told',
  text: `SELECT (SELECT coalesce(sum(notices), 0)::int FROM alerts.change WHERE account_id = $1) AS told,
                (SELECT count(*)::int FROM alerts.change WHERE account_id = $1) AS changes,
                (SELECT count(*)::int FROM alerts.post WHERE account_id = $1)
                  + (SELECT count(*)::int FROM alerts.notice WHERE account_id = $1) AS waiting`,
};

test(`${RULES * FLIPS} changes and ${KILLS} times SIGKILL`, { timeout: 600_000 }, async () => {
  const core = { db, secrets: new Secrets(await loadServerSecret({ dataDir: place.dataDir })) } as unknown as Services;
  const { accountId, secret } = await createTestAccount(core, 100);
  const call = client(place.url, secret);
  const ok = async (method: string, path: string, body?: unknown) => {
    for (;;) {
      const reply = await call(method, path, body).catch(() => null);
      if (reply?.status === 200) return;
      // Its process is being killed.
      if (reply !== null) expect(reply.status, `${path}: ${reply.text}`).toBeGreaterThanOrEqual(500);
      await sleep(50);
    }
  };
  for (const name of ['jobs', 'told']) await ok('POST', '/v1/queue/create', { name });
  const when = { queue: { queue: 'jobs', measure: 'depth' } };
  const notify = [{ url: receiver.url() }, { queue: 'told' }];
  for (let n = 0; n < RULES; n += 1) await ok('PUT', '/v1/alerts/rule/set', { rule: `r${n}`, when, above: 0, notify });
  const look = async () => {
    await db.query(makeDue, [accountId]);
    await db.transaction(async (tx) => openTurn(tx, accountId, LOOKS, await clockNow(tx)));
  };
  let flips = 0;
  const flipping = (async () => {
    for (; flips < FLIPS; flips += 1) {
      const state = flips % 2 === 0 ? 'firing' : 'ok';
      if (state === 'firing')
        await ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: {}, idempotency_key: `f${flips}` });
      else await ok('POST', '/v1/queue/purge/jobs', {});
      await look();
      await until(async () => {
        const { rows } = await db.query<{ there: number }>(countStates, [accountId, state]);
        return rows[0]?.there === RULES;
        // A rule whose process died is due when its lease ends.
      }, 200_000);
    }
  })();
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await until(() => receiver.told.length >= (kill * RULES * FLIPS) / (KILLS + 2), 200_000);
    const workers = workersOf(running.pid);
    await running.end('SIGKILL');
    // They hold the port until they have seen it.
    await until(() => !workers.some(isAlive));
    running = await startProcess(place);
  }
  await flipping;
  await until(async () => (await db.query<{ waiting: number }>(countTold, [accountId])).rows[0]?.waiting === 0);
  const { told, changes } = (await db.query<{ told: number; changes: number }>(countTold, [accountId])).rows[0] ?? {};
  expect({ told, changes }).toEqual({ told: 2 * RULES * FLIPS, changes: RULES * FLIPS });
  const stats = await call('GET', '/v1/queue/stats/told');
  expect(stats.body.data.message_count).toBe(RULES * FLIPS);
  // A post may be sent twice when its process dies before it is written: receivers tell by its id.
  const ids = new Map(receiver.told.map(({ body }) => [body.notice_id, `${body.rule} ${body.type}`]));
  expect(ids.size).toBe(RULES * FLIPS);
  const counts = [...Map.groupBy(ids.values(), (each) => each).values()].map(({ length }) => length);
  expect(new Set(counts)).toEqual(new Set([FLIPS / 2]));
});
