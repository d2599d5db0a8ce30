// Who may log in at the SMTP port, and how: the key goes through TLS, or does not leave the machine.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import nodemailer from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Conversation, type Session } from '../../src/modules/email/smtp/conversation.ts';
import {
  codeOf,
  type InboxOwner,
  mailText,
  RawSmtp,
  type ReceivingBench,
  startReceivingBench,
} from './receiving-harness.ts';

let folder: string;
let bench: ReceivingBench;
let ada: InboxOwner;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-smtp-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await promisify(execFile)('openssl', [...request, '-subj', '/CN=localhost', '-keyout', key, '-out', cert]);
  bench = await startReceivingBench({
    SMTP_TLS_CERT: cert,
    SMTP_TLS_KEY: key,
    HOST: '0.0.0.0',
    BASE_URL: 'http://127.0.0.1:1',
  });
  ada = await bench.owner();
});
afterAll(async () => {
  await bench.stop();
  await rm(folder, { recursive: true });
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address;

const plain = (user: string, password: string) => Buffer.from(`\0${user}\0${password}`).toString('base64');

test.each([
  ['127.0.0.1', false, true],
  ['::1', false, true],
  ['203.0.113.9', false, false],
  ['203.0.113.9', true, true],
  ['10.0.0.1', false, false],
])('a login from %s, under TLS: %s, is offered: %s', (remoteAddress, secure, isOffered) => {
  const session = { remoteAddress, secure } as Session;
  Conversation.allow(session, true);
  expect(session.disabledCommands?.includes('AUTH')).toBe(!isOffered);
});

test.runIf(outside !== undefined)('from elsewhere a login is refused until TLS is there', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort, outside);
  const hello = await smtp.say('EHLO app.test');
  expect([hello.includes('STARTTLS'), hello.includes('AUTH')]).toEqual([true, false]);
  expect(await smtp.say(`AUTH PLAIN ${plain('ada', ada.secret)}`)).toMatch(/^(500|502|538)/);
  smtp.close();
  const transport = nodemailer.createTransport({
    host: outside,
    port: bench.smtpPort,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
    auth: { user: 'anything', pass: ada.secret },
  });
  expect(await transport.verify()).toBe(true);
  transport.close();
});

test.each(['PLAIN', 'LOGIN'])('a login by %s, under any user name', async (authMethod) => {
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: bench.smtpPort,
    authMethod,
    tls: { rejectUnauthorized: false },
    auth: { user: 'whoever', pass: ada.secret },
  });
  expect(await transport.verify()).toBe(true);
  transport.close();
});

test.each(['XOAUTH2', 'CRAM-MD5', 'constructor', 'PLAIN =', 'PLAIN AAAA'])('AUTH %s is no login', async (method) => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO app.test');
  expect(await smtp.say(`AUTH ${method}`)).toMatch(/^(504|501|535)/);
  smtp.close();
});

test('a wrong key is refused, and after 20 of them the connection ends', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO app.test');
  for (let i = 0; i < 20; i += 1)
    expect(await smtp.say(`AUTH PLAIN ${plain('ada', `sk_wrong${i}`)}`)).toMatch(/^535 5\.7\.8 INVALID_API_KEY/);
  expect(await smtp.say(`AUTH PLAIN ${plain('ada', ada.secret)}`)).toMatch(/^421/);
  await smtp.ended();
});

test('an address that guesses keys is told to wait, as at every door', async () => {
  const codes = new Set<string>();
  for (let connections = 0; connections < 40 && !codes.has('454'); connections += 1) {
    const smtp = await RawSmtp.open(bench.smtpPort);
    await smtp.say('EHLO app.test');
    for (let i = 0; i < 20; i += 1)
      codes.add((await smtp.say(`AUTH PLAIN ${plain('a', `sk_no${connections}_${i}`)}`)).slice(0, 3));
    smtp.close();
  }
  expect([...codes].sort()).toContain('454');
});

test('what was sent before TLS begins is no command of the session under TLS', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO app.test');
  smtp.write('STARTTLS\r\nMAIL FROM:<injected@far.test>\r\nRCPT TO:<ada@near.test>\r\n');
  expect((await smtp.replies(1))[0]).toMatch(/^220/);
  smtp.socket.removeAllListeners('data');
  const secure = connectTls({ socket: smtp.socket, rejectUnauthorized: false });
  secure.setEncoding('latin1');
  let said = '';
  secure.on('data', (text: string) => {
    said += text;
  });
  secure.write('EHLO app.test\r\nRCPT TO:<ada@near.test>\r\nQUIT\r\n');
  await new Promise((resolve) => secure.once('close', resolve));
  expect(
    said
      .split('\r\n')
      .filter((line) => /^\d{3} /.test(line))
      .map((line) => line.slice(0, 3)),
  ).toEqual(['250', '503', '221']);
});

test('a login made before TLS does not hold under it', async () => {
  const smtp = await RawSmtp.open(bench.smtpPort);
  await smtp.say('EHLO app.test');
  expect(await smtp.say(`AUTH PLAIN ${plain('ada', ada.secret)}`)).toMatch(/^235/);
  expect(await smtp.say('STARTTLS')).toMatch(/^220/);
  smtp.socket.removeAllListeners('data');
  const secure = connectTls({ socket: smtp.socket, rejectUnauthorized: false });
  secure.setEncoding('latin1');
  let said = '';
  secure.on('data', (text: string) => {
    said += text;
  });
  secure.write('EHLO app.test\r\nMAIL FROM:<a@near.test>\r\nRCPT TO:<victim@elsewhere.test>\r\nQUIT\r\n');
  await new Promise((resolve) => secure.once('close', resolve));
  expect(said).toMatch(/^550/m);
});

test('after a login mail goes anywhere: that is a matter of email.send', async () => {
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: bench.smtpPort,
    tls: { rejectUnauthorized: false },
    auth: { user: 'whoever', pass: ada.secret },
  });
  const raw = mailText({ From: 'ada@near.test', To: 'x@elsewhere.test', Subject: 'Hi' });
  expect(await codeOf(transport.sendMail({ envelope: { from: 'ada@near.test', to: 'x@elsewhere.test' }, raw }))).toBe(
    250,
  );
  transport.close();
});

test('a port that somebody has, and a certificate that cannot be read, are told in one line at the start', async () => {
  await expect(startReceivingBench({ SMTP_PORT: String(bench.smtpPort) })).rejects.toThrow(
    new RegExp(`^port ${bench.smtpPort} on [\\d.]+ is in use: stop the other program or set SMTP_PORT$`),
  );
  await expect(
    startReceivingBench({ SMTP_TLS_CERT: '/nowhere/c.pem', SMTP_TLS_KEY: '/nowhere/k.pem' }),
  ).rejects.toThrow(/^SMTP_TLS_CERT: \/nowhere\/c\.pem cannot be read/);
});

test('a stop answers the mail that is being taken, and ends idle connections at once', async () => {
  const other = await startReceivingBench();
  const eve = await other.owner();
  await eve.inbox('eve@near.test');
  const idle = await RawSmtp.open(other.smtpPort);
  const busy = await RawSmtp.open(other.smtpPort);
  busy.write('EHLO a\r\nMAIL FROM:<b@far.test>\r\nRCPT TO:<eve@near.test>\r\nDATA\r\n');
  await busy.replies(4);
  const stopping = other.stop();
  await idle.ended();
  busy.write(`${mailText({ Subject: 'Last' })}.\r\n`);
  expect((await busy.replies(1))[0]).toMatch(/^250/);
  await stopping;
});
