// PostHog's wire: posthog-node unchanged, and every form in which a body may come.
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PostHog } from 'posthog-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAccount } from '../support/service.ts';
import { AnalyticsBench } from './harness.ts';

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

const post = (url: string, body: Uint8Array | string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: body as BodyInit, headers });

test('posthog-node captures, identifies and joins, unchanged', async () => {
  const own = await bench.withAccount();
  const posthog = new PostHog(own.account.secret, { host: own.host, flushAt: 1, flushInterval: 10 });
  posthog.capture({ distinctId: 'browser-1', event: 'page seen', properties: { path: '/' } });
  posthog.identify({ distinctId: 'user-1', properties: { email: 'ann@example.org' } });
  posthog.alias({ distinctId: 'user-1', alias: 'browser-1' });
  posthog.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 3 } });
  expect(await posthog.isFeatureEnabled('any', 'user-1')).toBeFalsy();
  await posthog.shutdown();
  const names = (await own.events({ include_bots: 'true' })).map(({ event }) => event);
  expect(names).toEqual(expect.arrayContaining(['page seen', '$identify', '$create_alias', '$groupidentify']));
  const person = await own.ok('GET', '/v1/analytics/person/browser-1');
  expect(person.distinct_ids.toSorted()).toEqual(['browser-1', 'user-1']);
  expect(person.properties).toMatchObject({ email: 'ann@example.org' });
});

