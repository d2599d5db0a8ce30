// OFREP: OpenFeature's SDKs unchanged, what pages may, ETags, and the stream that tells of changes, at another process too.
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature as Server } from '@openfeature/server-sdk';
import { OpenFeature as Web } from '@openfeature/web-sdk';
import { EventSource } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { callerOf, type FlagOwner, startFlagBench } from './harness.ts';

let bench: Awaited<ReturnType<typeof startFlagBench>>;
/** Another process on the same database. */
let other: TestService;
let owner: FlagOwner;
beforeAll(async () => {
  bench = await startFlagBench();
  other = await startTestService({ database: bench.test.database });
  owner = await bench.owner();
});
afterAll(async () => {
  await other.stop();
  await bench.stop();
});

const elsewhere = () => callerOf(other.url, owner.accountId, owner.secret);
const baseUrl = (url = bench.url) => `${url}/v1/flags`;
const bearer = (secret: string): [string, string][] => [['Authorization', `Bearer ${secret}`]];
const page = { origin: 'https://app.example.org' };
const pageKey = async () => {
  const made = await owner.data('POST', '/v1/account/keys/create', { name: 'web', scopes: ['flags.evaluate'] });
  return callerOf(bench.url, owner.accountId, made.key_secret);
};

describe('a server', () => {
  test('asks for values of all types, with reasons and variants', async () => {
    const half = { targeting: { if: [{ '==': [{ var: 'plan' }, 'pro'] }, 'off', null] } };
    await owner.flag('sdk-boolean', half);
    await owner.flag('sdk-string', { type: 'string', variants: { a: 'hi', b: '' }, default_variant: 'b' });
    await owner.flag('sdk-number', { type: 'number', variants: { a: 0.5, zero: 0 }, default_variant: 'zero' });
    await owner.flag('sdk-object', {
      type: 'object',
      variants: { a: { x: [1] } },
      default_variant: 'a',
      metadata: { team: 'web' },
    });
    await owner.flag('sdk-off', { enabled: false });
    await Server.setProviderAndWait(new OFREPProvider({ baseUrl: baseUrl(), headers: bearer(owner.secret) }));
    const client = Server.getClient();
    expect(await client.getBooleanDetails('sdk-boolean', true, { targetingKey: 'u', plan: 'pro' })).toMatchObject({
      value: false,
      variant: 'off',
      reason: 'TARGETING_MATCH',
    });
    expect(await client.getStringDetails('sdk-string', 'x')).toMatchObject({
      value: '',
      variant: 'b',
      reason: 'STATIC',
    });
    expect(await client.getNumberValue('sdk-number', 7)).toBe(0);
    expect(await client.getObjectDetails('sdk-object', {})).toMatchObject({
      value: { x: [1] },
      flagMetadata: { team: 'web' },
    });
    expect(await client.getBooleanDetails('nowhere', true)).toMatchObject({ value: true, errorCode: 'FLAG_NOT_FOUND' });
    expect(await client.getStringDetails('sdk-boolean', 'x')).toMatchObject({ value: 'x', errorCode: 'TYPE_MISMATCH' });
    expect(await client.getBooleanValue('sdk-off', true)).toBe(true);
    expect(await client.getBooleanDetails('sdk-boolean', true, { long: 'x'.repeat(2_000) })).toMatchObject({
      value: true,
      errorCode: 'INVALID_CONTEXT',
    });
    await Server.close();
  });
});

