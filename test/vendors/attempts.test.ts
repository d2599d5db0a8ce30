// What stands of work outside, whoever dies when: the intent before the first byte, the reference first after acceptance; and what it cost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/lib/time.ts';
import {
  acceptAttempt,
  attemptByToken,
  attemptsOf,
  beginAttempt,
  endAttempt,
  liveAttempts,
  loseAttempt,
  refuseAttempt,
  saveAttemptDetails,
  vendorCallOf,
} from '../../src/routing/attempts.ts';
import { bookLoss, bookSale, readBills } from '../../src/routing/bills.ts';
import type { ModelRow } from '../../src/vendors/file/port.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let accountId: string;
let works = 0;
const row = {
  vendor: {
    id: 'acme',
    adapter: 'fal',
    baseUrl: 'https://acme.example',
    region: 'western',
    key: { name: 'ACME_KEY', reveal: () => 'secret' },
    markupPct: 0.05,
    limits: { concurrent: null, perMinute: null },
    assetHosts: ['cdn.acme.example'],
    priority: 100,
    disabled: null,
  },
  id: 'grand',
  family: 'video',
  serves: ['video.generate'],
  flagship: false,
  validUntilMs: null,
  price: 'free',
  priceVersion: 'v1',
  traits: {},
  options: {},
  timeouts: { poll_ms: 7 },
} satisfies ModelRow;

beforeAll(async () => {
  service = await startTestService({ env: { ACME_KEY: 'secret-of-acme' } });
  ({ accountId } = await createTestAccount(service.core));
});
afterAll(() => service.stop());

async function begin() {
  const { db, secrets } = service.core;
  works += 1;
  const work = `video:vid_${works}`;
  const request = { prompt: 'a boat' };
  const begun = await beginAttempt(db, secrets, {
    accountId,
    work,
    capability: 'video.generate',
    row,
    quoteNanos: 5n,
    request,
  });
  const read = async () => (await attemptsOf(db, accountId, work))[0];
  return { ...begun, work, db, read };
}

describe('an attempt', () => {
  test('stands before anything is sent, with all that later calls need, and the key by its name only', async () => {
    const { attemptId, token, work, read } = await begin();
    const found = await read();
    expect(found).toEqual({
      account_id: accountId,
      attempt_id: attemptId,
      work,
      capability: 'video.generate',
      vendor: 'acme',
      model: 'grand',
      adapter: 'fal',
      base_url: 'https://acme.example',
      key_name: 'ACME_KEY',
      asset_hosts: ['cdn.acme.example'],
      timeouts: '{"poll_ms":7}',
      request: '{"prompt":"a boat"}',
      token,
      quote_nanos: 5n,
      state: 'sending',
      reason: null,
      reference: null,
      details: null,
      created_at: expect.any(Number),
      ended_at: null,
    });
    const call = vendorCallOf(service.core, found as never, new AbortController().signal);
    expect(call).toMatchObject({
      baseUrl: 'https://acme.example',
      key: 'secret-of-acme',
      assetHosts: ['cdn.acme.example'],
    });
    expect(call.timeouts).toMatchObject({ pollMs: 7, submitMs: 30_000 });
  });

  test('that was accepted keeps the reference, and is refused no more', async () => {
    const { attemptId, db, read } = await begin();
    expect(await acceptAttempt(db, accountId, attemptId, { reference: 'job-1', details: { url: 'u' } })).toBe(true);
    expect(await refuseAttempt(db, accountId, attemptId, 'VENDOR_DOWN', 0)).toBe(false);
    expect(await loseAttempt(db, accountId, attemptId)).toBe(false);
    expect(await saveAttemptDetails(db, accountId, attemptId, { url: 'v' })).toBe(true);
    expect(await read()).toMatchObject({
      state: 'accepted',
      reference: 'job-1',
      details: '{"url":"v"}',
      ended_at: null,
    });
  });

  test('of unknown outcome may turn out to be accepted', async () => {
    const { attemptId, db, read } = await begin();
    expect(await loseAttempt(db, accountId, attemptId)).toBe(true);
    expect(await refuseAttempt(db, accountId, attemptId, 'VENDOR_DOWN', 0)).toBe(false);
    expect(await acceptAttempt(db, accountId, attemptId, { reference: 'found', details: {} })).toBe(true);
    expect(await read()).toMatchObject({ state: 'accepted', reference: 'found' });
  });

  test('ends once, and is changed no more', async () => {
    const { attemptId, db, read } = await begin();
    expect([
      await endAttempt(db, accountId, attemptId, 1_000),
      await endAttempt(db, accountId, attemptId, 2_000),
    ]).toEqual([true, false]);
    expect(await acceptAttempt(db, accountId, attemptId, { reference: 'late', details: {} })).toBe(false);
    expect(await read()).toMatchObject({ state: 'ended', reference: null, ended_at: 1_000 });
  });

  test('is found by its token; a token that we did not make is not looked up', async () => {
    const { attemptId, token, db } = await begin();
    const { secrets } = service.core;
    expect(await attemptByToken(db, secrets, token)).toMatchObject({ attempt_id: attemptId });
    const forged = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`;
    const unused = { query: () => Promise.reject(new Error('it was looked up')) };
    for (const other of [forged, '', 'x'.repeat(30), `${token}0`]) {
      expect(await attemptByToken(unused, secrets, other)).toBeNull();
    }
  });

  test('counts as live until it has ended or was refused, and no service starts without its vendor', async () => {
    const { db } = service.core;
    const before = (await liveAttempts(db)).get('acme') ?? 0;
    const one = await begin();
    const two = await begin();
    expect((await liveAttempts(db)).get('acme')).toBe(before + 2);
    await refuseAttempt(db, accountId, one.attemptId, 'VENDOR_DOWN', 0);
    await endAttempt(db, accountId, two.attemptId, 0);
    expect((await liveAttempts(db)).get('acme')).toBe(before);
    const another = startTestService({ database: service.database });
    await expect(another).rejects.toThrow(
      `VENDORS_FILE lacks vendors that are at work: acme (${before}); put them back, with enabled: false they take no more`,
    );
  });
});

describe('bills', () => {
  test('add up by day, vendor and cause, over all accounts', async () => {
    const { db } = service.core;
    const other = (await createTestAccount(service.core)).accountId;
    const day = Date.parse('2026-11-05T00:00:00Z');
    const sale = { accountId, vendor: 'acme', billedNanos: 100n, capturedNanos: 105n };
    await bookSale(db, sale, day + 1);
    await bookSale(db, { ...sale, accountId: other }, day + DAY_MS - 1);
    await bookLoss(db, { accountId, vendor: 'acme', billedNanos: 7n, cause: 'late' }, day);
    await bookLoss(db, { accountId, vendor: 'acme', billedNanos: 0n, cause: 'unsound' }, day);
    await bookLoss(db, { accountId, vendor: 'bolt', billedNanos: 9n, cause: 'late' }, day + DAY_MS);
    const late = { dayMs: day, vendor: 'acme', cause: 'late', bills: 1, billedNanos: 7n, capturedNanos: 0n };
    const sold = { dayMs: day, vendor: 'acme', cause: 'sold', bills: 2, billedNanos: 200n, capturedNanos: 210n };
    const next = { dayMs: day + DAY_MS, vendor: 'bolt', cause: 'late', bills: 1, billedNanos: 9n, capturedNanos: 0n };
    expect(await readBills(db, day, null)).toEqual([next, late, sold]);
    expect(await readBills(db, day, 'acme')).toEqual([late, sold]);
    expect(await readBills(db, day + DAY_MS, null)).toEqual([next]);
  });
});
