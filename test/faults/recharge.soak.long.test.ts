// Two processes and 64 callers drain a wallet across its trigger, over midnight and the end of a month, and are killed in the middle of
// anything. Never are two charges in flight, both caps are met exactly, and whatever the provider took is credited and told once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { advanceTestClock } from '../../src/core/process/test-clock.ts';
import { chargeWork } from '../../src/core/wallet/charge/charge-work.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import { statement } from '../../src/db/statement.ts';
import { DAY_MS, startOfNextMonth } from '../../src/lib/time.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { leaveCard } from '../support/leave-card.ts';
import { createPlace, type Place, type ServiceProcess, startProcess, until } from '../support/process.ts';
import {
  client,
  createTestAccount,
  SECRETS_KEY,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { isSoak, rounds } from '../support/soak.ts';

const KILLS = rounds(20);
const CALLERS = 64;
const PER_DAY = isSoak ? 5 : 2;
const PER_MONTH = isSoak ? 12 : 3;
const TRIGGER = 5n * 10n ** 9n;
/** Above the trigger at the edge of it: a few calls. */
const EDGE = 100_000n;
const CYCLE_MS = 2_000;

interface House {
  readonly place: Place;
  service: ServiceProcess;
}

let watcher: TestService;
let houses: House[];
let account: TestAccount;

beforeAll(async () => {
  watcher = await startTestService({ env: { ROLES: 'web,render' } });
  account = await createTestAccount(watcher.core, 6);
  const env = { DATABASE_URL: watcher.database.url, SECRETS_KEY, TEST_CLOCK: 'on' };
  houses = await Promise.all(
    [0, 1].map(async () => {
      const place = await createPlace(env);
      return { place, service: await startProcess(place) };
    }),
  );
});
afterAll(async () => {
  await Promise.all((houses ?? []).map(({ place }) => place.remove()));
  await watcher?.stop();
});

interface Attempt {
  readonly attempt_id: string;
  readonly status: string;
  readonly day_start: number;
  readonly month_start: number;
  readonly created_at: number;
  readonly settled_at: number | null;
}

const readAttempts = statement(
  'test_attempts',
  `SELECT attempt_id, status, day_start, month_start, created_at, settled_at FROM core.recharge_attempt
    WHERE account_id = $1 ORDER BY created_at`,
);
const readTaken = statement(
  'test_taken',
  `SELECT p.id, p.amount_minor,
          (SELECT count(*) FROM core.credit_grant g
            WHERE g.account_id = $1 AND g.source = 'recharge' AND g.source_id = p.id AND g.amount_nanos = 5000000000) AS grants,
          (SELECT count(*) FROM (SELECT type, data FROM core.event WHERE account_id = $1
                                 UNION ALL SELECT type, data FROM core.event_outbox WHERE account_id = $1) e
            WHERE e.type = 'autorecharge.charged' AND e.data::json -> 'object' ->> 'attempt_id' = p.id) AS told
     FROM core.sandbox_payment p
    WHERE p.account_id = $1 AND p.purpose = 'charge'`,
);

const attempts = async () => (await watcher.core.db.query<Attempt>(readAttempts, [account.accountId])).rows;

/** Brings the wallet down to the edge of its trigger, as work that is charged in a transaction of its own. */
function toTheEdge(): Promise<void> {
  const { db, prices } = watcher.core;
  return db.transaction(async (tx) => {
    const opened = await openWallet(tx, account.accountId);
    const above = (opened?.wallet.balance_nanos ?? 0n) - TRIGGER - EDGE;
    if (opened === null || above < 20_000n) return;
    await chargeWork(tx, opened, prices, [
      { capability: 'queue.publish', keyId: account.keyId, units: above / 20_000n },
    ]);
  });
}

/** Publishes until told, at either process; what a killed one did not answer is not repeated. */
async function caller(n: number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { url } = (houses[n % 2] as House).place;
    const call = client(url, account.secret);
    await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n } }).catch(() => undefined);
    await sleep(100);
  }
}

let kills = 0;

/** Kills one of the two about when the wallet is looked at, and starts it again. */
async function kill(): Promise<void> {
  if (kills === KILLS) return;
  const house = houses[kills % 2] as House;
  kills += 1;
  await sleep(Math.random() * 300);
  await house.service.end('SIGKILL');
  house.service = await startProcess(house.place);
}

