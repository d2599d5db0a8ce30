// Signing in by mail, through a real mail server: what uses link and code up, who is let in, and what nobody learns.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createAccount, findAccount } from '../../src/core/accounts/accounts.ts';
import type { Queryable, Transaction } from '../../src/db/database.ts';
import { listMails } from '../../src/people/mail/mail.ts';
import { EMAIL, findByIdentity, membersOf } from '../../src/people/persons.ts';
import { askForSignIn, ownByAddress } from '../../src/people/sign-in/by-mail.ts';
import { type Mailbox, startMailbox } from '../support/mailbox.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { startTestService, type TestService } from '../support/service.ts';

let mailbox: Mailbox;
let service: TestService;
beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startTestService({ env: { SMTP_URL: mailbox.url } });
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

let people = 0;
function newAddress(): string {
  people += 1;
  return `person${people}@example.org`;
}

/** Asks for a mail as a browser, and reads it. */
async function asked(email: string, returnTo = '', at = service) {
  const browser = new PageVisitor(at.url);
  const answer = await browser.post('/auth/mail', { email, return_to: returnTo });
  expect(answer).toMatchObject({ status: 303, location: '/auth/code' });
  return { browser, ...(await received(email)) };
}

async function received(email: string) {
  const mail = await vi.waitFor(() => {
    const found = mailbox.mails.findLast(({ to }) => to.includes(email));
    if (found === undefined) throw new Error('no mail yet');
    return found;
  }, 50_000);
  mailbox.mails.splice(mailbox.mails.indexOf(mail), 1);
  const link = /https?:\S+(\/auth\/mail\/[\w-]{43})/.exec(mail.text)?.[1] ?? '';
  return { link, code: /\b\d{3} \d{3}\b/.exec(mail.text)?.[0] ?? '' };
}

/** Writes down which statements are sent. */
function watching(db: Queryable, names: string[]): Queryable['query'] {
  return (statement, values) => {
    names.push(statement.name);
    return db.query(statement, values);
  };
}

function personOf(email: string) {
  return findByIdentity(service.core.db, { issuer: EMAIL, subject: email });
}

test('the link signs in by its button, once, also in another browser; a newcomer has an account without credit', async () => {
  const email = newAddress();
  const { link } = await asked(email, '/device?user_code=X');
  const other = new PageVisitor(service.url);
  for (let i = 0; i < 3; i += 1) {
    const page = await other.get(link);
    expect(page.status).toBe(200);
    expect(page.text).toContain(email);
    await other.send('HEAD', link, {});
  }
  expect(await personOf(email)).toBeNull();
  const signedIn = await other.post(link, {});
  expect(signedIn).toMatchObject({ status: 303, location: '/device?user_code=X' });
  expect(other.cookies.has('qm_session')).toBe(true);
  const person = await personOf(email);
  const account = await findAccount(service.core.db, person?.accountId ?? '');
  expect(account?.accountId).toMatch(/^acct_email_/);
  expect(account).toMatchObject({ emailBound: true });
  expect((await new PageVisitor(service.url).post(link, {})).status).toBe(404);
  expect((await other.get(link)).status).toBe(404);
});

test('the code signs in the browser that asked, once; spaces do not matter', async () => {
  const { browser, code } = await asked(newAddress());
  expect((await new PageVisitor(service.url).post('/auth/code', { code })).status).toBe(400);
  expect((await browser.post('/auth/code', { code: code.replace(' ', '') })).status).toBe(303);
  expect((await browser.post('/auth/code', { code })).status).toBe(400);
});

