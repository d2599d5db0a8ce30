// Keys in the console: made with a secret that is shown once, narrowed, rotated, reported and revoked, each in force at the next call; and
// where the money went, by key. What a narrow key's session may not see is refused with the scope that is missing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import {
  expectDone,
  expectSoundPages,
  openConsole,
  press,
  sendForm,
  signedIn,
  tabTo,
  typeInto,
} from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let chromium: TestBrowser;
let account: TestAccount;
beforeAll(async () => {
  [service, chromium] = await Promise.all([startTestService(), startBrowser()]);
  account = await createTestAccount(service.core, 12.5);
  const call = client(service.url, account.secret);
  const name = '<b onclick=alert(1)>"worker" \u202e'.padEnd(100, 'w');
  const planted = await call('POST', '/v1/account/keys/create', {
    name,
    scopes: ['queue:write', 'errors.capture'],
    spend_cap_usd: 0.00002,
    spend_cap_period: 'daily',
  });
  expect(planted.status).toBe(200);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await call('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  await call('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 5 });
});
afterAll(async () => {
  await Promise.all([service?.stop(), chromium?.close()]);
});

test('keys, usage and events are sound, narrow and dark', async () => {
  await expectSoundPages(chromium.browser, service.url, account.secret, [
    ['keys', 'Keys'],
    ['keys?new=1', 'New key'],
    ['usage', 'Usage'],
    ['usage?by=key&period=30d&figure=calls', 'Usage'],
    ['usage?period=24h', 'Usage'],
    ['usage?capability=none.such&period=custom&from=2019-01-01&to=2024-12-31', 'Usage'],
    ['keys?status=revoked', 'Keys'],
    ['keys?cursor=none', 'Keys'],
    ['events', 'Events'],
    ['events?type=none.such', 'Events'],
    [`keys/${account.keyId}/revoke`, `Revoke ${account.keyId}`],
    [`keys/${account.keyId}/leaked`, `Report a leak of ${account.keyId}`],
    [`keys/${account.keyId}`, account.keyId],
    ['keys/key_0', 'There is no such page'],
  ]);
});

