// vault.call: the rule, the credential that goes out, the money, and what comes back.
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { balanceOf, endLostCalls, startTarget, type Target, TOKEN, type Vault, vaultAt } from './harness.ts';

let service: SharedService;
let target: Target;
beforeAll(async () => {
  service = await sharedService();
  target = await startTarget();
});
afterAll(() => target.stop());

const COST = 0.00002;

/** What the target was sent with the call. */
async function echoed({ call }: Vault, input: Readonly<Record<string, unknown>>) {
  const { status, body } = await call('POST', '/v1/vault/call', {
    connection: 'forge',
    url: `${target.url}/x`,
    ...input,
  });
  expect([status, body.error ?? null]).toEqual([200, null]);
  return { ...body, came: JSON.parse(body.data.body) };
}

describe('credentials', () => {
  test.each([
    ['bearer', {}, { authorization: 'Bearer [secret]' }, { authorization: `Bearer ${TOKEN}` }, '/x?a=1'],
    [
      'basic',
      { secret: { username: 'me', password: TOKEN } },
      {},
      { authorization: `Basic ${Buffer.from(`me:${TOKEN}`).toString('base64')}` },
      '/x?a=1',
    ],
    ['header', { field: 'X-Api-Key' }, {}, { 'x-api-key': TOKEN }, '/x?a=1'],
    ['query', { field: 'key' }, {}, {}, `/x?a=1&key=${encodeURIComponent(TOKEN)}`],
  ])('%s goes out, and does not come back', async (kind, fields, _, sent, url) => {
    const vault = await vaultAt(service, target);
    await vault.connect({ kind, ...fields });
    const { data, metadata } = (
      await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: `${target.url}/x?a=1` })
    ).body;
    const seen = target.seen.at(-1);
    expect(seen?.headers).toMatchObject(sent);
    expect(seen?.url).toBe(url);
    expect(data.body).toContain('[secret]');
    for (const form of [TOKEN, encodeURIComponent(TOKEN), Buffer.from(`me:${TOKEN}`).toString('base64')])
      expect(JSON.stringify(data)).not.toContain(form);
    expect(metadata).toMatchObject({ cost_usd: COST, warnings: [expect.stringContaining('secret')] });
  });

  test('sigv4 signs the request', async () => {
    const vault = await vaultAt(service, target);
    const secret = {
      access_key_id: 'AKIDEXAMPLE',
      secret_access_key: TOKEN,
      region: 'eu-west-1',
      service: 'execute-api',
    };
    await vault.connect({ kind: 'sigv4', secret });
    const { came } = await echoed(vault, { method: 'POST', body: '{}' });
    expect(came.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/execute-api\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
    );
  });

  test('what speaks for the caller, or for another host, path or method, stays here', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect({ headers: { 'X-Version': '7' } });
    const left = {
      Authorization: 'Bearer mine',
      cookie: 'a=1',
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-original-url': '/admin',
      'x-http-method-override': 'DELETE',
      'transfer-encoding': 'chunked',
      'x-my-key': vault.account.secret,
    };
    const { came, metadata } = await echoed(vault, { headers: { ...left, 'X-Kept': 'yes', 'x-version': '8' } });
    expect(came.headers).toMatchObject({ 'x-kept': 'yes', 'x-version': '7', host: target.host });
    expect(Object.keys(came.headers)).not.toEqual(expect.arrayContaining(['cookie']));
    for (const name of ['cookie', 'x-forwarded-host', 'x-original-url', 'x-http-method-override', 'x-my-key'])
      expect(came.headers[name]).toBeUndefined();
    expect(target.seen.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(JSON.stringify(target.seen.at(-1)?.headers)).not.toContain(vault.account.secret);
    expect(metadata.warnings).toEqual(expect.arrayContaining([expect.stringContaining('x-my-key')]));
  });
});

test('headers go on as clients have them, empty ones too; what cannot be sent is refused', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  const { came } = await echoed(vault, { headers: { 'x-empty': '', 'x-long': 'a'.repeat(4_000) } });
  expect(came.headers).toMatchObject({ 'x-empty': '', 'x-long': 'a'.repeat(4_000) });
  for (const value of ['caf\u00e9', 'a\nb']) {
    const input = { connection: 'forge', url: '/x', headers: { 'x-name': value } };
    const { body } = await vault.call('POST', '/v1/vault/call', input);
    expect([body.error?.code, body.error?.param, value]).toEqual(['VALIDATION_FAILED', 'headers', value]);
  }
});

