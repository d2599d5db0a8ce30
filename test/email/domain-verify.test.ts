import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DomainBench, type Owner, publish, recordOf, startDomainBench } from './domain-harness.ts';

let bench: DomainBench;
let owner: Owner;

beforeAll(async () => {
  bench = await startDomainBench();
});
beforeEach(async () => {
  bench.names.clear();
  owner = await bench.account();
});
afterAll(() => bench.stop());

const statusOf = async (domain: string) => (await owner.verify(domain)).status;

test('a domain is verified once its DKIM record is there, and no earlier', async () => {
  const added = await owner.verify('acme.test');
  expect(added).toMatchObject({ domain: 'acme.test', status: 'pending', checked_at: expect.any(String) });
  expect(added.records.map(({ purpose, required, status }: never) => [purpose, required, status])).toEqual([
    ['dkim', true, 'missing'],
    ['dmarc', false, 'missing'],
    ['inbound', false, 'missing'],
  ]);
  publish(bench.names, added, 'dkim');
  const verified = await owner.verify('acme.test');
  const { status, found, value } = recordOf(verified, 'dkim');
  expect([verified.status, status, found]).toEqual(['verified', 'ok', value]);
  expect(await owner.get('acme.test')).toEqual(verified);
});

test('two accounts prove one domain, each with its own selector', async () => {
  const other = await bench.account();
  const [one, two] = [await owner.verify('shared.test'), await other.verify('shared.test')];
  expect(recordOf(one, 'dkim').name).not.toBe(recordOf(two, 'dkim').name);
  publish(bench.names, one, 'dkim');
  expect([(await owner.verify('shared.test')).status, (await other.verify('shared.test')).status]).toEqual([
    'verified',
    'pending',
  ]);
});

test('the key of another account at the right selector is a mismatch', async () => {
  const other = await bench.account();
  const [one, two] = [await owner.verify('taken.test'), await other.verify('taken.test')];
  bench.names.set('TXT', recordOf(one, 'dkim').name, recordOf(two, 'dkim').value);
  const looked = await owner.verify('taken.test');
  expect([looked.status, recordOf(looked, 'dkim').status]).toEqual(['pending', 'mismatch']);
  expect(recordOf(looked, 'dkim').found).toBe(recordOf(two, 'dkim').value);
});

describe('a DKIM record', () => {
  const withKey = async (domain: string, text: (key: string) => string) => {
    const { name, value } = recordOf(await owner.verify(domain), 'dkim');
    bench.names.set('TXT', name, text(value.slice(value.indexOf('p=') + 2)));
    return statusOf(domain);
  };
  test.each([
    ['without optional tags', (key: string) => `p=${key}`],
    ['with spaces within the key', (key: string) => `v=DKIM1; k=rsa; p=${key.slice(0, 100)} ${key.slice(100)};`],
    ['in test mode', (key: string) => `v=DKIM1; t=y; p=${key}`],
    ['for e-mail and SHA-256', (key: string) => `v=DKIM1; h=sha1:sha256; s=email; p=${key}`],
  ])('%s is right', async (_what, text) => {
    expect(await withKey('right.test', text)).toBe('verified');
  });
  test.each([
    ['of a revoked key', () => 'v=DKIM1; p='],
    ['of another kind of key', (key: string) => `v=DKIM1; k=ed25519; p=${key}`],
    ['for SHA-1 alone', (key: string) => `v=DKIM1; h=sha1; p=${key}`],
    ['for another service', (key: string) => `v=DKIM1; s=tlsrpt; p=${key}`],
    ['of a longer key', (key: string) => `v=DKIM1; p=${key}AAAA`],
    ['that is none', (key: string) => key],
  ])('%s is wrong', async (_what, text) => {
    expect(await withKey('wrong.test', text)).toBe('pending');
  });
});

test('an alias of the record counts, as mail services publish keys', async () => {
  const { name, value } = recordOf(await owner.verify('alias.test'), 'dkim');
  bench.names.set('CNAME', name, 'keys.hosted.test');
  bench.names.set('TXT', 'keys.hosted.test', value);
  expect(await statusOf('alias.test')).toBe('verified');
});

