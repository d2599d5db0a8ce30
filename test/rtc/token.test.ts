// Tokens: LiveKit's own verifier takes them, accounts never share a room, and without a server the channel of realtime is named and signed.
import { createHmac } from 'node:crypto';
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, Variables } from '../../src/config/variables.ts';
import { rtcSettings } from '../../src/modules/rtc/settings.ts';
import {
  type Client,
  client,
  createTestAccount,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';

const livekit = {
  LIVEKIT_URL: 'wss://livekit.example.com',
  LIVEKIT_API_KEY: 'APIabc',
  LIVEKIT_API_SECRET: 's'.repeat(40),
};
const turn = {
  TURN_URLS: 'stun:turn.example.com:3478, turn:turn.example.com:3478?transport=udp,turns:turn.example.com:5349',
  TURN_SECRET: 'a secret of coturn',
};

async function start(env: Record<string, string> = {}) {
  const service = await startTestService({ env });
  const account = await createTestAccount(service.core, 5);
  return { service, account, call: client(service.url, account.secret) };
}

describe('with a LiveKit server', () => {
  let service: TestService;
  let account: TestAccount;
  let call: Client;
  beforeAll(async () => {
    ({ service, account, call } = await start({ ...livekit, ...turn }));
  });
  afterAll(() => service.stop());
  const verifier = new TokenVerifier(livekit.LIVEKIT_API_KEY, livekit.LIVEKIT_API_SECRET);

  test("the token is taken by LiveKit's verifier, for one room and no other right", async () => {
    const { body } = await call('POST', '/v1/rtc/token', { room: 'stand-up', identity: 'ana', name: 'Ana Müller' });
    const { mode, token, url, room, channel, app_key } = body.data;
    expect({ mode, url, channel, app_key }).toEqual({
      mode: 'livekit',
      url: livekit.LIVEKIT_URL,
      channel: null,
      app_key: null,
    });
    const claims = await verifier.verify(token);
    expect(claims).toMatchObject({ sub: 'ana', name: 'Ana Müller' });
    expect(claims.video).toEqual({
      room,
      roomJoin: true,
      canPublish: true,
      canPublishData: true,
      canSubscribe: true,
    });
    expect(room).toBe(`${account.accountId}.stand-up`);
    expect(body.metadata.cost_usd).toBe(0.0001);
  });

  test('rights and time are as asked for', async () => {
    const asked = { room: 'stand-up', identity: 'ben', can_publish: false, can_subscribe: false, expires_seconds: 60 };
    const { data } = (await call('POST', '/v1/rtc/token', asked)).body;
    const claims = await verifier.verify(data.token);
    expect(claims.video).toMatchObject({ canPublish: false, canPublishData: false, canSubscribe: false });
    const endMs = (claims.exp ?? 0) * 1_000;
    expect(Math.abs(endMs - Date.parse(data.expires_at))).toBeLessThan(2_000);
    expect(endMs).toBeLessThan(Date.now() + 61_000);
  });

  test('rooms of one name belong to accounts that never meet', async () => {
    const other = await createTestAccount(service.core, 5);
    const body = { room: 'stand-up', identity: 'ana' };
    const replies = await Promise.all(
      [account, other].map(({ secret }) => client(service.url, secret)('POST', '/v1/rtc/token', body)),
    );
    expect(new Set(replies.map((reply) => reply.body.data.room)).size).toBe(2);
  });

  test('TURN credentials are signed as coturn checks them, and end with the token', async () => {
    const { data } = (await call('POST', '/v1/rtc/token', { room: 'a', identity: 'ana', expires_seconds: 600 })).body;
    const [stun, relay] = data.ice_servers;
    expect(stun).toEqual({ urls: ['stun:turn.example.com:3478'] });
    expect(relay.urls).toEqual(['turn:turn.example.com:3478?transport=udp', 'turns:turn.example.com:5349']);
    expect(relay.username).toBe(`${Math.floor(Date.parse(data.expires_at) / 1_000)}:${account.accountId}.ana`);
    expect(relay.credential).toBe(createHmac('sha1', turn.TURN_SECRET).update(relay.username).digest('base64'));
  });

  test.each([
    ['room', { room: 'two words', identity: 'ana' }],
    ['room', { identity: 'ana' }],
    ['identity', { room: 'a', identity: 'ana:ben' }],
    ['expires_seconds', { room: 'a', identity: 'ana', expires_seconds: 86_401 }],
    ['name', { room: 'a', identity: 'ana', name: 'two\nlines' }],
  ])('a wrong %s is named', async (param, body) => {
    expect((await call('POST', '/v1/rtc/token', body)).body.error).toMatchObject({ code: 'VALIDATION_FAILED', param });
  });
});

describe('without one', () => {
  let service: TestService;
  let call: Client;
  beforeAll(async () => {
    ({ service, call } = await start());
  });
  afterAll(() => service.stop());

  test('the channel, its key and its signature are those of realtime', async () => {
    const member = { room: 'stand-up', identity: 'ana', name: 'Ana' };
    const { body } = await call('POST', '/v1/rtc/token', { ...member, socket_id: '12.34' });
    const authorized = await call('POST', '/v1/realtime/authorize', {
      channel: 'presence-rtc-stand-up',
      socket_id: '12.34',
      user_id: 'ana',
      user_info: { name: 'Ana' },
    });
    const { auth, channel_data } = authorized.body.data;
    expect(body.data).toMatchObject({
      mode: 'peer',
      token: auth,
      channel_data,
      channel: 'presence-rtc-stand-up',
      ice_servers: [],
      url: `${service.url.replace('http', 'ws')}/v1/realtime/pusher`,
      app_key: auth.split(':')[0],
    });
    expect(body.metadata.warnings).toEqual([expect.stringContaining('No TURN server')]);
    const unsigned = (await call('POST', '/v1/rtc/token', member)).body.data;
    expect(unsigned).toMatchObject({ token: null, channel_data: null, app_key: body.data.app_key });
  });

  test('that rights are not held there is said', async () => {
    const { metadata } = (await call('POST', '/v1/rtc/token', { room: 'a', identity: 'b', can_publish: false })).body;
    expect(metadata.warnings).toContainEqual(expect.stringContaining('can_publish'));
  });

  test('a key without realtime.authorize gets none, and is not charged', async () => {
    const made = await call('POST', '/v1/account/keys/create', { name: 'rtc', scopes: ['rtc', 'account.balance'] });
    const narrow = client(service.url, made.body.data.key_secret);
    const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd;
    const before = await balance();
    const { status, body } = await narrow('POST', '/v1/rtc/token', { room: 'a', identity: 'b' });
    expect([status, body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect(await balance()).toEqual(before);
  });

  test('the servers alone are free', async () => {
    const { status, body } = await call('GET', '/v1/rtc/ice_servers?expires_seconds=60');
    expect([status, body.data.ice_servers, body.metadata.cost_usd]).toEqual([200, [], 0]);
  });
});

describe('settings', () => {
  const read = (env: Record<string, string>) => rtcSettings(new Variables(env));
  test.each([
    ['LIVEKIT_URL', { LIVEKIT_URL: 'wss://a.example' }],
    ['LIVEKIT_URL', { ...livekit, LIVEKIT_URL: 'https://a.example' }],
    ['LIVEKIT_API_SECRET', { ...livekit, LIVEKIT_API_SECRET: 'short' }],
    ['TURN_URLS', { ...turn, TURN_URLS: 'https://turn.example.com' }],
    ['TURN_URLS', { ...turn, TURN_URLS: Array.from({ length: 11 }, (_, i) => `turn:t${i}.example`).join() }],
    ['TURN_SECRET', { TURN_URLS: turn.TURN_URLS }],
  ])('a wrong %s is named', (name, env) => {
    expect(() => read(env)).toThrow(ConfigError);
    expect(() => read(env)).toThrow(name);
  });

  test('all of them together', () => {
    expect(read({ ...livekit, ...turn })).toMatchObject({
      livekit: { apiKey: 'APIabc' },
      turn: { stunUrls: ['stun:turn.example.com:3478'] },
    });
    expect(read({})).toEqual({ livekit: null, turn: { urls: [], stunUrls: [], secret: '' } });
  });
});
