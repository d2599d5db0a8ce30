import { describe, expect, test } from 'vitest';
import { Problem } from '../../problems/problem.ts';
import { checkTargetHeaders, maskHeaders } from './target-headers.ts';

function refusal(headers: Record<string, unknown>): Problem {
  try {
    checkTargetHeaders(headers, 'headers');
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('accepted');
}

describe('custom headers', () => {
  test('names and values pass as they were sent', () => {
    const headers = { Authorization: 'Bearer abc def', 'x-a.b_c~': '!', 'X-Long': 'v'.repeat(4096) };
    expect(checkTargetHeaders(headers, 'headers')).toEqual(headers);
    expect(checkTargetHeaders({}, 'headers')).toEqual({});
  });

  test('20 headers are allowed, 21 are not', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']));
    expect(Object.keys(checkTargetHeaders(many(20), 'headers'))).toHaveLength(20);
    expect(refusal(many(21))).toMatchObject({ code: 'WEBHOOK_HEADER_REJECTED', detail: 'count', param: 'headers' });
  });

  const reserved =
    'Host connection keep-alive proxy-connection Proxy-Authorization te trailer transfer-encoding upgrade expect content-type ' +
    'Content-Length content-encoding cookie set-cookie forwarded X-Forwarded-For x-forwarded-host via webhook-id ' +
    'Webhook-Signature user-agent accept-encoding http2-settings';
  test.each(reserved.split(' '))('%s is reserved', (name) => {
    expect(refusal({ [name]: 'v' })).toMatchObject({ detail: 'reserved', param: `headers.${name}` });
  });

  test.each(['', ' x', 'x y', 'x:', 'x\r\ny', 'x\0', 'é', '"x"', 'x'.repeat(129)])('the name %j is refused', (name) => {
    const error = refusal({ [name]: 'v' });
    expect(error).toMatchObject({ code: 'WEBHOOK_HEADER_REJECTED', detail: 'name' });
    expect(error.param).toMatch(/^headers\.[!-~]*$/);
  });

  test.each(['', ' ', 'a\r\nx-evil: 1', 'a\n', 'a\r', 'a\0b', 'a\tb', ' a', 'a ', 'é', '\x7f', '\u{1F600}'])(
    'the value %j is refused',
    (value) => {
      expect(refusal({ 'x-a': value })).toMatchObject({ detail: 'value', param: 'headers.x-a' });
    },
  );

  test('a value of 5 KiB, and one that is no string, are refused', () => {
    expect(refusal({ 'x-a': 'v'.repeat(5 * 1024) })).toMatchObject({ detail: 'length' });
    for (const value of [1, null, true, ['a'], { a: 1 }])
      expect(refusal({ 'x-a': value })).toMatchObject({ detail: 'type' });
  });

  test('names that differ in case only are duplicates', () => {
    expect(refusal({ 'X-A': '1', 'x-a': '2' })).toMatchObject({ detail: 'duplicate', param: 'headers.x-a' });
  });

  test('__proto__ does not become a prototype', () => {
    expect(refusal(JSON.parse('{"__proto__":"v"}'))).toMatchObject({ detail: 'reserved' });
  });

  test('masked values show two characters at most, those of under 16 none', () => {
    expect(
      maskHeaders({ Authorization: 'Bearer secret-token', 'x-short': '123456789012345', 'x-long': '1234567890123456' }),
    ).toEqual({
      Authorization: '****en',
      'x-short': '****',
      'x-long': '****56',
    });
  });
});
