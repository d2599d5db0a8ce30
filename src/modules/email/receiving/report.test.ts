import { expect, test } from 'vitest';
import { type Report, type ReportAction, type ReportedRecipient, readReport } from './report.ts';

const returned = [
  'Return-Path: <b+tok3n@bounces.ours.test>',
  'From: app@ours.test',
  'To: ada@far.test',
  'Subject: Hi',
  '',
  'Hi',
];

/** A multipart/report of these parts, each a type and its lines. */
function mail(headers: readonly string[], ...parts: readonly (readonly [type: string, lines: readonly string[]])[]) {
  const body = parts.flatMap(([type, lines]) => ['--b0', `Content-Type: ${type}`, '', ...lines]);
  return Buffer.from([...headers, 'MIME-Version: 1.0', '', ...body, '--b0--', ''].join('\r\n'));
}

const notificationHeaders = [
  'From: MAILER-DAEMON@mx.far.test',
  'Subject: Undelivered Mail Returned to Sender',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b0"',
];

function notification(status: readonly string[], original: readonly string[] = returned, type = 'message/rfc822') {
  return mail(
    notificationHeaders,
    ['text/plain', ['Your mail could not be delivered.']],
    ['message/delivery-status', status],
    [type, original],
  );
}

const complaintHeaders = [
  'From: fbl@far.test',
  'Content-Type: multipart/report; report-type=feedback-report; boundary="b0"',
];

function complaint(fields: readonly string[], original: readonly string[] = returned) {
  return mail(
    complaintHeaders,
    ['text/plain', ['An abuse report.']],
    ['message/feedback-report', fields],
    ['message/rfc822', original],
  );
}

const one = (
  address: string,
  action: ReportAction,
  status: string | null,
  diagnostic: string | null,
): ReportedRecipient => ({ address, action, status, diagnostic });
const failure = (status: string, diagnostic: string | null) => [one('ada@far.test', 'failed', status, diagnostic)];

