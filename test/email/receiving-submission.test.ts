// Programs that send by SMTP, unchanged: what they hand in after a login is email.send.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import nodemailer from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  codeOf,
  type InboxOwner,
  mailText,
  RawSmtp,
  type ReceivingBench,
  startReceivingBench,
} from './receiving-harness.ts';

const run = promisify(execFile);
const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find((path) => existsSync(path));
const swaks = ['/usr/bin/swaks'].find((path) => existsSync(path));

let bench: ReceivingBench;
let ada: InboxOwner;
beforeAll(async () => {
  bench = await startReceivingBench();
  ada = await bench.owner();
});
afterAll(() => bench.stop());

const FROM = 'Shop <shop@sender.example>';
const transportOf = (secret = ada.secret) =>
  nodemailer.createTransport({ host: '127.0.0.1', port: bench.smtpPort, auth: { user: 'any', pass: secret } });
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const last = async (owner = ada): Promise<any> => {
  const { items } = await owner.data('GET', '/v1/email/list?limit=1');
  return owner.data('GET', `/v1/email/get/${items[0].email_id}`);
};
const rawOf = async (emailId: string): Promise<string> => (await ada.data('GET', `/v1/email/raw/${emailId}`)).content;

test('nodemailer sends text, HTML, a file and headers of its own; the reply names the mail', async () => {
  const transport = transportOf();
  const { response, messageId } = await transport.sendMail({
    from: FROM,
    to: 'Bob <bob@far.example>',
    cc: 'eve@far.example',
    bcc: 'secret@far.example',
    subject: 'Grüße',
    text: 'Hällo',
    html: '<p>Hällo</p>',
    headers: { 'X-Campaign': 'spring', 'List-Id': '<list.sender.example>' },
    attachments: [{ filename: 'ä.pdf', content: Buffer.from('PDF'), contentType: 'application/pdf' }],
  });
  transport.close();
  const mail = await last();
  expect(response).toBe(`250 2.6.0 Taken as ${mail.email_id}`);
  expect(mail).toMatchObject({
    from: FROM,
    to: ['Bob <bob@far.example>'],
    subject: 'Grüße',
    status: 'delivered',
    message_id: messageId,
  });
  expect(mail.recipients.map(({ address, kind }: { address: string; kind: string }) => [address, kind])).toEqual([
    ['bob@far.example', 'to'],
    ['eve@far.example', 'cc'],
    ['secret@far.example', 'bcc'],
  ]);
  const source = await rawOf(mail.email_id);
  expect(source).toMatch(/^X-Campaign: spring\r$/m);
  expect(source).toMatch(/^List-ID: <list\.sender\.example>\r$/m);
  expect(source).not.toContain('secret@far.example');
  expect(source).toContain(Buffer.from('PDF').toString('base64'));
});

test('it costs what email.send costs', async () => {
  const eve = await bench.owner(1);
  const balance = async () => (await eve.data('GET', '/v1/account/balance')).balance_usd;
  const before = await balance();
  const transport = transportOf(eve.secret);
  await transport.sendMail({ from: FROM, to: ['a@far.example', 'b@far.example'], subject: 'Hi', text: 'Hi' });
  transport.close();
  expect(before - (await balance())).toBeCloseTo(0.00092, 9);
});

test('the envelope says who gets it: a copy for one of two in To goes to that one', async () => {
  const transport = transportOf();
  const raw = mailText({ From: FROM, To: 'one@far.example, two@far.example', Subject: 'One of two' });
  await transport.sendMail({ envelope: { from: 'shop@sender.example', to: 'two@far.example' }, raw });
  transport.close();
  const mail = await last();
  expect(mail.to).toEqual(['one@far.example', 'two@far.example']);
  expect(mail.recipients).toMatchObject([{ address: 'two@far.example', kind: 'to' }]);
});

test('the same mail handed in twice, after a lost reply, is sent and charged once', async () => {
  const transport = transportOf();
  const raw = mailText({ From: FROM, To: 'x@far.example', Subject: 'Once', 'Message-ID': '<once@sender.example>' });
  const send = async () =>
    (await transport.sendMail({ envelope: { from: 'shop@sender.example', to: 'x@far.example' }, raw })).response;
  const [first, second] = [await send(), await send()];
  expect(second).toBe(first);
  transport.close();
});

test.each([
  ['a domain that is not verified', { From: 'me@not-mine.org', To: 'x@far.example' }, 554, /DOMAIN_NOT_VERIFIED/],
  ['no sender', { To: 'x@far.example' }, 554, /VALIDATION_FAILED \(from\)/],
  [
    'two senders in one field',
    { From: 'a@sender.example@evil.example', To: 'x@far.example' },
    554,
    /VALIDATION_FAILED/,
  ],
])('a mail with %s is refused for good, and says why', async (_name, fields, code, words) => {
  const transport = transportOf();
  const sent = transport.sendMail({
    envelope: { from: 'a@b.example', to: 'x@far.example' },
    raw: mailText(fields as Record<string, string>),
  });
  const error = await sent.then(
    () => null,
    (failure) => failure,
  );
  expect([error.responseCode, error.response]).toEqual([code, expect.stringMatching(words)]);
  transport.close();
});

test('without credit a mail is refused, the words say so, and the request log says how it came', async () => {
  const poor = await bench.owner(0);
  const transport = transportOf(poor.secret);
  const sent = transport.sendMail({ from: FROM, to: 'x@far.example', subject: 'x', text: 'x' });
  await expect(sent).rejects.toMatchObject({
    responseCode: 554,
    response: expect.stringContaining('INSUFFICIENT_CREDIT'),
  });
  const { items } = await poor.data('GET', '/v1/account/requests/list?entry_form=smtp');
  expect(items).toMatchObject([{ capability: 'email.send', entry_form: 'smtp', status: 402 }]);
  transport.close();
});

