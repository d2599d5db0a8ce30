import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHosts, isHostAllowed } from './hosts.ts';
import { readRequestPath, readRequestTarget } from './target.ts';

/** Where a URL goes, in one line; or which rule refuses it. */
function reading(url: string): string {
  const target = readRequestTarget(url);
  if ('refusal' in target) return target.refusal;
  return `${target.secure ? 'https' : 'http'} ${target.host} ${target.port} ${target.sentPath}${target.query}`;
}

function pathReading(path: string): string {
  const read = readRequestPath(path);
  return 'refusal' in read ? read.refusal : read.path;
}

describe('the host of a target', () => {
  test.each([
    ['https://api.example.org/v1', 'https api.example.org 443 /v1'],
    ['https://api.example.org', 'https api.example.org 443 /'],
    ['https://api.example.org?a=b', 'https api.example.org 443 /?a=b'],
    ['https://api.example.org#x', 'https api.example.org 443 /'],
    ['HTTPS://API.Example.ORG/A', 'https api.example.org 443 /A'],
    ['http://api.example.org/', 'http api.example.org 80 /'],
    ['https://api.example.org:443/', 'https api.example.org 443 /'],
    ['http://api.example.org:443/', 'http api.example.org 443 /'],
    ['https://api.example.org:0443/', 'https api.example.org 443 /'],
    ['https://api.example.org:8443/', 'https api.example.org 8443 /'],
    ['https://api.example.org:/', 'https api.example.org 443 /'],
    ['https://api.example.org./', 'https api.example.org 443 /'],
    ['https://bücher.example/', 'https xn--bcher-kva.example 443 /'],
    ['https://BÜCHER.example/', 'https xn--bcher-kva.example 443 /'],
    ['https://api。example。org/', 'https api.example.org 443 /'],
    ['https://api.example．org/', 'https api.example.org 443 /'],
    ['https://ａｐｉ.example.org/', 'https api.example.org 443 /'],
    ['https://ap%69.example.org/', 'https api.example.org 443 /'],
    ['https://faß.example/', 'https xn--fa-hia.example 443 /'],
    ['https://127.1/', 'https 127.0.0.1 443 /'],
    ['https://0x7f.1/', 'https 127.0.0.1 443 /'],
    ['https://0177.0.0.1/', 'https 127.0.0.1 443 /'],
    ['https://2130706433/', 'https 127.0.0.1 443 /'],
    ['https://127.0.0.1./', 'https 127.0.0.1 443 /'],
    ['https://①②⑦.0.0.1/', 'https 127.0.0.1 443 /'],
    ['https://[::1]:8443/', 'https ::1 8443 /'],
    ['https://[0:0::1]/', 'https ::1 443 /'],
    ['https://[::ffff:127.0.0.1]/', 'https ::ffff:7f00:1 443 /'],
    ['https://good.example#@evil.example/', 'https good.example 443 /'],
    ['https://evil.example#good.example', 'https evil.example 443 /'],
    ['https://evil.example?good.example', 'https evil.example 443 /?good.example'],
    ['https://evil.example/@good.example', 'https evil.example 443 /@good.example'],
    ['https://good.example.evil.example/', 'https good.example.evil.example 443 /'],
  ])('%s is %s', (url, expected) => {
    expect(reading(url)).toBe(expected);
  });

  test.each([
    '',
    'api.example.org',
    '//api.example.org/',
    '/v1',
    'https:',
    'https://',
    'https:api.example.org/',
    'https:/api.example.org/',
    'https:///api.example.org/',
    'https:\\\\api.example.org/',
    'https://\\api.example.org/',
    'ftp://api.example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'wss://api.example.org/',
    ' https://api.example.org/',
    'ht\ttps://api.example.org/',
    'https://api.exam\tple.org/',
    'https://api.example.org\n/',
    'https://api.example.org /',
    'https://\0api.example.org/',
    'https://api.example.org%00.evil.example/',
    'https://good.example@evil.example/',
    'https://good.example:443@evil.example/',
    'https://@evil.example/',
    'https://:@evil.example/',
    'https://a@b@evil.example/',
    'https://good.example%40evil.example/',
    'https://good.example%2f.evil.example/',
    'https://good.example%5c.evil.example/',
    'https://good.example%23.evil.example/',
    'https://good.example／evil.example/',
    'https://good.example：443.evil.example/',
    'https://good.example℀evil.example/',
    'https://good.example:443:80/',
    'https://good.example:65536/',
    'https://good.example:４４３/',
    'https://good.example:-1/',
    'https://good..example/',
    'https://.good.example/',
    'https://good.example../',
    'https://./',
    'https://1.2.3.4.5/',
    'https://256.1.1.1/',
    'https://0x.evil.0x/',
    'https://[::1/',
    'https://[::1%25eth0]/',
    'https://[good.example]/',
    'https://*.example.org/',
    'https://a"b.example/',
    'https://{a}.example/',
    'https://a;b.example/',
    `https://${'a.'.repeat(127)}example/`,
    'https://\u00ad/',
    'https://\ud800.example/',
  ])('%j is refused', (url) => {
    expect(reading(url)).toBe('host');
  });

  test('a backslash behind the host is refused, where some parsers end the host and others go on', () => {
    expect(reading('https://good.example\\@evil.example/')).toBe('path');
    expect(reading('https://good.example\\.evil.example/')).toBe('path');
  });
});

