// What an SDK is told when a budget or an empty wallet refuses its event: to wait, but never so long that it would not notice
// that the cap was raised. Nothing of a refused event is left, so the same event is taken later.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import type { Reply } from '../support/service.ts';
import { untilTimeOfDay } from '../support/time-of-day.ts';
import { CAPTURE_NANOS, ErrorsBench } from './harness.ts';
import { envelope, eventId, SentryBench } from './sentry-harness.ts';

const DAY_SECONDS = 86_400;
const EVENT_USD = Number(CAPTURE_NANOS) / 1e9;
/** Of padding: longer than what is read and charged where it arrives. */
const LONG = 40_000;

let shared: SentryBench;
let bench: SentryBench;
beforeAll(async () => {
  shared = await SentryBench.of(await ErrorsBench.start());
});
beforeEach(async () => {
  bench = await SentryBench.of(shared);
  await untilTimeOfDay(bench.service, DAY_SECONDS / 2);
});
afterAll(() => shared.service.stop());

const event = (fields: Record<string, unknown> = {}) => ({ event_id: eventId(), message: 'it broke', ...fields });
const setBudget = (hardCapUsd: number | null, period = 'daily') =>
  bench.ok('PUT', '/v1/account/budget/set', { period, hard_cap_usd: hardCapUsd });
const usedUsd = async () => (await bench.ok('GET', '/v1/account/budget/get')).used_usd;

/** Refused as SDKs understand it: they read the status and either of the two headers. */
function expectWait(reply: Reply, seconds: number, reason: string): void {
  expect([reply.status, reply.body.code, reply.body.code_detail]).toEqual([429, 'INSUFFICIENT_CREDIT', reason]);
  expect(reply.headers.get('retry-after')).toBe(String(seconds));
  expect(reply.headers.get('x-sentry-rate-limits')).toBe(`${seconds}::organization:insufficient_credit`);
  expect(reply.headers.get('access-control-expose-headers')).toContain('X-Sentry-Rate-Limits, Retry-After');
}

