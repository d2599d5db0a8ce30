import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secrets } from '../../../core/secrets/secrets.ts';
import { CertificateAuthority, caPem } from './ca.ts';
import { integer, sequence, time } from './der.ts';
import { Leaves } from './leaf.ts';
import { signDeterministically } from './rfc6979.ts';

const ROOT = 'a server secret of the tests, long enough';
const secrets = new Secrets(ROOT);
const key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ type: 'spki', format: 'der' });
const validity = { from: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 86_400_000) };

test('signatures are those of RFC 6979, A.2.5', () => {
  const scalar = 0xc9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721n;
  const expected = {
    sample: [
      0xefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716n,
      0xf7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8n,
    ],
    test: [
      0xf1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367n,
      0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083n,
    ],
  };
  for (const [message, [r = 0n, s = 0n]] of Object.entries(expected))
    expect(signDeterministically(scalar, Buffer.from(message))).toEqual(sequence(integer(r), integer(s)));
});

test('times from 2050 on have four digits of the year', () => {
  expect(time(new Date('2049-12-31T23:59:59Z')).toString('latin1')).toBe('\x17\x0d491231235959Z');
  expect(time(new Date('2050-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f20500101000000Z');
});

test('the CA is the same bytes in every process of a deployment, and another one elsewhere', () => {
  expect(caPem(new Secrets(ROOT))).toBe(caPem(secrets));
  const [own, other] = [secrets, new Secrets(`${ROOT}!`)].map((of) => new X509Certificate(caPem(of)));
  expect(own?.ca && own.verify(own.publicKey)).toBe(true);
  expect(own?.verify((other as X509Certificate).publicKey)).toBe(false);
  expect(own?.subject).toContain(secrets.fingerprint.slice(0, 16));
});

test.each(['api.github.com', '203.0.113.7', '2001:db8::7', `${'a'.repeat(63)}.${'b'.repeat(63)}.example.org`])(
  'a leaf is for %s alone',
  (host) => {
    const authority = new CertificateAuthority(secrets);
    const leaf = new X509Certificate(authority.issueLeaf(host, key, validity));
    const ca = new X509Certificate(authority.pem);
    expect(leaf.checkIssued(ca) && leaf.verify(ca.publicKey)).toBe(true);
    expect(leaf.checkHost(host) ?? leaf.checkIP(host)).toBe(host);
    expect(leaf.checkHost('example.org')).toBeUndefined();
    expect(leaf.ca).toBe(false);
  },
);

const openssl = ['/usr/bin/openssl', '/opt/homebrew/bin/openssl'].find((path) => existsSync(path));

test.skipIf(openssl === undefined)('openssl takes CA and leaf by its strict rules', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-ca-'));
  try {
    const authority = new CertificateAuthority(secrets);
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const leaf = file('leaf.pem', authority.issueLeaf('api.github.com', key, validity));
    const strictly = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'api.github.com'];
    const verify = (ca: string) =>
      execFileSync(openssl as string, [...strictly, '-CAfile', ca, leaf], { encoding: 'utf8', stdio: 'pipe' });
    expect(verify(file('ca.pem', authority.pem))).toContain('OK');
    expect(() => verify(file('other.pem', caPem(new Secrets(`${ROOT}!`))))).toThrow(/verification failed/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a leaf is kept until four hours before its end, and the oldest gives way', async () => {
  let nowMs = Date.now();
  const leaves = new Leaves(secrets, 2, () => nowMs);
  const first = await leaves.leafFor('a.example.org');
  nowMs += 19 * 3_600_000;
  expect(await leaves.leafFor('a.example.org')).toBe(first);
  nowMs += 2 * 3_600_000;
  const second = await leaves.leafFor('a.example.org');
  expect(second).not.toBe(first);
  for (const host of ['b.example.org', 'c.example.org']) await leaves.leafFor(host);
  expect(await leaves.leafFor('a.example.org')).not.toBe(second);
});