const shapes: readonly [name: string, source: Buffer, expected: Omit<Report, 'returnPath'>][] = [
  [
    'postfix',
    notification([
      'Reporting-MTA: dns; mx.far.test',
      'X-Postfix-Queue-ID: 4F2A01',
      'Arrival-Date: Mon, 23 Nov 2026 10:00:00 +0000 (UTC)',
      '',
      'Final-Recipient: rfc822; ada@far.test',
      'Original-Recipient: rfc822;ada@far.test',
      'Action: failed',
      'Status: 5.1.1',
      'Remote-MTA: dns; inner.far.test',
      'Diagnostic-Code: smtp; 550 5.1.1 <ada@far.test>: Recipient address rejected:',
      '    User unknown in virtual mailbox table',
    ]),
    {
      kind: 'delivery',
      recipients: failure(
        '5.1.1',
        '550 5.1.1 <ada@far.test>: Recipient address rejected: User unknown in virtual mailbox table',
      ),
    },
  ],
  [
    'postfix, delayed, headers only',
    notification(
      [
        'Reporting-MTA: dns; mx',
        '',
        'Final-Recipient: rfc822; ada@far.test',
        'Action: delayed',
        'Status: 4.4.1',
        'Will-Retry-Until: Sat, 28 Nov 2026 10:00:00 +0000',
      ],
      returned.slice(0, 4),
      'text/rfc822-headers',
    ),
    { kind: 'delivery', recipients: [one('ada@far.test', 'delayed', '4.4.1', null)] },
  ],
  [
    'sendmail, a comment behind the action, a blank line too many',
    notification([
      'Reporting-MTA: dns; mx.far.test',
      'Received-From-MTA: DNS; relay.ours.test',
      '',
      '',
      'Final-Recipient: RFC822; ada@far.test',
      'Action: failed (user unknown)',
      'Status: 5.1.1',
      'Diagnostic-Code: SMTP; 550 5.1.1 User unknown',
    ]),
    { kind: 'delivery', recipients: failure('5.1.1', '550 5.1.1 User unknown') },
  ],
  [
    'exim 4.98',
    notification([
      'Reporting-MTA: dns; mx.far.test',
      '',
      'Action: failed',
      'Final-Recipient: rfc822;ada@far.test',
      'Status: 5.0.0',
      'Remote-MTA: dns; far.test',
      'Diagnostic-Code: smtp; 550 no such user',
    ]),
    { kind: 'delivery', recipients: failure('5.0.0', '550 no such user') },
  ],
  [
    'exim with a header in place of a report',
    Buffer.from(
      'From: Mail Delivery System <Mailer-Daemon@mx>\nX-Failed-Recipients: ada@far.test\nAuto-Submitted: auto-replied\n\nThis message was created automatically.\n\n  ada@far.test\n    host far.test [192.0.2.1]\n    550 5.1.1 unknown user\n',
    ),
    { kind: 'delivery', recipients: failure('5.1.1', '550 5.1.1 unknown user') },
  ],
  [
    'qmail, two recipients',
    Buffer.from(
      "From: MAILER-DAEMON@mx\nSubject: failure notice\n\nHi. This is the qmail-send program at mx.\nI'm afraid I wasn't able to deliver your message.\n\n<ada@far.test>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n<bob@far.test>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 no\n\n--- Below this line is a copy of the message.\n\n<eve@far.test>:\nnot reported\n",
    ),
    {
      kind: 'delivery',
      recipients: [
        one('ada@far.test', 'failed', '5.1.1', 'Sorry, no mailbox here by that name. (#5.1.1)'),
        one('bob@far.test', 'failed', '5.0.0', '192.0.2.1 does not like recipient. Remote host said: 550 no'),
      ],
    },
  ],
  [
    'Exchange Online: no original recipient, a long diagnostic',
    notification([
      'Reporting-MTA: dns;AM0.prod.outlook.com',
      'Received-From-MTA: dns;relay',
      '',
      'Final-Recipient: rfc822;ada@far.test',
      'Action: failed',
      'Status: 5.1.10',
      `Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; ${'x'.repeat(900)}`,
      'X-Display-Name: Ada',
    ]),
    {
      kind: 'delivery',
      recipients: failure('5.1.10', `550 5.1.10 RESOLVER.ADR.RecipientNotFound; ${'x'.repeat(900)}`.slice(0, 500)),
    },
  ],
  [
    'Exchange 2003: no action, an x400 type first',
    notification([
      'Reporting-MTA: dns;exch',
      '',
      'Original-Recipient: x400; /S=Ada/',
      'Final-Recipient: RFC822;ada@far.test',
      'Status: 5.2.2',
    ]),
    { kind: 'delivery', recipients: failure('5.2.2', null) },
  ],
  [
    'Gmail: forwarded, so the original recipient counts; LF alone',
    Buffer.from(
      notification([
        'Reporting-MTA: dns; googlemail.com',
        'X-Original-Message-ID: <1@ours.test>',
        '',
        'Final-Recipient: rfc822; ada@elsewhere.test',
        'Original-Recipient: rfc822; ada@far.test',
        'Action: failed',
        'Status: 5.7.1',
        'Diagnostic-Code: smtp; 550-5.7.1 blocked',
      ])
        .toString()
        .replaceAll('\r\n', '\n'),
    ),
    { kind: 'delivery', recipients: failure('5.7.1', '550-5.7.1 blocked') },
  ],
  [
    'success, relayed and expanded, of several recipients',
    notification([
      'Reporting-MTA: dns; mx',
      '',
      'Final-Recipient: rfc822; ada@far.test',
      'Action: delivered',
      'Status: 2.1.5',
      '',
      'Final-Recipient: rfc822; bob@far.test',
      'Action: relayed',
      'Status: 2.1.9',
      '',
      'Final-Recipient: rfc822; list@far.test',
      'Action: expanded',
      'Status: 2.1.5',
    ]),
    {
      kind: 'delivery',
      recipients: [
        one('ada@far.test', 'delivered', '2.1.5', null),
        one('bob@far.test', 'relayed', '2.1.9', null),
        one('list@far.test', 'expanded', '2.1.5', null),
      ],
    },
  ],
  [
    'international (RFC 6533)',
    mail(
      notificationHeaders,
      ['text/plain', ['no']],
      [
        'message/global-delivery-status',
        ['Reporting-MTA: dns; mx', '', 'Final-Recipient: utf-8; ädä@far.test', 'Action: failed', 'Status: 5.1.1'],
      ],
      ['message/global', returned],
    ),
    { kind: 'delivery', recipients: [one('ädä@far.test', 'failed', '5.1.1', null)] },
  ],
  [
    'Yahoo ARF',
    complaint([
      'Feedback-Type: abuse',
      'User-Agent: Yahoo!-Mail-Feedback/2.0',
      'Version: 0.1',
      'Original-Mail-From: <b+tok3n@bounces.ours.test>',
      'Original-Rcpt-To: ada@far.test',
      'Received-Date: Mon, 23 Nov 2026 10:00:00 GMT',
    ]),
    { kind: 'complaint', recipients: [one('ada@far.test', 'delivered', null, 'abuse')] },
  ],
  [
    'Outlook ARF: the recipient stands in the mail only',
    complaint(
      ['Feedback-Type: abuse', 'User-Agent: JMRP/1.0', 'Version: 1'],
      ['X-HmXmrOriginalRecipient: ada@far.test', ...returned],
    ),
    { kind: 'complaint', recipients: [one('ada@far.test', 'delivered', null, 'abuse')] },
  ],
  [
    'a complaint that names nobody falls back to the To header',
    complaint(['Feedback-Type: abuse', 'Version: 1'], [...returned.slice(0, 2), 'To: "Ada" <ada@far.test>', '', 'Hi']),
    { kind: 'complaint', recipients: [one('ada@far.test', 'delivered', null, 'abuse')] },
  ],
];

