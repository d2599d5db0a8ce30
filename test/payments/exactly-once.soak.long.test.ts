// Two processes take top-ups and apply payments, and are killed again and again, in the middle of anything. At the end every payment that
// was paid is credited once and told once, every other one not at all; what was granted is what the provider took.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advanceTestClock } from '../../src/core/process/test-clock.ts';
import { statement } from '../../src/db/statement.ts';
import { testCard } from '../../src/payments/sandbox/cards.ts';
import { payWith } from '../../src/payments/sandbox/pay.ts';
import { examine } from '../../src/upkeep/doctor.ts';
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
const TOPUPS = isSoak ? 100 : 24;
const PAYERS = 8;

interface House {
  readonly place: Place;
  service: ServiceProcess;
}

let watcher: TestService;
let houses: House[];
let accounts: TestAccount[];

beforeAll(async () => {
  // It answers for nothing here: the test's own eyes and hands in the database.
  watcher = await startTestService({ env: { ROLES: 'web,render' } });
  // Several: an account may have few top-ups that nobody has paid.
  accounts = await Promise.all([0, 1, 2, 3].map(() => createTestAccount(watcher.core, 0)));
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

const anyHouse = () => houses[Math.floor(Math.random() * houses.length)] as House;

/** Repeats what a killed process did not answer, at any of the two. */
async function insist<T>(act: (url: string) => Promise<T | null>): Promise<T> {
  for (;;) {
    const answer = await act(anyHouse().place.url).catch(() => null);
    if (answer !== null) return answer;
    await sleep(50);
  }
}

async function payer(numbers: Iterator<number>): Promise<void> {
  for (let next = numbers.next(); next.done !== true; next = numbers.next()) {
    const key = `order ${next.value}`;
    const { secret } = accounts[next.value % accounts.length] as TestAccount;
    const link = await insist(async (url) => {
      const { status, body } = await client(url, secret)('POST', '/v1/account/topup', { idempotency_key: key });
      return status === 200 ? (body.data.checkout_url as string) : null;
    });
    const token = link.slice(link.lastIndexOf('/') + 1);
    await act(next.value, token);
  }
}

/** Most pay on the page; of some nobody here is told; some are declined, some leave. */
async function act(number: number, token: string): Promise<void> {
  if (number % 10 === 9) return;
  const card = number % 10 === 8 ? 'declines' : 'pays';
  if (number % 10 === 7) {
    await payWith(watcher.core.db, token, testCard('pays') as NonNullable<ReturnType<typeof testCard>>);
    return;
  }
  await insist(async (url) => {
    const answer = await fetch(`${url}/pay/${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: `card=${card}`,
      redirect: 'manual',
    });
    return answer.status === 303 ? true : null;
  });
}

async function killer(isOver: () => boolean): Promise<number> {
  let kills = 0;
  while (kills < KILLS || !isOver()) {
    if (kills >= KILLS) return kills;
    await sleep(Math.random() * 400);
    const house = anyHouse();
    await house.service.end('SIGKILL');
    house.service = await startProcess(house.place);
    kills += 1;
  }
  return kills;
}

const readOutcome = statement(
  'test_exactly_once',
  `SELECT t.topup_id, t.status, p.status AS payment,
          (SELECT count(*) FROM core.credit_grant g
            WHERE g.account_id = $1 AND g.source = 'topup' AND g.source_id = t.topup_id) AS grants,
          (SELECT count(*) FROM (SELECT type, data FROM core.event WHERE account_id = $1
                                 UNION ALL SELECT type, data FROM core.event_outbox WHERE account_id = $1) e
            WHERE e.type = 'topup.succeeded' AND e.data::json -> 'object' ->> 'topup_id' = t.topup_id) AS told
     FROM core.topup t LEFT JOIN core.sandbox_payment p ON p.id = t.topup_id
    WHERE t.account_id = $1`,
);

interface Outcome {
  readonly topup_id: string;
  readonly status: string;
  readonly payment: string | null;
  readonly grants: bigint;
  readonly told: bigint;
}

async function outcomesOf({ accountId }: TestAccount): Promise<readonly Outcome[]> {
  return (await watcher.core.db.query<Outcome>(readOutcome, [accountId])).rows;
}

const outcomes = async () => (await Promise.all(accounts.map(outcomesOf))).flat();

test(`${TOPUPS} top-ups, two processes, ${KILLS} kills: every paid one is credited once, every other one never`, {
  timeout: 600_000,
}, async () => {
  const numbers = Array.from({ length: TOPUPS }, (_, i) => i).values();
  let over = false;
  const paying = Promise.all(Array.from({ length: PAYERS }, () => payer(numbers))).finally(() => {
    over = true;
  });
  const [kills] = await Promise.all([killer(() => over), paying]);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
  // What nobody told, or was told to a process that died, the schedule finds.
  await advanceTestClock(watcher.core.db, 16 * 60);
  await until(
    async () => (await outcomes()).every(({ payment, status }) => (payment === 'paid') === (status === 'succeeded')),
    60_000,
  );
  const all = await outcomes();
  expect(all.length).toBeGreaterThanOrEqual(TOPUPS);
  const paid = all.filter(({ payment }) => payment === 'paid');
  expect(paid.length).toBeGreaterThanOrEqual(Math.floor(TOPUPS * 0.8));
  for (const one of all) {
    const times = one.payment === 'paid' ? 1n : 0n;
    expect([one.grants, one.told], one.topup_id).toEqual([times, times]);
  }
  const balances = await Promise.all(
    accounts.map(
      async ({ secret }) => (await client(watcher.url, secret)('GET', '/v1/account/balance')).body.data.balance_usd,
    ),
  );
  expect(balances.reduce((sum, one) => sum + one, 0)).toBe(10 * paid.length);
  const { findings } = await examine({ db: watcher.core.db, secrets: watcher.core.secrets, modules: [] });
  expect(findings).toEqual([]);
});
