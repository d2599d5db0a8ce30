// The pages on which people approve: the link in the mail, and the console. Without a browser.
import { beforeAll, describe, expect, test } from 'vitest';
import { linkOf, readLink } from '../../src/approvals/link.ts';
import { HOUR_MS } from '../../src/lib/time.ts';
import { removePerson } from '../../src/people/remove-person.ts';
import { sendForm, signedIn } from '../support/console.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';
import { approve, type Bound, boundAccount, type Person, personOf, waitingFor } from './harness.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const NOT_FOUND_PAGE = 'This link does not work';
const publish = (bound: Bound, payload: unknown = { n: 1 }) =>
  bound.agent('POST', '/v1/queue/publish', { queue: 'orders', payload });

/** An account whose agent waits for somebody to approve a message. */
async function waiting(rule: Readonly<Record<string, unknown>> = {}, payload: unknown = { n: 1 }) {
  const bound = await boundAccount(service);
  await bound.call('POST', '/v1/queue/create', { name: 'orders' });
  await bound.rule({ capabilities: ['queue.publish'], ...rule });
  const id = waitingFor(await publish(bound, payload));
  return { bound, id, link: linkFor(bound, bound.owner, id) };
}

function linkFor({ account: { accountId } }: Bound, { personId }: Person, approvalId: string): string {
  const { baseUrl } = service.core;
  return linkOf(service.core, { accountId, approvalId, personId, endsAtMs: Date.now() + HOUR_MS }).slice(
    baseUrl.length,
  );
}

/** Nobody who is signed in. */
const visitor = () => new PageVisitor(service.url);

function bySession({ token }: Person): PageVisitor {
  const opened = visitor();
  opened.cookies.set('qm_session', token);
  return opened;
}

async function statusOf({ owner }: Bound, id: string): Promise<string> {
  return (await owner.call('account.approvals.get', { approval_id: id })).body.data.status;
}

async function messages({ call }: Bound): Promise<number> {
  return (await call('GET', '/v1/queue/stats/orders')).body.data.message_count;
}

