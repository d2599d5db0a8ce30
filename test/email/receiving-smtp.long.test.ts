// Mail that other servers bring to the SMTP port: who gets it, and what nobody gets through.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  codeOf,
  handOver,
  type InboxOwner,
  mailText,
  RawSmtp,
  type ReceivingBench,
  startReceivingBench,
} from './receiving-harness.ts';

let bench: ReceivingBench;
let ada: InboxOwner;
let inboxId: string;
const log: string[] = [];

beforeAll(async () => {
  bench = await startReceivingBench({}, log);
  ada = await bench.owner();
  inboxId = await ada.inbox('ada@near.test');
});
afterAll(() => bench.stop());

const mail = (subject: string) => mailText({ From: 'Bob <bob@far.test>', To: 'ada@near.test', Subject: subject });
const received = async () => (await ada.data('GET', `/v1/email/inbox/messages/${inboxId}?limit=20`)).items;
const subjects = async () => (await received()).map(({ subject }: { subject: string }) => subject);

test('a mail for an inbox is there once it was taken, with what it says and how it came', async () => {
  const response = await handOver(bench.smtpPort, { from: 'bob@far.test', to: 'Ada@Near.test', raw: mail('First') });
  expect(response).toMatch(/^250 2\.6\.0 Taken as smtp_/);
  const [item] = await received();
  expect(item).toMatchObject({
    inbox_id: inboxId,
    from: 'Bob <bob@far.test>',
    to: ['ada@near.test'],
    subject: 'First',
    text: 'Hello\n',
    html: null,
    truncated: false,
    attachments: [],
    in_reply_to: null,
    auth: { spf: 'none', dkim: 'none', dmarc: 'none' },
  });
  const { content: text } = await ada.data('GET', `/v1/email/received/raw/${item.inbound_id}`);
  expect(text).toMatch(
    /^Return-Path: <bob@far\.test>\r\nReceived: from mx\.far\.test \(\[127\.0\.0\.1\]\)\r\n by 127\.0\.0\.1 with ESMTP id smtp_/,
  );
  expect(text.endsWith(mail('First'))).toBe(true);
});

test.each([
  'stranger@near.test',
  'victim@elsewhere.test',
  'ada%elsewhere.test@near.test',
  'ada@near.test@elsewhere.test',
  '"ada@elsewhere.test"@near.test',
  'elsewhere.test!ada@near.test',
  'b+forged@bounces.ours.test',
  'postmaster@bounces.ours.test',
])('mail for %s is refused: there is no such mailbox, and no relay', async (to) => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  expect(await smtp.say('EHLO mx.far.test')).toContain('250');
  expect(await smtp.say('MAIL FROM:<bob@far.test>')).toMatch(/^250/);
  expect(await smtp.say(`RCPT TO:<${to}>`)).toMatch(/^(550|501)/);
  expect(await smtp.say('DATA')).toMatch(/^503/);
  smtp.close();
});

test('a source route is no way around: the mailbox behind it counts, and is here', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO mx.far.test');
  await smtp.say('MAIL FROM:<bob@far.test>');
  expect(await smtp.say('RCPT TO:<@near.test:victim@elsewhere.test>')).toMatch(/^550/);
  expect(await smtp.say('RCPT TO:<@relay.test,@other.test:ada@near.test>')).toMatch(/^250/);
  smtp.close();
});

describe('smuggling', () => {
  const inner = 'MAIL FROM:<evil@far.test>\r\nRCPT TO:<ada@near.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nx\r\n.\r\n';
  test.each([
    ['LF . LF', '\n.\n'],
    ['LF . CRLF', '\n.\r\n'],
    ['CRLF . LF', '\r\n.\n'],
    ['CR . CR', '\r.\r'],
    ['CR . CRLF', '\r.\r\n'],
    ['CRLF . CR', '\r\n.\r'],
    ['CR CR LF . CR LF', '\r\r\n.\r\r\n'],
    ['NUL in the end', '\r\n.\0\r\n'],
  ])('%s is no end of a mail: no second mail is read out of the first', async (_name, end) => {
    const before = await subjects();
    const smtp = await RawSmtp.open(bench.smtpPort);
    await smtp.say('EHLO mx.far.test');
    await smtp.say('MAIL FROM:<bob@far.test>');
    await smtp.say('RCPT TO:<ada@near.test>');
    await smtp.say('DATA');
    smtp.write(`Subject: outer\r\n\r\nx${end}${inner}`);
    smtp.write('\r\n.\r\n');
    const [reply] = await smtp.replies(1);
    expect(reply).toMatch(end.includes('\0') ? /^250/ : /^554/);
    expect(await smtp.say('QUIT')).toBeDefined();
    const after = await subjects();
    expect(after).not.toContain('smuggled');
    expect(after.length - before.length).toBe(end.includes('\0') ? 1 : 0);
    smtp.close();
  });

  test('commands sent ahead are commands of this session alone, in order', async () => {
    const smtp = await RawSmtp.open(bench.smtpPort);
    smtp.write(
      `EHLO a\r\nMAIL FROM:<bob@far.test>\r\nRCPT TO:<ada@near.test>\r\nRCPT TO:<x@elsewhere.test>\r\nDATA\r\n`,
    );
    expect((await smtp.replies(5)).map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '250', '550', '354']);
    smtp.write(`${mail('Ahead')}.\r\nQUIT\r\n`);
    expect((await smtp.replies(2)).map((reply) => reply.slice(0, 3))).toEqual(['250', '221']);
    expect(await subjects()).toContain('Ahead');
  });
});

