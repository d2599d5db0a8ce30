// The service is killed again and again between the commit of an effect and the answer of its receiver. Afterwards every committed
// event has arrived, under one webhook-id each, and none of an effect that was not committed.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendEvents } from '../../src/core/events/outbox.ts';
import { advanceTestClock } from '../../src/core/process/test-clock.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { createTestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';
import { type Receiver, register, sql, startReceiver, until, verify } from '../webhooks/engine-harness.ts';

const KILLS = rounds(5);
const EVENTS_PER_COMMIT = 5;
let database: TestDatabase;
let place: Place;
let db: Database;
let receiver: Receiver;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await createPlace({
    DATABASE_URL: database.url,
    TEST_CLOCK: 'on',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  });
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  receiver = await startReceiver(async () => {
    await sleep(Math.random() * 60);
  });
  service = await startProcess(place);
});
afterAll(async () => {
  await place?.remove();
  await db?.end();
  await receiver?.close();
  await database?.drop();
});

/** Commits effects of five events each, some of which roll back, until it is ended. Answers the numbers that the events carry. */
function startEffects(accountId: string) {
  const committed: number[] = [];
  const rolledBack: number[] = [];
  let n = 0;
  let done = false;
  const effect = async (numbers: readonly number[]) => {
    const fails = Math.random() < 0.2;
    const told = numbers.map((at) => ({ accountId, type: 'queue.dlq', data: { object: { at } }, requestId: null }));
    const running = db.transaction(async (tx) => {
      sendEvents(tx, told, Date.now());
      if (fails) throw new Error('rolled back');
    });
    await running.then(
      () => committed.push(...numbers),
      () => rolledBack.push(...numbers),
    );
  };
  const running = (async () => {
    while (!done) {
      await effect(Array.from({ length: EVENTS_PER_COMMIT }, () => (n += 1)));
      await sleep(Math.random() * 40);
    }
  })();
  return {
    async end() {
      done = true;
      await running;
      return { committed, rolledBack };
    },
  };
}

/** Waits until every event is delivered; the leases of killed processes end meanwhile. */
async function settled(): Promise<void> {
  await until(async () => {
    await advanceTestClock(db, 10);
    const [row] = await sql<{ open: bigint }>(
      db,
      `SELECT (SELECT count(*) FROM core.event_outbox) + (SELECT count(*) FROM core.delivery WHERE status <> 'succeeded') AS open`,
    );
    await sleep(100);
    return row?.open === 0n;
  });
}

test('kills between commit and answer lose no event, invent none, and change no webhook-id', async () => {
  const core = { db, secrets: new Secrets(await loadServerSecret({ dataDir: place.dataDir })) } as Services;
  const { accountId } = await createTestAccount(core);
  const paths = ['/a', '/b', '/c'];
  for (const path of paths) await register(core, accountId, { url: receiver.url + path });
  const effects = startEffects(accountId);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(100 + Math.random() * 900);
    await service.end('SIGKILL');
    service = await startProcess(place);
  }
  const { committed, rolledBack } = await effects.end();
  await settled();
  const events = receiver.seen.map((received) => {
    verify(received);
    const { event_id: id, data, sequence } = JSON.parse(received.body);
    expect(received.headers['webhook-id']).toBe(id);
    return { path: received.path, id: id as string, at: data.object.at as number, sequence: sequence as number };
  });
  const repeats = events.length - committed.length * paths.length;
  console.log(
    `${KILLS} kills: ${committed.length} events to ${paths.length} webhooks, ${repeats} arrived more than once`,
  );
  expect(rolledBack.length).toBeGreaterThan(0);
  for (const path of paths) {
    const own = events.filter((event) => event.path === path && event.at !== undefined);
    expect([...new Set(own.map(({ at }) => at))].sort((a, b) => a - b)).toEqual(committed);
    expect(new Set(own.map(({ id }) => id)).size).toBe(committed.length);
    const sequences = [...new Set(own.map(({ sequence }) => sequence))].sort((a, b) => a - b);
    expect(sequences).toEqual(Array.from(sequences, (_, i) => (sequences[0] as number) + i));
  }
}, 120_000);
