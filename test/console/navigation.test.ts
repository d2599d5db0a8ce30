// The navigation: its groups, how much fails at which entry, and the ways to the documentation; the menu of who is signed in.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personSession, sendForm, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

async function newAccount() {
  const { secret, accountId } = await createTestAccount(service.core, 5);
  return { accountId, secret, call: client(service.url, secret), visitor: await signedIn(service.url, secret) };
}

/** Labels of the groups, each with those of its entries; the first ones have no group. */
function groupsOf(text: string): Record<string, readonly string[]> {
  const [, nav = ''] = /<nav id="pages"[^>]*>([\s\S]*?)<\/nav>/.exec(text) ?? [];
  const [first = '', ...groups] = nav.split('<details');
  const labels = (part: string) => [...part.matchAll(/<a [^>]*>([A-Za-z ]+)/g)].map(([, label = '']) => label.trim());
  const named = groups.map((part) => [/<ul aria-label="([^"]+)"/.exec(part)?.[1] ?? '', labels(part)] as const);
  return Object.fromEntries([['', labels(first)], ...named]);
}

const groupsOfAll = {
  '': ['Overview', 'Wallet', 'Usage', 'Keys', 'Approvals'],
  Build: ['Schedules', 'Flags', 'Queues', 'Storage', 'Vault', 'Vectors'],
  Observe: ['Requests', 'Events', 'Alerts', 'Analytics', 'Errors', 'Logs', 'Metrics', 'Risk'],
  Reach: ['Webhooks', 'Captcha', 'DNS', 'Email', 'Realtime', 'Calls', 'SMS'],
  Make: ['AI', 'Images', 'PDF', 'Video', 'Web'],
  Settings: ['Audit log', 'Account'],
};

/** What is told at an entry: `2 things failing`; empty where nothing is. */
function badgeOf(text: string, path: string): string {
  const [, entry = ''] = new RegExp(`href="/console${path}" data-key[^>]*>([\\s\\S]*?)</a>`).exec(text) ?? [];
  return /<span class="unseen">([^<]*)<\/span>/.exec(entry)?.[1] ?? '';
}

test('the navigation is the same on every page, whatever the account holds or was opened', async () => {
  const { call, visitor } = await newAccount();
  expect(groupsOf((await visitor.get('/console')).text)).toEqual(groupsOfAll);
  expect(groupsOf((await visitor.get('/console/vectors')).text)).toEqual(groupsOfAll);
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  await sendForm(visitor, '/console/keys', 'create', { name: 'new', access: 'all' });
  expect(groupsOf((await visitor.get('/console/queues/jobs')).text)).toEqual(groupsOfAll);
});

test('a folded group stays folded, tells that the page is of it and how much of it fails', async () => {
  const { call, visitor } = await newAccount();
  await call('POST', '/v1/errors/capture', { title: 'one' });
  const summary = (text: string) =>
    /<details data-group="observe"( open)?><summary([^>]*)>([\s\S]*?)<\/summary>/.exec(text);
  const [, open, of, told] = summary((await visitor.get('/console/errors')).text) ?? [];
  expect([open, of, told?.includes('1 thing failing')]).toEqual([' open', ' class="here"', true]);
  visitor.cookies.set('qm_folded', 'observe.make');
  expect(summary((await visitor.get('/console/errors')).text)?.[1]).toBeUndefined();
  expect(summary((await visitor.get('/console/keys')).text)?.slice(1, 3)).toEqual([undefined, '']);
});

test('the documentation, and its page of the module, are links at the top of each page', async () => {
  const { visitor } = await newAccount();
  const links = (text: string) => [...text.matchAll(/class="to-docs" href="([^"]+)"/g)].map(([, href]) => href);
  expect(links((await visitor.get('/console')).text)).toEqual(['/docs', '/docs/modules/account']);
  const ofQueues = links((await visitor.get('/console/queues')).text);
  expect(ofQueues).toEqual(['/docs', '/docs/modules/queue']);
  for (const href of ofQueues) expect((await visitor.get(href as string)).status, href).toBe(200);
});

test('what fails is counted at its entry, on every page, by calls that are none of the page', async () => {
  const { call, secret } = await newAccount();
  for (const title of ['one', 'two']) await call('POST', '/v1/errors/capture', { title });
  const visitor = await signedIn(service.url, secret);
  const { text } = await visitor.get('/console/keys');
  expect([badgeOf(text, '/errors'), badgeOf(text, '/queues'), badgeOf(text, '/keys')]).toEqual([
    ...['2 things failing', '', ''],
  ]);
  expect(text).not.toContain('/v1/errors/groups');
  // Kept for a while; a page that looks by itself tells it at once.
  await call('POST', '/v1/errors/capture', { title: 'three' });
  expect(badgeOf((await visitor.get('/console/keys')).text, '/errors')).toBe('2 things failing');
  expect(badgeOf((await visitor.get('/console')).text, '/errors')).toBe('3 things failing');
  expect(badgeOf((await visitor.get('/console/keys')).text, '/errors')).toBe('3 things failing');
});

test('a narrow key is told nothing of modules that it may not read', async () => {
  const { call } = await newAccount();
  await call('POST', '/v1/errors/capture', { title: 'one' });
  const scopes = ['queue:read', 'account.keys.list'];
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'narrow', scopes });
  const { text } = await (await signedIn(service.url, body.data.key_secret)).get('/console/keys');
  expect([groupsOf(text), text.includes('Balance')]).toEqual([{ '': ['Keys'], Build: ['Queues'] }, false]);
});

test('the menu tells the balance and switches between the accounts of a person', async () => {
  const [first, second] = [await newAccount(), await newAccount()];
  const owner = { email: 'two@example.org', name: 'Two', role: 'owner' } as const;
  const visitor = new PageVisitor(service.url);
  visitor.cookies.set('qm_session', await personSession(service.core, { ...owner, accountId: first.accountId }));
  const alone = (await visitor.get('/console')).text;
  expect(alone).toMatch(/Balance <span><span class="number-value">\$5\.00</);
  expect(alone).not.toContain('action="/auth/account/switch"');
  const insert = `INSERT INTO core.member (person_id, account_id, role, created_at)
    SELECT person_id, $2, role, created_at FROM core.member WHERE account_id = $1`;
  await service.core.db.query({ name: 'test_join', text: insert }, [first.accountId, second.accountId]);
  const again = new PageVisitor(service.url);
  for (const [name, value] of visitor.cookies) again.cookies.set(name, value);
  await sendForm(again, '/console/keys', 'create', { name: 'new', access: 'all' });
  const both = (await again.get('/console')).text;
  expect(both).toContain(`<option value="${second.accountId}">`);
  const [, token = ''] = /name="form_token" value="([^"]+)"/.exec(both) ?? [];
  await again.post('/auth/account/switch', { form_token: token, account_id: second.accountId, return_to: '/console' });
  expect((await again.get('/console')).text).toContain(`<option value="${second.accountId}" selected>`);
});
