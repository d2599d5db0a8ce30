// By path: SDKs of other services and plain requests, whose bodies flow both ways.
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Octokit } from '@octokit/rest';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, boundAccount, waitingFor } from '../approvals/harness.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { balanceOf, callsOf, startTarget, type Target, TOKEN, type Vault, vaultAt } from './harness.ts';

let service: SharedService;
let target: Target;
beforeAll(async () => {
  service = await sharedService();
  target = await startTarget();
});
afterAll(() => target.stop());

const COST = 0.00002;

/** A raw request: no client tidies up the path. */
function sendRaw(head: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece;
    });
    socket.on('end', () => resolve(text)).on('error', reject);
    socket.write(head);
  });
}

function at(path: string, { account }: Vault, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${account.secret}`, ...(init.headers as Record<string, string>) };
  return fetch(`${service.url}/v1/vault/to/forge${path}`, { ...init, headers });
}

test('the key stands where clients put their own, and is replaced', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect({ kind: 'header', field: 'x-api-key' });
  const key = vault.account.secret;
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const ways: readonly (readonly [path: string, headers: Record<string, string>])[] = [
    ['/x', { authorization: `Bearer ${key}` }],
    ['/x', { authorization: `token ${key}` }],
    ['/x', { authorization: basic(`${key}:`) }],
    ['/x', { authorization: basic(`git:${key}`) }],
    ['/x', { 'x-api-key': key }],
    [`/x?api_key=${key}&a=1`, {}],
  ];
  for (const [path, headers] of ways) {
    const answer = await fetch(`${service.url}/v1/vault/to/forge${path}`, { headers });
    expect([answer.status, headers]).toEqual([200, headers]);
    const seen = target.seen.at(-1);
    expect(seen?.headers['x-api-key']).toBe(TOKEN);
    expect(seen?.url).toBe(path.startsWith('/x?') ? '/x?a=1' : '/x');
    expect(JSON.stringify([seen?.headers, seen?.url])).not.toContain(key);
    expect(await answer.text()).not.toContain(TOKEN);
  }
  expect(await balanceOf(vault)).toBeCloseTo(1 - ways.length * COST, 9);
});

test("OpenAI's SDK runs unchanged, streamed too", async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  target.respond = ({ body }, response) => {
    const { stream } = JSON.parse(body.toString());
    const choice = { index: 0, finish_reason: 'stop' };
    const common = { id: 'c1', created: 1, model: 'm' };
    if (stream !== true) {
      const message = { role: 'assistant', content: 'hello' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...common, object: 'chat.completion', choices: [{ ...choice, message }] }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    for (const content of ['hel', 'lo']) {
      const chunk = { ...common, object: 'chat.completion.chunk', choices: [{ ...choice, delta: { content } }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  };
  const openai = new OpenAI({
    apiKey: vault.account.secret,
    baseURL: `${service.url}/v1/vault/to/forge/v1`,
    maxRetries: 0,
  });
  const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
  expect((await openai.chat.completions.create(ask)).choices[0]?.message.content).toBe('hello');
  let text = '';
  for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true }))
    text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toBe('hello');
  expect(target.seen.at(-1)).toMatchObject({
    url: '/v1/chat/completions',
    headers: { authorization: `Bearer ${TOKEN}` },
  });
});

/** Answers in the shapes of the API of Stripe and that of GitHub, to whom has the token. */
const apis: Target['respond'] = ({ method, url, headers, body }, response) => {
  const form = Object.fromEntries(new URLSearchParams(body.toString()));
  const answers: Record<string, () => object> = {
    'POST /v1/customers': () => ({ id: 'cus_1', object: 'customer', ...form }),
    'GET /v1/customers?limit=1': () => page('cus_1', true),
    'GET /v1/customers?limit=1&starting_after=cus_1': () => page('cus_2', false),
    'GET /repos/acme/shop/issues?per_page=1': () => [{ number: 7, title: 'one' }],
    'GET /repos/acme/shop/issues?per_page=1&page=2': () => [{ number: 8, title: 'two' }],
    'POST /repos/acme/shop/issues': () => ({ number: 9, ...JSON.parse(body.toString()) }),
  };
  const answer = headers.authorization === `Bearer ${TOKEN}` ? answers[`${method} ${url}`] : undefined;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  if (url.endsWith('issues?per_page=1'))
    response.setHeader('link', `<${target.url}/repos/acme/shop/issues?per_page=1&page=2>; rel="next"`);
  response.writeHead(answer === undefined ? 404 : 200);
  response.end(
    JSON.stringify(answer?.() ?? { message: `no ${method} ${url}`, error: { type: 'invalid_request_error' } }),
  );
};
const page = (id: string, more: boolean) => ({
  object: 'list',
  url: '/v1/customers',
  has_more: more,
  data: [{ id, object: 'customer' }],
});

test('stripe-node runs unchanged: pages and errors too', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  target.respond = apis;
  const stripe = new Stripe(vault.account.secret, {
    maxNetworkRetries: 0,
    httpClient: Stripe.createFetchHttpClient((url, init) =>
      fetch(String(url).replace('https://api.stripe.com', `${service.url}/v1/vault/to/forge`), init),
    ),
  });
  expect(await stripe.customers.create({ name: 'Ada' })).toMatchObject({ id: 'cus_1', name: 'Ada' });
  const ids: string[] = [];
  for await (const { id } of stripe.customers.list({ limit: 1 })) ids.push(id);
  expect(ids).toEqual(['cus_1', 'cus_2']);
  await expect(stripe.customers.retrieve('none')).rejects.toMatchObject({ type: 'StripeInvalidRequestError' });
});

test('Octokit runs unchanged, and its pages lead by path', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  target.respond = apis;
  const octokit = new Octokit({ auth: vault.account.secret, baseUrl: `${service.url}/v1/vault/to/forge` });
  const shop = { owner: 'acme', repo: 'shop' };
  const issues = await octokit.paginate(octokit.rest.issues.listForRepo, { ...shop, per_page: 1 });
  expect(issues.map(({ number }) => number)).toEqual([7, 8]);
  const created = await octokit.rest.issues.create({ ...shop, title: 'three' });
  expect(created.data).toMatchObject({ number: 9, title: 'three' });
  expect(JSON.stringify(target.seen)).not.toContain(vault.account.secret);
});

test('events come as they are made', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  const next = Promise.withResolvers<void>();
  target.respond = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
    void next.promise.then(() => response.end('data: 2\n\n'));
  };
  const reader = (await at('/events', vault)).body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toBe('data: 1\n\n');
  next.resolve();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 2\n\n');
});

test('bodies flow, whatever their length', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  const piece = Buffer.alloc(64 * 1024, 'x');
  const pieces = 200;
  const sum = createHash('sha256');
  for (let i = 0; i < pieces; i += 1) sum.update(piece);
  target.respond = ({ body }, response) => {
    response.setHeader('x-sum', createHash('sha256').update(body).digest('hex'));
    response.end(body);
  };
  async function* parts() {
    for (let i = 0; i < pieces; i += 1) yield piece;
  }
  const sent = { method: 'PUT', body: Readable.toWeb(Readable.from(parts())) as ReadableStream, duplex: 'half' };
  const answer = await at('/file', vault, sent as RequestInit);
  const came = createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex');
  expect([answer.headers.get('x-sum'), came]).toEqual([sum.copy().digest('hex'), sum.digest('hex')]);
});

test('what the rule refuses is told before anything is sent', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect({ allow: [{ methods: ['GET'], path: '/public/*' }] });
  const key = vault.account.secret;
  const sent = target.seen.length;
  const paths = [
    '/private',
    '/public/../private',
    '/public/%2e%2e/private',
    '/public/..%2fprivate',
    '/public/..;/private',
    '//evil.example/public/x',
    '/public\\..\\private',
    '/public/%00',
    '/public/%252e%252e/private',
  ];
  for (const path of paths) {
    const text = await sendRaw(
      `GET /v1/vault/to/forge${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
    expect([path, /^HTTP\/1\.1 (\d+)/.exec(text)?.[1], /x-qm-code: (\w+)/i.exec(text)?.[1]]).toEqual([
      path,
      '403',
      'RULE_REFUSED',
    ]);
  }
  const posted = await at('/public/x', vault, { method: 'POST', body: 'x' });
  expect([posted.status, posted.headers.get('x-qm-code')]).toEqual([403, 'RULE_REFUSED']);
  const nobody = await fetch(`${service.url}/v1/vault/to/forge/public/x`);
  expect([nobody.status, nobody.headers.get('x-qm-code')]).toEqual([401, 'UNAUTHORIZED']);
  const missing = await fetch(`${service.url}/v1/vault/to/nothing/x`, { headers: { authorization: `Bearer ${key}` } });
  expect([missing.status, missing.headers.get('x-qm-code')]).toEqual([404, 'NOT_FOUND']);
  expect([target.seen.length - sent, await balanceOf(vault)]).toEqual([0, 1]);
});

