import { describe, expect, test } from 'vitest';
import { formsOf } from './forms.ts';

const texts = (...secrets: string[]) => formsOf(secrets).map(String);
const SECRET = `p"a's/s <w>&+o%r=d~é`;

describe('the forms of a secret', () => {
  test.each([
    ['itself', SECRET],
    ['hex', Buffer.from(SECRET).toString('hex')],
    ['hex in upper case', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['base64', Buffer.from(SECRET).toString('base64').replace(/=+$/, '')],
    ['base64url', Buffer.from(SECRET).toString('base64url')],
    ['encodeURIComponent', encodeURIComponent(SECRET)],
    ['percent in lower case', "p%22a's%2fs%20%3cw%3e%26%2bo%25r%3dd~%c3%a9"],
    ['RFC 3986', 'p%22a%27s%2Fs%20%3Cw%3E%26%2Bo%25r%3Dd~%C3%A9'],
    ["Python's quote", 'p%22a%27s/s%20%3Cw%3E%26%2Bo%25r%3Dd~%C3%A9'.replace('%27', "'")],
    ['encodeURI', encodeURI(SECRET)],
    ['a form', new URLSearchParams({ a: SECRET }).toString().slice(2)],
    ["a form of Python's", 'p%22a%27s%2Fs+%3Cw%3E%26%2Bo%25r%3Dd~%C3%A9'],
    ['each byte in percent', [...Buffer.from(SECRET)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
    ['JSON', `p\\"a's/s <w>&+o%r=d~é`],
    ["JSON of Python's", `p\\"a's/s <w>&+o%r=d~\\u00e9`],
    ["JSON of PHP's", `p\\"a's\\/s <w>&+o%r=d~\\u00e9`],
    ["JSON of Go's", `p\\"a's/s \\u003cw\\u003e\\u0026+o%r=d~é`],
    ["JSON of .NET's", `p\\u0022a\\u0027s/s \\u003Cw\\u003E\\u0026\\u002Bo%r=d~\\u00E9`],
    [
      'JSON, each character',
      [...SECRET].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['HTML', `p&quot;a&#39;s/s &lt;w&gt;&amp;+o%r=d~é`],
    ["HTML of Python's", `p&quot;a&#x27;s/s &lt;w&gt;&amp;+o%r=d~é`],
    ["HTML of Go's", `p&#34;a&#39;s/s &lt;w&gt;&amp;&#43;o%r=d~é`],
    ['HTML text', `p"a's/s &lt;w&gt;&amp;+o%r=d~é`],
  ])('%s', (_, form) => {
    expect(texts(SECRET)).toContain(form);
  });

  test('base64 within a longer text, at each of its three places', () => {
    for (const secret of ['12345678', '123456789', '1234567890', 'key?~>>>?~?']) {
      for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
        for (const after of ['', 'z', 'zz', 'zzz', '\n']) {
          const bytes = Buffer.from(before + secret + after);
          for (const text of [bytes.toString('base64'), bytes.toString('base64url')]) {
            expect(texts(secret).some((form) => text.includes(form))).toBe(true);
          }
        }
      }
    }
  });

  test('base64 as it stands in a URL and in JSON', () => {
    const secret = '~~~>>>???~~~';
    expect(Buffer.from(secret).toString('base64')).toBe('fn5+Pj4+Pz8/fn5+');
    expect(texts(secret)).toContain('fn5%2BPj4%2BPz8%2Ffn5%2B');
    expect(texts(secret)).toContain('fn5+Pj4+Pz8\\/fn5+');
    expect(texts(secret)).toContain('fn5\\u002BPj4\\u002BPz8/fn5\\u002B');
  });

  test('are few for a token, each once, and none shorter than 6 bytes', () => {
    const forms = texts('ghp_0123456789abcdefghijABCDEFGHIJ012345');
    expect(forms.length).toBeLessThan(20);
    expect(new Set(forms).size).toBe(forms.length);
    expect(Math.min(...formsOf(['12345678', SECRET, 'abc']).map(({ length }) => length))).toBeGreaterThanOrEqual(6);
    expect(texts()).toEqual([]);
    expect(texts('\ud800 lone surrogate')).toContain('\ufffd lone surrogate');
  });
});
