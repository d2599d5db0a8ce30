// Answers to received mail, and mail between two accounts of the service, with no relay configured.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publish, type ShownRecord } from './domain-harness.ts';
import { handOver, mailText, type ReceivingBench, startReceivingBench } from './receiving-harness.ts';

let bench: ReceivingBench;
beforeAll(async () => {
  bench = await startReceivingBench();
});
afterAll(() => bench.stop());

test('two accounts of the service write to each other: mail is delivered here, answered in its conversation, by no relay', async () => {
  const [bob, eve] = [await bench.owner(), await bench.owner()];
  const [bobs, eves] = [await bob.inbox('bob@one.test'), await eve.inbox('eve@two.test')];
  const sent = await bob.data('POST', '/v1/email/send', {
    from: 'Bob <bob@one.test>',
    to: 'Eve <eve@two.test>',
    subject: 'Question',
    text: 'Why?',
  });
  expect(sent.recipients).toMatchObject([{ status: 'delivered', detail: 'Delivered to an inbox of this service.' }]);
  const {
    items: [question],
  } = await eve.data('GET', `/v1/email/inbox/messages/${eves}?wait_seconds=5`);
  expect(question).toMatchObject({ from: 'Bob <bob@one.test>', subject: 'Question', message_id: sent.message_id });
  expect(question.auth).toEqual({ spf: 'none', dkim: 'none', dmarc: 'none' });
  const answer = await eve.data('POST', '/v1/email/reply', { inbound_id: question.inbound_id, text: 'Because.' });
  expect(answer).toMatchObject({
    from: 'eve@two.test',
    to: ['Bob <bob@one.test>'],
    subject: 'Re: Question',
    status: 'delivered',
  });
  const {
    items: [received],
  } = await bob.data('GET', `/v1/email/inbox/messages/${bobs}?wait_seconds=5`);
  expect(received).toMatchObject({ in_reply_to: sent.message_id, text: 'Because.\n' });
  const { content: source } = await bob.data('GET', `/v1/email/received/raw/${received.inbound_id}`);
  expect(source).toMatch(/^Auto-Submitted: auto-replied\r$/m);
  expect(source).toContain(`References: ${sent.message_id}`);
  const again = await bob.data('POST', '/v1/email/reply', { inbound_id: received.inbound_id, text: 'Ah.' });
  expect(again.subject).toBe('Re: Question');
  const { items } = await eve.data('GET', `/v1/email/inbox/messages/${eves}`);
  expect(items.map(({ thread_id }: { thread_id: string }) => thread_id)).toEqual([
    question.thread_id,
    question.thread_id,
  ]);
});

test('mail between accounts passes SPF, DKIM and DMARC only from a domain that its sender has verified', async () => {
  const [bob, eve, mallory] = [await bench.owner(), await bench.owner(), await bench.owner()];
  const inboxId = await eve.inbox('eve@three.test');
  const verify = (owner: typeof bob) => owner.data('POST', '/v1/email/domain/verify', { domain: 'bob.test' });
  const added = await verify(bob);
  const required = added.records.filter((each: ShownRecord) => each.required);
  publish(bench.names, added, ...required.map(({ purpose }: ShownRecord) => purpose));
  expect((await verify(bob)).status).toBe('verified');
  const mail = { from: 'Bob <bob@bob.test>', to: 'eve@three.test', text: 'x' };
  await bob.data('POST', '/v1/email/send', { ...mail, subject: 'Bob' });
  await mallory.data('POST', '/v1/email/send', { ...mail, subject: 'Mallory' });
  const { items } = await eve.data('GET', `/v1/email/inbox/messages/${inboxId}?wait_seconds=5`);
  const auth = Object.fromEntries(items.map((item: { subject: string; auth: object }) => [item.subject, item.auth]));
  expect(auth).toEqual({
    Bob: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    Mallory: { spf: 'none', dkim: 'none', dmarc: 'none' },
  });
});

/** An account with a mail in its inbox. */
async function withMail(address: string, fields: Record<string, string>, usd = 1) {
  const owner = await bench.owner(usd);
  const inboxId = await owner.inbox(address);
  await handOver(bench.smtpPort, { from: 'bob@far.test', to: address, raw: mailText(fields) });
  const { items } = await owner.data('GET', `/v1/email/inbox/messages/${inboxId}`);
  const balance = async () => (await owner.data('GET', '/v1/account/balance')).balance_usd;
  const reply = (body: object) => owner.call('POST', '/v1/email/reply', { inbound_id: items[0].inbound_id, ...body });
  return { owner, inboxId, balance, reply };
}

test('a reply goes where the mail says that answers go, once for its idempotency key, for the price of email.send', async () => {
  const fields = { From: 'bob@far.test', 'Reply-To': 'Answers <answers@far.test>', Subject: 'RE: x' };
  const { balance, reply } = await withMail('eve@near.test', fields);
  const before = await balance();
  const body = { text: 'Yes.', idempotency_key: 'r1', attachments: [{ filename: 'a.txt', content_base64: 'YQ==' }] };
  const [first, second] = [await reply(body), await reply(body)];
  expect(first.body.data).toMatchObject({
    from: 'eve@near.test',
    to: ['Answers <answers@far.test>'],
    subject: 'RE: x',
  });
  expect(second.body.data.email_id).toBe(first.body.data.email_id);
  expect(before - (await balance())).toBeCloseTo(0.00046, 9);
});

test.each([
  ['to a mail that does not say from whom it is', { Subject: 'x' }, { text: 'Yes.' }, 400],
  ['without a text', { From: 'bob@far.test' }, {}, 400],
  ['to a sender that is no address', { From: 'nobody' }, { text: 'Yes.' }, 400],
])('a reply %s is refused and costs nothing', async (name, fields, body, status) => {
  const { balance, reply } = await withMail(
    `${name.replaceAll(/\W/g, '')}@near.test`,
    fields as Record<string, string>,
  );
  const before = await balance();
  expect((await reply(body)).status).toBe(status);
  expect(await balance()).toBe(before);
});

test('without credit nothing is answered; to a mail whose inbox is gone neither', async () => {
  const poor = await withMail('poor@near.test', { From: 'bob@far.test' }, 0);
  expect((await poor.reply({ text: 'Yes.' })).status).toBe(402);
  const gone = await withMail('gone@near.test', { From: 'bob@far.test' });
  await gone.owner.data('DELETE', `/v1/email/inbox/delete/${gone.inboxId}`);
  expect((await gone.reply({ text: 'Yes.' })).status).toBe(404);
});

test('a long conversation keeps its first mail and its last ones in References', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `<${i}@far.test>`);
  const fields = { From: 'bob@far.test', 'Message-ID': '<last@far.test>', References: ids.join('\r\n ') };
  const { owner, reply } = await withMail('long@near.test', fields);
  const { email_id: emailId } = (await reply({ text: 'Yes.' })).body.data;
  const { content: source } = await owner.data('GET', `/v1/email/raw/${emailId}`);
  const references = /^References:((?:.*\r\n )*.*)\r$/m.exec(source)?.[1]?.match(/<[^>]+>/g) ?? [];
  expect([references[0], references.at(-1), references.length]).toEqual(['<0@far.test>', '<last@far.test>', 20]);
});
