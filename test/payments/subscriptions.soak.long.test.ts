// Two processes see to subscriptions month after month, and are killed again and again. At every moment an account's tier is that of
// its subscription; at the end everything that happened was told once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { testCard } from '../../src/payments/sandbox/cards.ts';
import { payWith } from '../../src/payments/sandbox/pay.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
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
const ACCOUNTS = isSoak ? 40 : 8;
const DAY_SECONDS = 86_400;
// Longer than the lease of what a killed process read.
const LEASE_SECONDS = 200;

/** What becomes of the accounts, in turn. */
const kinds = [
  // told null: each month is renewed.
  { card: 'pays', cancel: null, afterMonth: 'active', told: null },
  { card: 'declines_later', cancel: null, afterMonth: 'past_due', told: ['subscription.cancelled', 'tier.downgraded'] },
  {
    card: 'pays',
    cancel: { at_period_end: true },
    afterMonth: 'cancelled',
    told: ['subscription.cancelled', 'tier.downgraded'],
  },
  {
    card: 'pays',
    cancel: { at_period_end: false },
    afterMonth: 'cancelled',
    told: ['subscription.cancelled', 'tier.downgraded'],
  },
] as const;

interface House {
  readonly place: Place;
  service: ServiceProcess;
}

let watcher: TestService;
let houses: House[];
let accounts: { readonly account: TestAccount; readonly kind: (typeof kinds)[number] }[];

// What is told is counted over more than three months, and events are kept for 30 days: while the test holds its lease, no process removes any.
const holdEventRetention = statement(
  'test_hold_event_retention',
  `INSERT INTO core.sweep_lease (name, holder, lease_until) VALUES ('events.retention', 'the test', 'infinity')`,
);

