// The vault's pages without a browser: a connection is made, narrowed, tried and deleted by forms, and no page holds its secret.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, iso } from '../../src/lib/time.ts';
import { sendForm, signedIn } from '../support/console.ts';
import type { PageVisitor, Visit } from '../support/page-visitor.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { startTarget, type Target, TOKEN, type Vault, vaultAt } from './harness.ts';

let service: SharedService;
let target: Target;
beforeAll(async () => {
  service = await sharedService();
  target = await startTarget();
});
afterAll(() => target.stop());

const LIST = '/console/vault';
const ONE = '/console/vault/connections/forge';
const SETTINGS = `${ONE}/settings`;

interface Visitor {
  readonly vault: Vault;
  readonly visitor: PageVisitor;
}

async function visitorOf(): Promise<Visitor> {
  const vault = await vaultAt(service, target);
  return { vault, visitor: await signedIn(service.url, vault.account.secret) };
}

/** Every form of the secret that a page could show. */
function expectNoSecret({ text }: Visit): void {
  for (const form of [TOKEN, encodeURIComponent(TOKEN), Buffer.from(TOKEN).toString('base64')])
    expect(text).not.toContain(form);
}

const connectionOf = async ({ call }: Vault) => (await call('GET', '/v1/vault/connection/get/forge')).body.data;

const rule = () => ({
  kind: 'bearer',
  hosts: target.host,
  allow: 'get, POST /repos/*/issues\n* /free/*',
  'limits.per_minute': '60',
});

test('a connection is made by its form, and its page says what it may be used for', async () => {
  const { vault, visitor } = await visitorOf();
  expect((await visitor.get(LIST)).text).toContain('No connections yet');
  const made = await sendForm(visitor, LIST, 'create', { ...rule(), connection: 'forge', secret: ` ${TOKEN}\n` });
  expect([made.status, made.location]).toEqual([303, expect.stringContaining(ONE)]);
  expect(await connectionOf(vault)).toMatchObject({
    kind: 'bearer',
    hosts: [target.host],
    allow: [
      { methods: ['GET', 'POST'], path: '/repos/*/issues' },
      { methods: ['*'], path: '/free/*' },
    ],
    keys: null,
    limits: { per_minute: 60, per_day: null },
    approve: [],
    expires_at: null,
  });
  const page = await visitor.get(ONE);
  expect(page.text).toContain('GET, POST of <code class="breaking">/repos/*/issues</code>');
  expect(page.text).toContain('every method of');
  expect(page.text).toContain('60 calls a minute');
  expect(page.text).toContain(`${service.core.baseUrl}/v1/vault/to/forge`);
  const list = await visitor.get(LIST);
  expect(list.text).toContain('<span class="badge good">ready</span>');
  for (const each of [made, page, list, await visitor.get(SETTINGS)]) expectNoSecret(each);
});

test('each kind asks for the parts of its secret', async () => {
  const { vault, visitor } = await visitorOf();
  const basic = { connection: 'forge', kind: 'basic', hosts: target.host, 'secret.username': 'me' };
  const asked = await visitor.get(`${LIST}?new=1&kind=basic`);
  expect(asked.text).toMatch(/name="secret\.password"[^>]*type="password" autocomplete="off"/);
  const refused = await sendForm(visitor, LIST, 'create', { ...basic, 'secret.password': '7seven7' });
  expect(refused.text).toContain('id="create-secret.password-fault"');
  expect(refused.text).toContain('value="me"');
  expect(refused.text).not.toContain('7seven7');
  await sendForm(visitor, LIST, 'create', { ...basic, 'secret.password': TOKEN });
  expect(await connectionOf(vault)).toMatchObject({ kind: 'basic', status: 'ready' });
  const empty = await sendForm(visitor, LIST, 'create', { connection: 'other', kind: 'sigv4', hosts: target.host });
  expect([empty.status, empty.text]).toEqual([400, expect.stringContaining('id="create-secret-fault"')]);
});

