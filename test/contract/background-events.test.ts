// Events that no call tells: each is told by the work that the catalogue says, and no code tells a type that is named nowhere.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTier } from '../../src/core/accounts/accounts.ts';
import { setKycStatus } from '../../src/core/accounts/changes.ts';
import type { Principal } from '../../src/core/callers/principal.ts';
import type { Tier } from '../../src/core/callers/tiers.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { eventsOf } from '../../src/core/events/read.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { releasedEvents } from '../../src/kit/offer.ts';
import { NANOS_PER_USD } from '../../src/lib/money.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { saveInbound } from '../../src/modules/sms/messages/inbound.ts';
import { lookAgain } from '../../src/payments/look-again.ts';
import { absorbAccount } from '../../src/people/absorbing/absorb.ts';
import { approveDevice } from '../../src/people/devices/approve.ts';
import { readUserCode } from '../../src/people/devices/codes.ts';
import { findWaiting } from '../../src/people/devices/devices.ts';
import { guessersOf } from '../../src/people/devices/guesses.ts';
import type { DeviceRow } from '../../src/people/devices/store.ts';
import { openVendor } from '../../src/routing/health-store.ts';
import { vendorNotices } from '../../src/routing/notices.ts';
import type { CardKind } from '../payments/conformance.ts';
import { sandboxBench } from '../payments/sandbox-bench.ts';
import { type App, PusherLine } from '../realtime/pusher-line.ts';
import { capabilities, manifest } from '../support/capabilities.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import { leaveCard } from '../support/leave-card.ts';
import { type Client, client, createTestAccount, type TestService } from '../support/service.ts';
import { startTarget } from '../vault/harness.ts';
import { type Receiver, startEngine, startReceiver, until } from '../webhooks/engine-harness.ts';
import { type MailPlace, mailCauses, mailPlace } from './mail-causes.ts';

const ROOT = join(import.meta.dirname, '../..');
const DAY_SECONDS = DAY_MS / 1_000;
let service: TestService;
let receiver: Receiver;
let place: MailPlace;
let accountId: string;
let secret: string;
let call: Client;

beforeAll(async () => {
  place = await mailPlace();
  service = await startEngine({ env: place.env });
  receiver = await startReceiver(({ path }, res) => {
    if (path === '/fails') res.writeHead(410).end();
  });
  const account = await createTestAccount(service.core, 0);
  accountId = account.accountId;
  secret = account.secret;
  call = client(service.url, secret);
});
afterAll(async () => {
  await service.stop();
  await place.relay.stop();
  await receiver.close();
});

async function types(): Promise<Set<string>> {
  const filter = { type: null, fromMs: null, toMs: null };
  const rows = await eventsOf(service.core.db, accountId, filter, null, 1_000);
  return new Set(rows.filter((row) => row.request_id === null).map((row) => row.type));
}

async function ok(path: string, body: unknown) {
  const reply = await call('POST', path, body);
  expect(reply.status, reply.text).toBe(200);
  return reply.body.data;
}

/** Credit for `days`, of which the events of its end tell. */
async function grantFor(days: number): Promise<void> {
  const grant = { kind: 'promo', amountNanos: 10n * NANOS_PER_USD, expiresInMs: days * DAY_MS, note: null } as const;
  await service.core.db.transaction((tx) => grantCredit(tx, accountId, grant));
}

async function scheduled(path: string): Promise<void> {
  await grantFor(30);
  const { rows } = await service.core.db.query<{ now: number }>(
    { name: 'test_clock', text: 'SELECT core.clock_now() AS now' },
    [],
  );
  const runAt = new Date((rows[0]?.now as number) + 120_000).toISOString();
  await ok('/v1/cron/create', { task: receiver.url + path, run_at: runAt });
  await service.advance(121);
}

async function video(prompt: string): Promise<void> {
  await grantFor(30);
  await ok('/v1/video/generate', { prompt, model: 'sandbox/storyboard-1', duration_seconds: 1 });
}

async function image(prompt: string): Promise<void> {
  await grantFor(30);
  await ok('/v1/image/generate', { prompt, model: 'sandbox/card-1', size: '256x256' });
}

