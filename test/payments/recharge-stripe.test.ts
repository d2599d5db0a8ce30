// Auto-recharge through Stripe's adapter and the unchanged package, on a double that keeps idempotency keys and fails on demand.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { openStripeTill, type StripeTill } from './harness.ts';
import { Recharged } from './recharge-harness.ts';

let till: StripeTill;
beforeAll(async () => {
  till = await openStripeTill();
});
afterAll(() => till?.close());

const chargesOf = (attemptId: string) =>
  till.double.account.all('payment_intent', (each) => 'metadata' in each && each.metadata?.id === attemptId);

test('a wallet below its trigger is charged for, once, and credited', async () => {
  const wallet = await Recharged.open(till, { usd: 4 });
  const attempt = await wallet.look();
  expect(attempt).toMatchObject({ status: 'succeeded', provider: 'stripe' });
  expect(chargesOf(attempt?.attempt_id ?? '')).toEqual([
    expect.objectContaining({ amount: 2_500, status: 'succeeded' }),
  ]);
  expect(await wallet.balance()).toBe(29);
  await wallet.customer.expectSound();
});

test('a charge whose answers are lost is met again under its key: one charge, one credit', async () => {
  const wallet = await Recharged.open(till, { usd: 4 });
  // As often as the package asks.
  for (let n = 0; n < 3; n += 1)
    till.double.faults.push({ at: /POST .*payment_intents$/, how: 'reset', when: 'after' });
  const attempt = await wallet.look();
  expect(attempt).toMatchObject({ status: 'open', payment_ref: null });
  expect(await wallet.balance()).toBe(4);
  await till.service.advance(6);
  expect(await wallet.look()).toMatchObject({ status: 'succeeded', attempt_id: attempt?.attempt_id });
  expect(chargesOf(attempt?.attempt_id ?? '')).toHaveLength(1);
  expect(await wallet.balance()).toBe(29);
});

test('after 23 hours a charge is not repeated: it is looked up, and credited when it was made', async () => {
  const wallet = await Recharged.open(till, { usd: 4 });
  for (let n = 0; n < 3; n += 1)
    till.double.faults.push({ at: /POST .*payment_intents$/, how: 'reset', when: 'after' });
  const attempt = await wallet.look();
  await till.bench.advance(23 * 3_600);
  const asked = till.double.seen.length;
  expect(await wallet.look()).toMatchObject({ status: 'succeeded' });
  expect(till.double.seen.slice(asked).map(({ method }) => method)).not.toContain('POST');
  expect(chargesOf(attempt?.attempt_id ?? '')).toHaveLength(1);
});

test.each([
  ['declines_later', { enabled: true, disabled_reason: null }],
  ['authenticates', { enabled: false, disabled_reason: 'authentication_required' }],
] as const)('a card that %s fails, and is judged by its code', async (card, expected) => {
  const wallet = await Recharged.open(till, { usd: 4, card });
  expect(await wallet.look()).toMatchObject({ status: 'failed' });
  expect(await wallet.show()).toMatchObject(expected);
  expect(await wallet.balance()).toBe(4);
});

test('a method that is deleted here is detached at Stripe; one that was detached there is known by its charge', async () => {
  const wallet = await Recharged.open(till, { usd: 4 });
  const { rows } = await till.service.core.db.query<{ method_ref: string }>(
    { name: 'test_method_ref', text: 'SELECT method_ref FROM core.payment_method WHERE account_id = $1' },
    [wallet.accountId],
  );
  await till.bench.provider.detach(rows[0]?.method_ref as string);
  expect(await wallet.look()).toMatchObject({ status: 'failed', failure_code: 'method_gone' });
  expect(await wallet.show()).toMatchObject({ enabled: false, disabled_reason: 'method_gone' });
});

test('the doctor finds a charge without its credit, and a wallet that names no open charge or another trigger', async () => {
  const wallet = await Recharged.open(till, { usd: 4 });
  await wallet.look();
  const { db } = till.service.core;
  for (const [name, text] of [
    ['grant', `UPDATE core.credit_grant SET source_id = 'arch_other' WHERE account_id = $1 AND source = 'recharge'`],
    [
      'wallet',
      `UPDATE core.wallet SET recharge_attempt_id = 'arch_1', recharge_trigger_nanos = 1 WHERE account_id = $1`,
    ],
  ] as const)
    await db.query({ name: `test_break_recharge_${name}`, text }, [wallet.accountId]);
  const found = await examineAccount({ db, secrets: null, modules: [] }, wallet.accountId);
  expect(found.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('arch_other is unknown: 25000000000 nano-USD were granted'),
      expect.stringContaining('is succeeded: 0 nano-USD were granted'),
      expect.stringContaining('names arch_1 as open, and open is none'),
      expect.stringContaining('is recharged below 1 nano-USD, and configured is 5000000000'),
    ]),
  );
});