test('the rule is narrowed without the secret; a wider one is refused beside it, and taken with it', async () => {
  const { vault, visitor } = await visitorOf();
  const expires_at = iso(Date.now() + 30 * DAY_MS);
  await vault.connect({ limits: { per_minute: 60 }, allow: [{ methods: ['*'], path: '/*' }], expires_at });
  const shown = (await visitor.get(SETTINGS)).text;
  const [, end = '', kept = ''] =
    /name="expires_at"[^>]*value="([^"]*)"[\s\S]*?name="expires_at_as_it_was" value="([^"]*)"/.exec(shown) ?? [];
  expect(kept).toBe(expires_at);
  const same = { kind: 'bearer', hosts: target.host, expires_at: end, expires_at_as_it_was: kept, secret: '' };
  const narrow = { ...same, allow: 'GET /repos/*', 'limits.per_minute': '10', approve: 'DELETE' };
  expect((await sendForm(visitor, SETTINGS, 'update', narrow)).status).toBe(303);
  expect(await connectionOf(vault)).toMatchObject({
    version: 2,
    allow: [{ methods: ['GET'], path: '/repos/*' }],
    approve: ['DELETE'],
    expires_at,
  });
  for (const wider of [{ hosts: `${target.host}\nevil.example` }, { 'limits.per_minute': '11' }, { approve: '' }]) {
    const { approve, ...rest } = { ...narrow, ...wider };
    const refused = await sendForm(visitor, SETTINGS, 'update', approve === '' ? rest : { ...rest, approve });
    expect(refused.status).toBe(400);
    const [, fault = ''] = /id="update-secret-fault">([^<]*)</.exec(refused.text) ?? [];
    expect(fault).toContain('needs the secret');
  }
  const wide = { ...narrow, hosts: `${target.host}\n*.example.org`, secret: TOKEN };
  expect((await sendForm(visitor, SETTINGS, 'update', wide)).status).toBe(303);
  expect(await connectionOf(vault)).toMatchObject({ version: 3, hosts: [target.host, '*.example.org'] });
});

test('a form that is refused never shows the secret again', async () => {
  const { visitor } = await visitorOf();
  const broken = { ...rule(), connection: 'forge', secret: TOKEN, allow: 'GET /a\n/b' };
  const refused = await sendForm(visitor, LIST, 'create', broken);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Line 2 of the allowed calls')]);
  expect(refused.text).toContain('id="create-allow-fault"');
  expectNoSecret(refused);
  const wrongHost = await sendForm(visitor, LIST, 'create', {
    ...rule(),
    hosts: 'https://x.example',
    connection: 'f',
    secret: TOKEN,
  });
  expect(wrongHost.text).toContain('id="create-hosts-fault"');
  expectNoSecret(wrongHost);
});

test('a call is tried, shown as text without the secret, and stands in the log with the name of its key', async () => {
  const { vault, visitor } = await visitorOf();
  await vault.connect({ allow: [{ methods: ['GET'], path: '/repos/*' }] });
  target.respond = ({ headers }, response) =>
    void response.writeHead(201).end(`<script>alert("${headers.authorization}")</script>`);
  const answer = await sendForm(visitor, ONE, 'try', { url: '/repos/acme' });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('<span class="badge good">201</span>');
  expect(answer.text).toContain('&lt;script&gt;');
  expect(answer.text).toContain('[secret]');
  const refused = await sendForm(visitor, ONE, 'try', { url: '/admin' });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('does not allow GET of this path')]);
  const key = await vault.call('POST', '/v1/account/keys/create', { name: 'night worker', scopes: ['vault.call'] });
  const pages = [answer, refused, await visitor.get(ONE)];
  const worker = await signedIn(service.url, key.body.data.key_secret);
  expect((await worker.get(LIST)).status).toBe(403);
  await fetch(`${service.url}/v1/vault/to/forge/repos/b`, {
    headers: { authorization: `Bearer ${key.body.data.key_secret}` },
  }).then((came) => came.text());
  const log = await visitor.get('/console/vault/calls?outcome=answered');
  expect(log.text).toContain('night worker');
  expect((await visitor.get(LIST)).text).toContain('night worker');
  expect((await visitor.get('/console/vault/calls?connection=none')).text).toContain('Nothing matches');
  expect((await visitor.get(`/console/vault/calls?key_id=${key.body.data.key_id}`)).text).toContain('/repos/b');
  for (const each of [...pages, log]) expectNoSecret(each);
});

