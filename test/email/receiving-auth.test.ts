// What is told of who sent a received mail, by the name servers of the settings.
import { generateKeyPairSync } from 'node:crypto';
import nodemailer from 'nodemailer';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type InboxOwner, type ReceivingBench, startReceivingBench } from './receiving-harness.ts';

let bench: ReceivingBench;
let ada: InboxOwner;
let inboxId: string;

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

beforeAll(async () => {
  bench = await startReceivingBench();
  ada = await bench.owner();
  inboxId = await ada.inbox('ada@near.test');
});
afterAll(() => bench.stop());
beforeEach(() => {
  const { names } = bench;
  names.clear();
  names.set('TXT', 'far.org', 'v=spf1 ip4:127.0.0.1 -all');
  names.set('TXT', 's1._domainkey.far.org', `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`);
  names.set('TXT', '_dmarc.far.org', 'v=DMARC1; p=reject');
});

interface Sending {
  readonly from?: string;
  readonly signs?: boolean;
  readonly alters?: boolean;
}

async function verdicts({ from = 'bob@far.org', signs = true, alters = false }: Sending = {}) {
  const dkim = signs ? { dkim: { domainName: 'far.org', keySelector: 's1', privateKey } } : {};
  const composed = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows', ...dkim });
  const subject = `Signed ${Math.random()}`;
  const { message } = await composed.sendMail({ from, to: 'ada@near.test', subject, text: 'Pay 10' });
  const raw = alters ? message.toString().replace('Pay 10', 'Pay 99') : (message as Buffer);
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port: bench.smtpPort, name: 'mx.far.org' });
  await transport.sendMail({ envelope: { from, to: 'ada@near.test' }, raw });
  const { items } = await ada.data('GET', `/v1/email/inbox/messages/${inboxId}?limit=20`);
  return items.find((item: { subject: string }) => item.subject === subject).auth;
}

test('a mail that is signed, and sent by a server of its domain, passes all three', async () => {
  expect(await verdicts()).toEqual({ spf: 'pass', dkim: 'pass', dmarc: 'pass' });
});

test('a server that may not send for the domain fails SPF; its signature still stands for DMARC', async () => {
  bench.names.set('TXT', 'far.org', 'v=spf1 ip4:192.0.2.1 -all');
  expect(await verdicts()).toEqual({ spf: 'fail', dkim: 'pass', dmarc: 'pass' });
});

test('a mail that was changed on its way is told, and kept', async () => {
  bench.names.set('TXT', 'far.org', 'v=spf1 ip4:192.0.2.1 -all');
  const { dkim, dmarc } = await verdicts({ alters: true });
  expect([dkim === 'pass', dmarc]).toEqual([false, 'fail']);
});

test('one who writes the name of another in From fails DMARC', async () => {
  bench.names.set('TXT', '_dmarc.bank.org', 'v=DMARC1; p=reject');
  bench.names.set('TXT', 'bank.org', 'v=spf1 -all');
  expect(await verdicts({ from: 'boss@bank.org' })).toMatchObject({ spf: 'fail', dmarc: 'fail' });
});

test('a domain that publishes nothing is told as none', async () => {
  bench.names.clear();
  bench.names.set('TXT', 'far.org');
  expect(await verdicts({ signs: false })).toEqual({ spf: 'none', dkim: 'none', dmarc: 'none' });
});

test('name servers that say nothing keep no mail away: it is kept, with temperror', async () => {
  for (const name of ['far.org', 's1._domainkey.far.org', '_dmarc.far.org']) bench.names.misbehave(name, 'silence');
  expect(await verdicts()).toMatchObject({ spf: 'temperror' });
});
