// Every mail that leaves is signed so that another implementation finds the signature right.
import { generateKeyPairSync } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { expect, test } from 'vitest';
import { packContent, unpackContent } from '../../src/modules/email/messages/content.ts';
import { type CopyLinks, compose } from '../../src/modules/email/sending/compose.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const key = { domain: 'example.org', selector: 's1', privateKey };
const record = [[`v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`]];

const base = {
  from: { name: 'Åda "A." Lovelace, née Byron', address: 'ada@example.org' },
  to: [{ name: '', address: 'bob@example.net' }],
  cc: [],
  replyTo: [],
  headers: [],
  attachments: [],
  html: null,
  subject: 'Hello',
  text: 'Hello.\n',
  messageId: '<1@example.org>',
  dateMs: 0,
};
const noLinks: CopyLinks | null = null;
const bytes = (length: number) => Uint8Array.from({ length }, (_, n) => (n * 31) & 255);

test.each<[string, Partial<Parameters<typeof compose>[0]>, CopyLinks | null]>([
  ['a text', {}, noLinks],
  ['lines that begin with a dot, and end in blanks', { text: '.\n..\n. \n \t\n\n\n' }, noLinks],
  ['an empty text', { text: '' }, noLinks],
  ['lone carriage returns', { text: 'a\rb\r\rc\n\rd' }, noLinks],
  ['a line of 100,000 characters', { text: 'x'.repeat(100_000) }, noLinks],
  ['other scripts', { subject: '件名 — '.repeat(20), text: '本文\n', html: '<p>本文</p>' }, noLinks],
  ['a long subject with folding', { subject: 'word '.repeat(150) }, noLinks],
  [
    'own headers',
    {
      headers: [
        ['X-Campaign', 'a  b'],
        ['In-Reply-To', '<0@example.org>'],
        ['References', '<0@example.org> '.repeat(40)],
      ],
    },
    noLinks,
  ],
  [
    'attachments and a picture in the text',
    {
      html: '<img src="cid:p1">',
      attachments: [
        { filename: 'Übersicht 1.pdf', contentType: 'application/pdf', contentId: null, bytes: bytes(200_000) },
        { filename: 'p.png', contentType: 'image/png', contentId: 'p1', bytes: bytes(999) },
        { filename: 'empty', contentType: 'text/plain', contentId: null, bytes: bytes(0) },
      ],
    },
    noLinks,
  ],
  [
    'links to unsubscribe',
    { html: '<p>Hi</p>' },
    { html: '<p>Hi</p><img src="https://a.example/x">', unsubscribeUrl: `https://a.example/${'u'.repeat(300)}` },
  ],
])('%s', async (_, fields, links) => {
  const content = { ...base, ...fields };
  const source = await compose(content, links, key);
  expect(await compose(unpackContent(packContent(content)), links, key)).toEqual(source);
  const { results } = await dkimVerify(source, { resolver: async () => record });
  expect(results.map(({ status }: { status: { result: string } }) => status.result)).toEqual(['pass']);
  if (links !== null)
    expect(results[0]?.signingHeaders?.keys).toMatch(/List-Unsubscribe: List-Unsubscribe-Post|List-Unsubscribe-Post/);
  expect(source.toString('latin1')).not.toMatch(/[^\r]\n/);
});
