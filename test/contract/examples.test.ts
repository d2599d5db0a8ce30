// Every example of every capability, run through REST on an account of its own, as an agent would that reads discovery.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { priceOf } from '../../src/core/wallet/prices.ts';
import type { CapabilityExample } from '../../src/kit/capability.ts';
import { releasedEvents } from '../../src/kit/offer.ts';
import { usd } from '../../src/lib/money.ts';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { sequenceAccount } from '../../src/webhooks/sequencer.ts';
import { payloadOf, solutionOf } from '../captcha/harness.ts';
import {
  byId,
  callCapability,
  capabilities,
  createPlayer,
  endVideosAfter,
  isOperators,
  manifest,
  outputFaults,
  playExample,
} from '../support/capabilities.ts';
import { expectFailure, expectSuccess } from '../support/envelope.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { Takings } from '../support/takings.ts';

const endVideosOf = endVideosAfter(afterEach);
let service: TestService;
let other: TestAccount;
const emitted = new Map<string, Set<string>>();

beforeAll(async () => {
  // Behind a proxy, so that each test fails to log in from an address of its own.
  service = await startTestService({ env: { TRUST_PROXY: 'loopback' } });
  other = await createTestAccount(service.core, 0);
});
afterAll(() => service.stop());

async function eventsOf(accountId: string): Promise<{ type: string; request_id: string | null }[]> {
  await sequenceAccount(service.core.db, accountId);
  const read = {
    name: 'test_events',
    // Test events of webhooks tell of nothing that happened.
    text: 'SELECT type, request_id FROM core.event WHERE account_id = $1 AND NOT test ORDER BY sequence',
  };
  return (await service.core.db.query<{ type: string; request_id: string | null }>(read, [accountId])).rows;
}

const isToldWithoutCall = (type: string) =>
  releasedEvents(manifest).some((kind) => kind.type === type && kind.withoutCall !== undefined);

/** Runs an example on a fresh account; answers the event types its calls caused, by capability. */
async function run(id: string, example: CapabilityExample, usdOfCredit: number) {
  const account = await createPlayer(service.core, byId(id), usdOfCredit);
  const call = endVideosOf(client(service.url, account.secret));
  const before = (await eventsOf(account.accountId)).length;
  const takings = new Takings(service.core, account.accountId);
  const played = await playExample(takings.watch(call), byId(id), example);
  for (const { capability, reply } of played) takings.expectCostOf(capability, reply);
  const caused = (await eventsOf(account.accountId)).slice(before);
  for (const { capability, reply } of played) {
    const types = caused
      .filter((event) => event.request_id === reply.body.metadata.request_id)
      .map((event) => event.type);
    emitted.set(capability.id, new Set([...(emitted.get(capability.id) ?? []), ...types]));
    expect(
      types.filter((type) => !capability.events.includes(type)),
      capability.id,
    ).toEqual([]);
  }
  const owned = new Set(played.map(({ reply }) => reply.body.metadata.request_id));
  // What work tells that goes on after a call is nobody's.
  const strangers = caused.filter((event) => event.request_id !== null || !isToldWithoutCall(event.type));
  expect(strangers.filter((event) => !owned.has(event.request_id))).toEqual([]);
  return { account, call, played };
}

const examples = capabilities.flatMap((capability) =>
  capability.examples.map((example) => ({ id: capability.id, title: example.title, example })),
);

/** What its earlier calls cost, and 1 USD. */
function littleCredit({ before = [] }: CapabilityExample): number {
  const prices = before.map(({ capability }) => byId(capability).price);
  const nanos = prices.map((price) => (price === 'free' ? 0n : priceOf(manifest.prices, price, 1n)));
  return 1 + usd(nanos.reduce((sum, one) => sum + one, 0n));
}