describe('the rule', () => {
  const refusals: readonly (readonly [what: string, rule: object, input: object, code: string, detail: string])[] = [
    ['another host', {}, { url: 'http://127.77.0.2/x' }, 'RULE_REFUSED', 'host'],
    ['another port', {}, { url: 'http://127.77.0.1:1/x' }, 'RULE_REFUSED', 'host'],
    [
      'another method',
      { allow: [{ methods: ['GET'], path: '*' }].map((each) => ({ ...each, path: '/*' })) },
      { method: 'DELETE' },
      'RULE_REFUSED',
      'method',
    ],
    ['another path', { allow: [{ methods: ['*'], path: '/y/*' }] }, {}, 'RULE_REFUSED', 'path'],
    ['an encoded slash', {}, { path: '/a%2fb' }, 'RULE_REFUSED', 'path'],
    ['dots that climb out', { allow: [{ methods: ['*'], path: '/y/*' }] }, { path: '/y/../x' }, 'RULE_REFUSED', 'path'],
    ['another key', { keys: 'other' }, {}, 'RULE_REFUSED', 'key'],
    ['an end', { expires_at: '2020-01-01T00:00:00Z' }, {}, 'CONNECTION_BROKEN', 'expired'],
  ];
  test.each(refusals)('%s is refused, for nothing', async (_, rule, input, code, detail) => {
    const vault = await vaultAt(service, target);
    const other = await vault.call('POST', '/v1/account/keys/create', { name: 'other' });
    const keys = 'keys' in rule ? { keys: [other.body.data.key_id] } : {};
    await vault.connect({ ...rule, ...keys });
    const { path = '/x', ...more } = input as { path?: string };
    const sent = target.seen.length;
    const { body } = await vault.call('POST', '/v1/vault/call', {
      connection: 'forge',
      url: `${target.url}${path}`,
      ...more,
    });
    expect([body.error.code, body.error.code_detail]).toEqual([code, detail]);
    expect(target.seen.length).toBe(sent);
    expect(await balanceOf(vault)).toBe(1);
  });

  test('limits are counted in the commit that pays', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect({ limits: { per_day: 5 } });
    const calls = Array.from({ length: 20 }, () =>
      vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' }),
    );
    const replies = await Promise.all(calls);
    const codes = replies.map(({ body }) => body.error?.code_detail ?? 'ok');
    expect(
      Object.fromEntries(
        Map.groupBy(codes, (code) => code)
          .entries()
          .map(([code, all]) => [code, all.length]),
      ),
    ).toEqual({ ok: 5, limit: 15 });
    expect(await balanceOf(vault)).toBeCloseTo(1 - 5 * COST, 9);
  });

  test('a call that waits for its commit while the rule is narrowed is refused there', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect();
    const { accountId } = vault.account;
    const { db } = service.core;
    const waiting = await db.transaction(async (tx) => {
      await tx.query({ name: '', text: 'SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE' }, [accountId]);
      const call = vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' });
      // sleeps: nothing tells that a call has passed the door; one that has not by then is refused there, with the same answer.
      await sleep(100);
      const narrow = `UPDATE vault.connection SET allow = '[{"methods":["GET"],"path":"/y"}]' WHERE account_id = $1`;
      await tx.query({ name: '', text: narrow }, [accountId]);
      return { call };
    });
    const { body } = await waiting.call;
    expect([body.error?.code, body.error?.code_detail]).toEqual(['RULE_REFUSED', 'path']);
  });

  test('the secret is needed to widen, not to narrow', async () => {
    const vault = await vaultAt(service, target);
    const rule = { connection: 'forge', kind: 'bearer', hosts: [target.host] };
    await vault.connect({ allow: [{ methods: ['GET', 'POST'], path: '/*' }], limits: { per_day: 10 }, keys: null });
    const set = (fields: object) => vault.call('PUT', '/v1/vault/connection/set', { ...rule, ...fields });
    const narrower = { allow: [{ methods: ['GET'], path: '/x' }], limits: { per_day: 5 } };
    expect((await set(narrower)).body.data).toMatchObject({ version: 2, limits: { per_day: 5 } });
    for (const wider of [
      { ...narrower, hosts: ['evil.example'] },
      { ...narrower, limits: { per_day: 6 } },
      { ...narrower, limits: {} },
      { ...narrower, allow: [{ methods: ['GET'], path: '/*' }] },
      { limits: { per_day: 5 } },
      { ...narrower, kind: 'header', field: 'x-key' },
      { ...narrower, headers: { 'x-a': 'b' } },
    ]) {
      const { status, body } = await set(wider);
      expect([status, body.error?.code, wider]).toEqual([400, 'SECRET_NEEDED', wider]);
    }
  });

  test('a stolen row beside another host opens nothing', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect();
    const other = await startTarget('127.77.0.9');
    const moved = 'UPDATE vault.connection SET hosts = $2 WHERE account_id = $1';
    await service.core.db.query({ name: '', text: moved }, [vault.account.accountId, JSON.stringify([other.host])]);
    const { body } = await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: `${other.url}/x` });
    expect([body.error.code, body.error.code_detail, other.seen.length]).toEqual(['CONNECTION_BROKEN', 'seal', 0]);
    expect(await balanceOf(vault)).toBe(1);
    await other.stop();
  });
});