async function batchOf(content: string): Promise<void> {
  await grantFor(30);
  const body = { model: 'sandbox/echo-1', messages: [{ role: 'user', content }] };
  await ok('/v1/ai/batch/create', { items: [{ custom_id: 'a', capability: 'ai.chat', body }] });
}

/** A top-up that somebody pays with the card, and what the sandbox says of it. */
async function topup(card: CardKind): Promise<void> {
  const begun = await ok('/v1/account/topup', {});
  await payAt(begun, card);
  await lookAgain(service.core.db, begun.topup_id);
}

/** A wallet that is to be recharged at once, with the card. */
async function recharge(card: CardKind): Promise<void> {
  await leaveCard((await ok('/v1/account/payment_method/attach', {})).checkout_url, card);
  const { items } = (await call('GET', '/v1/account/payment_method/list')).body.data;
  const { payment_method_id } = items.at(-1);
  const configuration = { trigger_balance: 1_000, recharge_amount: 5, payment_method_id };
  expect((await call('PUT', '/v1/account/autorecharge/configure', configuration)).status).toBe(200);
  await service.advance(61);
}

function payAt({ checkout_url }: { checkout_url: string }, card: CardKind = 'pays'): Promise<void> {
  return sandboxBench(service.core.db, service.url, (seconds) => service.advance(seconds)).pay(checkout_url, card);
}

/** A device that gets its key, as the page of devices approves it. */
async function linkDevice(): Promise<void> {
  const post = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(service.url + path, { method: 'POST', body: new URLSearchParams(fields) });
    expect(response.status).toBe(200);
    return response.json();
  };
  const { device_code, user_code } = await post('/oauth/device_authorization', { client_id: 'an agent' });
  const device = (await findWaiting(
    service.core,
    readUserCode(user_code),
    guessersOf('a person', 'here'),
  )) as DeviceRow;
  const principal = (await service.core.keys.find(secret)) as Principal;
  await approveDevice(service.core, principal, device, { scopes: ['queue'], lifetimeMs: null, cap: null });
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  await post('/oauth/token', { grant_type, client_id: 'an agent', device_code });
}

const tier = (to: Tier) => service.core.db.transaction((tx) => setTier(tx, accountId, to));

/** What makes each of them happen. */
const causes: Readonly<Record<string, () => Promise<unknown>>> = {
  'account.created': async () => undefined,
  'account.updated': () => tier('pro'),
  'tier.upgraded': () => tier('enterprise'),
  'tier.downgraded': () => tier('standard'),
  'account.absorbed': async () => {
    const { accountId: from } = await createTestAccount(service.core, 0);
    await absorbAccount(service.core, { from, into: accountId }, async () => true);
  },
  'account.device_linked': linkDevice,
  'kyc.status_changed': () => service.core.db.transaction((tx) => setKycStatus(tx, accountId, 'verified')),
  'wallet.expiring_soon': async () => {
    await grantFor(8);
    await service.advance(1.5 * DAY_SECONDS);
  },
  'wallet.expired': () => service.advance(7 * DAY_SECONDS),
  'wallet.low_balance': async () => {
    await grantFor(1);
    await service.advance(2 * DAY_SECONDS);
  },
  'topup.succeeded': () => topup('pays'),
  'topup.review_started': () => topup('reviewed'),
  'topup.failed': async () => {
    await topup('declines');
    await service.advance(DAY_SECONDS + 1);
  },
  'autorecharge.charged': () => recharge('pays'),
  'autorecharge.failed': () => recharge('declines_later'),
  'subscription.activated': async () => {
    await payAt(await ok('/v1/account/tier/upgrade', { target: 'pro' }));
    await service.advance(61);
  },
  'subscription.renewed': () => service.advance(32 * DAY_SECONDS),
  'subscription.cancelled': () => ok('/v1/account/subscription/cancel', { at_period_end: false }),
  'queue.dlq': async () => {
    await grantFor(30);
    await ok('/v1/queue/create', { name: 'dead' });
    await ok('/v1/queue/create', { name: 'jobs', dead_letter_queue: 'dead', max_retries: 1 });
    await ok('/v1/queue/publish', { queue: 'jobs', payload: {} });
    await ok('/v1/queue/consume', { queue: 'jobs', visibility_timeout: 10 });
    await service.advance(11);
  },
  // By the sweep that a service with vendors outside runs.
  'system.vendor.down': async () => {
    await ok('/v1/account/webhooks/register', { url: `${receiver.url}/hooks`, events: ['system.vendor.down'] });
    const { db } = service.core;
    await openVendor(db, 'acme', 'video.generate', 'VENDOR_AUTH_ERROR', 300_000);
    await vendorNotices(db, () => 'western').run(new AbortController().signal);
  },
  'cron.executed': () => scheduled('/runs'),
  'cron.failed': () => scheduled('/fails'),
  'video.job.completed': () => video('A boat.'),
  'video.job.failed': () => video('[[fail:VENDOR_ERROR]]'),
  'image.job.completed': () => image('A boat.'),
  'image.job.failed': () => image('[[fail:VENDOR_ERROR]]'),
  'sms.delivered': () => ok('/v1/sms/send', { to: '+12025550123', text: 'Hello' }),
  'sms.failed': () => ok('/v1/sms/send', { to: '+12025550000', text: 'Hello' }),
  'sms.inbound': async () => {
    const nowMs = await clockNow(service.core.db);
    const message = { from: '+12025550123', to: '+12025550100', text: 'Hello', reference: 'SM1' };
    const brought = { vendor: 'carrier', captured: false, requestId: null, keyId: '' };
    return service.core.db.transaction((tx) => saveInbound(tx, accountId, message, brought, nowMs));
  },
  ...mailCauses({ service: () => service, call: () => call, accountId: () => accountId }, false),
  'vault.connection.broken': breakConnection,
  'realtime.channel.occupied': () => visitRoom('occupied'),
  'realtime.channel.vacated': () => visitRoom('vacated'),
  'realtime.member.added': () => visitRoom('added'),
  'realtime.member.removed': () => visitRoom('removed'),
  'ai.batch.completed': () => batchOf('Say hello.'),
  'ai.batch.failed': () => batchOf('[[fail:CONTENT_REFUSED]]'),
};

