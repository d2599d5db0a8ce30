// What the overview tells to do first: steps that show as done by facts, until something runs; what the console reads by itself counts for none.
import { beforeAll, expect, test } from 'vitest';
import { personSession, sendForm, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { client, createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

/** Titles of the steps, each with whether it is done. */
function stepsOf(text: string): Record<string, boolean> {
  const [, list = ''] = /<ol class="steps">([\s\S]*?)<\/ol>/.exec(text) ?? [];
  const steps = list.matchAll(/<summary>([^<]+) (?=<)(<span class="badge good">done)?/g);
  return Object.fromEntries([...steps].map(([, title = '', done]) => [title, done !== undefined]));
}

async function newAccount() {
  const { secret, accountId } = await createTestAccount(service.core, 5);
  return { accountId, call: client(service.url, secret), visitor: await signedIn(service.url, secret) };
}

const bindEmail = 'UPDATE core.account SET email = $2, email_bound = $2::text IS NOT NULL WHERE account_id = $1';

async function bind(accountId: string, email: string | null): Promise<void> {
  await service.core.db.query({ name: 'test_bind', text: bindEmail }, [accountId, email]);
}

const [CALL, MAIL, KEY] = ['Make a call', 'Sign in by mail', 'Create a key for your program'] as const;

test('what is done is told step by step', async () => {
  const { accountId, call, visitor } = await newAccount();
  await bind(accountId, null);
  const steps = async () => stepsOf((await visitor.get('/console')).text);
  expect(await steps()).toEqual({ [CALL]: false, [MAIL]: false, [KEY]: false });
  await visitor.get('/console/queues');
  expect(await steps(), 'reads of the console are no calls').toMatchObject({ [CALL]: false });
  await call('POST', '/v1/queue/create', { name: 'jobs' });
  expect(await steps()).toEqual({ [CALL]: true, [MAIL]: false, [KEY]: false });
  await sendForm(visitor, '/console/keys', 'create', { name: 'shop', access: 'all' });
  expect(await steps()).toEqual({ [CALL]: true, [MAIL]: false, [KEY]: true });
  await bind(accountId, 'ada@example.org');
  expect(await steps()).toEqual({});
});

test('they are gone once something runs for good', async () => {
  const { call, visitor } = await newAccount();
  for (let n = 0; n < 100; n += 1) await call('GET', '/v1/account/balance');
  expect(stepsOf((await visitor.get('/console')).text)).toEqual({});
});

test('the figures of the overview do not count what the console reads, whoever signed in', async () => {
  const { accountId, visitor } = await newAccount();
  const person = new PageVisitor(service.url);
  const owner = { email: `${accountId.toLowerCase()}@example.net`, name: 'Two', role: 'owner', accountId } as const;
  person.cookies.set('qm_session', await personSession(service.core, owner));
  for (const each of [visitor, person]) {
    await each.get('/console/queues');
    await each.get('/console/queues/missing');
  }
  const { text } = await visitor.get('/console');
  expect(text).toMatch(/Spent in 7 days<\/dt><dd>[\s\S]*?<dd class="note">0 calls/);
  expect(text).toMatch(/Failed in 7 days<\/dt><dd>0<\/dd>/);
});