describe('what comes back', () => {
  const body = `{"token":"${TOKEN}","json":${JSON.stringify(TOKEN)},"b64":"${Buffer.from(TOKEN).toString('base64')}"}`;
  test.each([
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
  ])('%s is undone and searched', async (encoding, bytes) => {
    const vault = await vaultAt(service, target);
    await vault.connect();
    target.respond = (_, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'x-echo': `a ${TOKEN} b` });
      for (const byte of bytes) response.write(Buffer.from([byte]));
      response.end();
    };
    const { data } = (await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' })).body;
    expect(data.body).toBe('{"token":"[secret]","json":"[secret]","b64":"[secret]"}');
    expect(data.headers['x-echo']).toBe('a [secret] b');
    expect(data.headers['content-encoding']).toBeUndefined();
  });

  test('bytes that are no text are base64, long ones a link, and what is longer is cut', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect();
    target.respond = ({ url }, response) => void response.end(Buffer.alloc(Number(url.slice(1)), 0xff));
    const of = async (bytes: number) =>
      (await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: `/${bytes}` })).body.data;
    expect(await of(3)).toMatchObject({ body: null, body_base64: '////', bytes: 3, is_cut: false });
    const linked = await of(2 * 1024 * 1024);
    expect(linked).toMatchObject({ body: null, body_base64: null, bytes: 2 * 1024 * 1024 });
    expect((await (await fetch(linked.url)).arrayBuffer()).byteLength).toBe(2 * 1024 * 1024);
    expect(await of(17 * 1024 * 1024)).toMatchObject({ bytes: 16 * 1024 * 1024, is_cut: true });
  });
});

describe('money', () => {
  test('no connection made is given back; sent and not answered is charged, and never repeated', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect({ hosts: [target.host, '127.77.0.1:1', '10.0.0.1:8080'] });
    const call = (url: string, more: object = {}) =>
      vault.call('POST', '/v1/vault/call', { connection: 'forge', url, ...more });
    expect((await call('http://127.77.0.1:1/')).body.error).toMatchObject({
      code: 'TARGET_FAILED',
      code_detail: 'connect',
    });
    expect((await call('http://10.0.0.1:8080/')).body.error.code).toBe('TARGET_REJECTED');
    expect(await balanceOf(vault)).toBe(1);
    target.respond = (_, response) => void response.destroy();
    const keyed = { idempotency_key: 'once', method: 'POST', body: '{}' };
    const sent = target.seen.length;
    const first = await call(`${target.url}/x`, keyed);
    expect([first.status, first.body.error.code, first.body.metadata.cost_usd]).toEqual([504, 'VENDOR_TIMEOUT', COST]);
    const again = await call(`${target.url}/x`, keyed);
    expect([again.status, again.body.metadata.cost_usd, target.seen.length - sent]).toEqual([504, 0, 1]);
    expect(await balanceOf(vault)).toBeCloseTo(1 - COST, 9);
  });

  test('a repeat under its key is answered as the first, and sent once', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect();
    target.respond = (_, response) => void response.end('fine');
    const sent = target.seen.length;
    const call = () => vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x', idempotency_key: 'k' });
    const [one, two] = await Promise.all([call(), call()]);
    expect(one.body.data).toEqual(two.body.data);
    expect((await call()).body.metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    expect(target.seen.length - sent).toBe(1);
  });

  test('a call whose process died is charged once, and its key sends nothing again', async () => {
    const vault = await vaultAt(service, target);
    await vault.connect();
    const waits = Promise.withResolvers<void>();
    target.respond = (_, response) => {
      waits.resolve();
      response.on('close', () => undefined);
    };
    const sent = target.seen.length;
    const call = () =>
      vault.call('POST', '/v1/vault/call', {
        connection: 'forge',
        url: '/x',
        timeout_ms: 300_000,
        idempotency_key: 'k',
      });
    const lost = call();
    await waits.promise;
    await endLostCalls(service, vault);
    const { items } = (await vault.call('GET', '/v1/vault/calls')).body.data;
    expect(items).toMatchObject([{ code: 'LOST', status: null, host: '127.77.0.1', path: '/x', method: 'GET' }]);
    expect(await balanceOf(vault)).toBeCloseTo(1 - COST, 9);
    expect([(await call()).body.error.code, target.seen.length - sent]).toEqual(['VENDOR_TIMEOUT', 1]);
    target.respond = (_, response) => void response.end();
    void lost.catch(() => undefined);
  });
});

test('the log has what went out, and can be narrowed', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  target.respond = (_, response) => void response.end('1234');
  await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/a?q=secret', method: 'POST', body: 'xyz' });
  const page = async (query: string) => (await vault.call('GET', `/v1/vault/calls${query}`)).body.data.items;
  expect(await page('?connection=forge&outcome=answered')).toMatchObject([
    { method: 'POST', path: '/a', status: 200, bytes_in: 4, bytes_out: 3, code: null, connection: 'forge' },
  ]);
  expect(await page('?outcome=failed')).toEqual([]);
  expect(await page('?key_id=key_none')).toEqual([]);
});
