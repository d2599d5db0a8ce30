// Money of chats whatever happens to them: never more than there is, one capture a call, and the wallet always what its journal says.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { chunk, completionOf, type Deed, frame, opening, streamOf, usage } from '../support/ai/openai-double.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { createPlace, startProcess } from '../support/process.ts';
import { client, createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { AiVendors } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  // However busy the machine is, acme is not taken to be silent.
  const timeouts = { first_content_ms: 10_000, idle_ms: 10_000 };
  const models = [{ id: 'own-cost', cost_from_usage: true, price: { input: 10, output: 20 } }];
  bench = await AiVendors.start({ bills_after_disconnect: true, timeouts }, undefined, {}, { models });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const say = (over: object = {}) => ({ messages: [{ role: 'user', content: 'Hello.' }], ...over });

const books = {
  name: 'test_ai_books',
  text: `SELECT w.balance_nanos AS balance, w.held_nanos AS held,
                (SELECT sum(l.amount_nanos) FROM core.ledger l WHERE l.account_id = $1) AS journal,
                (SELECT coalesce(sum(h.captured_nanos), 0) FROM core.hold h WHERE h.account_id = $1) AS captured,
                (SELECT coalesce(-sum(l.amount_nanos), 0) FROM core.ledger l WHERE l.account_id = $1 AND l.kind = 'capture') AS charged,
                (SELECT coalesce(sum(d.spend_nanos), 0) FROM ai.model_day d WHERE d.account_id = $1) AS models,
                (SELECT count(*)::int FROM core.hold h WHERE h.account_id = $1 AND h.captured_nanos > h.amount_nanos) AS above
           FROM core.wallet w WHERE w.account_id = $1`,
};

const databaseClock = { name: 'test_clock', text: 'SELECT core.clock_now() AS now' };

async function booksOf(accountId: string) {
  const { rows } = await bench.service.core.db.query<Record<string, bigint>>(books, [accountId]);
  return rows[0] as Record<'balance' | 'held' | 'journal' | 'captured' | 'charged' | 'models', bigint> & {
    above: number;
  };
}

async function expectSound(accountId: string): Promise<void> {
  const { balance, held, journal, captured, charged, models, above } = await booksOf(accountId);
  expect(BigInt(models), 'what the models cost is what was captured').toBe(BigInt(charged));
  expect([BigInt(journal), held, BigInt(captured), above]).toEqual([balance, 0n, BigInt(charged), 0]);
}

test('64 streams at once of a wallet for few of them never overspend it', async () => {
  const { accountId, secret } = await createTestAccount(bench.service.core, 0.001);
  const call = client(bench.service.url, secret);
  const replies = await Promise.all(
    Array.from({ length: 64 }, () => call('POST', '/v1/chat/completions', say({ stream: true, max_tokens: 60 }))),
  );
  const statuses = new Set(replies.map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 402]);
  await expectSound(accountId);
  const paid = BigInt(replies.filter(({ status }) => status === 200).length) * 21_000n;
  expect((await booksOf(accountId)).balance).toBe(1_000_000n - paid);
});

test('a client that leaves a vendor which bills in any case pays what the whole answer used', async () => {
  const words = Array.from({ length: 40 }, (_, i) => frame(chunk({ content: `${i} ` })));
  const left = Promise.withResolvers<void>();
  bench.acme.next({
    stream: [opening, ...words.slice(0, 20), left.promise, ...words.slice(20), ...streamOf('', usage).slice(-3)],
    everyMs: 10,
  });
  const cost = await bench.spent(async () => {
    const { url } = bench.service;
    const reader = await StreamReader.open(`${url}/v1/chat/completions`, bench.account.secret, say());
    await eventually(() => reader.text.includes('"19 "'));
    reader.leave();
    await reader.ended;
    left.resolve();
    await eventually(async () => ((await bench.funds()).held === 0n ? true : null));
  });
  expect(cost).toBe(21_000n);
});