/** The account has exactly so many events, each paid for and told about, and no trace of another. */
async function expectTaken(events: number): Promise<void> {
  const { items } = await bench.list({ limit: 100 });
  const { groups } = await bench.groups();
  expect([items.length, await bench.countEvents()]).toEqual([events, events]);
  expect(groups.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(events);
  expect((await bench.told()).length).toBe(groups.length);
  expect(await bench.spentNanos()).toBe(BigInt(events) * CAPTURE_NANOS);
}

type Send = (sent: ReturnType<typeof event>) => Promise<Reply>;
const ways: [string, number, Send][] = [
  ['an envelope', 0, (sent) => bench.sendEvent(sent)],
  [
    'an envelope that alone names the key',
    0,
    (sent) => bench.post(bench.url('envelope', null), envelope(sent, { dsn: bench.dsn })),
  ],
  ['an event by itself', 0, (sent) => bench.post(bench.url('store'), JSON.stringify(sent))],
  ['a long envelope', LONG, (sent) => bench.sendEvent(sent)],
];

describe('a budget that is used up', () => {
  test.each(ways)('%s waits 300 s and is taken once the cap is raised', async (_, padding, send) => {
    const own = (name: string) => event({ message: name, extra: { padding: 'word '.repeat(padding) } });
    await setBudget(EVENT_USD);
    expect((await send(own('first'))).status).toBe(200);
    const sent = own('second');
    for (const _again of [1, 2]) expectWait(await send(sent), 300, 'budget_daily');
    await expectTaken(1);
    expect(await usedUsd()).toBeCloseTo(EVENT_USD, 12);

    await setBudget(2 * EVENT_USD);
    // Sent again by an SDK that did not hear the answer, it is still one event.
    for (const _again of [1, 2]) {
      const reply = await send(sent);
      expect([reply.status, reply.body], reply.text).toEqual([200, { id: sent.event_id }]);
    }
    await expectTaken(2);
    expect(await usedUsd()).toBeCloseTo(2 * EVENT_USD, 12);
    expect((await bench.captured(sent.event_id)).message).toBe('second');
    expectWait(await send(own('third')), 300, 'budget_daily');
  });

  test('of a month makes an SDK wait 300 s as well', async () => {
    await setBudget(0, 'monthly');
    const sent = event();
    expectWait(await bench.sendEvent(sent), 300, 'budget_monthly');
    await expectTaken(0);
    await setBudget(null, 'monthly');
    expect((await bench.sendEvent(sent)).status).toBe(200);
    await expectTaken(1);
  });

  test('of a day that ends sooner makes an SDK wait to its end, and then the event is taken', async () => {
    await untilTimeOfDay(bench.service, DAY_SECONDS - 100);
    await setBudget(EVENT_USD);
    expect((await bench.sendEvent(event())).status).toBe(200);
    const sent = event({ message: 'it broke again' });
    const reply = await bench.sendEvent(sent);
    const seconds = Number(reply.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(40);
    expect(seconds).toBeLessThanOrEqual(100);
    expectWait(reply, seconds, 'budget_daily');
    await bench.service.advance(seconds);
    expect((await bench.sendEvent(sent)).status).toBe(200);
    await expectTaken(2);
  });

  test('does not refuse an event that it paid for already', async () => {
    const sent = event();
    expect((await bench.sendEvent(sent)).status).toBe(200);
    await setBudget(0);
    expect((await bench.sendEvent(sent)).body).toEqual({ id: sent.event_id });
    expectWait(await bench.sendEvent(event()), 300, 'budget_daily');
    await expectTaken(1);
  });

  test('lets exactly as many of many events at once through as it pays for', async () => {
    await setBudget(0.000_15);
    const replies = await Promise.all(Array.from({ length: 20 }, () => bench.sendEvent(event())));
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(17);
    for (const reply of refused) expectWait(reply, 300, 'budget_daily');
    await expectTaken(3);
  });

  test('of one account makes no other wait', async () => {
    await setBudget(0);
    expectWait(await bench.sendEvent(event()), 300, 'budget_daily');
    expect((await shared.sendEvent(event())).status).toBe(200);
  });
});

test('a spend cap of the key makes an SDK wait 300 s at most, and tells the world nothing of the account', async () => {
  const { key } = await bench.ok('GET', '/v1/account/keys/list').then(({ items }) => ({ key: items[0] }));
  await bench.ok('PATCH', `/v1/account/keys/update/${key.key_id}`, {
    spend_cap_usd: EVENT_USD,
    spend_cap_period: 'daily',
  });
  expect((await bench.sendEvent(event())).status).toBe(200);
  const reply = await bench.sendEvent(event());
  expectWait(reply, 300, 'key_cap');
  await expectTaken(1);
  await setBudget(EVENT_USD);
  await bench.ok('PATCH', `/v1/account/keys/update/${key.key_id}`, { spend_cap_usd: null });
  const refused = await bench.sendEvent(event());
  expectWait(refused, 300, 'budget_daily');
  expect(refused.text).not.toMatch(/ has [\d.]+ USD left/);
});

test('an empty wallet makes an SDK wait 60 s, and with new credit the same event is taken', async () => {
  bench = await SentryBench.of(shared, EVENT_USD);
  expect((await bench.sendEvent(event())).status).toBe(200);
  const sent = event();
  for (const _again of [1, 2]) expectWait(await bench.sendEvent(sent), 60, 'balance');
  await expectTaken(1);
  await bench.service.core.db.transaction((tx) =>
    grantCredit(tx, bench.account.accountId, {
      kind: 'paid',
      amountNanos: CAPTURE_NANOS,
      expiresInMs: null,
      note: null,
    }),
  );
  expect((await bench.sendEvent(sent)).body).toEqual({ id: sent.event_id });
  await expectTaken(2);
  expectWait(await bench.sendEvent(event()), 60, 'balance');
});
