import { createPrivateKey, createPublicKey } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { SigningKeys } from '../../src/modules/email/domains/signing-key.ts';
import { createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
});

const newAccount = async () => (await createTestAccount(service.core)).accountId;

test('an account gets one key, whichever process asks first, and each time the same', async () => {
  const accountId = await newAccount();
  const processes = Array.from({ length: 3 }, () => new SigningKeys(service.core));
  const keys = await Promise.all(processes.flatMap((keys) => [keys.of(accountId), keys.of(accountId)]));
  const [first] = keys;
  for (const key of keys) expect(key).toEqual(first);
  expect(await new SigningKeys(service.core).of(accountId)).toEqual(first);
});

test('the public key is that of the private one, RSA of 2,048 bits', async () => {
  const { privateKey, publicKey } = await new SigningKeys(service.core).of(await newAccount());
  const derived = createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'der' });
  expect(derived.toString('base64')).toBe(publicKey);
  expect(createPrivateKey(privateKey).asymmetricKeyDetails?.modulusLength).toBe(2048);
});

test('two accounts have keys and selectors of their own', async () => {
  const keys = new SigningKeys(service.core);
  const [one, other] = await Promise.all([keys.of(await newAccount()), keys.of(await newAccount())]);
  expect(one.selector).not.toBe(other.selector);
  expect(one.publicKey).not.toBe(other.publicKey);
});

test('the private key is encrypted at rest, and for its account alone', async () => {
  const { core } = service;
  const accountId = await newAccount();
  const { privateKey } = await new SigningKeys(core).of(accountId);
  const text = 'SELECT k.private_key FROM email.signing_key k WHERE k.account_id = $1';
  const { rows } = await core.db.query<{ private_key: Buffer }>({ name: '', text }, [accountId]);
  const sealed = rows[0]?.private_key as Buffer;
  expect(sealed.toString('latin1')).not.toContain('PRIVATE KEY');
  expect(core.secrets.decrypt('email-signing-key', accountId, sealed)).toBe(privateKey);
  expect(() => core.secrets.decrypt('email-signing-key', 'acct_other', sealed)).toThrow();
});

test('a failed look is not remembered, and an account that is gone gets no key', async () => {
  const keys = new SigningKeys(service.core);
  await expect(keys.of('acct_anon_gone')).rejects.toThrow('it is gone');
  await expect(keys.of('acct_anon_gone')).rejects.toThrow('it is gone');
});