test('a key without the right to send logs in and is refused at the mail', async () => {
  const { secret } = await ada.data('POST', '/v1/account/keys/create', { name: 'reader', scopes: ['email:read'] });
  const transport = transportOf(secret);
  const sent = transport.sendMail({ from: FROM, to: 'x@far.example', subject: 'x', text: 'x' });
  await expect(sent).rejects.toMatchObject({
    responseCode: 554,
    response: expect.stringContaining('INSUFFICIENT_SCOPE'),
  });
  transport.close();
});

test('a key that is revoked while its connection stands sends nothing more', async () => {
  const made = await ada.data('POST', '/v1/account/keys/create', { name: 'ends' });
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO app.test');
  expect(
    await smtp.say(`AUTH PLAIN ${Buffer.from(`\0a\0${made.secret ?? made.key_secret}`).toString('base64')}`),
  ).toMatch(/^235/);
  await ada.data('DELETE', `/v1/account/keys/revoke/${made.key_id}`);
  smtp.write('MAIL FROM:<a@sender.example>\r\nRCPT TO:<x@far.example>\r\nDATA\r\n');
  await smtp.replies(3);
  smtp.write(`${mailText({ From: FROM, To: 'x@far.example' })}.\r\n`);
  expect((await smtp.replies(1))[0]).toMatch(/^554 .*INVALID_API_KEY/);
  smtp.close();
});

test('the 51st recipient goes by another mail', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO app.test');
  await smtp.say(`AUTH PLAIN ${Buffer.from(`\0a\0${ada.secret}`).toString('base64')}`);
  await smtp.say('MAIL FROM:<a@sender.example>');
  for (let i = 0; i < 50; i += 1) expect(await smtp.say(`RCPT TO:<r${i}@far.example>`)).toMatch(/^250/);
  expect(await smtp.say('RCPT TO:<r50@far.example>')).toMatch(/^452/);
  smtp.close();
});

test('headers that servers wrote on the way, and hostile ones, are no part of what is sent', async () => {
  const transport = transportOf();
  const fields = {
    Received: 'from a by b',
    'DKIM-Signature': 'v=1; forged',
    'Authentication-Results': 'x; dkim=pass',
    Bcc: 'hidden@far.example',
    From: FROM,
    To: 'x@far.example',
    Subject: 'Clean',
    'X-Fold': 'a\r\n\tb',
    'X Bad': 'y',
    'X-Ok': 'z',
  };
  await transport.sendMail({ envelope: { from: 'a@sender.example', to: 'x@far.example' }, raw: mailText(fields) });
  transport.close();
  const source = await rawOf((await last()).email_id);
  expect(source).not.toMatch(/forged|dkim=pass|hidden@|X Bad/);
  expect(source).toMatch(/^X-Fold: a b\r$/m);
  expect(source).toMatch(/^X-Ok: z\r$/m);
});

test('a mail of 6 MiB of files is sent whole', async () => {
  const transport = transportOf();
  const content = Buffer.alloc(6 * 1024 * 1024, 'qm');
  await transport.sendMail({
    from: FROM,
    to: 'x@far.example',
    subject: 'Big',
    text: 'x',
    attachments: [{ filename: 'a.bin', content }],
  });
  expect(await last()).toMatchObject({ subject: 'Big', status: 'delivered' });
  const larger = Buffer.alloc(7.4 * 1024 * 1024, 'qm');
  const sent = transport.sendMail({
    from: FROM,
    to: 'x@far.example',
    subject: 'L',
    text: 'x',
    attachments: [{ filename: 'a', content: larger }],
  });
  expect(await codeOf(sent)).toBe(552);
  transport.close();
});

const SMTPLIB = `
import smtplib, sys
from email.message import EmailMessage
port, secret = int(sys.argv[1]), sys.argv[2]
mail = EmailMessage()
mail['From'] = 'Python <py@sender.example>'
mail['To'] = 'bob@far.example'
mail['Subject'] = 'From smtplib'
mail.set_content('Hällo')
mail.add_alternative('<p>Hällo</p>', subtype='html')
mail.add_attachment(b'a,b', maintype='text', subtype='csv', filename='t.csv')
with smtplib.SMTP('127.0.0.1', port) as smtp:
    smtp.login('any', secret)
    refused = smtp.send_message(mail)
print(refused)
`;

test.runIf(python)(`smtplib of Python sends unchanged${python === undefined ? ' (no python3 here)' : ''}`, async () => {
  const { stdout } = await run(python as string, ['-c', SMTPLIB, String(bench.smtpPort), ada.secret]);
  expect(stdout.trim()).toBe('{}');
  expect(await last()).toMatchObject({
    from: 'Python <py@sender.example>',
    subject: 'From smtplib',
    status: 'delivered',
  });
});

test.runIf(swaks)(`swaks sends unchanged${swaks === undefined ? ' (not installed here)' : ''}`, async () => {
  const args = [
    '--server',
    `127.0.0.1:${bench.smtpPort}`,
    '--auth',
    'LOGIN',
    '--auth-user',
    'any',
    '--auth-password',
    ada.secret,
  ];
  const mail = [
    '--from',
    'swaks@sender.example',
    '--to',
    'bob@far.example',
    '--header',
    'Subject: From swaks',
    '--body',
    'Hi',
  ];
  const { stdout } = await run(swaks as string, [...args, ...mail]);
  expect(stdout).toMatch(/^<- +250 2\.6\.0 Taken as eml_/m);
  expect(await last()).toMatchObject({ subject: 'From swaks', status: 'delivered' });
});