describe('a page', () => {
  test('hears of a change that another process made within a second, without polling', async () => {
    const key = await pageKey();
    await owner.flag('web-live');
    (globalThis as { EventSource?: unknown }).EventSource = EventSource;
    await Web.setContext({ targetingKey: 'user-1' });
    // EventSource of Node tells nothing of its page; a browser's request has an Origin.
    const fetchImplementation: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      request.headers.set('origin', page.origin);
      return fetch(request);
    };
    const provider = new OFREPWebProvider({
      baseUrl: baseUrl(),
      headers: bearer(key.secret),
      fetchImplementation,
      pollInterval: 0,
      cacheMode: 'disabled',
    });
    await Web.setProviderAndWait(provider);
    const client = Web.getClient();
    expect(client.getBooleanDetails('web-live', false)).toMatchObject({ value: true, variant: 'on' });
    const changed = new Promise<void>((resolve) => {
      client.addHandler('PROVIDER_CONFIGURATION_CHANGED' as never, () => {
        if (client.getBooleanValue('web-live', true) === false) resolve();
      });
    });
    // Once it listens.
    await expect.poll(() => streamsOpen()).toBeGreaterThan(0);
    await elsewhere().data('PATCH', '/v1/flags/update/web-live', { default_variant: 'off' });
    await changed;
    await Web.close();
  });

  test('is let in from anywhere with a key for evaluations, and with no other', async () => {
    const key = await pageKey();
    const reply = await key.ofrep('', {}, page);
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const refused = await owner.ofrep('', {}, page);
    expect([refused.status, refused.body.code, refused.headers.get('access-control-allow-origin')]).toEqual([
      403,
      'INSUFFICIENT_SCOPE',
      '*',
    ]);
    expect(refused.body.errorDetails).toContain('qm keys create');
    const preflight = await owner.call('OPTIONS', '/v1/flags/ofrep/v1/evaluate/flags', undefined, page);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('If-None-Match');
  });
});

async function streamsOpen(): Promise<number> {
  const text = await (await fetch(`${bench.url}/metrics`)).text();
  return Number(/^qm_streams (\d+)/m.exec(text)?.[1] ?? 0);
}

describe('bulk', () => {
  test('an ETag holds until what it tells changes, for this context', async () => {
    const own = await bench.owner();
    await own.flag('a');
    const first = await own.ofrep('', { targetingKey: 'u' });
    const etag = first.headers.get('etag') as string;
    expect(first.body.flags).toEqual([{ key: 'a', value: true, variant: 'on', reason: 'STATIC', metadata: {} }]);
    const again = (context: object) => own.ofrep('', context, { 'if-none-match': etag });
    expect((await again({ targetingKey: 'u' })).status).toBe(304);
    await own.flag('b', { enabled: false });
    const second = await again({ targetingKey: 'u' });
    expect(second.status).toBe(200);
    expect(second.body.flags).toContainEqual({ key: 'b', reason: 'DISABLED', metadata: {} });
  });

  test('a process that was told of a newer revision than it knows reads anew', async () => {
    const own = await bench.owner();
    const { revision } = await own.flag('fresh');
    const there = callerOf(other.url, own.accountId, own.secret);
    expect((await there.ofrep('/fresh')).body.value).toBe(true);
    const changed = await own.data('PATCH', '/v1/flags/update/fresh', { default_variant: 'off' });
    expect(changed.revision).toBeGreaterThan(revision);
    const reply = await there.ofrep(`?flagConfigEtag=${changed.revision}`);
    expect(reply.body.flags[0].value).toBe(false);
  });

  test.each([
    ['no key', undefined, '{}', 401, 'UNAUTHORIZED'],
    ['another key', 'qm_nobody', '{}', 401, 'INVALID_API_KEY'],
    ['no JSON', 'own', '{', 400, 'MALFORMED_JSON'],
    ['a context that is no object', 'own', '{"context":[]}', 400, 'VALIDATION_FAILED'],
    ['a long body', 'own', `{"context":{"a":"${'x'.repeat(20_000)}"}}`, 413, 'PAYLOAD_TOO_LARGE'],
  ])('%s is refused in its form', async (_, key, body, status, code) => {
    const authorization: Record<string, string> =
      key === undefined ? {} : { authorization: `Bearer ${key === 'own' ? owner.secret : key}` };
    const reply = await fetch(`${bench.url}/v1/flags/ofrep/v1/evaluate/flags`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...authorization },
    });
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({
      errorCode: expect.any(String),
      errorDetails: expect.any(String),
      code,
      request_id: expect.any(String),
    });
  });
});