test('bodies of every form are one event each, and none twice', async () => {
  const own = await bench.withAccount();
  const key = await own.publicKey();
  const event = (name: string) => ({
    event: name,
    uuid: randomUUID(),
    properties: { token: key, distinct_id: 'p', $ip: '10.0.0.1' },
  });
  const text = (name: string) => JSON.stringify(event(name));
  const base64 = encodeURIComponent(Buffer.from(text('base64')).toString('base64'));
  const bodies: [string, Uint8Array | string, Record<string, string>][] = [
    ['e/', text('plain'), {}],
    ['e', gzipSync(text('gzip without a word')), { 'content-type': 'text/plain' }],
    ['i/v0/e/?compression=gzip-js', gzipSync(text('gzip-js')), {}],
    ['i/v0/e', gzipSync(text('gzip with its header')), { 'content-encoding': 'gzip' }],
    ['e/?compression=base64', `data=${base64}`, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['capture/', JSON.stringify({ api_key: key, ...event('capture') }), { 'content-type': 'application/json' }],
    ['e/', JSON.stringify([event('list one'), event('list two')]), {}],
    ['batch', JSON.stringify({ api_key: key, batch: [event('batch')] }), {}],
  ];
  for (const [path, body, headers] of bodies) {
    for (let again = 0; again < 2; again += 1) {
      const reply = await post(`${own.host}/${path}`, body, headers);
      expect(reply.status, `${path} ${await reply.text()}`).toBe(200);
      expect(reply.headers.get('access-control-allow-origin')).toBe(path === 'batch' ? null : '*');
    }
  }
  const events = await own.events({ include_bots: 'true' });
  expect(events.map(({ event: name }) => name).toSorted()).toEqual(
    [
      'plain',
      'gzip without a word',
      'gzip-js',
      'gzip with its header',
      'base64',
      'capture',
      'list one',
      'list two',
      'batch',
    ].toSorted(),
  );
  for (const { properties } of events) expect(properties).toEqual({});
});

test('a key behind megabytes of events is found, as posthog-python sends it', async () => {
  const own = await bench.withAccount();
  const event = (i: number) => ({
    event: `far ${i}`,
    distinct_id: 'p',
    uuid: randomUUID(),
    properties: { text: randomBytes(9_000).toString('hex'), n: i },
  });
  const batch = Array.from({ length: 100 }, (_, i) => event(i));
  const body = (more: object) => JSON.stringify({ batch, sent_at: new Date().toISOString(), ...more });
  const key = own.account.secret;
  for (const sent of [body({ api_key: key }), gzipSync(body({ api_key: key }))])
    expect((await post(`${own.host}/batch/`, sent)).status).toBe(200);
  expect((await own.ask('trends', { interval: 'day', include_bots: true })).series[0].total).toBe(100);
  for (const sent of [body({}), gzipSync(body({ api_key: `${key.slice(0, -1)}-` }))])
    expect((await post(`${own.host}/batch/`, sent)).status).toBe(401);
});

test('keys that can do more are refused for pages, with the line that makes one', async () => {
  const reply = await post(
    `${bench.host}/e/`,
    JSON.stringify({ api_key: bench.account.secret, event: 'a', distinct_id: 'b' }),
  );
  expect(reply.status).toBe(403);
  expect(await reply.text()).toContain(
    'qm keys create --account ACCOUNT_ID --name analytics --scopes analytics.capture',
  );
});

test('what cannot be taken is refused before it is read', async () => {
  const key = await bench.publicKey();
  const forged = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const refused: [number, Uint8Array | string][] = [
    [401, JSON.stringify({ event: 'a', distinct_id: 'b' })],
    [401, JSON.stringify({ api_key: forged, event: 'a', distinct_id: 'b' })],
    [401, gzipSync(Buffer.alloc(200_000_000, 0x20))],
    [413, gzipSync(Buffer.concat([Buffer.from(`{"api_key":"${key}",`), Buffer.alloc(64_000_000, 0x20)]))],
    [400, `{"api_key":"${key}",`],
    [400, gzipSync(`{"api_key":"${key}","event":"a"}`).subarray(0, 40)],
  ];
  for (const [status, body] of refused) {
    const reply = await post(`${bench.host}/e/`, body);
    expect(reply.status, await reply.text()).toBe(status);
  }
});

test('without credit clients are told to come again in a minute', async () => {
  const poor = new AnalyticsBench(bench.service, await createTestAccount(bench.service.core, 0));
  const reply = await post(
    `${poor.host}/batch/`,
    JSON.stringify({ api_key: poor.account.secret, batch: [{ event: 'a', distinct_id: 'b' }] }),
  );
  expect(reply.status, await reply.text()).toBe(429);
  expect(reply.headers.get('retry-after')).toBe('60');
});

test('flags are none, replays are taken and not kept, and pages find their settings', async () => {
  const key = await bench.publicKey();
  const get = async (path: string) => (await fetch(`${bench.host}/${path}`)).text();
  expect(JSON.parse(await get(`array/${key}/config?ip=0`))).toMatchObject({
    sessionRecording: false,
    hasFeatureFlags: false,
  });
  expect(await get(`array/${key}/config.js`)).toContain(`window._POSTHOG_REMOTE_CONFIG["${key}"]`);
  expect((await fetch(`${bench.host}/array/x%22%5D/config.js`)).status).toBe(400);
  for (const path of ['flags/?v=2', 'decide'])
    expect(await (await post(`${bench.host}/${path}`, '{}')).json()).toMatchObject({ featureFlags: {} });
  expect((await post(`${bench.host}/s/`, gzipSync('[]'))).status).toBe(200);
});

test('bots are marked and left out', async () => {
  const own = await bench.withAccount();
  const $raw_user_agent = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
  await own.capture({
    batch: [
      { event: 'v', distinct_id: 'bot', properties: { $raw_user_agent } },
      { event: 'v', distinct_id: 'human' },
    ],
  });
  expect((await own.events()).map(({ distinct_id }) => distinct_id)).toEqual(['human']);
  expect((await own.events({ include_bots: 'true' })).length).toBe(2);
  const total = async (more: object) => (await own.ask('trends', { events: ['v'], ...more })).series[0].total;
  expect([await total({}), await total({ include_bots: true }), await total({ math: 'uniques' })]).toEqual([1, 2, 1]);
});
