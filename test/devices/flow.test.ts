// The device flow by openid-client, unchanged, and by its rules (RFC 8628): who asks gets a key once a person has approved it, and only then.
import * as oauth from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { statement } from '../../src/db/statement.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { approveDevice, type Wish } from '../../src/people/devices/approve.ts';
import { readUserCode } from '../../src/people/devices/codes.ts';
import { denyDevice, deviceRetention, findWaiting } from '../../src/people/devices/devices.ts';
import { guessersOf } from '../../src/people/devices/guesses.ts';
import type { DeviceRow } from '../../src/people/devices/store.ts';
import { allEvents, eventFaults } from '../support/events.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let service: TestService;
let second: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService({ env: { TRUST_PROXY: 'loopback' } });
  second = await startTestService({ database: service.database });
  account = await createTestAccount(service.core);
});
afterAll(async () => {
  await second?.stop();
  await service?.stop();
});

async function post(path: string, fields: Record<string, string>, at = service) {
  const response = await fetch(at.url + path, { method: 'POST', body: new URLSearchParams(fields) });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const start = async (fields: Record<string, string> = {}) =>
  (await post('/oauth/device_authorization', { client_id: 'build agent', ...fields })).body;
const poll = (device_code: string, at = service, client_id = 'build agent') =>
  post('/oauth/token', { grant_type: GRANT, client_id, device_code }, at);

async function waiting(userCode: string, guessers = guessersOf('a person', 'here')): Promise<DeviceRow> {
  const found = await findWaiting(service.core, readUserCode(userCode), guessers);
  if (found === null || typeof found === 'number') throw new Error('no device waits');
  return found;
}

/** As the page does it, by the key of the account. */
async function approve(userCode: string, over: Partial<Wish> = {}, secret = account.secret) {
  const device = await waiting(userCode);
  const principal = await service.core.keys.find(secret);
  if (typeof principal === 'string') throw new Error(principal);
  return approveDevice(service.core, principal, device, {
    scopes: device.scopes,
    lifetimeMs: null,
    cap: null,
    ...over,
  });
}

test('openid-client, unchanged, obtains a key that works', async () => {
  const found = await oauth.discovery(new URL(service.core.baseUrl), 'an agent', undefined, oauth.None(), {
    algorithm: 'oauth2',
    execute: [oauth.allowInsecureRequests],
  });
  const started = await oauth.initiateDeviceAuthorization(found, { scope: 'queue account:read' });
  expect(started).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${service.core.baseUrl}/device` });
  expect(started.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  await approve(started.user_code.toLowerCase().replace('-', ' '));
  // It waits for the interval before it asks: here a second.
  const tokens = await oauth.pollDeviceAuthorizationGrant(found, { ...started, interval: 0.1 });
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'queue account:read', account_id: account.accountId });
  const call = client(service.url, tokens.access_token);
  expect((await call('GET', '/v1/account/balance')).status).toBe(200);
  expect((await call('POST', '/v1/account/keys/create', {})).body.error.code).toBe('INSUFFICIENT_SCOPE');
  const events = await allEvents(client(service.url, account.secret));
  const linked = events.filter(({ type }) => type === 'account.device_linked');
  expect(linked.map(({ data }) => data.object)).toEqual([
    expect.objectContaining({ key_id: tokens.key_id, name: 'an agent', client_name: 'an agent', address: '127.0.0.1' }),
  ]);
  expect(linked.flatMap(eventFaults)).toEqual([]);
  expect(JSON.stringify(events)).not.toContain(tokens.access_token);
});

test('before the word of a person the device waits; who asks too often is slowed down, for good', async () => {
  const { device_code, user_code } = await start();
  expect((await poll(device_code)).body.error).toBe('authorization_pending');
  expect((await poll(device_code)).body).toMatchObject({
    error: 'slow_down',
    error_description: 'Ask every 10 seconds.',
  });
  await service.advance(6);
  expect((await poll(device_code)).body.error).toBe('slow_down');
  await service.advance(16);
  expect((await poll(device_code)).body.error).toBe('authorization_pending');
  await denyDevice(service.core, await waiting(user_code));
  const denied = await poll(device_code);
  expect({ status: denied.status, error: denied.body.error }).toEqual({ status: 400, error: 'access_denied' });
});

test('two that fetch at once, on two processes, and who fetches again, get the same key; ten minutes later nobody does', async () => {
  const { device_code, user_code } = await start({ scope: 'queue' });
  await approve(user_code, { scopes: ['queue:read'], cap: { nanos: 1_000_000_000n, period: 'daily' } });
  const before = (await client(service.url, account.secret)('GET', '/v1/account/keys/list?limit=100')).body.data.items
    .length;
  const answers = await Promise.all([0, 1, 2, 3].map((i) => poll(device_code, i % 2 === 0 ? service : second)));
  expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(1);
  expect(answers[0]?.body).toMatchObject({ scope: 'queue:read', token_type: 'Bearer' });
  const { items } = (await client(service.url, account.secret)('GET', '/v1/account/keys/list?limit=100')).body.data;
  expect(items.length).toBe(before + 1);
  expect(items[0]).toMatchObject({ key_id: answers[0]?.body.key_id, spend_cap_usd: 1, spend_cap_period: 'daily' });
  await service.advance(9 * 60);
  expect((await poll(device_code)).body.access_token).toBe(answers[0]?.body.access_token);
  await service.advance(61);
  expect((await poll(device_code)).body.error).toBe('invalid_grant');
  await deviceRetention(service.core.db).run(new AbortController().signal);
});

test('a code that nobody approved in ten minutes, and one that was approved and not fetched, get nothing', async () => {
  const [waits, approved] = [await start(), await start()];
  await approve(approved.user_code);
  await service.advance(600);
  for (const { device_code } of [waits, approved]) expect((await poll(device_code)).body.error).toBe('expired_token');
  expect(await findWaiting(service.core, readUserCode(waits.user_code), guessersOf('late', 'here'))).toBeNull();
});

test('a device code is of use only whole, and under the name that it was begun with', async () => {
  const { device_code, user_code } = await start();
  await approve(user_code);
  const wrong = [poll(device_code.slice(1)), poll(`${device_code}A`), poll(device_code, service, 'another'), poll('')];
  for (const { status, body } of await Promise.all(wrong))
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' });
  expect((await poll(device_code)).body.access_token).toMatch(/^qm_live_/);
  const { rows } = await service.core.db.query<{ row: string }>(
    { name: 'test_devices', text: 'SELECT row_to_json(d)::text AS row FROM core.device_code d' },
    [],
  );
  expect(rows.some(({ row }) => row.includes(device_code))).toBe(false);
});

test('what is decided once is not decided again', async () => {
  const { user_code } = await start();
  const device = await waiting(user_code);
  const principal = await service.core.keys.find(account.secret);
  if (typeof principal === 'string') throw new Error(principal);
  const wish = { scopes: ['queue'], lifetimeMs: null, cap: null };
  const said = await Promise.all([1, 2, 3].map(() => approveDevice(service.core, principal, device, wish)));
  expect(said.filter((fault) => fault === null)).toHaveLength(1);
  await denyDevice(service.core, device);
  const { rows } = await service.core.db.query<{ status: string }>(
    { name: 'test_device', text: 'SELECT d.status FROM core.device_code d WHERE d.device_hash = $1' },
    [device.device_hash],
  );
  expect(rows).toEqual([{ status: 'approved' }]);
});

test('nobody hands out more than they hold: neither scopes, nor time, nor money, nor what was not asked for', async () => {
  const { db, secrets } = service.core;
  const expiresAtMs = (await clockNow(db)) + DAY_MS;
  const cap = { nanos: 5_000_000_000n, period: 'total' } as const;
  const keys = [
    { scopes: ['account', 'queue:read'], expiresAtMs, cap: null },
    { scopes: null, expiresAtMs: null, cap },
    { scopes: ['account:write', 'queue'], expiresAtMs: null, cap: null },
  ].map((fields) =>
    db.transaction(async (tx) => {
      const nowMs = await lockCaller(tx, account.accountId);
      return (await createKey(tx, secrets, account.accountId, { name: null, ...fields }, nowMs)).secret;
    }),
  );
  const [ends = '', capped = '', weak = ''] = await Promise.all(keys);
  const { user_code, device_code } = await start({ scope: 'queue' });
  const field = async (secret: string, wish: Partial<Wish>) => (await approve(user_code, wish, secret))?.field;
  expect(await field(account.secret, { scopes: ['vector'] })).toBe('scopes');
  expect(await field(account.secret, { scopes: [] })).toBe('scopes');
  expect(await field(ends, { lifetimeMs: 1_000 })).toBe('scopes');
  expect(await field(ends, { scopes: ['queue:read'] })).toBe('lifetime');
  expect(await field(ends, { scopes: ['queue:read'], lifetimeMs: 2 * DAY_MS })).toBe('lifetime');
  expect(await field(capped, {})).toBe('cap');
  expect(await field(capped, { cap })).toBe('cap');
  expect(await field(weak, {})).toBeNull();
  expect((await poll(device_code)).body.error).toBe('authorization_pending');
  expect(await field(capped, { cap: { nanos: 0n, period: 'total' } })).toBeUndefined();
  expect((await poll(device_code)).body.access_token).toMatch(/^qm_live_/);
});

test('five wrong codes, and neither the right one nor sixty more at once are heard for ten minutes', async () => {
  const { user_code } = await start();
  const guess = (code: string, session = 'a', network = '192.0.2.1') =>
    findWaiting(service.core, readUserCode(code), guessersOf(session, network));
  const wrong = await Promise.all(Array.from({ length: 60 }, () => guess('BBBB-BBBB')));
  expect(wrong.filter((answer) => answer === null)).toHaveLength(5);
  expect(await guess(user_code)).toBeGreaterThan(590_000);
  // The session is not heard from another address either; other people at its address are.
  expect(typeof (await guess(user_code, 'a', '198.51.100.1'))).toBe('number');
  expect(await guess(user_code, 'b')).toMatchObject({ status: 'pending' });
  await service.advance(500);
  expect(typeof (await guess('BBBB-BBBB'))).toBe('number');
  await service.advance(101);
  expect(await guess('BBBB-BBBB')).toBeNull();
});

const guessALot = statement('test_guess_a_lot', 'UPDATE core.device_guess SET times = 1000 WHERE guesser = $1');

test('an address is not heard for ten minutes after a thousand wrong codes, whatever sessions they came from', async () => {
  const { user_code } = await start();
  const { db } = service.core;
  const [, network] = guessersOf('any', '203.0.113.9');
  const guess = (code: string, n: number) =>
    findWaiting(service.core, readUserCode(code), guessersOf(`s${n}`, '203.0.113.9'));
  for (let n = 0; n < 3; n += 1) expect(await guess('BBBB-BBBB', n)).toBeNull();
  // What a thousand wrong codes leave.
  await db.query(guessALot, [network?.name ?? null]);
  expect(await guess(user_code, 4)).toBeGreaterThan(590_000);
  await service.advance(601);
  expect(await guess('BBBB-BBBB', 5)).toBeNull();
});

test('right codes are no guesses, however many', async () => {
  for (let i = 0; i < 8; i += 1) await denyDevice(service.core, await waiting((await start()).user_code));
});

test('a network begins ten times a minute, this machine as often as it likes', async () => {
  const from = async (address: string) => {
    const headers = { 'x-forwarded-for': address };
    const body = new URLSearchParams({ client_id: 'many' });
    return fetch(`${service.url}/oauth/device_authorization`, { method: 'POST', headers, body });
  };
  const all = await Promise.all(Array.from({ length: 14 }, (_, i) => from(`192.0.2.${i + 1}`)));
  expect(all.filter(({ status }) => status === 200)).toHaveLength(10);
  const refused = all.find(({ status }) => status === 429);
  expect(await refused?.json()).toMatchObject({ error: 'slow_down' });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(50);
  expect((await from('198.51.100.1')).status).toBe(200);
  await service.advance(61);
  expect((await from('192.0.2.1')).status).toBe(200);
  const here = await Promise.all(Array.from({ length: 12 }, () => from('127.0.0.1')));
  expect(here.every(({ status }) => status === 200)).toBe(true);
});

test('bad requests are told by the words of OAuth, and nothing is cached or open to other sites', async () => {
  const bad: [string, Record<string, string>, string][] = [
    ['/oauth/device_authorization', {}, 'invalid_request'],
    ['/oauth/device_authorization', { client_id: 'a\u0000b' }, 'invalid_request'],
    ['/oauth/device_authorization', { client_id: 'x'.repeat(129) }, 'invalid_request'],
    ['/oauth/device_authorization', { client_id: 'x', scope: 'queue nonsense' }, 'invalid_scope'],
    ['/oauth/token', {}, 'invalid_request'],
    ['/oauth/token', { grant_type: 'password', client_id: 'x' }, 'unsupported_grant_type'],
    ['/oauth/token', { grant_type: GRANT, client_id: 'x' }, 'invalid_request'],
    ['/oauth/token', { grant_type: GRANT, device_code: 'x' }, 'invalid_request'],
  ];
  for (const [path, fields, error] of bad) {
    const { status, headers, body } = await post(path, fields);
    expect({ path, fields, status, error: body.error }).toEqual({ path, fields, status: 400, error });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
  const twice = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=${GRANT}&grant_type=${GRANT}`,
  });
  expect((await twice.json()).error).toBe('invalid_request');
  const long = await fetch(`${service.url}/oauth/token`, { method: 'POST', body: 'x'.repeat(20_000) });
  expect({ status: long.status, error: (await long.json()).error }).toEqual({ status: 413, error: 'invalid_request' });
});