test('a key is made, shown once, narrowed and revoked, without scripts', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const refused = await sendForm(visitor, '/console/keys', 'create', { name: 'new', scopes: 'queue:fly' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('value="queue:fly"');
  expect(refused.text).toContain('INVALID_SCOPE');
  const made = await sendForm(visitor, '/console/keys', 'create', {
    name: 'new',
    scopes: 'queue:write',
    spend_cap_usd: '1.5',
  });
  const [, secret = ''] = /class="secret"[^>]*>([^<]+)</.exec(made.text) ?? [];
  expect(made.status).toBe(200);
  const call = client(service.url, secret);
  expect((await call('GET', '/v1/queue/list')).status).toBe(200);
  expect((await visitor.get('/console/keys')).text).not.toContain(secret);
  const [, id = ''] =
    /href="\/console\/keys\/(key_\w+)"[^>]*><bdi>new</.exec((await visitor.get('/console/keys')).text) ?? [];
  const page = `/console/keys/${id}`;
  const narrowed = await sendForm(visitor, page, 'narrow', {
    name: 'new',
    scope: 'vector:read',
    scopes: '',
    spend_cap_usd: '',
  });
  expect([narrowed.status, narrowed.location]).toEqual([303, `${page}?done=key.narrow`]);
  expect((await visitor.get(narrowed.location ?? '')).text).toContain('Key saved.');
  expect((await call('GET', '/v1/queue/list')).status).toBe(403);
  const untyped = await sendForm(visitor, `${page}/revoke`, 'revoke', { typed: 'something' });
  expect([untyped.status, untyped.text.includes('Type new to revoke')]).toEqual([400, true]);
  const revoked = await sendForm(visitor, `${page}/revoke`, 'revoke', { typed: id });
  expect([revoked.status, revoked.location]).toEqual([303, '/console/keys?done=key_revoke.revoke']);
  expect((await call('GET', '/v1/queue/list')).status).toBe(401);
});

test('the pages that end a key say what it did in a day; a certain leak wants its name or id and puts a new one in its place, a suspicion ends nothing', async () => {
  const { secret } = await createTestAccount(service.core, 1);
  const [visitor, owner] = [await signedIn(service.url, secret), client(service.url, secret)];
  await owner('POST', '/v1/queue/create', { name: 'jobs' });
  const made = async (name: string) =>
    (await owner('POST', '/v1/account/keys/create', { name, scopes: ['queue'] })).body.data;
  const [key, doubted] = [await made('used'), await made('doubted')];
  const used = client(service.url, key.key_secret);
  for (let n = 0; n < 3; n += 1) await used('POST', '/v1/queue/publish', { queue: 'jobs', payload: {} });
  expect((await used('POST', '/v1/queue/publish', { queue: 'none', payload: {} })).status).toBe(404);
  for (const end of ['revoke', 'leaked']) {
    const { text } = await visitor.get(`/console/keys/${key.key_id}/${end}`);
    const told = text.replaceAll(/<[^>]+>/g, '');
    expect(told).toContain('In the last 24 hours it made 4 calls (1 failed) for $0.00006.');
  }
  const page = `/console/keys/${key.key_id}/leaked`;
  const untyped = await sendForm(visitor, page, 'leaked', { typed: 'other', auto_rotate: 'on' });
  expect([untyped.status, untyped.text.includes('id="leaked-typed-fault"')]).toEqual([400, true]);
  expect((await used('GET', '/v1/queue/list')).status).toBe(200);
  const ended = await sendForm(visitor, page, 'leaked', { typed: 'used', auto_rotate: 'on' });
  const secretIn = (text: string) => /class="secret"[^>]*>([^<]+)</.exec(text)?.[1] ?? '';
  expect((await used('GET', '/v1/queue/list')).status).toBe(401);
  expect((await client(service.url, secretIn(ended.text))('GET', '/v1/queue/list')).status).toBe(200);
  const suspected = await sendForm(visitor, `/console/keys/${doubted.key_id}`, 'leak', { confirmed_leak: 'on' });
  expect([suspected.status, secretIn(suspected.text)]).toEqual([200, '']);
  expect((await client(service.url, doubted.key_secret)('GET', '/v1/queue/list')).status).toBe(200);
  const atOnce = await sendForm(visitor, `/console/keys/${doubted.key_id}`, 'rotate', { grace_hours: '0' });
  expect([atOnce.status, atOnce.text.includes('id="rotate-grace_hours-fault"')]).toEqual([400, true]);
});

test('by keyboard alone a key is made with an end, is used, is narrowed, and is revoked', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/keys`);
  await press(page, 'main a:has-text("New key")');
  await typeInto(page, '#create-name', 'typed');
  // The last choice, one up from the first.
  await tabTo(page, 'input[name=access]:checked');
  await page.keyboard.press('ArrowUp');
  await tabTo(page, '#create-queue');
  await page.keyboard.type('read and');
  await typeInto(page, '#create-scopes', 'account:read');
  await typeInto(page, '#create-spend_cap_usd', '0.5');
  await tabTo(page, '#create-expires_at');
  await page.keyboard.type('12312099');
  await press(page, 'button:has-text("Create key")');
  await expect.poll(() => page.locator('.secret').count()).toBe(1);
  const secret = (await page.textContent('.secret')) ?? '';
  const own = client(service.url, secret);
  const listed = await own('GET', '/v1/account/keys/list?limit=100');
  expect(listed.body.data.items.find(({ name }: { name: string }) => name === 'typed')).toMatchObject({
    scopes: ['queue:write', 'account:read'],
    expires_at: '2099-12-31T23:59:59.000Z',
    spend_cap_usd: 0.5,
    spend_cap_period: 'total',
  });
  await press(page, 'main a:has-text("All keys")');
  await press(page, 'tbody a:has-text("typed")');
  await expect.poll(() => page.textContent('h1')).toBe('typed');
  expect(await page.textContent('.figures')).toContain('Spent in 30 days');
  expect(await page.inputValue('#narrow-queue')).toBe('queue:write');
  await tabTo(page, '#narrow-queue');
  await page.keyboard.type('no');
  await press(page, 'button:has-text("Save key")');
  await expectDone(page, 'saved');
  expect((await own('GET', '/v1/queue/list')).status).toBe(403);
  await press(page, 'main a:has-text("Revoke key")');
  await tabTo(page, '#revoke-typed');
  await page.keyboard.type('typed');
  await page.keyboard.press('Enter');
  await expectDone(page, 'Key revoked');
  expect((await own('GET', '/v1/account/get')).status).toBe(401);
  await press(page, '.tabs a:has-text("Revoked")');
  await expect.poll(() => page.textContent('tbody')).toContain('typed');
  expect(faults).toEqual([]);
});

test('an end that is over is told at its field', async () => {
  const visitor = await signedIn(service.url, account.secret);
  for (const expires_at of ['2020-01-01', 'someday']) {
    const refused = await sendForm(visitor, '/console/keys', 'create', { expires_at, scopes: 'queue:read' });
    expect([refused.status, refused.text.includes('id="create-expires_at-fault"')]).toEqual([400, true]);
  }
});

test('a form that is sent twice makes one key, and shows the same secret', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const { text } = await visitor.get('/console/keys?new=1');
  const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
  const fields = {
    form_token: formToken,
    form_key: 'ab'.repeat(16),
    act: 'create',
    name: 'twice',
    scopes: 'queue:read',
  };
  const answers = await Promise.all([visitor.post('/console/keys', fields), visitor.post('/console/keys', fields)]);
  const secrets = answers.map((answer) => /class="secret"[^>]*>([^<]+)</.exec(answer.text)?.[1]);
  expect(secrets[0]).toMatch(/^qm_/);
  expect(secrets[1]).toBe(secrets[0]);
});

test('forms of other sites, of other sessions and without a key of their own change nothing', async () => {
  const [visitor, other] = await Promise.all([
    signedIn(service.url, account.secret),
    signedIn(service.url, account.secret),
  ]);
  const token = await visitor.formToken('/console/keys?new=1');
  const fields = { form_token: token, form_key: 'cd'.repeat(16), act: 'create', name: 'foreign' };
  const sent = [
    visitor.post('/console/keys', fields, { origin: 'https://elsewhere.example' }),
    visitor.post('/console/keys', fields, { 'sec-fetch-site': 'cross-site' }),
    other.post('/console/keys', fields),
    visitor.post('/console/keys', { ...fields, form_key: '' }),
    visitor.post('/console/keys', { ...fields, act: 'toString' }),
    new PageVisitor(service.url).post('/console/keys', fields),
  ];
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 303]);
  const { body } = await client(service.url, account.secret)('GET', '/v1/account/keys/list?limit=100');
  expect(body.data.items.map((key: { name: string }) => key.name)).not.toContain('foreign');
});

test('a session that may not see a page is told which scope is missing, and not shown the way there', async () => {
  const { body } = await client(service.url, account.secret)('POST', '/v1/account/keys/create', {
    scopes: ['queue:read'],
  });
  const visitor = await signedIn(service.url, body.data.key_secret);
  const page = await visitor.get('/console/keys');
  expect([page.status, page.text.includes('account:read'), page.text.includes('href="/console/keys"')]).toEqual([
    403,
    true,
    false,
  ]);
});

test('usage as CSV holds what the API tells, beside the period before', async () => {
  const visitor = await signedIn(service.url, account.secret);
  const file = await visitor.get('/console/usage?as=csv&period=30d');
  expect(file.headers.get('content-type')).toContain('text/csv');
  const [head, ...rows] = file.text.split('\r\n');
  expect(head).toBe('capability,calls,units,spend_usd,spend_before_usd');
  expect(rows).toContain('queue.publish,1,1,0.00002,0');
});

const pageOf = async (path: string) => (await (await signedIn(service.url, account.secret)).get(path)).text;

/** The steps that the page offers, and how many it draws of the chosen one: those around what there is. */
async function stepsOf(path: string) {
  const text = await pageOf(path);
  const offered = [...text.matchAll(/>By (hour|day|month)<\/a>/g)].map(([, step]) => step);
  return { offered, shown: (/<figure[\s\S]*?<\/figure>/.exec(text)?.[0].match(/<th scope="row">/g) ?? []).length };
}

test('usage is told in the steps that the period allows', async () => {
  const path = '/console/usage?figure=calls&period=';
  expect(await stepsOf(`${path}24h`)).toEqual({ offered: [], shown: 24 });
  expect(await stepsOf(`${path}24h&step=month`)).toEqual({ offered: [], shown: 24 });
  expect(await stepsOf(`${path}30d`)).toEqual({ offered: ['hour', 'day'], shown: 24 });
  expect((await stepsOf(`${path}30d&step=hour`)).shown).toBe(24);
  const today = new Date(Date.now()).toISOString().slice(0, 10);
  const year = `${path}custom&from=${Number(today.slice(0, 4)) - 1}${today.slice(4).replace('02-29', '02-28')}&to=${today}`;
  expect((await stepsOf(year)).offered).toEqual(['day', 'month']);
  expect((await stepsOf(`${year}&step=month`)).shown).toBe(13);
  for (const days of [
    'from=2020-01-01&to=2020-01-01',
    'from=2020-01-01&to=2020-01-05',
    'from=2999-01-01&to=2999-01-05',
  ])
    expect((await pageOf(`${path}custom&${days}`)).includes('class="failure"'), days).toBe(false);
  const { offered, shown } = await stepsOf(`${path}custom&from=2000-01-01&to=${today}`);
  expect(offered).toEqual([]);
  expect(shown).toBe(24);
});

test('by keyboard alone usage is narrowed to a capability and a key, and told by the hour', async () => {
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/usage?period=30d`);
  await typeInto(page, 'main input[name=capability]', 'queue.publish');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.table tbody tr').count()).toBe(1);
  expect(await page.textContent('.table tbody')).toContain('queue.publish');
  await press(page, 'a:has-text("By key")');
  await expect.poll(() => page.textContent('.table tbody')).toContain(account.keyId);
  await press(page, 'a:has-text("By hour")');
  await expect.poll(() => new URL(page.url()).search).toContain('step=hour');
  expect(new URL(page.url()).search).toContain('capability=queue.publish');
  await tabTo(page, 'select[name=key_id]');
  await page.keyboard.press('ArrowDown');
  await press(page, 'form[aria-label="Narrow the figures"] button');
  await expect.poll(() => new URL(page.url()).searchParams.get('key_id')).toMatch(/^key_/);
  expect(new URL(page.url()).searchParams.get('step')).toBe('hour');
  await press(page, 'a:has-text("Clear")');
  await expect.poll(() => new URL(page.url()).searchParams.has('key_id')).toBe(false);
  expect(faults).toEqual([]);
});

test('by keyboard alone an event is found by its type and its data opened', async () => {
  await client(service.url, account.secret)('POST', '/v1/account/keys/create', { name: 'told' });
  const { page, faults } = await openConsole(chromium.browser, service.url, account.secret);
  await page.goto(`${service.url}/console/events?period=24h`);
  await typeInto(page, 'main input[name=type]', 'wallet.low_balance');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.empty').count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('period')).toBe('24h');
  await page.goto(`${service.url}/console/events`);
  await press(page, 'tbody summary');
  expect(await page.locator('tbody details[open] pre').count()).toBe(1);
  expect(await page.textContent('tbody')).toMatch(/\w+day, \d+ \w+ \d{4}[\s\S]*Account created[\s\S]*\d\d:\d\d:\d\d/);
  expect(faults).toEqual([]);
});