beforeAll(async () => {
  // It answers for nothing here: the test's own eyes and hands in the database.
  watcher = await startTestService({ env: { ROLES: 'web,render' } });
  await watcher.core.db.query(holdEventRetention, []);
  const made = await Promise.all(Array.from({ length: ACCOUNTS }, () => createTestAccount(watcher.core, 0)));
  accounts = made.map((account, i) => ({ account, kind: kinds[i % kinds.length] as (typeof kinds)[number] }));
  const env = { DATABASE_URL: watcher.database.url, SECRETS_KEY, TEST_CLOCK: 'on', RATE_LIMITS: 'off' };
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

const anyHouse = () => houses[Math.floor(Math.random() * houses.length)] as House;

/** Repeats what a killed process did not answer, at any of the two. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function insist({ secret }: TestAccount, path: string, input: object): Promise<any> {
  for (;;) {
    const reply = await client(anyHouse().place.url, secret)('POST', path, input).catch(() => null);
    if (reply?.status === 200) return reply.body.data;
    await sleep(50);
  }
}

async function subscribe({ account, kind }: (typeof accounts)[number]): Promise<void> {
  const { checkout_url } = await insist(account, '/v1/account/tier/upgrade', { target: 'pro' });
  const token = checkout_url.slice(checkout_url.lastIndexOf('/') + 1);
  await payWith(watcher.core.db, token, testCard(kind.card) as NonNullable<ReturnType<typeof testCard>>);
}

const readState = statement(
  'test_subscription_state',
  `SELECT a.tier, s.status, s.wish FROM core.account a, core.subscription s WHERE a.account_id = $1 AND s.account_id = $1`,
);
const readTold = statement(
  'test_subscription_told',
  `SELECT e.event_id AS id, e.type FROM (SELECT event_id, type FROM core.event WHERE account_id = $1
                                         UNION SELECT event_id, type FROM core.event_outbox WHERE account_id = $1) e
    WHERE e.type LIKE 'subscription.%' OR e.type LIKE 'tier.%'`,
);
/** Types of events by their ids, of each account: the service forgets them after a month. */
const heard = new Map<string, Map<string, string>>();

async function stateOf({ accountId }: TestAccount) {
  type State = { tier: string; status: string; wish: string | null };
  const { rows } = await watcher.core.db.query<State>(readState, [accountId]);
  const isLive = rows.some(({ status }) => status === 'active' || status === 'past_due');
  // One row, read with its account at one moment.
  for (const { tier } of rows) expect([accountId, tier]).toEqual([accountId, isLive ? 'pro' : 'standard']);
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0];
}

/** All so far. */
async function toldOf({ accountId }: TestAccount): Promise<string[]> {
  const { rows } = await watcher.core.db.query<{ id: string; type: string }>(readTold, [accountId]);
  const all = heard.get(accountId) ?? new Map<string, string>();
  for (const { id, type } of rows) all.set(id, type);
  heard.set(accountId, all);
  return [...all.values()].sort();
}

/** Lets time pass, and what is due by then happen. */
async function pass(seconds: number, isDone: (each: (typeof accounts)[number]) => Promise<boolean>): Promise<void> {
  await Promise.all(accounts.map(({ account }) => toldOf(account)));
  await watcher.advance(seconds);
  for (let tries = 0; tries < 240; tries += 1) {
    const done = await Promise.all(accounts.map(isDone));
    await Promise.all(accounts.map(({ account }) => toldOf(account)));
    if (done.every(Boolean)) return;
    await sleep(250);
    if (tries % 8 === 7) await watcher.advance(LEASE_SECONDS);
  }
  expect(await Promise.all(accounts.map(async ({ account }) => [await stateOf(account), await toldOf(account)]))).toBe(
    'as expected, within a minute',
  );
}

/** Kills as often as is to be, unless `isOver`. */
async function killer(isOver: () => boolean): Promise<number> {
  let kills = 0;
  for (; kills < KILLS && !isOver(); kills += 1) {
    await sleep(Math.random() * 600);
    const house = anyHouse();
    await house.service.end('SIGKILL');
    house.service = await startProcess(house.place);
  }
  return kills;
}

/** Month after month, at least three, until all kills are done. Answers how many renewals who pays had. */
async function live(isKilled: () => boolean): Promise<number> {
  const renewals =
    (count: number) =>
    async ({ account, kind }: (typeof accounts)[number]) => {
      await stateOf(account);
      const renewed = (await toldOf(account)).filter((type) => type === 'subscription.renewed').length;
      return kind !== kinds[0] || renewed === count;
    };
  await Promise.all(accounts.map(subscribe));
  await pass(61, async ({ account }) => (await stateOf(account))?.status === 'active');
  await Promise.all(
    accounts.map(({ account, kind }) => kind.cancel && insist(account, '/v1/account/subscription/cancel', kind.cancel)),
  );
  await pass(32 * DAY_SECONDS, async ({ account, kind }) => {
    const state = await stateOf(account);
    return state?.wish === null && state.status === kind.afterMonth;
  });
  await pass(7 * DAY_SECONDS + 3_600, async ({ account, kind }) => {
    const state = await stateOf(account);
    return state?.wish === null && state.status === (kind === kinds[0] ? 'active' : 'cancelled');
  });
  let months = 1;
  while (months < 3 || !isKilled()) {
    months += 1;
    await pass(31 * DAY_SECONDS, renewals(months));
  }
  return months;
}

test(`${ACCOUNTS} subscriptions, two processes, ${KILLS} kills: the tier is the subscription's, everything is told once`, {
  timeout: 600_000,
}, async () => {
  let isKilled = false;
  let isOver = false;
  const killing = killer(() => isOver).finally(() => {
    isKilled = true;
  });
  const living = live(() => isKilled).finally(() => {
    isOver = true;
  });
  const [months, kills] = await Promise.all([living, killing]);
  expect(kills).toBe(KILLS);
  for (const { account, kind } of accounts) {
    const begun = ['subscription.activated', 'tier.upgraded'];
    const told = kind.told ?? Array(months).fill('subscription.renewed');
    expect(await toldOf(account)).toEqual([...begun, ...told].sort());
  }
});
