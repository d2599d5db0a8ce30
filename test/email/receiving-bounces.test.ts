// Bounces and complaints about mail that was sent, as other servers bring them to the SMTP port or to email.inbound.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRelay, type TestRelay } from '../support/relay.ts';
import {
  codeOf,
  handOver,
  type InboxOwner,
  mailText,
  type ReceivingBench,
  startReceivingBench,
} from './receiving-harness.ts';

let bench: ReceivingBench;
let relay: TestRelay;
let ada: InboxOwner;
beforeAll(async () => {
  relay = await startRelay();
  bench = await startReceivingBench({ SMTP_URL: relay.url, EMAIL_TRUSTED_DOMAINS: 'sender.org' });
  ada = await bench.owner();
});
afterAll(async () => {
  await bench.stop();
  await relay.stop();
});

const send = (to: string | string[], fields = {}) =>
  ada.data('POST', '/v1/email/send', { from: 'shop@sender.org', to, subject: 'Hi', text: 'Hi', ...fields });
/** The envelope's sender, as the relay got it. */
const returnPathOf = async (emailId: string) => {
  const mail = relay.mails.find(({ source }) => String(source).includes(emailId));
  return mail?.from as string;
};
const recipient = async (emailId: string) => (await ada.data('GET', `/v1/email/get/${emailId}`)).recipients[0];

function notification(to: string, action: string, status: string): string {
  const fields = {
    From: 'MAILER-DAEMON@mx.far.org',
    'Content-Type': 'multipart/report; report-type=delivery-status; boundary=b',
  };
  const report = [
    'Reporting-MTA: dns; mx.far.org',
    '',
    `Final-Recipient: rfc822; ${to}`,
    `Action: ${action}`,
    `Status: ${status}`,
  ];
  const diagnostic = 'Diagnostic-Code: smtp; 550 no such user';
  return mailText(
    fields,
    ['--b', '', 'Sorry.', '--b', 'Content-Type: message/delivery-status', '', ...report, diagnostic, '--b--'].join(
      '\r\n',
    ),
  );
}

test('a failure report that comes back to the address of its mail bounces the recipient', async () => {
  const { email_id: emailId } = await send('gone@far.org');
  const to = await returnPathOf(emailId);
  expect(to).toMatch(/^b\+[a-z2-7]{55}@bounces\.ours\.test$/);
  expect(await recipient(emailId)).toMatchObject({ status: 'sent' });
  await handOver(bench.smtpPort, { from: '', to, raw: notification('gone@far.org', 'failed', '5.1.1') });
  expect(await recipient(emailId)).toMatchObject({ status: 'bounced', code: '5.1.1', detail: '550 no such user' });
  const { items } = await ada.data('GET', '/v1/email/suppression/list');
  expect(items).toMatchObject([{ address: 'gone@far.org', reason: 'bounce' }]);
});

test('a report to a forged address, or to one of another letter, is refused: it suppresses nobody', async () => {
  const { email_id: emailId } = await send('kept@far.org');
  const right = await returnPathOf(emailId);
  const forged = right.replace(/^b\+(.)/, (_all, letter: string) => `b+${letter === 'a' ? 'b' : 'a'}`);
  const sent = handOver(bench.smtpPort, { from: '', to: forged, raw: notification('kept@far.org', 'failed', '5.1.1') });
  expect(await codeOf(sent)).toBe(550);
  expect(await recipient(emailId)).toMatchObject({ status: 'sent' });
});

test('a mail to the bounce address that reports nothing is taken and changes nothing', async () => {
  const { email_id: emailId } = await send('away@far.org');
  const to = await returnPathOf(emailId);
  await handOver(bench.smtpPort, {
    from: 'away@far.org',
    to,
    raw: mailText({ Subject: 'I am away', 'Auto-Submitted': 'auto-replied' }),
  });
  expect(await recipient(emailId)).toMatchObject({ status: 'sent' });
});

test('a bounce is piped to email.inbound, which names the mail', async () => {
  const { email_id: emailId } = await send('piped@far.org');
  const to = encodeURIComponent(await returnPathOf(emailId));
  const raw = Buffer.from(notification('piped@far.org', 'failed', '5.2.2'));
  const { body } = await ada.call('POST', `/v1/email/inbound?from=&to=${to}`, raw, {
    'content-type': 'message/rfc822',
  });
  expect(body.data).toMatchObject({ kind: 'bounce', email_id: emailId, inbound_id: null });
  expect(await recipient(emailId)).toMatchObject({ status: 'bounced' });
});

test('a complaint suppresses the recipient', async () => {
  const { email_id: emailId } = await send('angry@far.org');
  const fields = { 'Content-Type': 'multipart/report; report-type=feedback-report; boundary=b' };
  const report = [
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'Original-Rcpt-To: angry@far.org',
    '--b--',
  ];
  await handOver(bench.smtpPort, {
    from: 'fbl@far.org',
    to: await returnPathOf(emailId),
    raw: mailText(fields, report.join('\r\n')),
  });
  const { items } = await ada.data('GET', '/v1/email/suppression/list');
  expect(items).toContainEqual(expect.objectContaining({ address: 'angry@far.org', reason: 'complaint' }));
});