/** Its token has ended, and the server that it came from refuses to refresh it. */
async function breakConnection(): Promise<void> {
  const target = await startTarget();
  target.respond = (_, response) =>
    void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
  const secret = {
    access_token: 'a token that has ended',
    refresh_token: 'one that its server refuses',
    expires_in: 0,
    token_url: `${target.url}/token`,
    client_id: 'client',
  };
  const set = { connection: 'forge', kind: 'oauth2', secret, hosts: [target.host] };
  expect((await call('PUT', '/v1/vault/connection/set', set)).status).toBe(200);
  await call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' });
  await target.stop();
}

/** Somebody enters a room of their own, and leaves it: all four are told. */
async function visitRoom(name: string): Promise<void> {
  const app: App = (await call('GET', '/v1/realtime/app')).body.data;
  const line = await PusherLine.open(service.url, app.app_key);
  await line.subscribe(`presence-${name}`, app, { user_id: 'ana' });
  line.close();
}

const toldWithoutCall = releasedEvents(manifest).flatMap(({ type, withoutCall }) =>
  withoutCall === undefined ? [] : [type],
);

describe('told without a call', () => {
  test('every type has its cause here', () => {
    expect(Object.keys(causes).sort()).toEqual([...toldWithoutCall].sort());
  });

  test.each(Object.keys(causes))(
    '%s',
    async (type) => {
      await causes[type]?.();
      await until(async () => (await types()).has(type));
      const told = (await allEvents(call)).filter((event) => event.type === type);
      for (const event of told) expect([eventFaults(event), event]).toEqual([[], event]);
    },
    30_000,
  );
});

test('every type that the code tells is named, and every named type is told by the code', () => {
  const catalogued = new Set(manifest.events.map(({ type }) => type));
  const names = /\/capabilities\/|\/planned\/|\/events\.ts$|\.test\.ts$/;
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !names.test(path));
  const told = new Set(
    sources
      .flatMap((path) => [...readFileSync(join(ROOT, path), 'utf8').matchAll(/'([a-z_]+(?:\.[a-z_]+)+)'/g)])
      .map(([, literal]) => literal as string)
      .filter((literal) => catalogued.has(literal)),
  );
  const named = new Set([...capabilities.flatMap(({ events }) => events), ...toldWithoutCall]);
  expect([...told].sort()).toEqual([...named].sort());
});