describe('the link of a mail', () => {
  test('works no more a day after its call could be decided', async () => {
    const { bound, id } = await waiting();
    const { accountId } = bound.account;
    const { personId } = bound.owner;
    const ended = linkOf(service.core, { accountId, approvalId: id, personId, endsAtMs: Date.now() - 1 });
    const page = await visitor().get(ended.slice(service.core.baseUrl.length));
    expect([page.status, page.text]).toEqual([410, expect.stringContaining('The time to decide is over')]);
  });

  test('is sent to each who may approve', async () => {
    const { bound, id } = await waiting();
    const text = 'SELECT recipient, body_text FROM core.mail WHERE account_id = $1';
    const { rows } = await service.core.db.query<{ recipient: string; body_text: string }>(
      { name: 'test_mails_of', text },
      [bound.account.accountId],
    );
    const [mail] = rows.filter(({ recipient }) => recipient === bound.owner.email);
    const [, token = ''] = /\/approve\/(\S+)/.exec(mail?.body_text ?? '') ?? [];
    const { accountId } = bound.account;
    const { personId } = bound.owner;
    expect(readLink(service.core, token)).toMatchObject({ accountId, approvalId: id, personId });
  });

  test('shows the call and changes nothing, however often it is opened', async () => {
    const { bound, id, link } = await waiting();
    for (const method of ['GET', 'GET', 'HEAD']) {
      const page = await visitor().send(method, link, {});
      if (method === 'HEAD') continue;
      expect(page.status).toBe(200);
      expect(page.text).toContain('wants to call queue.publish');
      expect(page.text).toMatch(/At most \$0\.\d+/);
      expect(page.text).toContain('&quot;queue&quot;: &quot;orders&quot;');
      expect(page.text).not.toContain('<script');
    }
    const { headers } = await visitor().get(link);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-robots-tag')).toBe('noindex');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(await statusOf(bound, id)).toBe('pending');
    waitingFor(await publish(bound));
    expect(await messages(bound)).toBe(0);
  });

  test('approves, and the repeated call runs once; used again it says who decided what', async () => {
    const { bound, id, link } = await waiting();
    const form = { decision: 'approve', for: 'once', up_to_usd: '', words: 'Go ahead.' };
    const sent = await visitor().post(link, form);
    expect([sent.status, sent.location]).toEqual([303, link]);
    expect((await publish(bound)).status).toBe(200);
    expect(await messages(bound)).toBe(1);
    expect(await statusOf(bound, id)).toBe('used');
    const again = await visitor().get(link);
    expect(again.text).toContain('You approved it');
    expect(again.text).toContain('Go ahead.');
    expect(again.text).not.toContain('name="decision"');
    const twice = await visitor().post(link, { decision: 'deny', words: 'No.' });
    expect([twice.status, twice.text.includes('decided before')]).toEqual([409, true]);
    expect(await statusOf(bound, id)).toBe('used');
  });

  test('denies with words, which the program reads', async () => {
    const { bound, link } = await waiting({ reason_required: true });
    const wordless = await visitor().post(link, { decision: 'deny', words: ' ' });
    expect([wordless.status, wordless.text.includes('say why in words')]).toEqual([400, true]);
    expect((await visitor().post(link, { decision: 'deny', words: 'Not on a Friday.' })).status).toBe(303);
    expect((await publish(bound)).body.error.message).toContain('Not on a Friday.');
    expect((await visitor().get(link)).text).toContain('You denied it');
  });

  test('approves for an hour up to an amount, which has to be said', async () => {
    const { bound, link } = await waiting();
    const form = { decision: 'approve', for: 'hour', words: '' };
    for (const up_to_usd of ['', 'much']) {
      const refused = await visitor().post(link, { ...form, up_to_usd });
      expect([refused.status, refused.text.includes('id="approve-up_to_usd-fault"')]).toEqual([400, true]);
      expect(refused.text).toContain('value="hour" selected');
    }
    expect((await visitor().post(link, { ...form, up_to_usd: '1' })).status).toBe(303);
    for (const n of [1, 2, 3]) expect((await publish(bound, { n })).status).toBe(200);
  });

  test('decides nothing by a form of another site', async () => {
    const { bound, id, link } = await waiting();
    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://a.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const sent = await visitor().post(link, { decision: 'approve' }, headers);
      expect(sent.status).toBe(403);
    }
    expect(await statusOf(bound, id)).toBe('pending');
  });

  test('works no more once its person was removed, and tells nothing then', async () => {
    const { bound, id, link } = await waiting();
    const other = await personOf(service, bound.account.accountId, 'owner');
    await service.core.db.transaction((tx) => removePerson(tx, bound.account.accountId, bound.owner.personId));
    for (const page of [await visitor().get(link), await visitor().post(link, { decision: 'approve' })]) {
      expect(page.status).toBe(403);
      expect(page.text).toContain('no longer acts for the account');
      expect(page.text).not.toContain('queue.publish');
    }
    expect((await other.call('account.approvals.get', { approval_id: id })).body.data.status).toBe('pending');
    expect((await visitor().get(linkFor(bound, other, id))).status).toBe(200);
  });

  test('of somebody whom the rule does not name shows no forms and decides nothing', async () => {
    const { bound, id } = await waiting();
    const link = linkFor(bound, await personOf(service, bound.account.accountId, 'developer'), id);
    const page = await visitor().get(link);
    expect([page.status, page.text.includes('name="decision"')]).toEqual([200, false]);
    expect((await visitor().post(link, { decision: 'approve' })).status).toBe(403);
    expect(await statusOf(bound, id)).toBe('pending');
  });

  test('that is forged, cut or of another account shows nothing', async () => {
    const [{ bound, id, link }, other] = [await waiting(), await waiting()];
    const body = Buffer.from(JSON.stringify([bound.account.accountId, id, bound.owner.personId])).toString('base64url');
    const [, mac = ''] = link.split('.');
    for (const path of [
      `/approve/${body}.${'A'.repeat(mac.length)}`,
      link.slice(0, -1),
      `${other.link.split('.')[0]}.${mac}`,
      '/approve/x',
    ]) {
      const [shown, sent] = [await visitor().get(path), await visitor().post(path, { decision: 'approve' })];
      expect([path, shown.status, sent.status]).toEqual([path, 404, 404]);
      expect(shown.text).toContain(NOT_FOUND_PAGE);
    }
    // Signed, of a person of one account and the approval of another: as none at all.
    const mixed = await visitor().post(linkFor(bound, bound.owner, other.id), { decision: 'approve' });
    expect([mixed.status, mixed.text.includes('This approval is gone')]).toEqual([404, true]);
    expect([await statusOf(bound, id), await statusOf(other.bound, other.id)]).toEqual(['pending', 'pending']);
  });

  test('says when nobody can decide any more', async () => {
    const { bound, link } = await waiting();
    await bound.call('DELETE', '/v1/account/approvals/rule/asks');
    expect((await visitor().get(link)).text).toContain('Nobody decided in time, or its rule was changed');
    const sent = await visitor().post(link, { decision: 'approve' });
    expect([sent.status, sent.text.includes('has expired')]).toEqual([409, true]);
  });
});

