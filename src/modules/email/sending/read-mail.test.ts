// What a caller may say of a mail: nothing of it reaches a header or the envelope as more than it is.
import { expect, test } from 'vitest';
import type { Problem } from '../../../problems/problem.ts';
import { readMail, type SentMail } from './read-mail.ts';

const MADE = { messageId: '<a@example.org>', dateMs: 0 };
const mail = (fields: Partial<SentMail>): SentMail => ({
  from: 'a@b.example',
  to: 'c@d.example',
  subject: 'S',
  text: 'T',
  ...fields,
});

function refusal(sent: SentMail): [string | undefined, string | undefined] | null {
  try {
    readMail(sent, MADE);
    return null;
  } catch (error) {
    const { param, detail } = error as Problem;
    return [param, detail];
  }
}

const INJECTED = 'x\r\nBcc: evil@bad.example';
const file = (fields: object) => ({ filename: 'a.txt', content: new Uint8Array([1]), ...fields });

test.each<[Partial<SentMail>, string, string]>([
  [{ from: `a@b.example${INJECTED}` }, 'from', 'address'],
  [{ from: `"${INJECTED}" <a@b.example>` }, 'from', 'address'],
  [{ from: 'a@b.example, c@d.example' }, 'from', 'address'],
  [{ to: INJECTED }, 'to', 'address'],
  [{ to: ['a@b.example', 'Group: c@d.example;'] }, 'to[1]', 'address'],
  [{ cc: ['a@b.example\n'.repeat(2)] }, 'cc[0]', 'address'],
  [{ bcc: 'a@b.example>\0' }, 'bcc', 'address'],
  [{ reply_to: `<a@b.example>${INJECTED}` }, 'reply_to', 'address'],
  [{ subject: INJECTED }, 'subject', 'one_line'],
  [{ subject: 'a\u0000b' }, 'subject', 'one_line'],
  [{ subject: '\ud800' }, 'subject', 'one_line'],
  [{ headers: { 'X-A': INJECTED } }, 'headers.X-A', 'one_line'],
  [{ headers: { 'X-A: b\r\nBcc': 'c' } }, 'headers.X-A: b??Bcc', 'header_name'],
  [{ headers: { 'X A': 'b' } }, 'headers.X A', 'header_name'],
  ...[
    'From',
    'to',
    'BCC',
    'Sender',
    'Date',
    'Message-ID',
    'Content-Type',
    'DKIM-Signature',
    'Received',
    'Return-Path',
    'Resent-To',
  ].map((name): [Partial<SentMail>, string, string] => [{ headers: { [name]: 'x' } }, `headers.${name}`, 'reserved']),
  [
    { unsubscribe: true, headers: { 'List-Unsubscribe': '<https://evil.example/>' } },
    'headers.List-Unsubscribe',
    'reserved',
  ],
  [{ attachments: [file({ filename: INJECTED })] }, 'attachments[0].filename', 'one_line'],
  [{ attachments: [file({ content_type: `text/plain${INJECTED}` })] }, 'attachments[0].content_type', 'media_type'],
  [{ attachments: [file({ content_type: 'text' })] }, 'attachments[0].content_type', 'media_type'],
  [{ attachments: [file({ content_id: 'a> <b' })] }, 'attachments[0].content_id', 'content_id'],
  [{ text: undefined }, 'text', 'required'],
  [{ text: 'a\0b' }, 'text', 'characters'],
  [{ html: 'é'.repeat(600_000) }, 'html', 'too_long'],
  [{ attachments: [file({ content: new Uint8Array(8 * 1024 * 1024) })] }, 'attachments', 'too_long'],
  [{ to: Array.from({ length: 51 }, (_, n) => `a${n}@b.example`) }, 'to', 'too_many'],
])('%j is refused', (fields, param, rule) => {
  expect(refusal(mail(fields) as SentMail)).toEqual([param, rule]);
});

test('10,000 names of one address are one recipient, where they are named first', () => {
  const { recipients } = readMail(
    mail({
      to: ['A@b.example', 'a@B.example'],
      cc: ['a@b.example', 'c@b.example'],
      bcc: Array.from({ length: 50 }, () => 'C@b.example'),
    }),
    MADE,
  );
  expect(recipients).toEqual([
    { kind: 'to', address: 'A@b.example' },
    { kind: 'cc', address: 'c@b.example' },
  ]);
});