describe('the path of a target', () => {
  test.each([
    ['/v1/users', '/v1/users', '/v1/users'],
    ['/', '/', '/'],
    ['/a/../b', '/b', '/b'],
    ['/a/%2e%2e/b', '/b', '/b'],
    ['/a/.%2E/b', '/b', '/b'],
    ['/a/./b', '/a/b', '/a/b'],
    ['/a/%2e/b', '/a/b', '/a/b'],
    ['/../../etc/passwd', '/etc/passwd', '/etc/passwd'],
    ['/a/..', '/', '/'],
    ['/a/b/..', '/a/', '/a/'],
    ['/a/.', '/a/', '/a/'],
    ['/a//b', '/a/b', '/a/b'],
    ['//evil.example/x', '/evil.example/x', '/evil.example/x'],
    ['///', '/', '/'],
    ['/a//', '/a/', '/a/'],
    ['/a//../b', '/a/b', '/a/b'],
    ['/a/...', '/a/...', '/a/...'],
    ['/a/..b/.c', '/a/..b/.c', '/a/..b/.c'],
    ['/%61dmin', '/admin', '/%61dmin'],
    ['/%41%20b', '/A b', '/%41%20b'],
    ['/a+b', '/a+b', '/a+b'],
    ['/a%2bb', '/a+b', '/a%2bb'],
    ['/caf%C3%A9', '/café', '/caf%C3%A9'],
    ['/café', '/café', '/caf%C3%A9'],
    ['/資料／1.pdf', '/資料／1.pdf', '/%E8%B3%87%E6%96%99%EF%BC%8F1.pdf'],
    ['/a%ef%bc%8fb', '/a／b', '/a%ef%bc%8fb'],
    ['/%F0%9F%98%80', '/😀', '/%F0%9F%98%80'],
    ['/100%25', '/100%', '/100%25'],
    ['/a%2520b', '/a%20b', '/a%2520b'],
    ['/a;v=1/b', '/a;v=1/b', '/a;v=1/b'],
    ['/a/;/b', '/a/;/b', '/a/;/b'],
    ['/a"<b>`{c}^|', '/a"<b>`{c}^|', '/a%22%3Cb%3E%60%7Bc%7D%5E|'],
    ['/a%3Fb%23c', '/a?b#c', '/a%3Fb%23c'],
    ['/a:b@c', '/a:b@c', '/a:b@c'],
    ["/~user/(x)!$&'*,=", "/~user/(x)!$&'*,=", "/~user/(x)!$&'*,="],
  ])('%s is compared as %s and sent as %s', (written, path, sentPath) => {
    expect(readRequestPath(written)).toEqual({ path, sentPath, query: '' });
    expect(new URL(`https://a.example${sentPath}`).pathname).toBe(sentPath);
  });

  test.each([
    '',
    'v1/users',
    '*',
    'https://evil.example/',
    '/a%2fb',
    '/a%2Fb',
    '/..%2fadmin',
    '/a\\b',
    '/..\\admin',
    '/a%5cb',
    '/a%5Cb',
    '/a\tb',
    '/a\r\nHost: evil',
    '/a b',
    '/a\x7f',
    '/a\u0085b',
    '/a%00b',
    '/a%0d%0ab',
    '/a%1f',
    '/a%7F',
    '/a%c2%85',
    '/a%',
    '/a%2',
    '/a%zz',
    '/a%u002e',
    '/a%%32%65',
    '/%c0%af',
    '/%c0%ae%c0%ae/',
    '/%e0%80%af',
    '/%ed%a0%80',
    '/%f4%90%80%80',
    '/%ff',
    '/%e9',
    '/\ud800',
    '/%252e%252e/admin',
    '/%252E%252e/admin',
    '/..%252fadmin',
    '/a%255cb',
    '/a%255Cb',
    '/a%25252fb',
    '/a%2500b',
    '/a%250d%250ab',
    '/..;/admin',
    '/..;x=y/admin',
    '/.;/admin',
    '/a/%2e%2e;/b',
    '/a/..%3b/b',
    '/a/..;',
    '/．．/admin',
    '/%ef%bc%8e%ef%bc%8e/admin',
    '/public／..／admin',
    '/‥/admin',
    '/..；/admin',
    '/a?b\r\nc',
    '/a?b c',
    '/a?\ud800',
    `/${'a'.repeat(8192)}`,
    `/${'é'.repeat(1400)}`,
    `/a?${'b'.repeat(16_384)}`,
  ])('%j is refused', (path) => {
    expect(pathReading(path)).toBe('path');
  });

  test.each([
    ['/a?b=c&d', '?b=c&d'],
    ['/a?', ''],
    ['/a?b#c', '?b'],
    ['/a#c?b', ''],
    ['/a?b?c/../d', '?b?c/../d'],
    ['/a?x=%2F%5C%00&y=%zz', '?x=%2F%5C%00&y=%zz'],
    ['/a?q=é"<>\'', '?q=%C3%A9%22%3C%3E%27'],
  ])('the query of %s is %s', (path, query) => {
    expect(readRequestPath(path)).toMatchObject({ path: '/a', query });
  });
});

