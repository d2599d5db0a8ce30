// Keys over HTTP, on two processes' worth of services that share one database.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { openRaw } from '../support/raw.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

let one: TestService;
let two: TestService;
let account: TestAccount;
let admin: Client;

beforeAll(async () => {
  // own service: examines all accounts
  one = await startTestService();
  two = await startTestService({ database: one.database });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});
beforeEach(async () => {
  account = await createTestAccount(one.core);
  admin = client(one.url, account.secret);
});

async function makeKey(fields: object = {}): Promise<{ id: string; secret: string }> {
  const { status, body } = await admin('POST', '/v1/account/keys/create', fields);
  expect(status).toBe(200);
  return { id: body.data.key_id, secret: body.data.key_secret };
}

const publish = (call: Client) => call('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n: 1 } });

/** Calls without a pause until stopped; answers the statuses of the calls that were sent after `mark`: it goes on for one at least. */
function hammer(act: () => Promise<{ status: number }>) {
  let stopped = false;
  let markedMs = Number.POSITIVE_INFINITY;
  const late: number[] = [];
  const running = (async () => {
    while (!stopped || late.length === 0) {
      const sentMs = performance.now();
      const { status } = await act();
      if (sentMs > markedMs) late.push(status);
    }
  })();
  return {
    mark: () => {
      markedMs = performance.now();
    },
    stop: async () => {
      stopped = true;
      await running;
      return late;
    },
  };
}

describe('a revoked key', () => {
  test.each([
    ['revoke', async (id: string) => admin('DELETE', `/v1/account/keys/revoke/${id}`)],
    ['rotate with grace 0', async (id: string) => admin('POST', `/v1/account/keys/rotate/${id}`, { grace_hours: 0 })],
    [
      'a confirmed leak',
      async (id: string) => admin('POST', `/v1/account/keys/suspected_compromise/${id}`, { confirmed_leak: true }),
    ],
  ])('%s: no call sent after the answer succeeds, on any process, free or billable', async (_what, end) => {
    await admin('POST', '/v1/queue/create', { name: 'jobs' });
    const target = await makeKey();
    const calls = [one, two].flatMap(({ url }) => {
      const call = client(url, target.secret);
      return [hammer(() => publish(call)), hammer(() => call('GET', '/v1/account/balance'))];
    });
    await sleep(100);
    expect((await publish(client(two.url, target.secret))).status).toBe(200);
    expect((await end(target.id)).status).toBe(200);
    for (const running of calls) running.mark();
    await sleep(150);
    const late = (await Promise.all(calls.map((running) => running.stop()))).flat();
    // 429: too many calls with a wrong key from one address.
    expect(late.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  });

  test.each([
    ['narrowed', 403, 'INSUFFICIENT_SCOPE'],
    ['revoked', 401, 'INVALID_API_KEY'],
  ])(
    'a key that is %s while a body arrives calls nothing by it, not even what only reads',
    async (how, status, code) => {
      const target = await makeKey({ scopes: ['account.routing.test'] });
      const body = '{"capability": "ai.chat"}';
      const raw = await openRaw(two.url);
      const heads = [
        `authorization: Bearer ${target.secret}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
      ];
      raw.send(`POST /v1/account/routing/test HTTP/1.1\r\nhost: x\r\n${heads.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
      // sleeps: a key is looked at again after 200 ms.
      await sleep(300);
      if (how === 'revoked') await admin('DELETE', `/v1/account/keys/revoke/${target.id}`);
      else await admin('PATCH', `/v1/account/keys/update/${target.id}`, { scopes: ['queue:read'] });
      raw.send(body.slice(5));
      const answer = await raw.receive((text) => text.includes('"request_id"'));
      raw.destroy();
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      expect(answer).toContain(code);
    },
  );

  test('a narrowed key loses what was taken, everywhere, before the answer', async () => {
    await admin('POST', '/v1/queue/create', { name: 'jobs' });
    const target = await makeKey({ scopes: ['queue', 'account:read'] });
    const elsewhere = client(two.url, target.secret);
    expect((await publish(elsewhere)).status).toBe(200);
    await admin('PATCH', `/v1/account/keys/update/${target.id}`, { scopes: ['account:read'] });
    expect((await publish(elsewhere)).status).toBe(403);
    expect((await elsewhere('GET', '/v1/queue/stats/jobs')).status).toBe(403);
    expect((await elsewhere('GET', '/v1/account/balance')).status).toBe(200);
  });
});

/** It shows a secret nothing but what that secret is. */
const SHOWS_ITSELF = 'account.keys.aws';

describe('a secret in its grace', () => {
  const manage: [string, string, (id: string) => string, object?][] = [
    ['account.keys.list', 'GET', () => '/v1/account/keys/list'],
    ['account.keys.create', 'POST', () => '/v1/account/keys/create', {}],
    ['account.keys.update', 'PATCH', (id) => `/v1/account/keys/update/${id}`, { name: 'mine now' }],
    ['account.keys.rotate', 'POST', (id) => `/v1/account/keys/rotate/${id}`, { grace_hours: 0 }],
    ['account.keys.revoke', 'DELETE', (id) => `/v1/account/keys/revoke/${id}`],
    ['account.keys.suspected_compromise', 'POST', (id) => `/v1/account/keys/suspected_compromise/${id}`, {}],
  ];

  test.each([
    ['a rotation', (id: string) => admin('POST', `/v1/account/keys/rotate/${id}`, { grace_hours: 1 })],
    ['an unconfirmed leak report', (id: string) => admin('POST', `/v1/account/keys/suspected_compromise/${id}`, {})],
  ])('after %s it uses the API and manages no key, on any process', async (_what, replace) => {
    const { capabilities } = one.service.manifest;
    const ids = [...capabilities]
      .map(({ id }) => id)
      .filter((id) => id.startsWith('account.keys.') && id !== SHOWS_ITSELF);
    expect(manage.map(([id]) => id).sort()).toEqual(ids.sort());
    const target = await makeKey();
    expect((await replace(target.id)).status).toBe(200);
    for (const { url } of [one, two]) {
      const old = client(url, target.secret);
      expect((await old('GET', '/v1/account/balance')).status).toBe(200);
      expect((await old('GET', '/v1/account/keys/aws')).status).toBe(200);
      for (const [id, method, path, body] of manage) {
        const { status, body: answer } = await old(method, path(target.id), body);
        expect([id, status, answer.error?.code, answer.error?.code_detail]).toEqual([
          id,
          403,
          'INSUFFICIENT_SCOPE',
          'secret_in_grace',
        ]);
      }
    }
  });
});

describe('a suspended account', () => {
  test('is refused in the lane at once and elsewhere within a second', async () => {
    await admin('POST', '/v1/queue/create', { name: 'jobs' });
    expect((await publish(admin)).status).toBe(200);
    await one.core.db.transaction((tx) => setSuspended(tx, account.accountId, true));
    expect((await publish(admin)).body.error.code).toBe('ACCOUNT_SUSPENDED');
    await expect
      .poll(async () => (await admin('GET', '/v1/account/balance')).body.error?.code)
      .toBe('ACCOUNT_SUSPENDED');
    await one.core.db.transaction((tx) => setSuspended(tx, account.accountId, false));
    await expect.poll(async () => (await publish(admin)).status).toBe(200);
  });
});

describe('the doctor', () => {
  test('is content while calls run, and has counted units to compare', async () => {
    await admin('POST', '/v1/queue/create', { name: 'jobs' });
    const calls = [one, two].map(({ url }) => hammer(() => publish(client(url, account.secret))));
    const { modules } = one.service.manifest;
    for (let round = 0; round < 3; round += 1) {
      await sleep(50);
      expect((await examine({ db: one.core.db, secrets: one.core.secrets, modules })).findings).toEqual([]);
    }
    for (const running of calls) running.mark();
    await Promise.all(calls.map((running) => running.stop()));
    const units = await acceptedUnits(one.core.db, account.accountId);
    expect(units.get('queue.publish')).toBeGreaterThan(0n);
  });
});

describe('answers', () => {
  test.each([
    ['POST', '/v1/account/keys/create', { colour: 'red' }, 'VALIDATION_FAILED', 'colour'],
    ['POST', '/v1/account/keys/create', { name: 'x'.repeat(129) }, 'VALIDATION_FAILED', 'name'],
    ['POST', '/v1/account/keys/create', { name: 'a\u0000b' }, 'VALIDATION_FAILED', 'name'],
    ['POST', '/v1/account/keys/create', { name: '\ud800' }, 'VALIDATION_FAILED', 'name'],
    ['POST', '/v1/account/keys/create', { name: 7 }, 'VALIDATION_FAILED', 'name'],
    ['POST', '/v1/account/keys/create', { scopes: 'queue' }, 'VALIDATION_FAILED', 'scopes'],
    ['POST', '/v1/account/keys/create', { scopes: ['queue', 7] }, 'VALIDATION_FAILED', 'scopes[1]'],
    ['POST', '/v1/account/keys/create', { scopes: ['queue', 'a\u0000'] }, 'INVALID_SCOPE', 'scopes[1]'],
    ['POST', '/v1/account/keys/create', { expires_at: 'tomorrow' }, 'VALIDATION_FAILED', 'expires_at'],
    [
      'POST',
      '/v1/account/keys/rotate/key_0000000000000000000000',
      { grace_hours: 169 },
      'VALIDATION_FAILED',
      'grace_hours',
    ],
    [
      'POST',
      '/v1/account/keys/rotate/key_0000000000000000000000',
      { grace_hours: 1.5 },
      'VALIDATION_FAILED',
      'grace_hours',
    ],
    ['POST', '/v1/account/keys/rotate/key_0000000000000000000000', {}, 'KEY_NOT_FOUND', 'key_id'],
    ['DELETE', '/v1/account/keys/revoke/%00', undefined, 'VALIDATION_FAILED', 'key_id'],
    ['GET', '/v1/account/keys/list?limit=0', undefined, 'VALIDATION_FAILED', 'limit'],
    ['GET', '/v1/account/keys/list?cursor=abc', undefined, 'INVALID_CURSOR', 'cursor'],
  ])('%s %s %j: %s at %s', async (method, path, body, code, param) => {
    expect((await admin(method, path, body)).body.error).toMatchObject({ code, param });
  });

  test('128 characters beyond the basic plane are a name', async () => {
    expect((await admin('POST', '/v1/account/keys/create', { name: '🙂'.repeat(128) })).status).toBe(200);
  });

  test('a replay says so, and carries the secret again', async () => {
    const first = await admin('POST', '/v1/account/keys/create', { name: 'n', idempotency_key: 'i-1' });
    const again = await admin('POST', '/v1/account/keys/create', { idempotency_key: 'i-1', name: 'n' });
    expect([first.body.metadata.idempotent_replay, again.body.metadata.idempotent_replay]).toEqual([false, true]);
    expect(again.body.data).toEqual(first.body.data);
  });

  test('revoke takes its idempotency key from the query', async () => {
    const target = await makeKey();
    const revoke = () => admin('DELETE', `/v1/account/keys/revoke/${target.id}?idempotency_key=r-1`);
    expect((await revoke()).body.metadata.idempotent_replay).toBe(false);
    expect((await revoke()).body.metadata.idempotent_replay).toBe(true);
  });

  test('an empty body creates a key for everything', async () => {
    const { body } = await admin('POST', '/v1/account/keys/create');
    expect(body.data).toMatchObject({ name: null, scopes: null });
  });
});
