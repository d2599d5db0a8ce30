// The account's app: made once, by keys that may hold what neither ends nor has a cap, and made anew when its key was revoked.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealtimeBench } from './harness.ts';

let shared: RealtimeBench;
beforeAll(async () => {
  shared = await RealtimeBench.start();
});
afterAll(() => shared.service.stop());

test('who reads the secret and who gets another one need the same scope', async () => {
  const { byId } = await import('../support/capabilities.ts');
  expect([byId('realtime.app').scope, byId('realtime.app.rotate').scope]).toEqual(['admin', 'admin']);
});

test('the app is made once, however many ask for it at once', async () => {
  const own = await shared.another();
  const apps = await Promise.all(Array.from({ length: 8 }, () => own.ok('GET', 'app')));
  expect(new Set(apps.map((app) => JSON.stringify(app))).size).toBe(1);
  expect(apps[0]).toMatchObject({
    app_id: expect.stringMatching(/^\d{12}$/),
    app_key: expect.stringMatching(/^key_/),
    app_secret: expect.stringMatching(/^[0-9A-Za-z]{40}$/),
  });
  const keys = (await own.call('GET', '/v1/account/keys/list')).body.data.items as { name: string; scopes: string[] }[];
  expect(keys.filter(({ name }) => name === 'Realtime app').map(({ scopes }) => scopes)).toEqual([['realtime:write']]);
});

test.each([
  ['a spend cap', { spend_cap_usd: 1 }, 'spend_cap'],
  ['an end', { expires_at: '2090-01-01T00:00:00Z' }, 'expires_at'],
])('a key with %s does not get it, made or not', async (_what, bound, detail) => {
  const own = await shared.another();
  const { data: key } = (await own.call('POST', '/v1/account/keys/create', bound)).body;
  const ask = async () => {
    const replies = [
      await fetch(`${own.service.url}/v1/realtime/app`, { headers: { authorization: `Bearer ${key.key_secret}` } }),
      await fetch(`${own.service.url}/v1/realtime/app/rotate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.key_secret}` },
      }),
    ];
    return Promise.all(
      replies.map((reply) => reply.json() as Promise<{ error?: { code: string; code_detail: string } }>),
    );
  };
  const refused = { error: { code: 'INSUFFICIENT_SCOPE', code_detail: detail } };
  expect(await ask()).toMatchObject([refused, refused]);
  await own.ok('GET', 'app');
  expect(await ask()).toMatchObject([refused, refused]);
});

test('an app whose key was revoked is another one from then on', async () => {
  const own = await shared.another();
  const before = await own.ok('GET', 'app');
  await own.call('DELETE', `/v1/account/keys/revoke/${before.app_key}`);
  const after = await own.ok('GET', 'app');
  expect(after.app_id).toBe(before.app_id);
  expect(after.app_key).not.toBe(before.app_key);
  const { auth } = await own.ok('POST', 'authorize', { channel: 'private-a', socket_id: '1.2' });
  expect(auth.split(':')[0]).toBe(after.app_key);
});

test.each([
  [{ channel: 'a', socket_id: '1.2' }, 'channel'],
  [{ channel: 'presence-a', socket_id: '1.2' }, 'user_id'],
  [{ channel: 'private-a' }, 'socket_id'],
  [{ channels: ['a'], socket_id: '1.2' }, 'channels'],
  [{ socket_id: '1.2' }, 'channel'],
  [{ channels: ['a'], expires_seconds: 59 }, 'expires_seconds'],
  [{ channel: 'presence-a', socket_id: '1.2', user_id: 'a', user_info: { x: 'a'.repeat(1_100) } }, 'user_info'],
])('authorize refuses %j, naming the field', async (body, param) => {
  const reply = await shared.call('POST', '/v1/realtime/authorize', body);
  expect(reply).toMatchObject({ status: 400, body: { error: { param } } });
});