describe('whatever is written', () => {
  const pieces = fc.constantFrom(
    ...[
      'good.example',
      'evil.example',
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      ':443',
      '#',
      '?',
      '.',
      '..',
      '..;',
      ';',
    ],
    ...[
      '%2e',
      '%2f',
      '%5c',
      '%252e',
      '%40',
      '%00',
      '%',
      '\t',
      '\n',
      ' ',
      '。',
      '．',
      '／',
      '：',
      '℀',
      '[',
      ']',
      '::1',
      '0x7f.1',
      'é',
      'a',
    ],
    ...['good.example', 'https://', 'https://good.example', 'https://good.example/'],
  );

  test('the rule, the URL parser and the wire name the same host and path', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 9 }), (written) => {
        const url = written.join('');
        const target = readRequestTarget(url);
        if ('refusal' in target) return;
        read++;
        const parsed = new URL(url);
        const [entry = ''] = checkHosts([`${parsed.hostname}:${target.port}`], 'hosts');
        expect(isHostAllowed([entry], target)).toBe(true);
        expect(isHostAllowed(['good.example'], target)).toBe(
          /^(https:)good\.example\.?$/.test(parsed.protocol + parsed.host),
        );
        expect(target.path).toBe(decodeURIComponent(parsed.pathname).replace(/\/+/g, '/'));
        const sent = new URL(`https://good.example${target.sentPath}${target.query}`);
        expect([sent.hostname, sent.pathname, sent.search]).toEqual(['good.example', target.sentPath, target.query]);
        expect(readRequestPath(target.sentPath + target.query)).toMatchObject({
          path: target.path,
          sentPath: target.sentPath,
        });
      }),
      { numRuns: 10_000, seed: 7 },
    );
    expect(read).toBeGreaterThan(100);
  });
});
