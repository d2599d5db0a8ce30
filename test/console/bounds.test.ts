// What one account, or one address, may take of the pages that are for all: streams of ticks, and reads for sessions.
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { LiveTicks } from '../../src/surfaces/console/live.ts';
import { signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { TRUST_PROXY: 'loopback' } });
});
afterAll(() => service?.stop());

test('the pages of one account take twenty streams, whatever sessions they are of, and leave the others', () => {
  const ticks = new LiveTicks(service.core, { capabilities: modules.flatMap(({ capabilities }) => capabilities) });
  const abort = new AbortController();
  const follow = (accountId: string, n: number) =>
    ticks.follow({ accountId, sessionId: `sess_${accountId}_${n}`, since: '' }, abort.signal) !== null;
  const greedy = Array.from({ length: 300 }, (_, n) => follow('acc_greedy', n));
  expect(greedy.filter(Boolean)).toHaveLength(20);
  expect(Array.from({ length: 20 }, (_, n) => follow('acc_other', n))).not.toContain(false);
  abort.abort();
});

test('an address that sends unknown session cookies is not read for any more, while its live sessions go on', async () => {
  const account = await createTestAccount(service.core);
  const person = await signedIn(service.url, account.secret);
  const from = (address: string) => ({ 'x-forwarded-for': address });
  expect((await person.get('/console', from('192.0.2.7'))).status).toBe(200);
  const guess = (path: string, address: string) => {
    const visitor = new PageVisitor(service.url);
    visitor.cookies.set('qm_session', randomBytes(32).toString('base64url'));
    return visitor.get(path, from(address));
  };
  const statuses = [];
  for (let n = 0; n < 70; n += 1)
    statuses.push((await guess(n % 2 === 0 ? '/console' : '/console/live', '192.0.2.7')).status);
  expect(new Set(statuses.slice(0, 60))).toEqual(new Set([303, 401]));
  expect(new Set(statuses.slice(61))).toEqual(new Set([429]));
  expect((await guess('/auth/account', '192.0.2.7')).status).toBe(429);
  expect((await person.get('/console', from('192.0.2.7'))).status).toBe(200);
  expect((await guess('/console', '198.51.100.7')).status).toBe(303);
});

test('pages do not answer to a foreign name; the API does', async () => {
  const statusOf = (path: string, host: string) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(service.url + path, { headers: { host } }, (answer) =>
        resolve(answer.resume().statusCode),
      );
      sent.on('error', reject).end();
    });
  for (const path of ['/console', '/auth', '/device', '/pay/return/x'])
    expect(await statusOf(path, 'evil.example'), path).toBe(421);
  for (const path of ['/healthz', '/docs', '/v1/openapi.json'])
    expect(await statusOf(path, 'evil.example'), path).toBe(200);
  expect(await statusOf('/auth', `localhost:${new URL(service.url).port}`)).toBe(200);
});
