import { expect, test } from 'vitest';
import { attachmentOf, parseMail } from './parse.ts';

const lines = (...text: readonly string[]) => Buffer.from(text.join('\r\n'));

const full = lines(
  'Received: from a by b',
  'Received: from c by d',
  'From: =?utf-8?q?Ad=C3=A4?= <Ada@Far.Test>',
  'To: "Bob, Junior" <bob@near.test>, eve@near.test',
  'Cc: Team: one@near.test, two@near.test;',
  'Reply-To: answers@far.test',
  'Subject: =?utf-8?b?R3LDvMOfZQ==?=',
  'Message-ID: <3@far.test>',
  'In-Reply-To: <2@near.test>',
  'References: <1@far.test>',
  ' <2@near.test>',
  'Content-Type: multipart/mixed; boundary="m"',
  '',
  '--m',
  'Content-Type: multipart/alternative; boundary="a"',
  '',
  '--a',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Gr=FC=DFe',
  'from far',
  '--a',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Grüße</p>',
  '--a--',
  '--m',
  'Content-Type: application/pdf; name="bill.pdf"',
  'Content-Disposition: attachment; filename="bill.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('PDF bytes').toString('base64'),
  '--m',
  'Content-Type: message/rfc822',
  '',
  'Subject: inner',
  '',
  'inner text',
  '--m--',
  '',
);

test('a mail is taken apart: decoded header, text and HTML, attachments, who it answers', async () => {
  expect(await parseMail(full)).toEqual({
    from: 'Adä <Ada@Far.Test>'.replace('Adä', '"Adä"'),
    fromAddress: 'ada@far.test',
    to: ['"Bob, Junior" <bob@near.test>', 'eve@near.test'],
    cc: ['one@near.test', 'two@near.test'],
    replyTo: 'answers@far.test',
    subject: 'Grüße',
    text: 'Grüße\nfrom far\n',
    html: '<p>Grüße</p>\n',
    isCut: false,
    attachments: [
      { filename: 'bill.pdf', content_type: 'application/pdf', bytes: 9, content_id: null },
      { filename: null, content_type: 'message/rfc822', bytes: expect.any(Number), content_id: null },
    ],
    messageId: '<3@far.test>',
    inReplyTo: '<2@near.test>',
    references: ['<1@far.test>', '<2@near.test>'],
    hops: 2,
  });
});

test('the bytes of an attachment are found by its number, and none beyond the last', async () => {
  expect(Buffer.from((await attachmentOf(full, 0)) ?? []).toString()).toBe('PDF bytes');
  expect(await attachmentOf(full, 2)).toBeNull();
});

test('a mail without header fields is one with nothing said', async () => {
  expect(await parseMail(lines('', 'body'))).toMatchObject({
    from: '',
    fromAddress: '',
    to: [],
    subject: '',
    messageId: null,
    references: [],
    text: 'body\n',
  });
});

test('texts are cut to what is kept, without NUL and halves of characters, and the mail says so', async () => {
  const long = await parseMail(lines('Subject: x\0y', '', `${'😀'.repeat(40_000)}`));
  expect(long).toMatchObject({ subject: 'x y', isCut: true });
  expect(long?.text?.length).toBe(64 * 1024);
  const short = await parseMail(lines('Subject: x', '', 'a\0b'));
  expect(short).toMatchObject({ text: 'a�b\n', isCut: false });
});

test('a header of 1,000 addresses, and 1,000 attachments, are told up to 100', async () => {
  const to = Array.from({ length: 1_000 }, (_, at) => `r${at}@near.test`).join(',\r\n ');
  const part = ['--m', 'Content-Type: application/x-y', '', 'z'].join('\r\n');
  const mail = lines(`To: ${to}`, 'Content-Type: multipart/mixed; boundary=m', '', ...Array<string>(1_000).fill(part));
  const parsed = await parseMail(mail);
  expect([parsed?.to.length, parsed?.attachments.length]).toEqual([100, 100]);
});

test.each([
  ['100,000 parts', Buffer.from(`Content-Type: multipart/mixed; boundary=b\n\n${'--b\n'.repeat(100_000)}`)],
  ['1 MB of header', Buffer.from(`X: ${'y'.repeat(1_000_000)}\n\nx`)],
  [
    '100 levels of parts',
    Buffer.from(
      Array.from({ length: 100 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}`).join('\n'),
    ),
  ],
])('%s are not taken apart', async (_name, source) => {
  expect(await parseMail(source)).toBeNull();
});

test.each([
  ['a million empty lines', '\n'.repeat(1_000_000)],
  ['10 MB of text', `${'x'.repeat(70)}\r\n`.repeat(140_000)],
])('%s take a bounded number of pieces: a second of work at most', async (_name, body) => {
  const begun = process.threadCpuUsage().user;
  expect(await parseMail(Buffer.from(`Subject: x\n\n${body}`))).toMatchObject({ subject: 'x', isCut: true });
  expect((process.threadCpuUsage().user - begun) / 1_000).toBeLessThan(1_500);
});
