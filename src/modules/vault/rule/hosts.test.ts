import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../problems/problem.ts';
import { checkHosts, hostMatchLength, isHostAllowed } from './hosts.ts';
import { type RequestTarget, readRequestTarget } from './target.ts';

const target = (url: string) => readRequestTarget(url) as RequestTarget;

function refusedParam(hosts: readonly string[]): string | undefined {
  try {
    checkHosts(hosts, 'hosts');
    return undefined;
  } catch (error) {
    return (error as Problem).param;
  }
}

describe('hosts as a person writes them', () => {
  test.each([
    ['api.github.com', 'api.github.com'],
    ['API.GitHub.com', 'api.github.com'],
    ['api.github.com.', 'api.github.com'],
    ['*.example.org', '*.example.org'],
    ['*.Example.org:8443', '*.example.org:8443'],
    ['api.example.org:443', 'api.example.org:443'],
    ['api.example.org:0443', 'api.example.org:443'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.bücher.example', '*.xn--bcher-kva.example'],
    ['10.0.0.1', '10.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['[0:0::1]:8443', '[::1]:8443'],
    ['localhost', 'localhost'],
    ['my_host.example.org', 'my_host.example.org'],
  ])('%s is kept as %s', (written, kept) => {
    expect(checkHosts([written], 'hosts')).toEqual([kept]);
    expect(checkHosts([kept], 'hosts')).toEqual([kept]);
  });

  test.each([
    '',
    '*',
    '*.',
    '*.com',
    '*.com.',
    '**.example.org',
    '*.*.example.org',
    'api.*.org',
    '*example.org',
    'api*.example.org',
    'https://api.example.org',
    'api.example.org/',
    'api.example.org/v1',
    'api.example.org?x',
    'api.example.org#x',
    'api.example.org\\x',
    'user@api.example.org',
    'api%2eexample.org',
    'api.example.org:',
    'api.example.org:0',
    'api.example.org:65536',
    'api.example.org:x',
    'api.example.org:80:443',
    'api.example.org:443:80',
    'api..example.org',
    '.example.org',
    '*..example.org',
    'a b',
    'a\tb',
    ' api.example.org',
    '::1',
    '[::1',
    '[::1]x',
    '[api.example.org]',
    '*.[::1]',
    'a(b).example',
    '*.127.0.0.1',
    '*.10.1',
    '\ud800.example',
    `${'a.'.repeat(140)}example`,
  ])('%j is refused by the name of its place', (host) => {
    expect(refusedParam(['a.example', 'b.example', host])).toBe('hosts[2]');
  });

  test('two that are alike once they are normalised are refused', () => {
    expect(refusedParam(['a.example', 'bücher.example', 'XN--BCHER-KVA.example'])).toBe('hosts[2]');
    expect(refusedParam(['a.example', 'a.example:443', '*.a.example'])).toBeUndefined();
  });
});

describe('a target', () => {
  test.each([
    ['api.example.org', 'https://api.example.org/', true],
    ['api.example.org', 'https://API.example.org.:443/', true],
    ['api.example.org', 'http://api.example.org/', true],
    ['api.example.org', 'https://api.example.org:80/', false],
    ['api.example.org', 'http://api.example.org:443/', false],
    ['api.example.org', 'https://api.example.org:8443/', false],
    ['api.example.org', 'https://x.api.example.org/', false],
    ['api.example.org', 'https://xapi.example.org/', false],
    ['api.example.org', 'https://api.example.org.evil.example/', false],
    ['api.example.org:8443', 'https://api.example.org:8443/', true],
    ['api.example.org:8443', 'http://api.example.org:8443/', true],
    ['api.example.org:8443', 'https://api.example.org/', false],
    ['*.example.org', 'https://a.example.org/', true],
    ['*.example.org', 'https://a.b.c.example.org/', true],
    ['*.example.org', 'https://example.org/', false],
    ['*.example.org', 'https://xexample.org/', false],
    ['*.example.org', 'https://a.example.org:8443/', false],
    ['*.example.org:8443', 'https://a.example.org:8443/', true],
    ['[::1]:8443', 'https://[::1]:8443/', true],
    ['127.0.0.1', 'https://0x7f.1/', true],
    ['127.0.0.1', 'https://[::ffff:127.0.0.1]/', false],
    ['xn--bcher-kva.example', 'https://bücher.example/', true],
  ])('by %s, %s is allowed: %s', (host, url, isAllowed) => {
    expect(isHostAllowed([host], target(url))).toBe(isAllowed);
    expect(isHostAllowed(['other.example', host], target(url))).toBe(isAllowed);
    expect(isHostAllowed([], target(url))).toBe(false);
  });

  test('is named by the longest entry, exact before wildcard', () => {
    const of = (...hosts: string[]) => hostMatchLength(hosts, 'a.b.example', 443);
    expect(of('*.example', '*.b.example', 'a.b.example')).toBe(of('a.b.example'));
    expect(of('a.b.example')).toBeGreaterThan(of('*.b.example'));
    expect(of('*.b.example')).toBeGreaterThan(of('*.example'));
    expect(of('a.b.example:443')).toBe(of('a.b.example'));
    expect(of('a.b.example:8443', 'other.example')).toBe(0);
    expect(hostMatchLength(['a.b.example'], 'a.b.example', 80)).toBe(of('a.b.example'));
    expect(hostMatchLength(['a.b.example'], 'a.b.example', 8443)).toBe(0);
    expect(hostMatchLength(['[::1]:8443'], '::1', 8443)).toBeGreaterThan(0);
  });
});
