import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { Visitor } from './console-visitor.ts';
import { ErrorsBench } from './harness.ts';

let bench: ErrorsBench;
let groupId: string;
beforeAll(async () => {
  bench = await ErrorsBench.start();
  groupId = (await bench.capture({ message: 'disk full', user_id: 'u-17' })).error_group_id;
});
afterAll(() => bench.service.stop());

const FORM = 'name="key"';

async function keyWith(scopes: string[]): Promise<{ secret: string; keyId: string }> {
  const { key_secret, id } = await bench.ok('POST', '/v1/account/keys/create', { scopes });
  return { secret: key_secret, keyId: id };
}

test('without a session the page is a form for the key and tells nothing of the group', async () => {
  for (const id of [groupId, 'errgrp_0000000000000000000000', 'anything']) {
    const { status, text, headers } = await new Visitor(bench).open(id);
    expect(status).toBe(200);
    expect(text).toContain(FORM);
    expect(text).not.toContain('disk full');
    expect(headers.get('set-cookie')).toBeNull();
  }
});

test('the key opens a session: a cookie that scripts and other sites cannot use, and that does not show the key', async () => {
  const visitor = new Visitor(bench);
  const signedIn = await visitor.signIn(groupId, ` ${bench.account.secret}\n`);
  expect(signedIn.status).toBe(303);
  expect(new URL(signedIn.headers.get('location') ?? '', `http://h/console/errors/${groupId}`).pathname).toBe(
    `/console/errors/${groupId}`,
  );
  const cookie = signedIn.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^qm_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
  expect(Buffer.from(visitor.cookie.split('=')[1] ?? '', 'base64url').toString('latin1')).not.toContain(
    bench.account.secret,
  );
  const { status, text } = await visitor.open(groupId);
  expect(status).toBe(200);
  expect(text).toContain('<h1 dir="auto">disk full</h1>');
  expect(text).toContain('u-17');
  expect(text).not.toContain(bench.account.secret);
});

test('where the service is reached by https the cookie is for https only', async () => {
  const port = await freePort();
  const service = await startTestService({
    database: bench.service.database,
    env: { PORT: String(port), BASE_URL: 'https://qm.example.org/a' },
  });
  try {
    const behind = new ErrorsBench({ ...service, url: `http://127.0.0.1:${port}` }, bench.account);
    const { headers } = await new Visitor(behind).send(
      groupId,
      { key: bench.account.secret },
      { origin: 'https://qm.example.org' },
    );
    expect(headers.get('set-cookie')).toMatch(/^__Host-qm_session=[\w-]{43}; Path=\/; .*; SameSite=Lax; Secure$/);
  } finally {
    await service.stop();
  }
});

test('pages may load, run, keep and be framed by nothing', async () => {
  const visitor = new Visitor(bench);
  const pages = [await visitor.open(groupId), await visitor.signIn(groupId, 'wrong')];
  await visitor.signIn(groupId, bench.account.secret);
  pages.push(
    await visitor.open(groupId),
    await visitor.open('unknown'),
    await visitor.send(groupId, {}, { origin: 'http://evil.example' }),
  );
  for (const { headers, text } of pages) {
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<script|<link|<img|style="| on[a-z]+="/);
  }
});

test('a wrong key gets the form again and no session', async () => {
  for (const key of ['', 'qm_live_wrong', `${bench.account.secret}x`]) {
    const visitor = new Visitor(bench);
    const { status, text, headers } = await visitor.signIn(groupId, key);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="quartermaster"');
    expect(text).toContain('role="alert"');
    expect(text).toContain(FORM);
    expect(visitor.cookie).toBe('');
  }
});

test('a key that may not read errors is told so, at sign-in and when it loses the scope', async () => {
  const { secret } = await keyWith(['queue']);
  const visitor = new Visitor(bench);
  const refused = await visitor.signIn(groupId, secret);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('errors:read');
  expect(visitor.cookie).toBe('');

  const reader = await keyWith(['errors:read']);
  await visitor.signIn(groupId, reader.secret);
  expect((await visitor.open(groupId)).status).toBe(200);
  await bench.ok('PATCH', `/v1/account/keys/update/${reader.keyId}`, { scopes: ['queue'] });
  const lost = await visitor.open(groupId);
  expect(lost.status).toBe(403);
  expect(lost.text).toContain('errors:read');
  expect(lost.text).not.toContain('disk full');
});

test('a revoked key shows nothing from the next request on, and its session is ended', async () => {
  const { secret, keyId } = await keyWith(['errors:read']);
  const visitor = new Visitor(bench);
  await visitor.signIn(groupId, secret);
  expect((await visitor.open(groupId)).text).toContain('disk full');
  await bench.ok('DELETE', `/v1/account/keys/revoke/${keyId}`);
  const after = await visitor.open(groupId);
  expect(after.status).toBe(401);
  expect(after.text).not.toContain('disk full');
  expect(visitor.cookie).toBe('');
});

test('groups of other accounts and groups that never were answer the same page', async () => {
  const other = await bench.withAccount();
  const foreign = (await other.capture({ message: 'of somebody else' })).error_group_id;
  const visitor = new Visitor(bench);
  await visitor.signIn(groupId, bench.account.secret);
  const pages = [
    foreign,
    'errgrp_0000000000000000000000',
    `${groupId}0`,
    'x',
    '%00',
    '..%2F..',
    "'%22%3E%3Cscript%3E",
  ].map((id) => visitor.open(id));
  const [first, ...rest] = await Promise.all(pages);
  expect(first?.status).toBe(404);
  expect(first?.text).not.toContain('somebody');
  for (const page of rest) expect([page.status, page.text]).toEqual([404, first?.text]);
});

