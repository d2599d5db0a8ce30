// Targets that tell secrets where nobody looks, callers who mean another request than the rule reads, and what a decision stands for.
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approve, boundAccount, waitingFor } from '../approvals/harness.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { balanceOf, startTarget, type Target, TOKEN, vaultAt } from './harness.ts';

let service: SharedService;
let target: Target;
beforeAll(async () => {
  service = await sharedService();
  target = await startTarget();
});
afterAll(() => target.stop());

const COST = 0.00002;
const LOWER = 'tok0123456789abcdef0123456789';

/** Answers each connection with these bytes. */
async function answering(bytes: string) {
  const asked: string[] = [];
  const server = createTcp((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      asked.push(data.toString('latin1'));
      socket.end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.77.0.1', resolve));
  server.unref();
  return { host: `127.77.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe('a target', () => {
  test.each([
    ['gzip', 502],
    ['identity', 200],
  ])('that names %s twice is charged once, and its key sends nothing again', async (encoding, status) => {
    const twice = `content-encoding: ${encoding}\r\n`.repeat(2);
    const { host, asked } = await answering(`HTTP/1.1 200 OK\r\n${twice}content-length: 2\r\n\r\nab`);
    const vault = await vaultAt(service, target);
    await vault.connect({ hosts: [host] });
    const call = () => vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x', idempotency_key: 'k' });
    expect((await call()).status).toBe(status);
    await call();
    expect(asked).toHaveLength(1);
    expect(await balanceOf(vault)).toBeCloseTo(1 - COST, 9);
  });

  test('that tells the secret as the name of a header is not heard', async () => {
    const { host } = await answering(`HTTP/1.1 200 OK\r\nx-${LOWER}: 1\r\nx-other: 2\r\ncontent-length: 2\r\n\r\nab`);
    const vault = await vaultAt(service, target);
    await vault.connect({ hosts: [host], secret: LOWER.toUpperCase() });
    const { data, metadata } = (await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' })).body;
    expect(data.headers).toEqual({ 'x-other': '2' });
    expect(metadata.warnings).toEqual([expect.stringContaining('secret')]);
  });

  test('does not tell what headers of the connection hold, but tells versions', async () => {
    const vault = await vaultAt(service, target);
    const headers = { 'x-second-key': 'very-secret-9', 'x-auth': `Token ${LOWER}`, 'x-version': '2026-01-01' };
    await vault.connect({ headers });
    const { data } = (await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' })).body;
    const { headers: came } = JSON.parse(data.body);
    expect(came).toMatchObject({ 'x-second-key': '[secret]', 'x-auth': 'Token [secret]', 'x-version': '2026-01-01' });
    await vault.connect({ headers: { 'x-second-key': 'another-secret-8' } });
    const long = Object.fromEntries(['a', 'b'].map((each) => [`x-key-${each}`, each.repeat(2_049)]));
    await expect(vault.connect({ headers: long })).rejects.toThrow('4,096 characters together');
    const again = (await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x' })).body;
    expect(again.data.body).not.toContain('another-secret-8');
  });
});

test('a redirect by path leads to the target, and with no key of ours to another call', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  const ours = new URL(service.url).host;
  const { respond } = target;
  const at = async (location: string) => {
    target.respond = (_, response) => void response.writeHead(307, { location }).end();
    const headers = { authorization: `Bearer ${vault.account.secret}` };
    const url = `${service.url}/v1/vault/to/forge/a/b`;
    const answer = await fetch(url, { method: 'DELETE', redirect: 'manual', headers });
    return [answer.status, answer.headers.get('location')];
  };
  expect(await at('/v1/vault/connection/delete/forge')).toEqual([
    307,
    `${target.url}/v1/vault/connection/delete/forge`,
  ]);
  expect(await at('c?d=1')).toEqual([307, `${target.url}/a/c?d=1`]);
  expect(await at('https://elsewhere.example/x')).toEqual([307, 'https://elsewhere.example/x']);
  for (const here of [`${service.url}/v1/x`, `//${ours}/v1/x`, `http://me@${ours}/v1/x`])
    expect(await at(here)).toEqual([307, null]);
  target.respond = respond;
});

test('a header is what targets read it as: _ is - for those behind CGI', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect({ kind: 'header', field: 'x-api-key' });
  const left = {
    x_http_method_override: 'DELETE',
    x_forwarded_host: 'evil',
    x_api_key: 'mine',
    'x-original-uri': '/a',
  };
  await vault.call('POST', '/v1/vault/call', { connection: 'forge', url: '/x', headers: { ...left, x_kept: '1' } });
  const { headers = {} } = target.seen.at(-1) ?? {};
  expect(Object.keys(headers).filter((name) => name in left)).toEqual([]);
  expect(headers).toMatchObject({ x_kept: '1', 'x-api-key': TOKEN });
});

describe('a message of MCP', () => {
  async function relayed(mcp: object) {
    const vault = await vaultAt(service, target);
    await vault.connect({ mcp });
    const post = async (body: string, at = '/mcp/via/forge', more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${vault.account.secret}`, 'content-type': 'application/json', ...more };
      const answer = await fetch(`${service.url}${at}`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    return { vault, post };
  }
  const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;

  test('goes on as it was read: each name once', async () => {
    const { post } = await relayed({ tools: ['ok'] });
    await post(call('{"name":"evil","name":"ok","arguments":{"n":12345678901234567891}}'));
    expect(target.seen.at(-1)?.body.toString()).toBe(call('{"name":"ok","arguments":{"n":12345678901234567891}}'));
    await post('{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}', '/mcp/via/forge', {
      'content-type': 'application/json; charset=utf-7',
    });
    const { body, headers } = target.seen.at(-1) ?? {};
    expect(body?.toString()).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(headers?.['content-type']).toBe('application/json');
  });

  test.each(['{"name":"ok","Name":"evil"}', '{"name":"ok","NAME":"evil"}', '{"name":"ok","argument\u017f":{}}'])(
    'with a second spelling of a name is refused: %s',
    async (params) => {
      const { post } = await relayed({ tools: ['ok'] });
      const sent = target.seen.length;
      expect((await post(call(params))).text).toContain('INVALID_REQUEST');
      expect(target.seen.length).toBe(sent);
    },
  );

  test('that is nested deeper than it can be written is refused', async () => {
    const { post } = await relayed({});
    const deep = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
    expect((await post(deep)).status).toBe(400);
  });

  test('has no other door where the rule names tools, nor by a rule without them', async () => {
    const { vault, post } = await relayed({ path: '/mcp', tools: ['ok'] });
    const sent = target.seen.length;
    expect((await post(call('{"name":"evil"}'), '/v1/vault/to/forge/mcp')).text).toContain('RULE_REFUSED');
    const direct = { connection: 'forge', method: 'POST', url: '/mcp', body: call('{"name":"evil"}') };
    expect((await vault.call('POST', '/v1/vault/call', direct)).body.error).toMatchObject({ code: 'RULE_REFUSED' });
    const rule = { connection: 'forge', kind: 'bearer', hosts: [target.host], mcp: null };
    expect((await vault.call('PUT', '/v1/vault/connection/set', rule)).body.error?.code).toBe('SECRET_NEEDED');
    expect(target.seen.length).toBe(sent);
    expect(await balanceOf(vault)).toBe(1);
  });
});

describe('a decision', () => {
  async function asked(fields: object = {}) {
    const bound = await boundAccount(service, 1);
    const set = async (more: object = {}) => {
      const all = { connection: 'forge', kind: 'bearer', secret: TOKEN, hosts: [target.host], approve: ['POST'] };
      expect((await bound.call('PUT', '/v1/vault/connection/set', { ...all, ...fields, ...more })).status).toBe(200);
    };
    await set();
    return { bound, set };
  }

  test('is asked for by vault.call, where the account has no other rules', async () => {
    const { bound } = await asked();
    const call = (body: string) =>
      bound.agent('POST', '/v1/vault/call', { connection: 'forge', method: 'POST', url: '/x', body });
    const id = waitingFor(await call('one'));
    await approve(bound.owner, id);
    expect(waitingFor(await call('two'))).not.toBe(id);
    const sent = target.seen.length;
    expect((await call('one')).status).toBe(200);
    expect(target.seen.length - sent).toBe(1);
  });

  test('is for the connection as it was: not for another host, secret or a new one of its name', async () => {
    const { bound, set } = await asked();
    const other = await startTarget('127.77.0.3');
    const call = () => bound.agent('POST', '/v1/vault/call', { connection: 'forge', method: 'POST', url: '/x' });
    const first = waitingFor(await call());
    await approve(bound.owner, first);
    await set({ hosts: [other.host] });
    const second = waitingFor(await call());
    await approve(bound.owner, second);
    await bound.call('DELETE', '/v1/vault/connection/delete/forge');
    await set();
    expect(new Set([first, second, waitingFor(await call())]).size).toBe(3);
    expect(other.seen).toHaveLength(0);
    await other.stop();
  });

  test('about a message is for what it is given', async () => {
    const { bound } = await asked({ mcp: {} });
    const read = async (uri: string) => {
      const headers = { authorization: `Bearer ${bound.secret}`, 'content-type': 'application/json' };
      const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } };
      const body = JSON.stringify(message);
      return (await fetch(`${service.url}/mcp/via/forge`, { method: 'POST', headers, body })).status;
    };
    expect(await read('file:///a')).toBe(403);
    const { items } = (await bound.owner.call('account.approvals.list', {})).body.data;
    await approve(bound.owner, items[0].approval_id);
    expect(await read('file:///b')).toBe(403);
    expect(await read('file:///a')).toBe(200);
  });
});