test('an answer cannot speak for the origin of this service', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  target.respond = (_, response) => {
    const hostile = {
      'set-cookie': 'session=evil',
      'content-security-policy': 'default-src *',
      'access-control-allow-origin': '*',
    };
    response
      .writeHead(200, { ...hostile, 'content-type': 'text/html', 'service-worker-allowed': '/' })
      .end('<script>alert(1)</script>');
  };
  const { headers } = await at('/page', vault);
  expect(headers.get('content-security-policy')).toContain('sandbox');
  for (const name of ['set-cookie', 'access-control-allow-origin', 'service-worker-allowed'])
    expect([name, headers.get(name)]).toEqual([name, null]);
});

test('a target that breaks off is charged, and cuts the answer', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  target.respond = (_, response) => {
    response.writeHead(200);
    response.write('half');
    setImmediate(() => response.destroy());
  };
  await expect(at('/x', vault).then((answer) => answer.text())).rejects.toThrow();
  expect(await callsOf(vault, 1)).toMatchObject([{ status: 200, code: 'VENDOR_TIMEOUT' }]);
  expect(await balanceOf(vault)).toBeCloseTo(1 - COST, 9);
});

test('a client that leaves ends the request at the target', async () => {
  const vault = await vaultAt(service, target);
  await vault.connect();
  const gone = Promise.withResolvers<void>();
  target.respond = (_, response) => {
    response.on('close', () => gone.resolve());
    response.writeHead(200);
    response.write('begin');
  };
  const leaving = new AbortController();
  const answer = await at('/x', vault, { signal: leaving.signal });
  await answer.body?.getReader().read();
  leaving.abort();
  await gone.promise;
  expect(await callsOf(vault, 1)).toMatchObject([{ status: 200, code: 'CLIENT_LEFT' }]);
});