test('a session that was changed, or made up, is none', async () => {
  const visitor = new Visitor(bench);
  await visitor.signIn(groupId, bench.account.secret);
  const { cookie } = visitor;
  const at = cookie.length - 5;
  const changed = `${cookie.slice(0, at)}${cookie[at] === 'A' ? 'B' : 'A'}${cookie.slice(at + 1)}`;
  for (const sent of [
    changed,
    cookie.slice(0, -8),
    `qm_session=${bench.account.secret}`,
    'qm_session=%00',
    'qm_session="',
  ]) {
    visitor.cookie = sent;
    const { status, text } = await visitor.open(groupId);
    expect(status).toBe(200);
    expect(text).toContain(FORM);
    expect(text).not.toContain('disk full');
    expect(visitor.cookie).toBe('');
  }
});

test('signing out ends the session, in the browser and here', async () => {
  const visitor = new Visitor(bench);
  await visitor.signIn(groupId, bench.account.secret);
  const { cookie } = visitor;
  const out = await visitor.signOut(groupId);
  expect(out.status).toBe(303);
  expect(out.headers.get('set-cookie')).toBe('qm_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
  expect((await visitor.open(groupId)).text).toContain(FORM);
  // Whoever kept the cookie has nothing.
  visitor.cookie = cookie;
  expect((await visitor.open(groupId)).text).toContain(FORM);
});

test.each([
  [{ 'sec-fetch-site': 'cross-site' }],
  [{ 'sec-fetch-site': 'same-site' }],
  [{ origin: 'http://evil.example' }],
  [{ origin: 'null' }],
  [{ origin: '' }],
])('a form that another page sent is not taken: %o', async (headers) => {
  const visitor = new Visitor(bench);
  const refused = await visitor.send(groupId, { key: bench.account.secret }, headers as Record<string, string>);
  expect(refused.status).toBe(403);
  expect(visitor.cookie).toBe('');
  await visitor.signIn(groupId, bench.account.secret);
  const { cookie } = visitor;
  expect((await visitor.signOut(groupId, headers as Record<string, string>)).status).toBe(403);
  expect(visitor.cookie).toBe(cookie);
});

test('after the form the browser is sent to the same page, whatever the id or the query say', async () => {
  for (const id of [
    '%2F%2Fevil.example',
    'javascript:alert(1)',
    'https:%2F%2Fevil.example',
    'a%0D%0Aset-cookie:%20b=1',
    '%5C%5Cevil.example',
    'x?to=//evil.example',
  ]) {
    const { status, headers } = await new Visitor(bench).signIn(id, bench.account.secret);
    expect(status).toBe(303);
    const to = new URL(headers.get('location') ?? '', `http://own.example/console/errors/${id}`);
    expect(to.origin).toBe('http://own.example');
    expect(to.pathname).toMatch(/^\/console\/errors\/[^/]+$/);
    expect(headers.get('set-cookie')).toMatch(/^qm_session=/);
  }
});

test('a form without the token of the session, or with that of another, ends nothing', async () => {
  const [visitor, other] = [new Visitor(bench), new Visitor(bench)];
  await visitor.signIn(groupId, bench.account.secret);
  await other.signIn(groupId, bench.account.secret);
  const foreign = await other.formToken(groupId);
  for (const token of ['', 'x', foreign]) expect((await visitor.signOut(groupId, {}, token)).status).toBe(403);
  expect((await visitor.open(groupId)).text).toContain('disk full');
});

test('bodies that are no form, and long ones, open nothing', async () => {
  const visitor = new Visitor(bench);
  const json = await visitor.send(groupId, { key: bench.account.secret }, { 'content-type': 'application/json' });
  expect(json.status).toBe(401);
  const long = await visitor.send(groupId, { key: 'k'.repeat(5_000) });
  expect(long.status).toBe(413);
  expect(long.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(visitor.cookie).toBe('');
});

test('an address that tries many wrong keys is told to wait, and a right key still passes', async () => {
  const visitor = new Visitor(bench);
  const statuses: number[] = [];
  for (let i = 0; i < 30; i += 1) statuses.push((await visitor.signIn(groupId, `qm_live_${i}`)).status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  const last = await visitor.signIn(groupId, 'qm_live_x');
  expect(last.status).toBe(429);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await visitor.signIn(groupId, bench.account.secret)).status).toBe(303);
});

test('a session that nobody uses is over after twelve hours, and nothing is in the way of opening another', async () => {
  const visitor = new Visitor(bench);
  await visitor.signIn(groupId, bench.account.secret);
  await bench.service.advance(12 * 3_600 - 60);
  expect((await visitor.open(groupId)).text).toContain('disk full');
  await bench.service.advance(12 * 3_600 - 60);
  expect((await visitor.open(groupId)).text).toContain('disk full');
  await bench.service.advance(12 * 3_600 + 1);
  const over = await visitor.open(groupId);
  expect(over.status).toBe(200);
  expect(over.text).toContain(FORM);
  expect(visitor.cookie).toBe('');
});
