import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { judge, type Resolve } from './guard.ts';

const PUBLIC = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'];
const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;
const failing: Resolve = async () => {
  throw new Error('ENOTFOUND');
};
const ranges = (...cidrs: string[]) => cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

async function rule(url: string, resolve: Resolve = answering(...PUBLIC), allowed = ranges()): Promise<string> {
  const verdict = await judge(url, resolve, allowed);
  return verdict.kind === 'refused' ? verdict.refusal.rule : verdict.kind;
}

describe('what a URL says', () => {
  test.each([
    'https://example.com',
    'https://example.com./hook',
    'https://example.com:8443/a?b=c',
    'https://EXAMPLE.com/#fragment',
    'https://bücher.example/x',
    'https://xn--bcher-kva.example/',
    'https://my_host.example.com/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://example.com/a@b:c',
  ])('%s is admitted', async (url) => {
    expect(await rule(url)).toBe('admitted');
  });

  test.each([
    ['', 'url'],
    ['example.com', 'url'],
    ['//example.com/', 'url'],
    ['https://', 'url'],
    ['https://exa mple.com/', 'url'],
    ['https://example.com/\n', 'url'],
    ['https://exa\tmple.com/', 'url'],
    ['https://127.0.\t0.1/', 'url'],
    ['https://127.0.0.1\n/', 'url'],
    ['https://example.com/\0', 'url'],
    ['https://example.com/\uD800', 'url'],
    ['https://example.com:99999/', 'url'],
    ['https://[fe80::1%25eth0]/', 'url'],
    ['https://1.2.3.256/', 'url'],
    [`https://example.com/${'a'.repeat(2048)}`, 'url'],
    ['http://example.com/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['gopher://example.com/', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['wss://example.com/', 'scheme'],
    ['https://user@example.com/', 'userinfo'],
    ['https://user:password@example.com/', 'userinfo'],
    ['https://:password@example.com/', 'userinfo'],
    ['https://@example.com/', 'userinfo'],
    ['https://example.com@127.0.0.1/', 'userinfo'],
    ['https:\\\\@example.com/', 'userinfo'],
    ['https://example.com:22/', 'port'],
    ['https://example.com:25/', 'port'],
    ['https://example.com:53/', 'port'],
    ['https://example.com:465/', 'port'],
    ['https://example.com:587/', 'port'],
    ['https://example.com:3306/', 'port'],
    ['https://example.com:5432/', 'port'],
    ['https://example.com:6379/', 'port'],
    ['https://example.com:11211/', 'port'],
    ['https://example.com:0/', 'port'],
    ['https://localhost/', 'host'],
    ['https://localhost./', 'host'],
    ['https://LOCALHOST:8443/', 'host'],
    ['https://a.localhost/', 'host'],
    ['https://a.localhost./', 'host'],
    ['https://intranet/', 'host'],
    ['https://intranet./', 'host'],
    ['https://printer.local/', 'host'],
    ['https://printer.local./', 'host'],
    ['https://metadata.google.internal/', 'host'],
    ['https://router.home.arpa/', 'host'],
    ['https://example..com/', 'host'],
    ['https://example.com../', 'host'],
    ['https://.example.com/', 'host'],
  ])('%j is refused: %s', async (url, expected) => {
    expect(await rule(url)).toBe(expected);
  });
});

describe('where a literal points', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '127.0.0.1.',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '017700000001',
    '１２７.０.０.１',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::7f00:1]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[::ffff:0:7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::a9fe:a9fe]',
    '[100::1]',
    '[2001::1]',
    '[2001:0:7f00:1::]',
    '[2001:db8::1]',
    '[2001:2::1]',
    '[2001:10::1]',
    '[2001:20::1]',
    '[2002:7f00:1::]',
    '[3fff::1]',
    '[4000::1]',
    '[5f00::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
  ])('%s is not public', async (host) => {
    expect(await rule(`https://${host}/`)).toBe('address');
  });

  test.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.32.0.0', '223.255.255.255'])(
    '%s is public',
    async (host) => {
      expect(await rule(`https://${host}/`)).toBe('admitted');
    },
  );
});

describe('where a name points', () => {
  test.each([
    [['127.0.0.1']],
    [['93.184.215.14', '10.0.0.1']],
    [['10.0.0.1', '93.184.215.14']],
    [['93.184.215.14', '::1']],
    [['93.184.215.14', '::ffff:93.184.215.14']],
    [['fe80::1%eth0']],
    [['2606:4700::1%eth0']],
    [['no address']],
    [['0x7f.1']],
  ])('%j: one refused address refuses all', async (addresses) => {
    expect(await rule('https://example.com/', answering(...addresses))).toBe('address');
  });

  test('no address at all, or no answer, is unresolved', async () => {
    expect(await rule('https://example.com/', failing)).toBe('unresolved');
    expect(await rule('https://example.com/', answering())).toBe('unresolved');
  });

  test('what is refused as it stands is never looked up', async () => {
    const resolve: Resolve = () => Promise.reject(new Error('looked up'));
    for (const url of ['http://example.com/', 'https://localhost/', 'https://example.com:22/', 'https://10.0.0.1/']) {
      const verdict = await judge(url, resolve, []);
      expect(verdict.kind).toBe('refused');
    }
  });

  test('the answer admits exactly the addresses that were checked', async () => {
    const verdict = await judge('https://example.com:8443/a?b#c', answering(...PUBLIC), []);
    expect(verdict).toMatchObject({
      kind: 'admitted',
      addresses: PUBLIC,
      target: { secure: true, host: 'example.com', port: 8443, path: '/a?b' },
    });
  });
});

describe('networks that the operator exempts', () => {
  const allowed = ranges('10.0.0.0/8', '::1/128', '203.0.113.7/32');

  test.each([
    ['http://10.1.2.3:6379/', answering()],
    ['http://[::1]:22/', answering()],
    ['https://203.0.113.7/', answering()],
    ['http://receiver/', answering('10.0.0.9')],
    ['http://db.internal:5432/', answering('10.0.0.9', '::1')],
  ])('%s may be called in spite of scheme, port and name', async (url, resolve) => {
    expect(await rule(url, resolve, allowed)).toBe('admitted');
  });

  test.each([
    ['http://11.0.0.1/', answering(), 'scheme'],
    ['https://192.168.0.1/', answering(), 'address'],
    ['https://[::ffff:10.0.0.1]/', answering(), 'address'],
    ['ftp://10.0.0.1/', answering(), 'scheme'],
    ['http://user@10.0.0.1/', answering(), 'userinfo'],
    ['https://example.com/', answering('10.0.0.1', '93.184.215.14'), 'address'],
    ['http://receiver/', answering('10.0.0.1', '93.184.215.14'), 'scheme'],
    ['http://receiver/', failing, 'scheme'],
    ['https://receiver/', failing, 'host'],
    ['https://example.com/', failing, 'unresolved'],
  ])('%s is not exempt', async (url, resolve, expected) => {
    expect(await rule(url, resolve, allowed)).toBe(expected);
  });
});