describe('examples', () => {
  test.each(examples)('$id: $title, and nothing of another account', async ({ id, example }) => {
    const capability = byId(id);
    // The charge of the first one takes the balance below 1 USD, where it may.
    const isLow = capability.events.includes('wallet.low_balance') && example === capability.examples[0];
    const { account, played } = await run(id, example, isLow ? littleCredit(example) : 100);
    if (isLow) expect([...(emitted.get(id) ?? [])]).toContain('wallet.low_balance');
    for (const { reply, capability: called } of played.filter(({ isRefused }) => !isRefused)) {
      expectSuccess(reply);
      expect(outputFaults(called, reply.body.data), `${called.id} ${reply.text}`).toBe('');
      const price = called.price === 'free' ? 0 : usd(priceOf(manifest.prices, called.price, 1n));
      const { cost_usd: cost, balance_usd: balance } = reply.body.metadata;
      const later = (called.laterPrices ?? []).map((name) => usd(priceOf(manifest.prices, name, 1n)));
      // What it causes may happen, and be paid, within it.
      if (price === 0) expect([0, ...later]).toContain(cost);
      // What ends while its caller waits is charged then.
      else if (called.chargedAtEnd === true) expect([0, price]).toContain(cost);
      else expect(cost).toBeGreaterThanOrEqual(price);
      expect(balance !== undefined).toBe(called.price !== 'free' || cost > 0);
      const { warnings = [] } = reply.body.metadata;
      // Where no name can be resolved, the hosts of examples cannot either. Nobody has a TURN server, or a name server, here.
      expect(
        warnings.filter(
          (warning: string) =>
            !/does not resolve now|Nothing left the service|Nothing answers for the zone|No TURN server is configured|the account has no owner who signs in/.test(
              warning,
            ),
        ),
      ).toEqual([]);
    }
    expect(played.at(-1)?.reply.body.data).toMatchObject(example.expect ?? {});
    expect(played.at(-1)?.capability.id).toBe(capability.id);
    // What discovery answers is the same for everybody, and the operator sees everybody's.
    if (id.startsWith('discovery') || isOperators(capability)) return;
    const { text = '' } = played.at(-1)?.reply ?? {};
    expect(text).not.toContain(other.accountId);
    expect(text.includes('acct_')).toBe(text.includes(account.accountId));
  });
});

test('every module was used, and everything adds up', async () => {
  const { db, secrets } = service.core;
  const { accounts, findings } = await examine({ db, secrets, modules });
  expect(accounts).toBeGreaterThan(0);
  expect(findings).toEqual([]);
});

describe('failures', () => {
  test.each(capabilities.map(({ id }) => id))('%s without a key is a complete envelope', async (id) => {
    const [example] = byId(id).examples;
    const reply = await callCapability(client(service.url), byId(id), example?.input ?? {}, {
      'x-forwarded-for': `10.0.${capabilities.indexOf(byId(id)) >> 7}.${(capabilities.indexOf(byId(id)) % 128) + 1}`,
    });
    expect(reply.status).toBe(401);
    expectFailure(reply, service.url);
  });
});

describe('events', () => {
  test('a queue with a dead-letter queue: nack after the last delivery tells queue.dlq', async () => {
    const { accountId, secret } = await createTestAccount(service.core);
    const call = endVideosOf(client(service.url, secret));
    await call('POST', '/v1/queue/create', { name: 'dead' });
    await call('POST', '/v1/queue/create', { name: 'source', dead_letter_queue: 'dead', max_retries: 1 });
    await call('POST', '/v1/queue/publish', { queue: 'source', payload: {} });
    const { body } = await call('POST', '/v1/queue/consume', { queue: 'source' });
    const nack = await call('POST', '/v1/queue/nack', {
      queue: 'source',
      receipt_handle: body.data.items[0].receipt_handle,
    });
    const event = (await eventsOf(accountId)).find(({ type }) => type === 'queue.dlq');
    expect(event?.request_id).toBe(nack.body.metadata.request_id);
    emitted.set('queue.nack', new Set(['queue.dlq']));
  });

  test('a solved challenge tells captcha.verified', async () => {
    const { accountId, secret } = await createTestAccount(service.core);
    const call = client(service.url, secret);
    const { challenge } = (await call('GET', '/v1/captcha/challenge?difficulty=easy')).body.data;
    const payload = payloadOf({ challenge, solution: await solutionOf(challenge) });
    const verified = await call('POST', '/v1/captcha/verify', { payload });
    const event = (await eventsOf(accountId)).find(({ type }) => type === 'captcha.verified');
    expect(event?.request_id).toBe(verified.body.metadata.request_id);
    emitted.set('captcha.verify', new Set([...(emitted.get('captcha.verify') ?? []), 'captcha.verified']));
  });

  test.each(['errors.capture', 'errors.message'])('%s: the 50th at once tells error.rate_anomaly', async (id) => {
    const { accountId, secret } = await createTestAccount(service.core);
    const call = endVideosOf(client(service.url, secret));
    const { input } = byId(id).examples[0] as CapabilityExample;
    const replies = await Promise.all(Array.from({ length: 50 }, () => callCapability(call, byId(id), input)));
    const event = (await eventsOf(accountId)).find(({ type }) => type === 'error.rate_anomaly');
    expect(replies.map(({ body }) => body.metadata.request_id)).toContain(event?.request_id);
    emitted.set(id, new Set([...(emitted.get(id) ?? []), 'error.rate_anomaly']));
  });

  test('every event that a capability names has been told by it', () => {
    const silent = capabilities.flatMap(({ id, events }) =>
      events
        .filter((type) => !isToldWithoutCall(type) && emitted.get(id)?.has(type) !== true)
        .map((type) => `${id}: ${type}`),
    );
    expect(silent).toEqual([]);
  });
});