describe('what a program sends', () => {
  const hostile = { text: '</pre><script>alert(1)</script>\u202e"\'', nested: [[['<img src=x>']]] };

  test('is text on both pages, with what nobody sees in it escaped', async () => {
    const { bound, id, link } = await waiting({}, hostile);
    const pages = [await visitor().get(link), await bySession(bound.owner).get(`/console/approvals/${id}`)];
    for (const { status, text } of pages) {
      const [, input = ''] = /aria-label="Input">([\s\S]*?)<\/pre>/.exec(text) ?? [];
      expect(status).toBe(200);
      expect(input).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u202e');
      expect(input).not.toContain('<');
      expect(text).not.toContain('\u202e');
    }
  });
});

describe('the console', () => {
  const badgeOf = (text: string) =>
    /href="\/console\/approvals" data-key[^>]*>[\s\S]*?<span class="count waiting">[\s\S]*?<span class="unseen">([^<]*)/.exec(
      text,
    )?.[1];

  test('lists what waits, marks its entry on every page, and lets a person approve', async () => {
    const { bound, id } = await waiting();
    const opened = bySession(bound.owner);
    const list = (await opened.get('/console/approvals')).text;
    expect(list).toContain(`href="/console/approvals/${id}"`);
    expect(badgeOf(list)).toBe('1 call waits for approval');
    expect(badgeOf((await opened.get('/console/keys')).text)).toBe('1 call waits for approval');
    const fields = { for: 'once', up_to_usd: '', words: '' };
    const sent = await sendForm(opened, `/console/approvals/${id}`, 'approve', fields);
    expect(sent.status).toBe(303);
    const after = (await opened.get(sent.location ?? '')).text;
    expect(after).toContain('Approved. The key may make the call now.');
    expect(badgeOf(after)).toBeUndefined();
    expect((await publish(bound)).status).toBe(200);
    const decided = (await opened.get('/console/approvals?view=decided')).text;
    expect(decided).toContain('approved, used');
    expect((await opened.get('/console/approvals')).text).toContain('No call waits for approval.');
  });

  test('lets no key decide, and says why', async () => {
    const { bound, id } = await waiting();
    const byKey = await signedIn(service.url, bound.account.secret);
    const { text } = await byKey.get(`/console/approvals/${id}`);
    expect(text).toContain('Only a person decides');
    expect(text).not.toContain('name="act" value="approve"');
  });

  test('shows who decides to somebody who does not', async () => {
    const { bound, id } = await waiting();
    const viewer = await personOf(service, bound.account.accountId, 'viewer');
    const { text } = await bySession(viewer).get(`/console/approvals/${id}`);
    expect(text).toContain('decided by the owners of the account');
    expect(text).not.toContain('name="act" value="approve"');
  });

  test('asks for a sign-in of the last minutes', async () => {
    const { bound, id } = await waiting();
    const old = `UPDATE core.session SET signed_in_at = signed_in_at - interval '20 minutes' WHERE account_id = $1`;
    await service.core.db.query({ name: 'test_signed_in_earlier', text: old }, [bound.account.accountId]);
    const opened = bySession(bound.owner);
    const sent = await sendForm(opened, `/console/approvals/${id}`, 'deny', { words: 'No.' });
    expect([sent.status, sent.text.includes('Sign in again')]).toEqual([403, true]);
    expect(sent.text).toContain('No.</textarea>');
    expect(await statusOf(bound, id)).toBe('pending');
  });

  test('tells of the request among the events', async () => {
    const { bound, id } = await waiting();
    const { text } = await bySession(bound.owner).get('/console/events');
    expect(text).toContain('A call of queue.publish waits for approval');
    expect(text).toContain(`href="/console/approvals/${id}"`);
  });

  test('makes, changes and deletes rules', async () => {
    const bound = await boundAccount(service);
    const opened = bySession(bound.owner);
    expect((await opened.get('/console/approvals/rules')).text).toContain('No rules yet');
    const fields = {
      name: 'deletes',
      capabilities: 'queue.delete, email\nstorage.bucket',
      keys: bound.keyId,
      'when.cost_usd_above': '',
      'when.input': '{"==": [{"var": "queue"}, "orders"]}',
      approvers: bound.owner.personId,
      expires_seconds: '3600',
      reason_required: 'on',
    };
    const RULE = '/console/approvals/rules/deletes';
    for (const [field, value] of [
      ['capabilities', 'queue.deletes'],
      ['when.input', '{'],
      ['when.cost_usd_above', 'much'],
    ] as const) {
      const refused = await sendForm(opened, '/console/approvals/rules', 'create', { ...fields, [field]: value });
      expect([field, refused.status]).toEqual([field, 400]);
      expect(refused.text, field).toContain(`id="create-${field}-fault"`);
    }
    expect((await sendForm(opened, '/console/approvals/rules', 'create', fields)).status).toBe(303);
    const rule = async () => (await bound.owner.call('account.approvals.rules', {})).body.data.items[0];
    expect(await rule()).toMatchObject({
      capabilities: ['queue.delete', 'email', 'storage.bucket'],
      keys: [bound.keyId],
      when: { cost_usd_above: null, input: { '==': [{ var: 'queue' }, 'orders'] } },
      approvers: [bound.owner.personId],
      expires_seconds: 3_600,
      reason_required: true,
    });
    const shown = (await opened.get(RULE)).text;
    expect(shown).toContain(`value="${bound.keyId}" checked`);
    const { keys: _, approvers: _who, reason_required: _why, ...kept } = fields;
    expect((await sendForm(opened, RULE, 'update', { ...kept, 'when.cost_usd_above': '1.5' })).status).toBe(303);
    expect(await rule()).toMatchObject({ keys: null, approvers: null, when: { cost_usd_above: 1.5 } });
    expect((await sendForm(opened, `${RULE}/delete`, 'delete', { typed: 'other' })).status).toBe(400);
    expect((await sendForm(opened, `${RULE}/delete`, 'delete', { typed: 'deletes' })).status).toBe(303);
    expect(await rule()).toBeUndefined();
  });
});

test('a person whom a rule names approves, whatever their role', async () => {
  const bound = await boundAccount(service);
  await bound.call('POST', '/v1/queue/create', { name: 'orders' });
  const viewer = await personOf(service, bound.account.accountId, 'viewer');
  await bound.rule({ capabilities: ['queue.publish'], approvers: [viewer.personId] });
  const id = waitingFor(await publish(bound));
  const page = await visitor().post(linkFor(bound, viewer, id), { decision: 'approve' });
  expect(page.status).toBe(303);
  const next = waitingFor(await publish(bound, { n: 2 }));
  await approve(viewer, next);
  expect((await publish(bound, { n: 2 })).status).toBe(200);
});