test('a policy is found at the registered domain too; mail hosts elsewhere are a mismatch', async () => {
  bench.names.set('TXT', '_dmarc.acme.test', 'google-site-verification=x', 'v=DMARC1; p=reject');
  bench.names.set('MX', 'mail.acme.test', '5 mx.elsewhere.test');
  const looked = await owner.verify('mail.acme.test');
  expect(recordOf(looked, 'dmarc')).toMatchObject({
    name: '_dmarc.mail.acme.test',
    status: 'ok',
    found: 'v=DMARC1; p=reject',
  });
  expect(recordOf(looked, 'inbound')).toMatchObject({ status: 'mismatch', found: 'mx.elsewhere.test' });
});

test('name servers that do not answer leave the domain pending, and the call says so', async () => {
  const { name } = recordOf(await owner.verify('dark.test'), 'dkim');
  bench.names.misbehave(name, 'servfail');
  const { status, body } = await owner.call('POST', '/v1/email/domain/verify', { domain: 'dark.test' });
  expect([status, body.data.status, recordOf(body.data, 'dkim').status]).toEqual([200, 'pending', 'missing']);
  expect(body.metadata.warnings).toEqual([expect.stringContaining('did not answer')]);
});

describe('a name', () => {
  test.each([
    ['ACME.Test.', 'acme.test'],
    ['bücher.test', 'xn--bcher-kva.test'],
  ])('%s is kept as %s', async (sent, kept) => {
    expect((await owner.verify(sent)).domain).toBe(kept);
    expect((await owner.get(encodeURIComponent(sent))).domain).toBe(kept);
    const { body } = await owner.call('DELETE', `/v1/email/domain/delete/${encodeURIComponent(sent)}`);
    expect(body.data.deleted).toBe(true);
  });
  test.each([
    '192.0.2.1',
    '[2001:db8::1]',
    '0x7f.1',
    'co.uk',
    'com',
    'github.io',
    'localhost',
    'a@acme.test',
    'https://acme.test',
    'acme.test/x',
    'acme..test',
    '-a.test',
    'a_b.test',
    `${'a'.repeat(64)}.test`,
  ])('%s is refused', async (domain) => {
    const { status, body } = await owner.call('POST', '/v1/email/domain/verify', { domain });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'VALIDATION_FAILED', 'domain']);
  });
});

test('a deleted domain is gone, for its account alone', async () => {
  const other = await bench.account();
  await Promise.all([owner.verify('gone.test'), other.verify('gone.test')]);
  const remove = () => owner.call('DELETE', '/v1/email/domain/delete/gone.test');
  expect((await remove()).body.data).toEqual({ domain: 'gone.test', deleted: true, status: null });
  expect((await remove()).body.data).toEqual({ domain: 'gone.test', deleted: false, status: 'not_found' });
  const { status, body } = await owner.call('GET', '/v1/email/domain/get/gone.test');
  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  expect((await other.get('gone.test')).status).toBe('pending');
});

test('domains are listed by name, and by status', async () => {
  for (const domain of ['b.test', 'a.test']) await owner.verify(domain);
  publish(bench.names, await owner.get('b.test'), 'dkim');
  await owner.verify('b.test');
  const names = async (query = '') =>
    (await owner.call('GET', `/v1/email/domain/list${query}`)).body.data.items.map(({ domain }: never) => domain);
  expect([await names(), await names('?status=verified')]).toEqual([['a.test', 'b.test'], ['b.test']]);
});

test('an account has so many domains as its tier allows; checking one of them again is always possible', async () => {
  await bench.test.core.db.query(
    {
      name: '',
      text: `INSERT INTO email.domain (account_id, domain, status, records, created_at)
             SELECT w.account_id, 'd' || n || '.test', 'pending', '[]', now() FROM core.wallet w, generate_series(1, 100) n WHERE w.account_id = $1`,
    },
    [owner.accountId],
  );
  const { status, body } = await owner.call('POST', '/v1/email/domain/verify', { domain: 'one-more.test' });
  expect([status, body.error.code]).toEqual([409, 'QUOTA_EXCEEDED']);
  expect(await statusOf('d7.test')).toBe('pending');
});
