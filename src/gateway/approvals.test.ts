import { describe, expect, it } from 'vitest';
import { askedBy, type SentRequest } from './approvals.ts';
import type { Call } from './call.ts';

const canonical = (sent: Partial<SentRequest>) =>
  askedBy(null as unknown as Call, {
    method: 'POST',
    url: '/v1/images/edits',
    contentType: 'application/octet-stream',
    idempotencyKey: '',
    body: Buffer.from('x'),
    announced: [],
    ...sent,
  }).canonical();

const form = (boundary: string, content: string) => ({
  contentType: `multipart/form-data; boundary=${boundary}`,
  body: Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="to"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
  ),
});

describe('a request of another protocol is the same', () => {
  it.each([
    ['with another boundary of its form', form('one', 'alice'), form('two', 'alice'), true],
    ['with another content', form('one', 'alice'), form('one', 'mallory'), false],
    ['with a content that is its boundary', form('alice', 'alice'), form('mallory', 'mallory'), false],
    [
      'with parts cut elsewhere',
      form('b', 'a\r\n--b\r\nContent-Disposition: x\r\n\r\nc'),
      form('c', 'a\r\n--b\r\nContent-Disposition: x\r\n\r\nc'),
      false,
    ],
    [
      'signed at another time',
      { url: '/s3/b/k?X-Amz-Date=1&X-Amz-Signature=a' },
      { url: '/s3/b/k?X-Amz-Date=2' },
      true,
    ],
    ['with another query', { url: '/s3/b/k?acl' }, { url: '/s3/b/k?tagging' }, false],
    ['with its query in another order', { url: '/a?b=1&c=2' }, { url: '/a?c=2&b=1' }, true],
    [
      'read as it comes, announced alike',
      { body: null, announced: ['5', 'h'] },
      { body: null, announced: ['5', 'h'] },
      true,
    ],
    [
      'read as it comes, of another hash',
      { body: null, announced: ['5', 'h'] },
      { body: null, announced: ['5', 'i'] },
      false,
    ],
    ['with a long body', { body: Buffer.alloc(3_000_000, 1) }, { body: Buffer.alloc(3_000_000, 1) }, true],
    ['under another idempotency key', { idempotencyKey: 'a' }, { idempotencyKey: 'b' }, false],
    ['with another end', { body: Buffer.from('ab') }, { body: Buffer.from('ac') }, false],
  ])('%s: %#', async (_, one, other, isSame) => {
    expect((await canonical(one)) === (await canonical(other))).toBe(isSame);
  });
});
