// A session that an API key opened, on a page of the console: what the browser keeps of it, and when it is over.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from '../errors/harness.ts';
import { signedIn } from '../support/console.ts';
import { PageVisitor, type Visit } from '../support/page-visitor.ts';
import { freePort } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

let bench: ErrorsBench;
let page: string;
beforeAll(async () => {
  bench = await ErrorsBench.start();
  page = pageOf((await bench.capture({ message: 'disk full', user_id: 'u-17' })).error_group_id);
});
afterAll(() => bench.service.stop());

const COOKIE = 'qm_session';

function pageOf(groupId: string): string {
  return `/console/errors/${groupId}`;
}

function newVisitor(): PageVisitor {
  return new PageVisitor(bench.service.url);
}

function signIn(
  visitor: PageVisitor,
  key = bench.account.secret,
  headers: Record<string, string> = {},
): Promise<Visit> {
  return visitor.post('/auth/key', { key, return_to: page }, headers);
}

async function keyWith(scopes: string[]): Promise<{ secret: string; keyId: string }> {
  const { key_secret, key_id: keyId } = await bench.ok('POST', '/v1/account/keys/create', { scopes });
  return { secret: key_secret, keyId };
}

function expectSignInFirst({ status, location, text }: Visit, path = page): void {
  expect([status, location]).toEqual([303, `/auth?return_to=${encodeURIComponent(path)}`]);
  expect(text).not.toContain('disk full');
}

test('without a session every page leads to the sign-in and tells nothing of what it shows', async () => {
  for (const path of [page, pageOf('errgrp_0000000000000000000000'), pageOf('anything')]) {
    const visit = await newVisitor().get(path);
    expectSignInFirst(visit, path);
    expect(visit.headers.get('set-cookie')).toBeNull();
  }
});

test('the key opens a session: a cookie that scripts and other sites cannot use, and that does not show the key', async () => {
  const visitor = newVisitor();
  const { status, location, headers } = await signIn(visitor, ` ${bench.account.secret}\n`);
  expect([status, location]).toEqual([303, page]);
  expect(headers.get('set-cookie')).toMatch(/^qm_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  const token = visitor.cookies.get(COOKIE) ?? '';
  expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain(bench.account.secret);
  const { status: shown, text } = await visitor.get(page);
  expect(shown).toBe(200);
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
    const behind = new PageVisitor(`http://127.0.0.1:${port}`);
    const { headers } = await signIn(behind, bench.account.secret, { origin: 'https://qm.example.org' });
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-qm_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  } finally {
    await service.stop();
  }
});

test('pages may load nothing from elsewhere, and are kept and framed by nothing', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const pages = [
    await newVisitor().get('/auth'),
    await signIn(newVisitor(), 'wrong'),
    await visitor.get(page),
    await visitor.get(pageOf('unknown')),
    await visitor.post(page, {}, { origin: 'http://evil.example' }),
  ];
  for (const { headers, text } of pages) {
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; .*base-uri 'none'; frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|http|\*/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<script>|style="| on[a-z]+="/);
  }
});

test('a wrong key gets the form again and no session', async () => {
  for (const key of ['', 'qm_live_wrong', `${bench.account.secret}x`]) {
    const visitor = newVisitor();
    const { status, text } = await signIn(visitor, key);
    expect(status).toBe(401);
    expect(text).toContain('name="key"');
    expect(text).toContain('aria-invalid="true"');
    expect(visitor.cookies.size).toBe(0);
  }
});

test('a key that may not read errors is told so, also when it loses the scope', async () => {
  const { secret } = await keyWith(['queue']);
  const refused = await (await signedIn(bench.service.url, secret)).get(page);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('errors:read');
  expect(refused.text).not.toContain('disk full');

  const reader = await keyWith(['errors:read']);
  const visitor = await signedIn(bench.service.url, reader.secret);
  expect((await visitor.get(page)).status).toBe(200);
  await bench.ok('PATCH', `/v1/account/keys/update/${reader.keyId}`, { scopes: ['queue'] });
  const lost = await visitor.get(page);
  expect(lost.status).toBe(403);
  expect(lost.text).toContain('errors:read');
  expect(lost.text).not.toContain('disk full');
});

