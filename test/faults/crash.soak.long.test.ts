// The service and its PostgreSQL are killed again and again under load. Afterwards nothing accepted is lost, nothing acknowledged
// comes back, and every message is charged exactly once.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import {
  createPlace,
  isReady,
  type Place,
  type ServiceProcess,
  signalProcess,
  startProcess,
  until,
} from '../support/process.ts';
import { client, createTestAccount, type TestAccount } from '../support/service.ts';
import { isSoak, rounds } from '../support/soak.ts';
import { type Books, consume, faultsOf, newBooks, noFaults, publish, type Target } from './load.ts';

const PUBLISHERS = 16;
const CONSUMERS = 8;
const PRICE_USD = 0.00002;
const CREDIT_USD = 20;
/** What is killed, in a random order. */
const KILLS = [
  ...Array<string[]>(rounds(4)).fill(['service', 'postgres']),
  ['session', 'both'],
  isSoak ? ['both'] : [],
].flat();
const RIDES_OUT_WITHIN_MS = 10_000;

let place: Place;
let service: ServiceProcess;
let db: Database;

beforeAll(async () => {
  place = await createPlace();
  service = await startProcess(place);
  db = new Database({ connection: readConnection(place.dataDir) as Connection, connections: 2, hotConnections: 1 });
});
afterAll(async () => {
  await db?.end();
  await place?.remove();
});

async function kill(what: string): Promise<void> {
  if (what === 'service' || what === 'both') {
    if (what === 'both') signalProcess(place.postgresPid(), 'SIGKILL');
    await service.end('SIGKILL');
    service = await startProcess(place);
    return;
  }
  if (what === 'session') await killOneSession();
  else signalProcess(place.postgresPid(), 'SIGKILL');
  await sleep(50);
  await until(() => isReady(place.url), RIDES_OUT_WITHIN_MS);
}

/** PostgreSQL then ends every session and recovers by itself. */
async function killOneSession(): Promise<void> {
  const { rows } = await db.query<{ pid: number }>(
    {
      name: 'any_session',
      text: 'SELECT pid FROM pg_stat_activity WHERE state IS NOT NULL AND pid <> pg_backend_pid() LIMIT 1',
    },
    [],
  );
  signalProcess(rows[0]?.pid, 'SIGKILL');
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => [Math.random(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}

/** Lets the consumers work until the queue has been empty for longer than a lease. */
async function drain(target: Target): Promise<void> {
  const call = client(target.url, target.key);
  await until(async () => {
    const { body } = await call('GET', `/v1/queue/stats/${target.queue}`);
    return body.data.message_count === 0;
  });
}

test('kills under load lose nothing, deliver nothing acknowledged again, and charge exactly what is there', {
  timeout: 150_000,
}, async () => {
  const secrets = new Secrets(await loadServerSecret({ dataDir: place.dataDir }));
  const account = await createTestAccount({ db, secrets } as Services, CREDIT_USD);
  const target = { url: place.url, key: account.secret, queue: 'crash' };
  expect((await client(place.url, account.secret)('POST', '/v1/queue/create', { name: 'crash' })).status).toBe(200);
  const books = newBooks();
  const [noMorePublishing, noMoreConsuming] = [new AbortController(), new AbortController()];
  const publishers = Array.from({ length: PUBLISHERS }, (_, p) =>
    publish(target, books, `p${p}`, noMorePublishing.signal),
  );
  const consumers = Array.from({ length: CONSUMERS }, () => consume(target, books, noMoreConsuming.signal));
  for (const what of shuffled(KILLS)) {
    await sleep(500 + Math.random() * 1_500);
    const servicePid = service.pid;
    await kill(what);
    if (what === 'postgres' || what === 'session')
      expect([service.pid, service.child.exitCode]).toEqual([servicePid, null]);
  }
  await sleep(500);
  noMorePublishing.abort();
  await Promise.all(publishers);
  await drain(target);
  noMoreConsuming.abort();
  await Promise.all(consumers);
  await compare(books, account);
});

async function compare(books: Books, account: TestAccount): Promise<void> {
  const { units, spentUsd, balanceUsd } = await readMoney(account);
  console.log(
    `${KILLS.length} kills: ${books.accepted.size} accepted, ${books.unknown.size} without an answer, ${books.seen.size} messages, ` +
      `${books.acked.size} acknowledged, ${units} units charged, longest time without a success ${Math.round(books.longestGapMs)} ms`,
  );
  expect(books.accepted.size).toBeGreaterThan(20 * KILLS.length);
  expect(faultsOf(books)).toEqual(noFaults);
  // Messages and money agree, those included whose publisher got no answer.
  expect(units).toBe(books.seen.size);
  expect(spentUsd).toBeCloseTo(books.seen.size * PRICE_USD, 9);
  expect(balanceUsd).toBeCloseTo(CREDIT_USD - spentUsd, 9);
  expect(await examineAll()).toEqual([]);
}

async function readMoney({ accountId }: TestAccount) {
  const sums = await db.query<{ units: bigint; nanos: bigint; balance: bigint }>(
    {
      name: 'sums',
      text: `SELECT sum(l.units)::bigint AS units, -sum(l.amount_nanos)::bigint AS nanos,
                    (SELECT w.balance_nanos FROM core.wallet w WHERE w.account_id = $1) AS balance
               FROM core.ledger l WHERE l.account_id = $1 AND l.capability = 'queue.publish'`,
    },
    [accountId],
  );
  const { units, nanos, balance } = sums.rows[0] as { units: bigint; nanos: bigint; balance: bigint };
  return { units: Number(units), spentUsd: Number(nanos) / 1e9, balanceUsd: Number(balance) / 1e9 };
}

async function examineAll() {
  const secrets = new Secrets(await loadServerSecret({ dataDir: place.dataDir }));
  return (await examine({ db, secrets, modules })).findings;
}