test('a header of the envelope injects nothing into the trace', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO evil(by);<x>"');
  await smtp.say('MAIL FROM:<bob@far.test>');
  await smtp.say('RCPT TO:<ada@near.test>');
  await smtp.say('DATA');
  smtp.write(`${mail('Traced')}.\r\n`);
  expect((await smtp.replies(1))[0]).toMatch(/^250/);
  const item = (await received()).find(({ subject }: { subject: string }) => subject === 'Traced');
  const { content } = await ada.data('GET', `/v1/email/received/raw/${item.inbound_id}`);
  expect(content.split('\r\n')[1]).toMatch(/^Received: from evil_by___x__ \(\[127\.0\.0\.1\]\)$/);
  smtp.close();
});

test('a mail over 10 MiB is refused when it is announced, and when it is not', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  expect(await smtp.say('EHLO mx.far.test')).toContain('SIZE 10485760');
  expect(await smtp.say('MAIL FROM:<bob@far.test> SIZE=10485761')).toMatch(/^552/);
  smtp.close();
  const raw = mail('Long') + `${'x'.repeat(998)}\r\n`.repeat(10_500);
  const sent = handOver(bench.smtpPort, { from: 'bob@far.test', to: 'ada@near.test', raw });
  expect(await codeOf(sent)).toBe(552);
  expect(await subjects()).not.toContain('Long');
});

test('a mail of more than 500,000 lines is refused, and one of dots is kept as it was meant', async () => {
  const sent = (raw: string) => handOver(bench.smtpPort, { from: 'bob@far.test', to: 'ada@near.test', raw });
  expect(await codeOf(sent(mail('Empty') + '\r\n'.repeat(500_000)))).toBe(552);
  const dots = mail('Dots') + '.\r\n..\r\n'.repeat(20_000);
  expect(await codeOf(sent(dots))).toBe(250);
  const item = (await received()).find(({ subject }: { subject: string }) => subject === 'Dots');
  const { url } = await ada.data('GET', `/v1/email/received/raw/${item.inbound_id}`);
  expect((await (await fetch(url)).text()).endsWith(dots)).toBe(true);
  expect(await subjects()).not.toContain('Empty');
});

test('a client that leaves in its mail is no failure of the service', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  for (const line of ['EHLO mx.far.test', 'MAIL FROM:<bob@far.test>', 'RCPT TO:<ada@near.test>', 'DATA'])
    await smtp.say(line);
  smtp.write('Subject: Half\r\n\r\nhalf of a line');
  smtp.close();
  // Another mail is taken behind it.
  await handOver(bench.smtpPort, { from: 'bob@far.test', to: 'ada@near.test', raw: mail('Whole') });
  await expect.poll(subjects).toContain('Whole');
  expect(await subjects()).not.toContain('Half');
  expect(log).toEqual([]);
});

test('a mail of 9 MiB is kept whole, outside of its row', async () => {
  const raw = mailText(
    { From: 'bob@far.test', To: 'ada@near.test', Subject: 'Nine' },
    `${'y'.repeat(998)}\r\n`.repeat(9_400),
  );
  await handOver(bench.smtpPort, { from: 'bob@far.test', to: 'ada@near.test', raw });
  const item = (await received()).find(({ subject }: { subject: string }) => subject === 'Nine');
  expect(item.truncated).toBe(true);
  const { content, url, bytes } = await ada.data('GET', `/v1/email/received/raw/${item.inbound_id}`);
  expect(content).toBeNull();
  const whole = await (await fetch(url)).text();
  expect([whole.length, whole.endsWith(raw)]).toEqual([bytes, true]);
});

test('the same mail again, after a lost reply, is kept once; another one with its Message-ID is another mail', async () => {
  const raw = mailText({ From: 'bob@far.test', Subject: 'Twice', 'Message-ID': '<twice@far.test>' });
  for (const text of [raw, raw, raw.replace('Hello', 'Hallo')])
    await handOver(bench.smtpPort, { from: 'bob@far.test', to: 'ada@near.test', raw: text });
  expect((await subjects()).filter((subject: string) => subject === 'Twice')).toHaveLength(2);
});

test('a mail that has passed 26 servers goes in circles and is refused', async () => {
  const hops = (count: number) => 'Received: from a by b; Mon, 23 Nov 2026 10:00:00 +0000\r\n'.repeat(count);
  const send = (count: number) =>
    codeOf(handOver(bench.smtpPort, { from: 'bob@far.test', to: 'ada@near.test', raw: hops(count) + mail('Hops') }));
  expect([await send(25), await send(26)]).toEqual([250, 554]);
});

