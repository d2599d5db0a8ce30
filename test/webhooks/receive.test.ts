// Webhooks in: each scheme by the signer of its own maker, what becomes of a request, and what nobody can forge, repeat or reach by it.
import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Webhooks } from '@octokit/webhooks';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { judge } from '../../src/modules/account/receivers/filters.ts';
import { client, createTestAccount, type Reply, type TestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { threadMsOf } from '../support/thread-time.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;
type Call = ReturnType<typeof client>;

let service: SharedService;
let account: TestAccount;
let call: Call;
let send: Call;

beforeAll(async () => {
  service = await sharedService();
  send = client(service.url);
});
beforeEach(async () => {
  account = await createTestAccount(service.core);
  call = client(service.url, account.secret);
});

const CREATE = '/v1/account/webhooks/receive/create';
const seconds = () => Math.floor(Date.now() / 1_000);
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
let queues = 0;

/** A receiver into a queue of its own. */
async function receiver(verify: object, rest: object = {}, as = call) {
  queues += 1;
  const queue = `inbound-${queues}`;
  await as('POST', '/v1/queue/create', { name: queue });
  const { body } = await as('POST', CREATE, { name: `receiver ${queues}`, verify, to: { queue }, ...rest });
  expect(body.ok, JSON.stringify(body)).toBe(true);
  const made: Data = body.data;
  const path = new URL(made.url).pathname;
  const post = (text: string | Buffer, headers: Record<string, string> = {}, query = ''): Promise<Reply> =>
    send('POST', path + query, text, headers);
  const messages = async (): Promise<Data[]> => {
    const { body: got } = await as('POST', '/v1/queue/consume', { queue, max_messages: 10 });
    return got.data.items.map(({ payload }: Data) => payload);
  };
  return { ...made, id: made.receiver_id as string, queue, path, post, messages };
}

async function requestsOf(id: string, count: number, as = call): Promise<Data[]> {
  const read = async () => (await as('GET', `/v1/account/webhooks/receive/requests/${id}`)).body.data.items;
  await expect.poll(async () => (await read()).length, { timeout: 10_000 }).toBe(count);
  return read();
}

const standing = async (id: string) => (await call('GET', `/v1/account/webhooks/receive/get/${id}`)).body.data;

describe('each scheme takes what its own signer signs, and nothing else', () => {
  test('github, by @octokit/webhooks', async () => {
    const made = await receiver({ scheme: 'github' });
    const text = JSON.stringify({ action: 'opened', n: 1e2, big: 12345678901234567890n.toString() });
    const signature = await new Webhooks({ secret: made.secret }).sign(text);
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': 'issues', 'x-github-delivery': 'guid-1' };
    const answer = await made.post(text, headers);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      received: true,
      request_id: expect.stringMatching(/^whq_/),
      outcome: 'published',
    });
    expect(await made.messages()).toEqual([
      {
        receiver_id: made.id,
        name: made.name,
        event: 'issues',
        delivery_id: 'guid-1',
        headers: { 'content-type': 'application/json', 'x-github-event': 'issues', 'x-github-delivery': 'guid-1' },
        received_at: expect.any(String),
        body: JSON.parse(text),
      },
    ]);
    const wrong = await new Webhooks({ secret: 'another secret' }).sign(text);
    expect((await made.post(text, { ...headers, 'x-hub-signature-256': wrong })).status).toBe(401);
    expect((await made.post(`${text} `, headers)).status).toBe(401);
    expect((await made.post(text, { 'x-github-delivery': 'guid-2' })).status).toBe(401);
    expect((await requestsOf(made.id, 1)).map(({ outcome }) => outcome)).toEqual(['published']);
  });

  test('stripe, by its own library', async () => {
    const secret = 'whsec_secret_of_the_endpoint';
    const made = await receiver({ scheme: 'stripe', secret });
    const payload = JSON.stringify({ id: 'evt_1', type: 'invoice.paid', data: {} }, null, 2);
    const stripe = new Stripe('sk_test_unused');
    const header = (timestamp: number, of = secret) =>
      stripe.webhooks.generateTestHeaderString({ payload, secret: of, timestamp });
    const post = (value: string) => made.post(payload, { 'stripe-signature': value });
    expect((await post(header(seconds()))).status).toBe(202);
    // Stripe sends the event again, signed anew; while a secret is rotated it signs by both.
    expect((await post(`${header(seconds() - 1)},v1=${'0'.repeat(64)}`)).status).toBe(200);
    expect((await post(header(seconds() - 301))).status).toBe(401);
    expect((await post(header(seconds() + 360))).status).toBe(401);
    expect((await post(header(seconds(), 'whsec_another_secret'))).status).toBe(401);
    expect((await post('t=x,v1=00')).status).toBe(401);
    const [message, ...more] = await made.messages();
    expect(more).toEqual([]);
    expect(message).toMatchObject({ event: 'invoice.paid', delivery_id: 'evt_1' });
  });

  test('standard, by the library of Standard Webhooks, and as Svix names its headers', async () => {
    const made = await receiver({ scheme: 'standard' });
    const text = '{"type":"user.created"}';
    const sign = (at: Date) => new Webhook(made.secret).sign('msg_1', at, text);
    const headers = (at = new Date(), name = 'webhook') => ({
      [`${name}-id`]: 'msg_1',
      [`${name}-timestamp`]: String(Math.floor(at.getTime() / 1_000)),
      [`${name}-signature`]: `v1,AAAA ${sign(at)}`,
    });
    expect((await made.post(text, headers())).status).toBe(202);
    expect((await made.post(text, headers(new Date(), 'svix'))).status).toBe(200);
    expect((await made.post(text, headers(new Date(Date.now() - 301_000)))).status).toBe(401);
    expect((await made.post(text, { ...headers(), 'webhook-id': 'msg_2' })).status).toBe(401);
    expect(await made.messages()).toMatchObject([{ event: 'user.created', delivery_id: 'msg_1' }]);
  });

  test('slack as its documentation says: events, interactions, commands, and its challenge', async () => {
    const secret = '8f742231b10e8888abcd99yyyzzz85a5';
    const made = await receiver({ scheme: 'slack', secret });
    const signed = (text: string, at = seconds(), by = secret) => ({
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${hmac(by, `v0:${at}:${text}`)}`,
    });
    const challenge = JSON.stringify({ type: 'url_verification', token: 'x', challenge: '3eZbrw1aB' });
    const answered = await made.post(challenge, signed(challenge));
    expect([answered.status, answered.body]).toEqual([200, { challenge: '3eZbrw1aB' }]);
    expect((await made.post(challenge, signed(challenge, seconds(), 'another secret'))).status).toBe(401);
    const event = JSON.stringify({ type: 'event_callback', event_id: 'Ev1', event: { type: 'app_mention' } });
    expect((await made.post(event, signed(event))).status).toBe(202);
    expect((await made.post(event, { ...signed(event), 'x-slack-retry-num': '1' })).status).toBe(200);
    expect((await made.post(event, signed(event, seconds() - 301))).status).toBe(401);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const command = 'command=%2Fdeploy&text=to+production&trigger_id=1.2&a=1&a=2';
    expect((await made.post(command, { ...form, ...signed(command) })).status).toBe(202);
    const pressed = new URLSearchParams({ payload: '{"type":"block_actions","trigger_id":"1.3"}' }).toString();
    expect((await made.post(pressed, { ...form, ...signed(pressed) })).status).toBe(202);
    expect(await made.messages()).toMatchObject([
      { event: 'app_mention', delivery_id: 'Ev1' },
      { event: '/deploy', delivery_id: '1.2', body: { command: '/deploy', text: 'to production', a: ['1', '2'] } },
      { event: 'block_actions', delivery_id: '1.3', body: { payload: { type: 'block_actions' } } },
    ]);
  });

  test('hmac in the header and encoding that it names; token with and without Bearer; none', async () => {
    const shopify = await receiver({
      scheme: 'hmac',
      secret: 'of the shop'.replaceAll(' ', '-'),
      header: 'X-Shopify-Hmac-Sha256',
      encoding: 'base64',
    });
    const sign = (text: string, encoding: 'base64' | 'hex') =>
      createHmac('sha256', 'of-the-shop').update(text).digest(encoding);
    const text = '{"id":1}';
    const ids = { 'x-shopify-topic': 'orders/create', 'x-shopify-webhook-id': 'w-1' };
    expect((await shopify.post(text, { 'x-shopify-hmac-sha256': sign(text, 'base64'), ...ids })).status).toBe(202);
    expect((await shopify.post(text, { 'x-shopify-hmac-sha256': sign(text, 'hex'), ...ids })).status).toBe(401);
    expect(await shopify.messages()).toMatchObject([{ event: 'orders/create', delivery_id: 'w-1' }]);

    const gitlab = await receiver({ scheme: 'token', header: 'X-Gitlab-Token', secret: 'secret-of-gitlab' });
    expect((await gitlab.post(text, { 'x-gitlab-token': 'secret-of-gitlab' })).status).toBe(202);
    expect((await gitlab.post(text, { 'x-gitlab-token': 'secret-of-gitlab2' })).status).toBe(401);
    expect((await gitlab.post(text)).status).toBe(401);
    const [message] = await gitlab.messages();
    expect(message.headers).not.toHaveProperty('x-gitlab-token');

    const bearer = await receiver({ scheme: 'token' });
    expect((await bearer.post(text, { authorization: `Bearer ${bearer.secret}` })).status).toBe(202);
    expect((await bearer.post(text, { authorization: bearer.secret })).status).toBe(202);
    expect((await bearer.post(text, { authorization: `Bearer ${account.secret}` })).status).toBe(401);

    const open = await receiver({ scheme: 'none' });
    expect(open.secret).toBeNull();
    expect((await open.post(text)).status).toBe(202);
    expect((await open.post(text)).status).toBe(202);
    expect(await open.messages()).toHaveLength(2);
  });
});

test('the addresses of others are answered as their challenges ask, and nothing of a challenge is a message', async () => {
  const made = await receiver({ scheme: 'hmac', secret: 'app-secret', header: 'X-Hub-Signature-256' });
  const asked = (token: string) =>
    send('GET', `${made.path}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`);
  const right = await asked('app-secret');
  expect([right.status, right.text, right.headers.get('content-type')]).toEqual([
    ...[200, '1158201444', 'text/plain; charset=utf-8'],
  ]);
  expect((await asked('wrong')).status).toBe(403);
  expect((await send('GET', made.path)).status).toBe(405);
  const dropbox = await send('GET', `${made.path}?challenge=abc`);
  expect([dropbox.status, dropbox.text]).toEqual([200, 'abc']);
  const graph = await receiver({ scheme: 'none' });
  const validated = await graph.post('', { 'content-type': 'text/plain' }, '?validationToken=%3Cb%3E');
  expect([validated.status, validated.text, validated.headers.get('x-content-type-options')]).toEqual([
    ...[200, '<b>', 'nosniff'],
  ]);
  expect([...(await made.messages()), ...(await graph.messages())]).toEqual([]);
});

test('bodies arrive as JSON byte for byte, as fields, as text, or as base64', async () => {
  const made = await receiver({ scheme: 'none' });
  const type = (value: string) => ({ 'content-type': value });
  await made.post('{"b":1.0,"a":1e30}');
  await made.post('plain', type('text/plain'));
  await made.post(Buffer.from([0xff, 0]), type('application/octet-stream'));
  await made.post(`${'['.repeat(200)}${']'.repeat(200)}`);
  await made.post('x=1&__proto__=2', type('application/x-www-form-urlencoded'));
  const { body } = await call('POST', '/v1/queue/consume', { queue: made.queue, max_messages: 10 });
  const payloads = body.data.items.map(({ payload }: Data) => payload);
  expect(payloads.map((one: Data) => one.body ?? one.body_base64)).toEqual([
    { b: 1, a: 1e30 },
    'plain',
    '/wA=',
    `${'['.repeat(200)}${']'.repeat(200)}`,
    JSON.parse('{"x":"1","__proto__":"2"}'),
  ]);
});

test('a filter lets through what it names; what it cannot judge is published and says so', async () => {
  const filter = {
    events: ['push', 'issues.*'],
    json: { and: [{ '==': [{ var: 'body.ref' }, 'main'] }, { in: ['bot', { var: 'headers.user-agent' }] }] },
  };
  const made = await receiver({ scheme: 'none' }, { filter });
  const post = (event: string, body: object, agent = 'a bot') =>
    made.post(JSON.stringify(body), { 'x-github-event': event, 'user-agent': agent });
  expect((await post('push', { ref: 'main', rest: 'x'.repeat(100_000) })).body.outcome).toBe('published');
  expect((await post('issues.opened', { ref: 'main' })).body.outcome).toBe('published');
  expect((await post('push', { ref: 'other' })).body).toMatchObject({ outcome: 'filtered' });
  expect((await post('push', { ref: 'main' }, 'a person')).body.outcome).toBe('filtered');
  expect((await post('star', { ref: 'main' })).body.outcome).toBe('filtered');
  expect((await post('push', { ref: 'y'.repeat(2_000) })).body.outcome).toBe('published');
  expect(await made.messages()).toHaveLength(3);
  const listed = await requestsOf(made.id, 6);
  expect(listed.map(({ outcome, code }) => code ?? outcome).sort()).toEqual([
    ...['filter_unsure', 'filtered', 'filtered', 'filtered', 'published', 'published'],
  ]);
});

test('a filter may name many members of a long body, and the body itself', async () => {
  const names = Array.from({ length: 200 }, (_, i) => `m${i}`);
  const missing = ['body', ...names.map((name) => `body.${name}`)];
  const made = await receiver({ scheme: 'none' }, { filter: { json: { '!': { missing } } } });
  const body = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`m${i}`, 1]));
  const filter = { events: [], json: made.filter.json };
  const once = threadMsOf(() => JSON.parse(JSON.stringify(body)));
  expect(threadMsOf(() => judge(filter, { event: null, headers: {}, body }))).toBeLessThan(100 * Math.max(1, once));
});

test('a filter sees a list that it also looks into', async () => {
  const json = { and: [{ in: ['bug', { var: 'body.labels' }] }, { '==': [{ var: 'body.labels.0' }, 'bug'] }] };
  const made = await receiver({ scheme: 'none' }, { filter: { json } });
  expect((await made.post('{"labels":["bug"]}')).body.outcome).toBe('published');
  expect((await made.post('{"labels":["x","bug"]}')).body.outcome).toBe('filtered');
});

test('what a form has in `payload` is published however deep it is', async () => {
  const made = await receiver({ scheme: 'none' });
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const depth of [29, 30]) {
    const payload = encodeURIComponent('['.repeat(depth) + ']'.repeat(depth));
    expect([depth, (await made.post(`payload=${payload}`, type)).status]).toEqual([depth, 202]);
  }
});

test.each([
  ['loops', { all: [{ var: 'body' }, { all: [{ var: '' }, { all: [{ var: '' }, { '==': [1, 1] }] }] }] }],
  ['an unknown operator', { log: 'x' }],
  ['depth', Array.from({ length: 27 }).reduce((inner) => ({ '!': inner }), true)],
  ['no rule', 'x == y'],
])('a filter is bounded before it may run: %s', async (_what, json) => {
  const answer = await call('POST', CREATE, {
    name: 'bomb',
    verify: { scheme: 'none' },
    to: { queue: 'anything' },
    filter: { json },
  });
  expect(answer.status).toBe(400);
  expect(answer.body.error.param).toMatch(/^filter/);
});

test('to a channel: the event is the sender’s', async () => {
  const { body } = await call('POST', CREATE, {
    name: 'live',
    verify: { scheme: 'none' },
    to: { channel: 'builds' },
  });
  const path = new URL(body.data.url).pathname;
  expect((await send('POST', path, '{"n":1}', { 'x-event': 'built' })).status).toBe(202);
  expect((await send('POST', path, '{"n":2}', { 'x-event': 'pusher:error' })).status).toBe(202);
  expect((await send('POST', path, `{"n":"${'x'.repeat(20_000)}"}`)).status).toBe(413);
  const history = await call('GET', '/v1/realtime/history/builds');
  expect(history.body.data.items.map(({ event, data }: Data) => [event, data.body])).toEqual(
    expect.arrayContaining([
      ['built', { n: 1 }],
      ['webhook', { n: 2 }],
    ]),
  );
});

describe('who sends is told to come again, and what is wrong is told to the account', () => {
  test('without a queue', async () => {
    const made = await receiver({ scheme: 'none' });
    await call('DELETE', `/v1/queue/delete/${made.queue}`);
    const refused = await made.post('{}', { 'x-event-id': 'e-1' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(refused.text).not.toContain('queue');
    expect(await requestsOf(made.id, 1)).toMatchObject([{ outcome: 'refused', status: 503, code: 'QUEUE_NOT_FOUND' }]);
    expect(await standing(made.id)).toMatchObject({ state: 'failing', last_error: { code: 'QUEUE_NOT_FOUND' } });
    await call('POST', '/v1/queue/create', { name: made.queue });
    expect((await made.post('{}', { 'x-event-id': 'e-1' })).status).toBe(202);
    await requestsOf(made.id, 2);
    expect(await standing(made.id)).toMatchObject({ state: 'active', last_error: null });
  });

  test('without credit', async () => {
    const poor = client(service.url, (await createTestAccount(service.core, 0)).secret);
    const made = await receiver({ scheme: 'none' }, {}, poor);
    const refused = await made.post('{}');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await requestsOf(made.id, 1, poor)).toMatchObject([{ code: 'INSUFFICIENT_CREDIT' }]);
  });

  test('while it is disabled; at its earlier address 404; deleted 404', async () => {
    const made = await receiver({ scheme: 'none' });
    const change = (body: object) => call('PATCH', `/v1/account/webhooks/receive/update/${made.id}`, body);
    expect((await made.post('{}')).status).toBe(202);
    await change({ state: 'disabled' });
    await expect.poll(async () => (await made.post('{}')).status).toBe(503);
    await change({ state: 'active', new_url: true });
    await expect.poll(async () => (await made.post('{}')).status).toBe(404);
    const moved = new URL((await standing(made.id)).url).pathname;
    expect((await send('POST', moved, '{}')).status).toBe(202);
    await call('DELETE', `/v1/account/webhooks/receive/delete/${made.id}`);
    await expect.poll(async () => (await send('POST', moved, '{}')).status).toBe(404);
  });
});

describe('rights hold in the commit', () => {
  test('what was verified by a secret that has changed is verified by the new one', async () => {
    const made = await receiver({ scheme: 'token', header: 'x-token', secret: 'first-secret' });
    const post = (token: string) => made.post('{}', { 'x-token': token });
    expect((await post('first-secret')).status).toBe(202);
    const verify = { scheme: 'token', header: 'x-token', secret: 'second-secret' };
    await call('PATCH', `/v1/account/webhooks/receive/update/${made.id}`, { verify });
    // The receiver is remembered for a second yet; the commit is not fooled.
    expect((await post('first-secret')).status).toBe(401);
    expect((await post('second-secret')).status).toBe(202);
  });

  test('a deleted receiver publishes nothing, though it is remembered', async () => {
    const made = await receiver({ scheme: 'none' });
    expect((await made.post('{}')).status).toBe(202);
    await call('DELETE', `/v1/account/webhooks/receive/delete/${made.id}`);
    expect((await made.post('{}')).status).toBe(404);
    expect(await made.messages()).toHaveLength(1);
  });

  test('it goes on when the key that made it is revoked: it is the account’s', async () => {
    const key = (await call('POST', '/v1/account/keys/create', { name: 'maker' })).body.data;
    const made = await receiver({ scheme: 'none' }, {}, client(service.url, key.secret));
    expect(made.created_by).toBe(key.key_id);
    await call('POST', '/v1/account/keys/revoke', { key_id: key.key_id });
    expect((await made.post('{}')).status).toBe(202);
  });

  test('a key makes none that may do more than itself', async () => {
    const make = async (fields: object, to: object) => {
      const { body } = await call('POST', '/v1/account/keys/create', { name: 'narrow', ...fields });
      const as = client(service.url, body.data.secret);
      return (await as('POST', CREATE, { name: 'x', verify: { scheme: 'none' }, to })).body.error?.code;
    };
    const to = { queue: 'anything' };
    expect(await make({ scopes: ['account:admin'] }, to)).toBe('INSUFFICIENT_SCOPE');
    expect(await make({ scopes: ['account:admin', 'queue:write'] }, { channel: 'x' })).toBe('INSUFFICIENT_SCOPE');
    expect(await make({ spend_cap_usd: 1 }, to)).toBe('SCOPE_ESCALATION');
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    expect(await make({ expires_at }, to)).toBe('EXPIRY_TOO_LATE');
    expect(await make({ scopes: ['account:admin', 'queue.publish'] }, to)).toBeUndefined();
  });

  test('the address that alone lets publish is shown to whoever may', async () => {
    const [open, signed] = [await receiver({ scheme: 'none' }), await receiver({ scheme: 'github' })];
    const urls = async (scopes: string[]) => {
      const { body } = await call('POST', '/v1/account/keys/create', { name: 'reader', scopes });
      const as = client(service.url, body.data.secret);
      const { body: listed } = await as('GET', '/v1/account/webhooks/receive/list');
      const { body: one } = await as('GET', `/v1/account/webhooks/receive/get/${open.id}`);
      return [one.data.url, ...listed.data.items.map(({ url }: Data) => url)];
    };
    expect(await urls(['account:read', 'realtime:write', 'queue:read'])).toEqual([null, signed.url, null]);
    expect(await urls(['account:read', 'queue.publish'])).toEqual([open.url, signed.url, open.url]);
  });

  test('another account’s queue is no target', async () => {
    const other = client(service.url, (await createTestAccount(service.core)).secret);
    await other('POST', '/v1/queue/create', { name: 'of-the-other' });
    const { body } = await call('POST', CREATE, {
      name: 'x',
      verify: { scheme: 'none' },
      to: { queue: 'of-the-other' },
    });
    expect((await send('POST', new URL(body.data.url).pathname, '{}')).status).toBe(503);
    expect((await other('POST', '/v1/queue/consume', { queue: 'of-the-other' })).body.data.items).toEqual([]);
  });
});

describe('hostile requests', () => {
  test('made-up, cut and foreign tokens are 404, and cost no read', async () => {
    const made = await receiver({ scheme: 'none' });
    const token = made.path.slice('/hooks/'.length);
    for (const bad of ['x', 'a.b', token.slice(0, -1), `${token}A`, token.replace('.', '.A'), `${'x'.repeat(5_000)}`])
      expect((await send('POST', `/hooks/${bad}`, '{}')).status).toBe(404);
  });

  test('compressed bodies are refused unread; longer ones than the door takes are 413', async () => {
    const made = await receiver({ scheme: 'none' });
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    expect((await made.post(bomb, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await made.post('x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect((await made.post(`"${'x'.repeat(600_000)}"`)).status).toBe(413);
    expect((await made.post(`"${'x'.repeat(200_000)}"`)).status).toBe(202);
    expect(await requestsOf(made.id, 2)).toMatchObject([
      { message: null },
      { code: 'MESSAGE_TOO_LARGE', bytes: 600_002 },
    ]);
  });

  test('headers and bodies of odd characters', async () => {
    const made = await receiver({ scheme: 'none' });
    const odd = JSON.stringify({ type: '\u0000', a: '\ud800', event: 'x'.repeat(5_000) });
    expect((await made.post(odd, { 'x-event-id': '\u00e9'.repeat(50) })).status).toBe(202);
    expect((await made.post('{"a":"\\u0000"}', { 'x-event-id': 'i'.repeat(300) })).status).toBe(202);
    await requestsOf(made.id, 2);
  });

  test('a known address takes no more than its own rate, and nothing of the account’s reads', async () => {
    const { RateLimiter } = await import('../../src/gateway/limits/rate-limiter.ts');
    const limiter = new RateLimiter();
    while (limiter.take('acct', 'standard', 'received', 0).allowed);
    expect(limiter.take('acct', 'standard', 'reads', 0).allowed).toBe(true);
    expect(limiter.take('acct', 'standard', 'received', 10).allowed).toBe(true);
  });
});

test('all repeats of a delivery at once are one message, charged once', async () => {
  const made = await receiver({ scheme: 'none' });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => made.post(`{"attempt":${i}}`, { 'x-event-id': 'same' })),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(39).fill(200), 202]);
  expect(await made.messages()).toHaveLength(1);
  const usage = (await call('GET', `/v1/account/ledger/list?key_id=${made.id}`)).body.data;
  expect(usage.items).toMatchObject([{ capability: 'queue.publish', units: 1 }]);
});

test('a listed request is replayed as a new message; the last 1,000 are listed', async () => {
  const made = await receiver({ scheme: 'none' });
  await made.post('{"n":1}', { 'x-event-id': 'r-1', 'x-event': 'built' });
  const [listed] = await requestsOf(made.id, 1);
  expect(listed).toMatchObject({ event: 'built', delivery_id: 'r-1', message: { body: { n: 1 } } });
  const replayed = await call('POST', `/v1/account/webhooks/receive/replay/${made.id}`, {
    request_id: listed.request_id,
  });
  expect(replayed.body.data.message_id).not.toBe(listed.message_id);
  expect(replayed.body.metadata.cost_usd).toBeGreaterThan(0);
  const [first, second] = await made.messages();
  expect(second).toEqual(first);
});

test('no secret of it is told: not by lists, the request log, nor as it is stored', async () => {
  const secret = 'a-secret-that-nobody-tells';
  const made = await receiver({ scheme: 'hmac', secret });
  const shown = await Promise.all(
    ['/v1/account/webhooks/receive/list', '/v1/account/requests/list?audit=true'].map((path) => call('GET', path)),
  );
  for (const { text } of shown) expect(text).not.toContain(secret);
  const { rows } = await service.core.db.query<{ row: string }>(
    { name: 'test_receiver_text', text: 'SELECT r::text AS row FROM core.webhook_receiver r WHERE r.account_id = $1' },
    [account.accountId],
  );
  const token = made.path.slice('/hooks/'.length).split('.')[1];
  for (const { row } of rows) {
    expect(row).not.toContain(secret);
    expect(row).not.toContain(Buffer.from(secret).toString('hex'));
    expect(row).not.toContain(token);
  }
});

test.each([
  ['stripe without its secret', { scheme: 'stripe' }, 'verify.secret'],
  ['a header of a scheme that has its own', { scheme: 'github', header: 'x' }, 'verify.header'],
  ['an encoding of token', { scheme: 'token', encoding: 'hex' }, 'verify.encoding'],
  ['a secret of none', { scheme: 'none', secret: 'a-long-secret' }, 'verify.secret'],
  ['a secret of standard that is no base64', { scheme: 'standard', secret: 'whsec_!!!!!!!!' }, 'verify.secret'],
])('%s is refused by its field', async (_what, verify, param) => {
  const { body } = await call('POST', CREATE, { name: 'x', verify, to: { queue: 'anything' } });
  expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', param });
});