test('what a person must approve is the whole request, and runs once', async () => {
  const bound = await boundAccount(service, 1);
  const set = { connection: 'forge', kind: 'bearer', secret: TOKEN, hosts: [target.host], approve: ['POST'] };
  await bound.call('PUT', '/v1/vault/connection/set', set);
  target.respond = ({ body }, response) => void response.end(body);
  const post = async (body: string) => {
    const headers = { authorization: `Bearer ${bound.secret}` };
    const answer = await fetch(`${service.url}/v1/vault/to/forge/issues`, { method: 'POST', headers, body });
    const text = await answer.text();
    return { status: answer.status, body: answer.status === 200 ? text : JSON.parse(text) };
  };
  const sent = target.seen.length;
  const id = waitingFor(await post('one'));
  expect(waitingFor(await post('one'))).toBe(id);
  const shown = (await bound.owner.call('account.approvals.get', { approval_id: id })).body.data;
  expect(shown).toMatchObject({
    rule: 'vault/forge',
    input: { connection: 'forge', method: 'POST', url: '/issues', body: 'one' },
    cost_usd_max: COST,
  });
  await approve(bound.owner, id);
  expect(waitingFor(await post('two'))).not.toBe(id);
  const both = await Promise.all([post('one'), post('one')]);
  expect(both.filter(({ status }) => status === 200)).toMatchObject([{ body: 'one' }]);
  expect(target.seen.length - sent).toBe(1);
  const free = await fetch(`${service.url}/v1/vault/to/forge/issues`, {
    headers: { authorization: `Bearer ${bound.secret}` },
  });
  expect(free.status).toBe(200);
});