test('a revoked key shows nothing from the next request on, and its session is ended', async () => {
  const { secret, keyId } = await keyWith(['errors:read']);
  const visitor = await signedIn(bench.service.url, secret);
  expect((await visitor.get(page)).text).toContain('disk full');
  await bench.ok('DELETE', `/v1/account/keys/revoke/${keyId}`);
  expectSignInFirst(await visitor.get(page));
  expect(visitor.cookies.size).toBe(0);
});

test('a session that was changed, or made up, is none', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const token = visitor.cookies.get(COOKIE) ?? '';
  const changed = `${token.slice(0, 38)}${token[38] === 'A' ? 'B' : 'A'}${token.slice(39)}`;
  for (const sent of [changed, token.slice(0, -8), bench.account.secret, '%00', '"']) {
    visitor.cookies.set(COOKIE, sent);
    expectSignInFirst(await visitor.get(page));
    expect(visitor.cookies.size).toBe(0);
  }
});

test('signing out ends the session, in the browser and here', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const token = visitor.cookies.get(COOKIE) ?? '';
  const out = await visitor.post('/auth/sign-out', { form_token: await visitor.formToken(page) });
  expect([out.status, out.location]).toEqual([303, '/auth']);
  expect(out.headers.get('set-cookie')).toBe('qm_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
  expectSignInFirst(await visitor.get(page));
  // Whoever kept the cookie has nothing.
  visitor.cookies.set(COOKIE, token);
  expectSignInFirst(await visitor.get(page));
});

test.each([
  [{ 'sec-fetch-site': 'cross-site' }],
  [{ 'sec-fetch-site': 'same-site' }],
  [{ origin: 'http://evil.example' }],
  [{ origin: 'null' }],
])('a form that another page sent is not taken: %o', async (headers) => {
  const refused = newVisitor();
  expect((await signIn(refused, bench.account.secret, headers as Record<string, string>)).status).toBe(403);
  expect(refused.cookies.size).toBe(0);
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  const fields = { form_token: await visitor.formToken(page) };
  expect((await visitor.post('/auth/sign-out', fields, headers as Record<string, string>)).status).toBe(403);
  expect((await visitor.get(page)).text).toContain('disk full');
});

test('a form without the token of the session, or with that of another, ends nothing', async () => {
  const [visitor, other] = [newVisitor(), newVisitor()];
  await Promise.all([signIn(visitor), signIn(other)]);
  const foreign = await other.formToken(page);
  for (const token of ['', 'x', foreign])
    expect((await visitor.post('/auth/sign-out', { form_token: token })).status).toBe(403);
  expect((await visitor.get(page)).text).toContain('disk full');
});

test('bodies that are no form, and long ones, open nothing', async () => {
  const visitor = newVisitor();
  const json = await signIn(visitor, bench.account.secret, { 'content-type': 'application/json' });
  expect(json.status).toBe(401);
  const long = await signIn(visitor, 'k'.repeat(20_000));
  expect(long.status).toBe(413);
  expect(long.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(visitor.cookies.size).toBe(0);
});

test('an address that tries many wrong keys is told to wait, and a right key still passes', async () => {
  const visitor = newVisitor();
  const statuses: number[] = [];
  for (let i = 0; i < 30; i += 1) statuses.push((await signIn(visitor, `qm_live_${i}`)).status);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  const last = await signIn(visitor, 'qm_live_x');
  expect(last.status).toBe(429);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await signIn(visitor)).status).toBe(303);
});

test('a session that nobody uses is over after twelve hours, and nothing is in the way of opening another', async () => {
  const visitor = await signedIn(bench.service.url, bench.account.secret);
  for (let used = 0; used < 2; used += 1) {
    await bench.service.advance(12 * 3_600 - 60);
    expect((await visitor.get(page)).text).toContain('disk full');
  }
  await bench.service.advance(12 * 3_600 + 1);
  expectSignInFirst(await visitor.get(page));
  expect(visitor.cookies.size).toBe(0);
  expect((await signIn(visitor)).status).toBe(303);
});