describe('the stream', () => {
  const urlOf = async (own: FlagOwner) => (await own.ofrep('')).body.eventStreams[0] as { type: string; url: string };
  /** What it says, event by event. */
  async function listen(url: string, headers: Record<string, string> = {}) {
    const control = new AbortController();
    const reply = await fetch(url, { headers, signal: control.signal });
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    return {
      status: reply.status,
      headers: reply.headers,
      end: () => control.abort(),
      async until(wanted: RegExp) {
        while (!wanted.test(text)) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`it ended after: ${text}`);
          text += decoder.decode(value, { stream: true });
        }
        return text;
      },
    };
  }

  test('tells of each revision once, and at its beginning of what was missed', async () => {
    const own = await bench.owner();
    await own.flag('s');
    const { type, url } = await urlOf(own);
    expect(type).toBe('sse');
    const stream = await listen(url, page);
    expect([stream.headers.get('content-type'), stream.headers.get('access-control-allow-origin')]).toEqual([
      'text/event-stream; charset=utf-8',
      '*',
    ]);
    await stream.until(/id: 1\ndata: \{"type":"refetchEvaluation","etag":"1"\}/);
    await own.data('PATCH', '/v1/flags/update/s', { enabled: false });
    await stream.until(/id: 2\n/);
    const behind = await listen(url, { 'last-event-id': '1' });
    await behind.until(/id: 2\n/);
    const upToDate = await listen(url, { 'last-event-id': '2' });
    await own.data('PATCH', '/v1/flags/update/s', { enabled: true });
    expect(await upToDate.until(/id: 3\n/)).not.toContain('id: 2');
    for (const each of [stream, behind, upToDate]) each.end();
  });

  test('its token is for listening alone, of one account, and ends', async () => {
    const { accountId, secret } = await createTestAccount(bench.test.core, 1);
    const own = callerOf(bench.url, accountId, secret);
    const { url } = await urlOf(own);
    const token = new URL(url).searchParams.get('token') as string;
    expect((await urlOf(own)).url).toBe(url);
    expect((await callerOf(bench.url, accountId, token).call('GET', '/v1/flags/list')).status).toBe(401);
    const changed = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    for (const wrong of ['', changed, token.slice(1)]) {
      const reply = await fetch(`${bench.url}/v1/flags/stream?token=${wrong}`);
      expect([reply.status, (await reply.json()).code]).toEqual([401, 'UNAUTHORIZED']);
    }
    const { SignedTokens } = await import('../../src/core/secrets/signed-token.ts');
    const tokens = new SignedTokens(bench.test.core.secrets, 'flag-streams');
    const [, keyId] = tokens.read('listen', token) ?? [];
    const late = tokens.write('listen', [accountId, keyId ?? '', Date.now() - 1]);
    expect((await fetch(`${bench.url}/v1/flags/stream?token=${late}`)).status).toBe(401);
    const foreign = tokens.write('listen', [owner.accountId, keyId ?? '', Date.now() + 60_000]);
    expect((await fetch(`${bench.url}/v1/flags/stream?token=${foreign}`)).status).toBe(401);
  });

  test('a key that was revoked listens no more', async () => {
    const made = await owner.data('POST', '/v1/account/keys/create', { name: 'gone', scopes: ['flags.evaluate'] });
    const { url } = await urlOf(callerOf(bench.url, owner.accountId, made.key_secret));
    await owner.data('DELETE', `/v1/account/keys/revoke/${made.key_id}`);
    await expect.poll(async () => (await fetch(url)).status).toBe(401);
  });

  test('a key that was narrowed to other capabilities listens no more', async () => {
    const made = await owner.data('POST', '/v1/account/keys/create', { name: 'narrow', scopes: ['flags.evaluate'] });
    const { url } = await urlOf(callerOf(bench.url, owner.accountId, made.key_secret));
    const statusNow = async () => {
      const reply = await fetch(url);
      await reply.body?.cancel();
      return reply.status;
    };
    expect(await statusNow()).toBe(200);
    await owner.data('PATCH', `/v1/account/keys/update/${made.key_id}`, { scopes: ['queue'] });
    await expect.poll(statusNow).toBe(401);
  });
});

test('the same context gets the same variant at both processes', async () => {
  await owner.flag('same', {
    targeting: {
      fractional: [
        ['on', 1],
        ['off', 1],
      ],
    },
  });
  const keys = Array.from({ length: 200 }, (_, i) => `user-${i}`);
  const answers = async (own: FlagOwner) =>
    Promise.all(keys.map(async (targetingKey) => (await own.evaluate('same', { targetingKey })).variant));
  expect(await answers(elsewhere())).toEqual(await answers(owner));
});
