// Nothing of a secret is left anywhere once an event is captured: not in the database, the log, or what webhooks are sent.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { type Receiver, startEngine, startReceiver } from '../webhooks/engine-harness.ts';
import { dump } from './dump.ts';
import { ErrorsBench } from './harness.ts';

let bench: ErrorsBench;
let receiver: Receiver;
let running: ServiceProcess;
beforeAll(async () => {
  receiver = await startReceiver();
  const service = await startEngine();
  // The calls go to a process of its own, since its log can be read as a whole.
  const env = { DATABASE_URL: service.database.url, SECRETS_KEY, TEST_CLOCK: 'on', LOG_LEVEL: 'debug' };
  running = await startProcess(await createPlace({ ...env, ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }));
  const account = await createTestAccount(service.core);
  bench = new ErrorsBench({ ...service, url: running.url }, account);
});
afterAll(async () => {
  await running.end('SIGTERM');
  await running.place.remove();
  await bench.service.stop();
  await receiver.close();
});

const mark = () => randomBytes(9).toString('hex');
const planted: string[] = [];
const plant = (before = '', after = '') => {
  const secret = mark();
  planted.push(secret);
  return `${before}${secret}${after}`;
};

test('planted secrets are in no table, no line of the log and no webhook', async () => {
  await bench.ok('POST', '/v1/account/webhooks/register', { url: `${receiver.url}/hook`, events: ['error.captured'] });
  const github = () => plant('ghp_', '0123456789abcdefgh');
  const event = {
    title: `Login failed: password=${plant()}`,
    message: `GET https://bob:${plant()}@api.example.com/?access_token=${plant()}\nCookie: a=${plant()}; b=${plant()}`,
    exception: {
      type: 'AuthError',
      value: `{"apiKey":"${plant()}"} with Bearer ${plant('a1')}`,
      stacktrace: [
        {
          func: 'login',
          file: `https://app.example.com/a.js?token=${plant()}`,
          context_pre: ['-----BEGIN PRIVATE KEY-----', plant()],
          context_line: plant(),
          context_post: ['-----END PRIVATE KEY-----'],
          vars: { password: plant(), nested: [{ clientSecret: plant() }], mail: plant('', '@example.com') },
        },
      ],
    },
    tags: { session_id: plant(), key: github(), [github()]: 'x' },
    release: `v1?secret=${plant()}`,
    breadcrumbs: [
      { category: 'http', message: `token: ${plant()}`, data: { auth: plant(), to: plant('', '@example.com') } },
    ],
    context: { service: { credentials: { user: 'root', pin: plant() } } },
    extra: { headers: [['authorization', plant('Custom ')]], jwt: `eyJhbGciOiJIUzI1NiJ9.${plant()}.${plant()}` },
    request: { url: '/x', cookies: { sid: plant() }, headers: { 'x-api-key': plant() } },
    user: { email: plant('', '@example.com'), ip_address: '203.0.113.77' },
    code: `E?api_key=${plant()}`,
    user_id: 'u-1',
  };
  planted.push('203.0.113.77', 'ghp_');
  const { event_id } = await bench.capture(event);
  await bench.capture({ exception: `password=${plant()} and card 4111-1111-1111-1111` });
  await bench.ok('POST', '/v1/errors/message', { text: `Authorization: Basic ${plant()}` });
  planted.push('4111-1111');
  await vi.waitFor(() => expect(receiver.seen).toHaveLength(3), { timeout: 50_000, interval: 100 });

  expect(await bench.get(event_id)).toMatchObject({ user_id: 'u-1', tags: { session_id: '[scrubbed]' } });
  const kept = {
    database: await dump(bench.service.core),
    log: running.stdout() + running.stderr(),
    webhooks: receiver.seen.map(({ body }) => body).join('\n'),
  };
  for (const [place, text] of Object.entries(kept)) {
    expect([place, text.length > 100 && text.includes(place === 'log' ? 'quartermaster' : '[scrubbed]')]).toEqual([
      place,
      true,
    ]);
    expect([place, planted.filter((secret) => text.includes(secret))]).toEqual([place, []]);
  }
});
