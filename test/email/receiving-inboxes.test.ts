// Inboxes and the mail in them, as calls see them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { untilMetric } from '../admission/harness.ts';
import { client } from '../support/service.ts';
import { handOver, type InboxOwner, mailText, type ReceivingBench, startReceivingBench } from './receiving-harness.ts';

let bench: ReceivingBench;
let ada: InboxOwner;

beforeAll(async () => {
  bench = await startReceivingBench();
  ada = await bench.owner();
});
afterAll(() => bench.stop());

const create = (owner: InboxOwner, address: string) => owner.call('POST', '/v1/email/inbox/create', { address });
const send = (to: string, fields: Record<string, string> = {}, body?: string) =>
  handOver(bench.smtpPort, {
    from: 'bob@far.test',
    to,
    raw: mailText({ From: 'bob@far.test', To: to, ...fields }, body),
  });
const messages = (owner: InboxOwner, inboxId: string, query = '') =>
  owner.data('GET', `/v1/email/inbox/messages/${inboxId}${query}`);

test('an address exists once in the service: the second to ask is told, whatever its case', async () => {
  const bob = await bench.owner();
  expect((await create(ada, 'once@near.test')).status).toBe(200);
  for (const owner of [ada, bob]) {
    const { status, body } = await create(owner, 'Once@NEAR.test');
    expect([status, body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
  }
});

test('of two accounts that ask for an address at the same time, one gets it', async () => {
  const owners = await Promise.all(Array.from({ length: 6 }, () => bench.owner()));
  const replies = await Promise.all(owners.map((owner) => create(owner, 'race@near.test')));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
});

test('the domain must be verified for the account: not by another one, nor trusted by the operator', async () => {
  const { status, body } = await create(ada, 'ada@somewhere.org');
  expect([status, body.error.code, body.error.param]).toEqual([403, 'DOMAIN_NOT_VERIFIED', 'address']);
});

test.each(['no address', '@near.test', 'a@b@near.test', 'ada@', 'a b@near.test', 'ada@near.test\r\nx'])(
  '%s is no address of an inbox',
  async (address) => {
    expect((await create(ada, address)).status).toBe(400);
  },
);

test('the eleventh inbox of a standard account is refused', async () => {
  const many = await bench.owner();
  const replies = [];
  for (let i = 0; i < 11; i += 1) replies.push(await create(many, `limit${i}@near.test`));
  expect(replies.map(({ status }) => status)).toEqual([...Array(10).fill(200), 409]);
  expect(replies.at(-1)?.body.error.code).toBe('QUOTA_EXCEEDED');
});

test('an inbox counts its mail, is listed, and goes with its mail; its address is free again', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('goes@near.test');
  await send('goes@near.test');
  const [item] = (await messages(eve, inboxId)).items;
  expect(await eve.data('GET', `/v1/email/inbox/get/${inboxId}`)).toMatchObject({
    address: 'goes@near.test',
    message_count: 1,
  });
  expect((await eve.data('GET', '/v1/email/inbox/list')).items).toMatchObject([
    { inbox_id: inboxId, message_count: 1 },
  ]);
  expect(await eve.data('DELETE', `/v1/email/inbox/delete/${inboxId}`)).toMatchObject({ deleted: true });
  expect(await eve.data('DELETE', `/v1/email/inbox/delete/${inboxId}`)).toMatchObject({ deleted: false });
  expect((await eve.call('GET', `/v1/email/received/${item.inbound_id}`)).status).toBe(404);
  await expect(send('goes@near.test')).rejects.toMatchObject({ responseCode: 550 });
  expect((await create(ada, 'goes@near.test')).status).toBe(200);
});

test('nobody else reads the mail of an inbox: it is as if there were none', async () => {
  const inboxId = await ada.inbox('private@near.test');
  await send('private@near.test');
  const [{ inbound_id: inboundId }] = (await messages(ada, inboxId)).items;
  const other = await bench.owner();
  for (const path of [
    `inbox/get/${inboxId}`,
    `inbox/messages/${inboxId}`,
    `received/${inboundId}`,
    `received/raw/${inboundId}`,
  ])
    expect((await other.call('GET', `/v1/email/${path}`)).status).toBe(404);
});

test('mail is read oldest first, page by page, and from the last one that was seen', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('pages@near.test');
  for (const subject of ['1', '2', '3', '4', '5']) await send('pages@near.test', { Subject: subject });
  const first = await messages(eve, inboxId, '?limit=2');
  const second = await messages(eve, inboxId, `?limit=2&cursor=${first.next_cursor}`);
  const subjectsOf = ({ items }: { items: { subject: string }[] }) => items.map(({ subject }) => subject);
  expect([subjectsOf(first), subjectsOf(second)]).toEqual([
    ['1', '2'],
    ['3', '4'],
  ]);
  const after = await messages(eve, inboxId, `?after=${second.items[1].inbound_id}`);
  expect([subjectsOf(after), after.has_more]).toEqual([['5'], false]);
  const wrong = await eve.call('GET', `/v1/email/inbox/messages/${inboxId}?after=eml_in_none`);
  expect([wrong.status, wrong.body.error.param]).toEqual([404, 'after']);
});