test('mail for several inboxes is kept in each, whoever they belong to', async () => {
  const eve = await bench.owner();
  const eves = await eve.inbox('eve@near.test');
  await handOver(bench.smtpPort, { from: '', to: ['ada@near.test', 'eve@near.test'], raw: mail('Both') });
  expect(await subjects()).toContain('Both');
  const { items } = await eve.data('GET', `/v1/email/inbox/messages/${eves}`);
  expect(items).toMatchObject([{ subject: 'Both' }]);
});

test('the 101st recipient of a mail, and a mail for an inbox that is full, are to come again later', async () => {
  const full = await bench.owner();
  await full.inbox('full@near.test');
  const change = {
    name: 'test_fill_inbox',
    text: `UPDATE email.inbox SET message_count = 10000 WHERE account_id = $1`,
  };
  await bench.test.core.db.query(change, [full.accountId]);
  const sent = handOver(bench.smtpPort, { from: 'bob@far.test', to: 'full@near.test', raw: mail('Full') });
  expect(await codeOf(sent)).toBe(452);
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO mx.far.test');
  await smtp.say('MAIL FROM:<bob@far.test>');
  const many = await bench.owner();
  const upgrade = { name: 'test_upgrade', text: `UPDATE core.account SET tier = 'enterprise' WHERE account_id = $1` };
  await bench.test.core.db.query(upgrade, [many.accountId]);
  const made = await Promise.all(
    Array.from({ length: 101 }, (_, i) =>
      many.call('POST', '/v1/email/inbox/create', { address: `many${i}@near.test` }),
    ),
  );
  expect(made.every(({ status }) => status === 200)).toBe(true);
  const replies: string[] = [];
  for (let i = 0; i < 101; i += 1) replies.push((await smtp.say(`RCPT TO:<many${i}@near.test>`)).slice(0, 3));
  expect([replies.filter((code) => code === '250').length, replies.at(-1)]).toEqual([100, '452']);
  smtp.close();
});

test('the 101st mail of a minute for one inbox is to come again later, and a minute after it is taken', async () => {
  const busy = await bench.owner();
  await busy.inbox('busy@near.test');
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO mx.far.test');
  const send = async () => {
    smtp.write('MAIL FROM:<bob@far.test>\r\nRCPT TO:<busy@near.test>\r\nDATA\r\n');
    const [, rcpt = ''] = await smtp.replies(3);
    if (!rcpt.startsWith('250')) return rcpt.slice(0, 3);
    smtp.write(`${mail('Pace')}.\r\n`);
    return (await smtp.replies(1))[0]?.slice(0, 3);
  };
  const codes = [];
  for (let i = 0; i < 101; i += 1) codes.push(await send());
  expect([codes.filter((code) => code === '250').length, codes.at(-1)]).toEqual([100, '452']);
  await bench.test.advance(61);
  expect(await send()).toBe('250');
  smtp.close();
});

test('a client that guesses mailboxes is cut off after 20 refusals', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO mx.far.test');
  await smtp.say('MAIL FROM:<bob@far.test>');
  for (let i = 0; i < 20; i += 1) expect(await smtp.say(`RCPT TO:<guess${i}@near.test>`)).toMatch(/^550/);
  expect(await smtp.say('RCPT TO:<ada@near.test>')).toMatch(/^421/);
  await smtp.ended();
});

test('10,000 recipients in one burst cost refusals only', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO mx.far.test');
  await smtp.say('MAIL FROM:<bob@far.test>');
  smtp.write(Array.from({ length: 10_000 }, (_, i) => `RCPT TO:<r${i}@elsewhere.test>\r\n`).join(''));
  await smtp.ended();
});

test.each([
  ['a line of 20 KB', `EHLO ${'x'.repeat(20_000)}\r\n`],
  ['20 KB without a line end', 'x'.repeat(20_000)],
  ['an HTTP request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a stream of zeros', Buffer.alloc(100_000)],
])('%s ends the connection', async (_name, bytes) => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  smtp.write(bytes);
  await smtp.ended();
});

test('commands that nobody needs are none', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO mx.far.test');
  for (const command of ['WIZ x', 'SHELL', 'VRFY ada', 'XCLIENT ADDR=1.2.3.4', 'STARTTLS'])
    expect(await smtp.say(command)).toMatch(/^(500|502)/);
  smtp.close();
});

test('the 21st connection of one address is refused, and one that ends makes room', async () => {
  const open = [];
  for (let i = 0; i < 20; i += 1) open.push(await RawSmtp.open(bench.smtpPort));
  const more = await RawSmtp.open(bench.smtpPort);
  await more.ended();
  open.shift()?.close();
  let again: RawSmtp;
  do {
    again = await RawSmtp.open(bench.smtpPort);
  } while (!(await again.say('EHLO mx.far.test').catch(() => ''))?.includes('250'));
  for (const smtp of [...open, again]) smtp.close();
});
