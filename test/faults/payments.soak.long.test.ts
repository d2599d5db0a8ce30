// Payments under kills: two processes on one database, all of which are killed again and again, also between a call of the provider and the
// commit of what it brought; messages of the provider are lost, doubled and late. Afterwards what was paid is credited once, and nothing else.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advanceTestClock } from '../../src/core/process/test-clock.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import { rideOut } from '../../src/db/ride-out.ts';
import { statement } from '../../src/db/statement.ts';
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
import { client, createTestAccount, SECRETS_KEY, type TestAccount } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { SECRET_KEY, StripeDouble, WEBHOOK_SECRET } from '../support/stripe/double.ts';
import type { Intent, Session } from '../support/stripe/objects.ts';

const TOPUPS = isSoak ? 100 : 10;
const ACCOUNTS = 10;
const MESSAGES = isSoak ? 1_000 : 60;
const KILLS = isSoak
  ? ['first', 'second', 'postgres', 'both'].flatMap((what) => Array<string>(5).fill(what))
  : ['first', 'postgres'];

let double: StripeDouble;
let places: readonly [Place, Place];
let services: [ServiceProcess, ServiceProcess];
let db: Database;

beforeAll(async () => {
  double = await StripeDouble.start();
  const env = {
    SECRETS_KEY,
    TEST_CLOCK: 'on',
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: double.url,
  };
  const first = await createPlace(env);
  const owner = await startProcess(first);
  const connection = readConnection(first.dataDir) as Connection;
  const second = await createPlace({ ...env, DATABASE_URL: urlOf(connection) });
  places = [first, second];
  services = [owner, await startProcess(second)];
  db = new Database({ connection, connections: 2, hotConnections: 1 });
});
afterAll(async () => {
  await db?.end();
  for (const place of places ?? []) await place.remove();
  await double?.stop();
});

function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgresql://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

async function kill(what: string): Promise<void> {
  // Whoever asks the provider now waits for it when it dies.
  double.faults.push({ at: /sessions/, how: 'slow', when: 'after' });
  await sleep(200);
  if (what === 'postgres' || what === 'both') signalProcess(places[0].postgresPid(), 'SIGKILL');
  for (const [i, name] of (['first', 'second'] as const).entries()) {
    if (what !== name && what !== 'both') continue;
    await services[i]?.end('SIGKILL');
    services[i] = await startProcess(places[i] as Place);
  }
  await until(async () => (await Promise.all(places.map(({ url }) => isReady(url)))).every(Boolean));
}

/** The top-up that the call makes, or null when it failed and said so; whatever breaks on the way is tried again. */
async function topUp(account: TestAccount, n: number): Promise<string | null> {
  for (let tries = 0; tries < 60; tries += 1) {
    const call = client((places[(n + tries) % 2] as Place).url, account.secret);
    const answer = await call('POST', '/v1/account/topup', { amount_usd: 5 + n, idempotency_key: `topup-${n}` }).catch(
      () => null,
    );
    if (answer?.status === 200) return answer.body.data.topup_id;
    if (answer?.status === 502) return null;
    await sleep(500);
  }
  throw new Error(`top-up ${n} got no answer`);
}

/** Each payer pays, or does not, or is declined first; also on pages whose link was lost on the way. */
function payAll(): void {
  for (const [n, session] of double.account
    .all<Session>('checkout.session', ({ status }) => status === 'open')
    .entries()) {
    const url = session.url as string;
    if (n % 5 === 0) continue;
    if (n % 5 === 1) double.account.pay(url, 'declines');
    if (n % 10 !== 1) double.account.pay(url, n % 5 === 2 ? 'slow' : 'pays');
  }
}