test('a call that waits is answered when the mail is there, not later', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('waits@near.test');
  const emptyId = await eve.inbox('empty@near.test');
  // It begins before, and ends when its time is over.
  const [leave, ended] = [new AbortController(), Promise.withResolvers<string>()];
  const empty = fetch(`${bench.test.url}/v1/email/inbox/messages/${emptyId}?wait_seconds=20`, {
    headers: { authorization: `Bearer ${eve.secret}` },
    signal: leave.signal,
  });
  empty.then(
    () => ended.resolve('the time was over'),
    () => ended.resolve('it was left'),
  );
  await untilMetric(bench.test, 'qm_calls_running', 1);
  const waiting = messages(eve, inboxId, '?wait_seconds=20');
  await untilMetric(bench.test, 'qm_calls_running', 2);
  await send('waits@near.test', { Subject: 'Your code is 123456' });
  expect(await Promise.race([ended.promise, waiting.then(() => 'the mail came')])).toBe('the mail came');
  leave.abort();
  expect((await waiting).items).toMatchObject([{ subject: 'Your code is 123456' }]);
  expect((await messages(eve, inboxId, '?wait_seconds=0')).items).toHaveLength(1);
});

test('a call that waits with a key that ends meanwhile is refused', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('ends@near.test');
  const made = await eve.data('POST', '/v1/account/keys/create', { name: 'reader', scopes: ['email:read'] });
  const waiting = client(bench.test.url, made.secret)('GET', `/v1/email/inbox/messages/${inboxId}?wait_seconds=20`);
  await untilMetric(bench.test, 'qm_calls_running', 1);
  await eve.data('DELETE', `/v1/account/keys/revoke/${made.key_id}`);
  expect((await waiting).status).toBe(401);
});

test('attachments are read by links that need no key, end after an hour, and never run as a page', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('files@near.test');
  const page = '<script>alert(1)</script>';
  const body = [
    '--m',
    'Content-Type: text/plain',
    '',
    'See the file.',
    '--m',
    'Content-Type: text/html; name="ä.html"',
  ];
  const part = ['Content-Disposition: attachment; filename="=?utf-8?q?=C3=A4=22=0D=0Ax.html?="', '', page, '--m--'];
  await send('files@near.test', { 'Content-Type': 'multipart/mixed; boundary=m' }, [...body, ...part].join('\r\n'));
  const [item] = (await messages(eve, inboxId)).items;
  expect(item).toMatchObject({
    text: 'See the file.\n',
    attachments: [{ content_type: 'text/html', bytes: expect.any(Number) }],
  });
  const reply = await fetch(item.attachments[0].url);
  expect((await reply.text()).trimEnd()).toBe(page);
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'text/html',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining('sandbox'),
    'content-disposition': expect.stringMatching(/^attachment; filename="[A-Za-z0-9._ -]+"; filename\*=UTF-8''/),
  });
  expect((await fetch(`${item.attachments[0].url}x`)).status).toBe(403);
  await bench.test.advance(3_601);
  expect((await fetch(item.attachments[0].url)).status).toBe(403);
});