test.each(shapes)('%s', async (_name, source, expected) => {
  expect(await readReport(source)).toMatchObject(expected);
});

test('the envelope sender of the mail that is reported is told where the report has it', async () => {
  const [, postfix] = shapes[0] as (typeof shapes)[number];
  const [, yahoo] = shapes.at(-3) as (typeof shapes)[number];
  for (const source of [postfix, yahoo])
    expect(await readReport(source)).toMatchObject({ returnPath: 'b+tok3n@bounces.ours.test' });
});

const recipient = (field: string) =>
  notification(['Reporting-MTA: dns; mx', '', field, 'Action: failed', 'Status: 5.1.1']);

test.each([
  ['a mail', Buffer.from('From: a@b.test\nSubject: Hi\n\nAction: failed\nFinal-Recipient: rfc822; ada@far.test\n')],
  ['nothing', Buffer.alloc(0)],
  ['a report without recipients', notification(['Reporting-MTA: dns; mx'])],
  [
    'a recipient without action and status',
    notification(['Reporting-MTA: dns; mx', '', 'Final-Recipient: rfc822; ada@far.test']),
  ],
  ['an out-of-office note', Buffer.from('From: ada@far.test\nAuto-Submitted: auto-replied\n\nI am away.\n')],
  ['a report that a filter erred (not-spam)', complaint(['Feedback-Type: not-spam', 'Original-Rcpt-To: ada@far.test'])],
  ['an address with a space', recipient('Final-Recipient: rfc822; ada @far.test')],
  ['an address of 1 MB', recipient(`Final-Recipient: rfc822; ${'a'.repeat(1_000_000)}@far.test`)],
])('%s is no report', async (_name, source) => {
  expect(await readReport(source)).toBeNull();
});