/** Of 10 tokens in and 5 out. */
const said = (over: object) => ({ prompt_tokens: 10, completion_tokens: 5, ...over });
test.each([
  ['tokens beyond all bounds', said({ prompt_tokens: 2 ** 53, completion_tokens: 2 ** 53 }), 'counted'],
  ['tokens beyond what numbers can', said({ prompt_tokens: 1e300 }), 'counted'],
  ['cached tokens beyond all bounds', said({ prompt_tokens_details: { cached_tokens: 2 ** 53 } }), 'counted'],
  ['tokens below zero', said({ prompt_tokens: -10, completion_tokens: -5 }), 0n],
  ['a cost below zero', said({ cost: -1 }), 210_000n],
  ['a cost beyond all bounds', said({ cost: 1e300 }), 210_000n],
  ['a cost that is none', said({ cost: 'much' }), 210_000n],
] as const)('a vendor that tells %s is believed no further than can be', async (_, told, expected) => {
  const { accountId, secret } = await createTestAccount(bench.service.core, 1);
  const call = client(bench.service.url, secret);
  for (const stream of [false, true]) {
    bench.acme.next(
      stream ? { stream: streamOf('Hi.', told) } : { status: 200, body: completionOf('Hi.', { usage: told }) },
    );
    const { balance } = await booksOf(accountId);
    const { status, text } = await call(
      'POST',
      '/v1/chat/completions',
      say({ model: 'own-cost', max_tokens: 100, stream }),
    );
    expect([status, text.includes('"usage_estimated":true')]).toEqual([200, expected === 'counted']);
    await expectSound(accountId);
    const cost = balance - (await booksOf(accountId)).balance;
    if (expected === 'counted') expect(cost).toBeLessThan(200_000n);
    else expect(cost).toBe(expected);
  }
  const bills = await bench.bills();
  expect(bills.every(({ billedNanos }) => billedNanos >= 0n && billedNanos < 10n ** 12n)).toBe(true);
});

test('whatever vendors say they used, and however they end, a call costs at most its hold, and nothing when it fails', async () => {
  const told = fc.option(fc.record({ prompt_tokens: fc.nat(1e6), completion_tokens: fc.nat(1e6) }), { nil: null });
  const deed: fc.Arbitrary<Deed> = fc.oneof(
    told.map((use) => ({
      status: 200,
      body: completionOf('Hi.', use === null ? { usage: undefined } : { usage: use }),
    })),
    fc.constantFrom<Deed>('reset', { status: 500, body: '' }, { status: 400, body: { error: { message: 'no' } } }),
    fc.tuple(told, fc.constantFrom('end' as const, 'reset' as const)).map(([use, ends]) => {
      const frames = streamOf('Hi there.', use);
      return ends === 'end' ? { stream: frames } : { stream: frames.slice(0, -1), ends };
    }),
  );
  const { accountId, secret } = await createTestAccount(bench.service.core, 1);
  const call = client(bench.service.url, secret);
  const plan = fc.tuple(deed, deed, fc.boolean(), fc.integer({ min: 1, max: 900 }));
  await fc.assert(
    fc.asyncProperty(plan, async ([first, second, stream, max_tokens]) => {
      await bench.forgive();
      bench.acme.next(first);
      bench.corp.next(second);
      const before = (await booksOf(accountId)).balance;
      const { status, text } = await call('POST', '/v1/chat/completions', say({ stream, max_tokens }));
      await expectSound(accountId);
      const cost = before - (await booksOf(accountId)).balance;
      // Some words in, and the limit out, at the dearer of the two.
      expect(cost).toBeLessThanOrEqual(BigInt(Math.ceil((20 * 1.2 * 1_200 + max_tokens * 2_400) * 1.05)));
      if (status !== 200) expect([status, cost, text.includes('"error"')]).toEqual([status, 0n, true]);
    }),
    { numRuns: 40 },
  );
});

test('of a process that is killed in the middle of an answer nothing is charged, and its hold ends a minute later', async () => {
  const { accountId, secret } = await createTestAccount(bench.service.core, 1);
  const place = await createPlace({
    ...bench.env,
    DATABASE_URL: bench.service.database.url,
    SECRETS_KEY,
    LOG_LEVEL: 'silent',
    TEST_CLOCK: 'on',
  });
  const dying = await startProcess(place);
  bench.acme.next({ stream: [opening, frame(chunk({ content: 'Half ' }))], ends: 'silence' });
  const asked = client(dying.url, secret)(
    'POST',
    '/v1/chat/completions',
    say({ stream: true, idempotency_key: 'k' }),
  ).catch(() => null);
  await eventually(async () => ((await booksOf(accountId)).held > 0n ? true : null));
  await eventually(async () => (bench.acme.seen.length > 0 ? true : null));
  await dying.end('SIGKILL');
  await asked;
  await place.remove();
  expect((await booksOf(accountId)).held).toBeGreaterThan(0n);
  await bench.service.advance(61);
  await bench.service.core.holds.expireOverdue(new AbortController().signal);
  await expectSound(accountId);
  expect((await booksOf(accountId)).balance).toBe(1_000_000_000n);
  const again = await client(bench.service.url, secret)('POST', '/v1/chat/completions', say({ idempotency_key: 'k' }));
  expect([again.status, again.body.service_metadata.idempotent_replay]).toEqual([200, false]);
});

test('what a vendor bills is booked on the day of the clock of the database', async () => {
  await bench.service.advance(3 * 86_400);
  await bench.spent(() => bench.call('POST', '/v1/chat/completions', say()));
  const { rows } = await bench.service.core.db.query<{ now: number }>(databaseClock, []);
  const days = (await bench.bills()).map(({ dayMs }) => dayMs);
  expect(Math.max(...days)).toBe(Math.floor((rows[0]?.now as number) / 86_400_000) * 86_400_000);
});