test('a mail and the answers to it are one conversation, by References or In-Reply-To, and another mail is another', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('threads@near.test');
  await send('threads@near.test', { Subject: 'a', 'Message-ID': '<a@far.test>' });
  await send('threads@near.test', { Subject: 'b', 'Message-ID': '<b@far.test>', 'In-Reply-To': '<a@far.test>' });
  await send('threads@near.test', {
    Subject: 'c',
    'Message-ID': '<c@far.test>',
    References: '<lost@far.test> <b@far.test>',
  });
  await send('threads@near.test', { Subject: 'd', 'Message-ID': '<d@far.test>' });
  await send('threads@near.test', { Subject: 'e', 'Message-ID': '<e@far.test>', References: '<sent@near.test>' });
  await send('threads@near.test', {
    Subject: 'f',
    'Message-ID': '<f@far.test>',
    References: '<sent@near.test> <e@far.test>',
  });
  const [a, b, c, d, e, f] = (await messages(eve, inboxId)).items;
  expect([b.thread_id, c.thread_id]).toEqual([a.thread_id, a.thread_id]);
  expect(b.in_reply_to).toBe('<a@far.test>');
  expect(f.thread_id).toBe(e.thread_id);
  expect(new Set([a, d, e].map(({ thread_id }) => thread_id)).size).toBe(3);
});

test('with a queue each mail becomes a message there, once, and is charged as one', async () => {
  const eve = await bench.owner();
  await eve.data('POST', '/v1/queue/create', { name: 'mails' });
  const inboxId = await eve.inbox('queued@near.test', 'mails');
  await send('queued@near.test', { Subject: 'To the queue' });
  const { items } = await eve.data('POST', '/v1/queue/consume', { queue: 'mails', wait_seconds: 10, max_messages: 10 });
  const [mail] = (await messages(eve, inboxId)).items;
  expect(items.map(({ payload }: { payload: unknown }) => payload)).toEqual([
    { inbound_id: mail.inbound_id, inbox_id: inboxId, from: 'bob@far.test', subject: 'To the queue' },
  ]);
  const { items: ledger } = await eve.data('GET', '/v1/account/ledger/list?capability=queue.publish');
  expect(ledger.length).toBeGreaterThan(0);
});

test('without credit, or with the queue gone, the mail stays in its inbox', async () => {
  const poor = await bench.owner(0);
  await poor.data('POST', '/v1/queue/create', { name: 'mails' });
  for (const [address, queue] of [
    ['poor@near.test', 'mails'],
    ['gone@near.test', 'nowhere'],
  ] as const) {
    const inboxId = await poor.inbox(address, queue);
    await send(address);
    expect((await messages(poor, inboxId)).items).toHaveLength(1);
  }
  const due = {
    name: 'test_due_mail',
    text: 'SELECT r.inbound_id FROM email.received r WHERE r.account_id = $1 AND r.due_at IS NOT NULL',
  };
  await expect.poll(async () => (await bench.test.core.db.query(due, [poor.accountId])).rows).toEqual([]);
  expect((await poor.data('GET', '/v1/queue/stats/mails')).ready ?? 0).toBe(0);
});

test('mail older than 30 days goes, and its inbox counts what is left', async () => {
  const eve = await bench.owner();
  const inboxId = await eve.inbox('old@near.test');
  await send('old@near.test', { Subject: 'old' });
  const age = {
    name: 'test_age_mail',
    text: 'UPDATE email.received SET received_at = $2 WHERE account_id = $1',
  };
  await bench.test.core.db.query(age, [eve.accountId, new Date(Date.now() - 31 * 86_400_000)]);
  await send('old@near.test', { Subject: 'new' });
  const { receivedSweeps } = await import('../../src/modules/email/inboxes/retention.ts');
  await receivedSweeps(bench.test.core)[0]?.run(new AbortController().signal);
  expect((await messages(eve, inboxId)).items).toMatchObject([{ subject: 'new' }]);
  expect(await eve.data('GET', `/v1/email/inbox/get/${inboxId}`)).toMatchObject({ message_count: 1 });
});