test('a connection ends once its name is typed', async () => {
  const { vault, visitor } = await visitorOf();
  await vault.connect();
  const page = await visitor.get(`${ONE}/delete`);
  expect(page.text).toContain('It was never used.');
  expect((await sendForm(visitor, `${ONE}/delete`, 'delete', { typed: 'other' })).status).toBe(400);
  expect((await sendForm(visitor, `${ONE}/delete`, 'delete', { typed: 'forge' })).status).toBe(303);
  expect((await vault.call('GET', '/v1/vault/connection/get/forge')).status).toBe(404);
  expect((await visitor.get(ONE)).status).toBe(404);
});

test('what is broken, waits too long or soon expires stands in the overview, and nothing else does', async () => {
  const { vault, visitor } = await visitorOf();
  await vault.connect({ connection: 'fine', expires_at: iso(Date.now() + 4 * DAY_MS) });
  await vault.connect({ connection: 'over', expires_at: iso(Date.now() - DAY_MS) });
  await vault.connect({ connection: 'soon', expires_at: iso(Date.now() + 2 * DAY_MS) });
  await vault.connect({ connection: 'wrecked' });
  await vault.connect({ connection: 'asked' });
  await vault.connect({ connection: 'waits' });
  const change = async (name: string, text: string) =>
    service.core.db.query(
      { name: '', text: `UPDATE vault.connection SET ${text} WHERE account_id = $1 AND connection = $2` },
      [vault.account.accountId, name],
    );
  await change('wrecked', `status = 'broken', broken_reason = 'invalid_grant'`);
  await change('asked', `status = 'pending'`);
  await change('waits', `status = 'pending', updated_at = updated_at - interval '2 days'`);
  const [, panel = ''] = /<h2>Failing now<\/h2>([\s\S]*?)<\/section>/.exec((await visitor.get('/console')).text) ?? [];
  expect(
    [...panel.matchAll(/<span class="badge (\w+)">Connection<\/span> <a[^>]*>(?:<bdi>)?(\w+)/g)].map(([, ...of]) => of),
  ).toEqual([
    ['warning', 'soon'],
    ['warning', 'waits'],
    ['critical', 'wrecked'],
  ]);
  expect(panel).toContain('invalid_grant');
  expect((await visitor.get('/console/vault/connections/wrecked')).text).toContain('Calls are refused: ');
});

test('a provider is set, its client secret is never shown, and a page to connect is made and shown once', async () => {
  const { vault, visitor } = await visitorOf();
  const PROVIDERS = '/console/vault/providers';
  const fields = {
    provider: 'forge',
    authorization_url: 'https://forge.example/authorize',
    token_url: 'https://forge.example/token',
    client_id: 'client-1',
    client_secret: TOKEN,
    scopes: 'repo read:org',
  };
  const refused = await sendForm(visitor, PROVIDERS, 'create', { ...fields, client_id: '' });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('id="create-client_id-fault"')]);
  expect((await sendForm(visitor, PROVIDERS, 'create', fields)).status).toBe(303);
  const page = await visitor.get(`${PROVIDERS}/forge`);
  expect(page.text).toContain('/connect/callback');
  const made = await sendForm(visitor, `${PROVIDERS}/forge`, 'connect', {
    connection: 'ana',
    hosts: 'api.forge.example',
    allow: 'GET /repos/*',
    expires_seconds: '600',
  });
  expect(made.text).toMatch(/<pre class="secret"[^>]*>http[^<]+<\/pre>/);
  const { data } = (await vault.call('GET', '/v1/vault/connection/get/ana')).body;
  expect(data).toMatchObject({ status: 'pending', provider: 'forge', allow: [{ methods: ['GET'], path: '/repos/*' }] });
  const pending = await visitor.get('/console/vault/connections/ana');
  expect(pending.text).toContain('/console/vault/providers/forge?connection=ana');
  const moved = { ...fields, token_url: 'https://other.example/token', client_secret: '' };
  const narrow = await sendForm(visitor, `${PROVIDERS}/forge/settings`, 'update', moved);
  expect([narrow.status, narrow.text]).toEqual([400, expect.stringContaining('id="update-client_secret-fault"')]);
  expect((await sendForm(visitor, `${PROVIDERS}/forge/delete`, 'delete', { typed: 'forge' })).status).toBe(303);
  for (const each of [refused, page, made, pending, narrow, await visitor.get(PROVIDERS)]) expectNoSecret(each);
});
