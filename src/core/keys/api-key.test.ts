import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../secrets/secrets.ts';
import { isWellFormedSecret, mintSecret } from './api-key.ts';

const secrets = new Secrets('a server secret of tests');
const mint = () => mintSecret(secrets);

describe('secrets', () => {
  test('are word characters only, unlike one another, and known by their hash', () => {
    const minted = Array.from({ length: 200 }, mint);
    expect(new Set(minted.map(({ secret }) => secret)).size).toBe(200);
    for (const { secret, hash, prefix, last4 } of minted) {
      expect(secret).toMatch(/^qm_live_[0-9A-Za-z]{46}$/);
      expect(isWellFormedSecret(secrets, secret)).toBe(true);
      expect(hash).toEqual(createHash('sha256').update(secret).digest());
      expect([prefix, last4]).toEqual([secret.slice(0, 16), secret.slice(-4)]);
    }
  });

  test('any changed character breaks the checksum', () => {
    const { secret } = mint();
    for (let at = 'qm_live_'.length; at < secret.length; at += 1) {
      const changed = secret.slice(0, at) + (secret[at] === 'x' ? 'y' : 'x') + secret.slice(at + 1);
      expect(isWellFormedSecret(secrets, changed), changed).toBe(false);
    }
  });

  test.each(['', 'qm_live_', 'Bearer', `${mint().secret} `, mint().secret.replace('live', 'test')])(
    '%j is none',
    (text) => {
      expect(isWellFormedSecret(secrets, text)).toBe(false);
    },
  );

  test('another server secret mints none of ours: a checksum cannot be computed without it', () => {
    const foreign = new Secrets('the server secret of another deployment');
    for (let i = 0; i < 50; i += 1) {
      const { secret } = mintSecret(foreign);
      expect([isWellFormedSecret(foreign, secret), isWellFormedSecret(secrets, secret)]).toEqual([true, false]);
    }
  });
});