test('five wrong codes end a sign-in, also when they come at once; its link lives on', async () => {
  const { browser, code, link } = await asked(newAddress());
  const wrong = code.startsWith('000') ? '111111' : '000000';
  const answers = await Promise.all(Array.from({ length: 8 }, () => browser.post('/auth/code', { code: wrong })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
  expect((await browser.post('/auth/code', { code })).status).toBe(400);
  expect((await browser.post(link, {})).status).toBe(303);
});

test('link and code are over after 15 minutes', async () => {
  const { browser, code, link } = await asked(newAddress());
  await service.advance(15 * 60);
  expect((await browser.post('/auth/code', { code })).status).toBe(400);
  expect((await browser.get(link)).status).toBe(404);
  expect((await browser.post(link, {})).status).toBe(404);
});

test('of two who use one link at once one is signed in; of two mails of a newcomer comes one account', async () => {
  const email = newAddress();
  const [first, second] = [await asked(email), await asked(email)];
  const answers = await Promise.all([
    first.browser.post(first.link, {}),
    new PageVisitor(service.url).post(first.link, {}),
    second.browser.post('/auth/code', { code: second.code }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 303, 404]);
  const { rows } = await service.core.db.query<{ name: string }>(
    { name: 'test_accounts_named', text: 'SELECT a.name FROM core.account a WHERE a.name = $1' },
    [email],
  );
  expect(rows).toHaveLength(1);
});

test('known and unknown addresses are answered by the same statements and words', async () => {
  const { db } = service.core;
  const known = newAddress();
  const first = await asked(known);
  await first.browser.post(first.link, {});
  const trace = async (email: string) => {
    const texts: string[] = [];
    const watched = Object.create(db, {
      query: { value: watching(db, texts) },
      transaction: {
        value: (body: (tx: Transaction) => Promise<unknown>) =>
          db.transaction((tx) =>
            body({
              query: watching(tx, texts),
              hint: (topic) => tx.hint(topic),
              cork: () => tx.cork(),
              flush: () => tx.flush(),
            }),
          ),
      },
    });
    await askForSignIn({ ...service.core, db: watched }, { email, returnTo: '', remoteAddress: '127.0.0.1' });
    return texts;
  };
  const [ofKnown, ofUnknown] = [await trace(known), await trace(newAddress())];
  expect(ofKnown.length).toBeGreaterThan(2);
  expect(ofUnknown).toEqual(ofKnown);
  const words = async (email: string) => {
    const { status, text, location } = await new PageVisitor(service.url).post('/auth/mail', { email });
    return { status, text, location };
  };
  expect(await words(newAddress())).toEqual(await words(known));
});

test('an address gets five mails an hour, a network asks for twenty; this machine for more', async () => {
  const email = newAddress();
  const ask = (to: string, remoteAddress: string) =>
    askForSignIn(service.core, { email: to, returnTo: '', remoteAddress }).then(
      () => 'sent',
      ({ code }) => code,
    );
  const mails = await Promise.all(Array.from({ length: 8 }, () => ask(email, '127.0.0.1')));
  expect(mails.filter((each) => each === 'sent')).toHaveLength(5);
  const refused = await new PageVisitor(service.url).post('/auth/mail', { email });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  const others = await Promise.all(Array.from({ length: 24 }, (_, i) => ask(newAddress(), `203.0.113.${i}`)));
  expect(others.filter((each) => each === 'sent')).toHaveLength(20);
  expect(await ask(newAddress(), '203.0.114.1')).toBe('sent');
  expect(await ask(newAddress(), '2001:db8:1::1')).toBe('sent');
  await service.advance(3_600);
  expect(await ask(email, '203.0.113.1')).toBe('sent');
});

test('dots and +tags make no further mailbox: forty addresses of one get five mails an hour', async () => {
  const ways = Array.from({ length: 20 }, (_, i) => [
    `ada.lov${'.'.repeat(i % 2)}elace+${i}@gmail.com`,
    `eve+${i}@example.org`,
  ]);
  const sent = await Promise.all(
    ways.flat().map((email) =>
      askForSignIn(service.core, { email, returnTo: '', remoteAddress: '127.0.0.1' }).then(
        () => email.replace(/.*@/, ''),
        ({ code }) => code,
      ),
    ),
  );
  const counted = (what: string) => sent.filter((each) => each === what).length;
  expect([counted('gmail.com'), counted('example.org'), counted('RATE_LIMITED')]).toEqual([5, 5, 30]);
});

test.each([
  [{ SIGNUP: 'closed' }, newAddress()],
  [{ SIGNUP_DOMAINS: 'corp.example' }, newAddress()],
])('under %o nobody new signs up, and nobody learns that by asking', async (env, email) => {
  const closed = await startTestService({ database: service.database, env: { SMTP_URL: mailbox.url, ...env } });
  try {
    const { browser, link } = await asked(email, '', closed);
    const refused = await browser.post(link, {});
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Sign-up is closed.');
    expect(browser.cookies.has('qm_session')).toBe(false);
    expect(await personOf(email)).toBeNull();
    const accountId = await service.core.db.transaction(async (tx) => {
      const id = await createAccount(tx, { email });
      await ownByAddress(tx, id, email);
      return id;
    });
    const again = await asked(email, '', closed);
    expect((await again.browser.post(again.link, {})).status).toBe(303);
    expect(await personOf(email)).toMatchObject({ accountId });
  } finally {
    await closed.stop();
  }
});

test('an invitation makes a viewer of whoever has the address, and no less of an owner', async () => {
  const [owner, guest] = [newAddress(), newAddress()];
  const { browser, link } = await asked(owner);
  await browser.post(link, {});
  const accountId = (await personOf(owner))?.accountId ?? '';
  for (const email of [guest, owner]) {
    const form_token = await browser.formToken('/auth/account');
    await browser.post('/auth/account/invite', { email, role: 'viewer', form_token });
    const invited = new PageVisitor(service.url);
    const { link: invitation } = await received(email);
    expect((await invited.get(invitation)).text).toContain('You are invited');
    expect((await invited.post(invitation, {})).status).toBe(303);
  }
  const members = await membersOf(service.core.db, accountId);
  expect(members.map(({ email, role }) => [email, role])).toEqual([
    [owner, 'owner'],
    [guest, 'viewer'],
  ]);
});

test('forms of other sites, addresses that are none, and ways elsewhere are refused', async () => {
  const email = newAddress();
  const browser = new PageVisitor(service.url);
  for (const [name, value] of [
    ['origin', 'http://evil.example'],
    ['sec-fetch-site', 'cross-site'],
    ['origin', 'null'],
  ] as const)
    for (const path of ['/auth/mail', '/auth/code', '/auth/key', '/auth/sign-out', `/auth/mail/${'x'.repeat(43)}`])
      expect((await browser.post(path, { email }, { [name]: value })).status).toBe(403);
  for (const bad of [
    '',
    'ada',
    'a@b@c',
    'ada@example.org\r\nbcc: eve@example.org',
    'ada@example.org, eve@example.org',
  ]) {
    const { status, text } = await browser.post('/auth/mail', { email: bad });
    expect([status, /aria-describedby="email-fault"/.test(text)]).toEqual([400, true]);
  }
  for (const returnTo of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const { browser: visitor, link } = await asked(newAddress(), returnTo);
    expect((await visitor.post(link, {})).location).toBe('/auth/account');
    const page = await visitor.get(`/auth?return_to=${encodeURIComponent(returnTo)}`);
    expect(page.location).toBe('/auth/account');
  }
  expect(
    await listMails(service.core.db, { limit: 100 }).then((mails) => mails.some(({ to }) => to.includes('eve'))),
  ).toBe(false);
});

test('signing in gives the browser a new session and ends the one that it had', async () => {
  const { browser, link } = await asked(newAddress());
  await browser.post(link, {});
  const before = browser.cookies.get('qm_session') ?? '';
  const email = newAddress();
  await browser.post('/auth/mail', { email });
  const second = await received(email);
  await browser.post(second.link, {});
  expect(browser.cookies.get('qm_session')).not.toBe(before);
  const old = new PageVisitor(service.url);
  old.cookies.set('qm_session', before);
  expect((await old.get('/auth')).status).toBe(200);
  expect((await browser.get('/auth')).status).toBe(303);
});