test('mail is found by its sender and by words of its subject, and waited for by them', async () => {
  const { inbox_id: id } = (await create(ada, 'sought@near.test')).body.data;
  await send('sought@near.test', { Subject: 'Invoice 17 of March' }, 'one');
  await send('sought@near.test', { Subject: 'Your code', From: 'Cara <CARA@far.test>' }, 'two');
  await send('sought@near.test', { Subject: 'Invoice 18: 100% off' }, 'three');
  const found = async (query: Record<string, string>) => {
    const { items } = await messages(ada, id, `?${new URLSearchParams(query)}`);
    return items.map(({ subject }: { subject: string }) => subject);
  };
  await expect.poll(() => found({})).toHaveLength(3);
  expect(await found({ sender: 'cara@FAR.test' })).toEqual(['Your code']);
  expect(await found({ sender: 'ara@far.test' })).toEqual([]);
  expect(await found({ subject: 'march INVOICE' })).toEqual(['Invoice 17 of March']);
  expect(await found({ subject: '% 18', sender: 'bob@far.test' })).toEqual(['Invoice 18: 100% off']);
  expect(await found({ subject: '_' })).toEqual([]);
  const first = await messages(ada, id, '?subject=invoice&limit=1');
  expect([first.items.length, first.has_more]).toEqual([1, true]);
  expect(await found({ subject: 'invoice', limit: '1', cursor: first.next_cursor })).toEqual(['Invoice 18: 100% off']);
  const other = await ada.call('GET', `/v1/email/inbox/messages/${id}?subject=code&cursor=${first.next_cursor}`);
  expect(other.body.error.code).toBe('INVALID_CURSOR');
  const waiting = messages(ada, id, '?subject=later&wait_seconds=20');
  await send('sought@near.test', { Subject: 'Another one' }, 'four');
  await send('sought@near.test', { Subject: 'The later one' }, 'five');
  expect((await waiting).items.map(({ subject }: { subject: string }) => subject)).toEqual(['The later one']);
});

test('mail of all inboxes is listed newest first, by sender and words of its subject; nothing of another account', async () => {
  const [owner, other] = [await bench.owner(), await bench.owner()];
  await create(owner, 'list-a@near.test');
  await create(owner, 'list-b@near.test');
  await create(other, 'list-c@near.test');
  await send('list-a@near.test', { Subject: 'Invoice 1' }, 'one');
  await send('list-b@near.test', { Subject: 'Invoice 2', From: 'Cara <CARA@far.test>' }, 'two');
  await send('list-c@near.test', { Subject: 'Invoice 3' }, 'three');
  const listed = async (query: Record<string, string>) => {
    const page = await owner.data('GET', `/v1/email/received/list?${new URLSearchParams(query)}`);
    return { ...page, subjects: page.items.map(({ subject }: { subject: string }) => subject) };
  };
  await expect.poll(async () => (await listed({})).subjects).toEqual(['Invoice 2', 'Invoice 1']);
  expect((await listed({ sender: 'cara@FAR.test' })).subjects).toEqual(['Invoice 2']);
  expect((await listed({ subject: '1 invoice' })).subjects).toEqual(['Invoice 1']);
  expect((await listed({ sender: 'cara@far.test', subject: '1' })).subjects).toEqual([]);
  const first = await listed({ subject: 'invoice', limit: '1' });
  expect([first.subjects, first.has_more]).toEqual([['Invoice 2'], true]);
  const second = await listed({ subject: 'invoice', limit: '1', cursor: first.next_cursor });
  expect([second.subjects, second.has_more, second.next_cursor]).toEqual([['Invoice 1'], false, null]);
  const moved = await owner.call('GET', `/v1/email/received/list?cursor=${first.next_cursor}`);
  expect(moved.body.error.code).toBe('INVALID_CURSOR');
});