/** Every event some times over, in any order, to any process; a tenth of them never. */
async function sendMessages(): Promise<number> {
  const events = double.account.events.filter(() => Math.random() >= 0.1);
  const all = Array.from({ length: MESSAGES }, (_, n) => events[n % events.length] as (typeof events)[number]);
  const shuffled = all.map((event) => [Math.random(), event] as const).sort(([a], [b]) => a - b);
  let taken = 0;
  for (const [n, [, event]] of shuffled.entries()) {
    const { headers, body } = double.message(event);
    const url = `${(places[n % 2] as Place).url}/webhooks/stripe`;
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    if (answer?.status === 200) taken += 1;
    if (n % 20 === 0) await sleep(100);
  }
  return taken;
}

const paidSql = statement(
  'test_paid_topups',
  `SELECT t.topup_id, t.status, t.amount_nanos,
          (SELECT count(*) FROM core.credit_grant g
            WHERE g.account_id = t.account_id AND g.source = 'topup' AND g.source_id = t.topup_id) AS grants,
          (SELECT coalesce(sum(g.amount_nanos), 0)::bigint FROM core.credit_grant g
            WHERE g.account_id = t.account_id AND g.source = 'topup' AND g.source_id = t.topup_id) AS granted,
          (SELECT count(*) FROM core.event e
            WHERE e.account_id = t.account_id AND e.type = 'topup.succeeded' AND e.data LIKE '%' || t.topup_id || '%') AS told
     FROM core.topup t`,
);

interface PaidRow {
  readonly topup_id: string;
  readonly status: string;
  readonly amount_nanos: bigint;
  readonly grants: bigint;
  readonly granted: bigint;
  readonly told: bigint;
}

async function rows(): Promise<PaidRow[]> {
  // Connections of before the database was killed fail once.
  return (await rideOut(() => db.query<PaidRow>(paidSql, []))).rows.slice();
}

/** Ids of ours whose money is at the provider. */
function paidIds(): Set<string> {
  const paid = double.account.all<Intent>('payment_intent', ({ status }) => status === 'succeeded');
  return new Set(paid.map(({ metadata }) => metadata.id as string));
}

test('what was paid is credited and told once, and nothing else, whatever dies and whatever messages do', {
  // Each of twenty kills waits for a start.
  timeout: 600_000,
}, async () => {
  const core = { db, secrets: new Secrets(SECRETS_KEY) } as Services;
  const accounts: TestAccount[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) accounts.push(await createTestAccount(core, 0));
  const kills = (async () => {
    for (const what of KILLS) {
      await sleep(Math.random() * 1_000);
      await kill(what);
    }
  })();
  const begun: (string | null)[] = [];
  for (let n = 0; n < TOPUPS; n += 1) begun.push(await topUp(accounts[n % ACCOUNTS] as TestAccount, n));
  payAll();
  const taken = await sendMessages();
  await kills;
  // What no message told is found by the checks.
  await until(async () => {
    double.account.advance(400);
    await rideOut(() => advanceTestClock(db, 400));
    await sleep(1_000);
    payAll();
    const all = await rows();
    const paid = paidIds();
    return all.every(({ topup_id, status, told }) => !paid.has(topup_id) || (status === 'succeeded' && told > 0n));
  }, 120_000);
  const [all, paid] = [await rows(), paidIds()];
  expect(paid.size).toBeGreaterThan(TOPUPS / 2);
  expect(taken).toBeGreaterThan(MESSAGES / 4);
  for (const id of begun) if (id !== null) expect(all.map(({ topup_id }) => topup_id)).toContain(id);
  for (const row of all) {
    const once = paid.has(row.topup_id) ? 1n : 0n;
    expect([row.grants, row.granted, row.told], row.topup_id).toEqual([once, once * row.amount_nanos, once]);
  }
  const received = double.account
    .all<Intent>('payment_intent', () => true)
    .reduce((sum, { amount_received }) => sum + amount_received, 0);
  expect(all.reduce((sum, { granted }) => sum + granted, 0n)).toBe(BigInt(received) * 10_000_000n);
  const examined = await rideOut(() => examine({ db, secrets: core.secrets, modules }));
  expect(examined.findings).toEqual([]);
});