/** Minutes go by until so many more were charged, and some minutes more. */
async function minutes(charges: number): Promise<void> {
  const goal = (await attempts()).length + charges;
  const count = async () => (await attempts()).filter(({ status }) => status === 'succeeded').length;
  for (let more = 2, left = 40; more > 0 && left > 0; left -= 1) {
    await toTheEdge();
    const before = await count();
    const killed = kill();
    const deadline = performance.now() + CYCLE_MS;
    while (before < goal && (await count()) === before && performance.now() < deadline) await sleep(20);
    await killed;
    if ((await count()) >= goal) more -= 1;
    await advanceTestClock(watcher.core.db, 61);
  }
}

async function jumpTo(atMs: number): Promise<void> {
  await advanceTestClock(watcher.core.db, Math.ceil((atMs - (await clockNow(watcher.core.db))) / 1_000));
}

/** The last day of a month, with hours to go, then two days of the next. */
async function overMonthsEnd(): Promise<void> {
  const nowMs = await clockNow(watcher.core.db);
  const next = startOfNextMonth(nowMs);
  const monthEnd = next - nowMs > 3 * 3_600_000 ? next : startOfNextMonth(next);
  await jumpTo(monthEnd - 2 * 3_600_000);
  await minutes(PER_DAY);
  await jumpTo(monthEnd);
  await minutes(PER_DAY);
  for (let left = PER_MONTH - PER_DAY, day = 1; left >= 0; left -= PER_DAY, day += 1) {
    await jumpTo(monthEnd + day * DAY_MS);
    await minutes(Math.min(left, PER_DAY));
    if (left === 0) break;
  }
}

async function prepare(): Promise<void> {
  const call = client(watcher.url, account.secret);
  const done = async (method: string, path: string, body: object) => {
    const reply = await call(method, path, body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  };
  await done('POST', '/v1/queue/create', { name: 'jobs' });
  await leaveCard((await done('POST', '/v1/account/payment_method/attach', {})).checkout_url);
  const caps = { max_per_day: PER_DAY, max_per_month: PER_MONTH };
  await done('PUT', '/v1/account/autorecharge/configure', { trigger_balance: 5, recharge_amount: 5, ...caps });
}

function tally(all: readonly Attempt[], by: 'day_start' | 'month_start'): number[] {
  return [...Map.groupBy(all, (attempt) => attempt[by]).values()].map((of) => of.length);
}

test(`a wallet drained by ${CALLERS} callers at two processes over a month's end, ${KILLS} kills`, {
  timeout: 600_000,
}, async () => {
  await prepare();
  let over = false;
  const callers = Array.from({ length: CALLERS }, (_, n) => caller(n, () => over));
  await overMonthsEnd().finally(() => {
    over = true;
  });
  await Promise.all(callers);
  expect(kills).toBe(KILLS);
  // What a killed process had open is another one's once its lease has ended.
  await advanceTestClock(watcher.core.db, 180);
  await until(async () => (await attempts()).every(({ status }) => status !== 'open'));
  const all = await attempts();
  expect(all.map(({ status }) => status)).toEqual(Array(PER_DAY + PER_MONTH).fill('succeeded'));
  expect(Math.max(...tally(all, 'day_start'))).toBe(PER_DAY);
  expect(tally(all, 'month_start')).toEqual([PER_DAY, PER_MONTH]);
  all.slice(1).forEach((attempt, i) => {
    const before = all[i] as Attempt;
    expect(attempt.created_at - before.created_at).toBeGreaterThanOrEqual(60_000);
    expect(attempt.created_at).toBeGreaterThanOrEqual(before.settled_at as number);
  });
  const { rows: taken } = await watcher.core.db.query<{ id: string; grants: bigint; told: bigint }>(readTaken, [
    account.accountId,
  ]);
  expect(taken.map(({ id }) => id).sort()).toEqual(all.map(({ attempt_id }) => attempt_id).sort());
  for (const { grants, told } of taken) expect([grants, told]).toEqual([1n, 1n]);
  const { findings } = await examine({ db: watcher.core.db, secrets: watcher.core.secrets, modules: [] });
  expect(findings).toEqual([]);
});
