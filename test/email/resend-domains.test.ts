// Resend's own client, unchanged, with RESEND_BASE_URL: its domains.
import { Resend } from 'resend';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DomainBench, type Owner, startDomainBench } from './domain-harness.ts';

let bench: DomainBench;
let owner: Owner;
let resend: Resend;

beforeAll(async () => {
  bench = await startDomainBench();
});
beforeEach(async () => {
  bench.names.clear();
  owner = await bench.account();
  resend = new Resend(owner.secret, { baseUrl: `${bench.test.url}/v1/email/resend` });
});
afterAll(() => bench.stop());

test('a domain is created, verified, listed and removed', async () => {
  const { data: created } = await resend.domains.create({ name: 'acme.test' });
  expect(created).toMatchObject({ id: 'acme.test', name: 'acme.test', status: 'pending', region: 'us-east-1' });
  const dkim = created?.records.find(({ record }) => record === 'DKIM');
  expect(dkim).toMatchObject({ type: 'TXT', ttl: 'Auto', status: 'not_started' });
  bench.names.set('TXT', dkim?.name ?? '', dkim?.value ?? '');
  expect((await resend.domains.verify('acme.test')).data).toEqual({ object: 'domain', id: 'acme.test' });
  const { data: got } = await resend.domains.get('acme.test');
  expect(got).toMatchObject({ object: 'domain', status: 'verified' });
  expect(got?.records.map(({ record, type, status }) => [record, type, status])).toEqual([
    ['DKIM', 'TXT', 'verified'],
    ['Receiving', 'MX', 'not_started'],
  ]);
  expect((await resend.domains.remove('acme.test')).data).toEqual({ object: 'domain', id: 'acme.test', deleted: true });
  expect((await resend.domains.remove('acme.test')).error).toMatchObject({ statusCode: 404, name: 'not_found' });
});

test('domains are listed page by page', async () => {
  for (const name of ['c.test', 'a.test', 'b.test']) await resend.domains.create({ name });
  const { data: first } = await resend.domains.list({ limit: 2 });
  expect([first?.object, first?.has_more, first?.data.map(({ id }) => id)]).toEqual([
    'list',
    true,
    ['a.test', 'b.test'],
  ]);
  const { data: second } = await resend.domains.list({ limit: 2, after: 'b.test' });
  expect([second?.has_more, second?.data.map(({ id }) => id)]).toEqual([false, ['c.test']]);
  expect((await resend.domains.list({ before: 'b.test' })).error).toMatchObject({
    statusCode: 422,
    name: 'validation_error',
  });
});

test('failures have their form: of a domain, an unknown id, a wrong key, and what is not served', async () => {
  expect((await resend.domains.create({ name: 'co.uk' })).error).toMatchObject({
    statusCode: 422,
    name: 'validation_error',
  });
  expect((await resend.domains.get('none.test')).error).toMatchObject({ statusCode: 404, name: 'not_found' });
  expect((await resend.domains.verify('none.test')).error).toMatchObject({ statusCode: 404, name: 'not_found' });
  const stranger = new Resend('qm_wrong', { baseUrl: `${bench.test.url}/v1/email/resend` });
  expect((await stranger.domains.list()).error).toMatchObject({ statusCode: 403, name: 'invalid_api_key' });
  expect((await resend.audiences.list()).error).toMatchObject({ statusCode: 404, name: 'not_found' });
});

test('a domain of another account is not found', async () => {
  const other = await bench.account();
  await other.verify('theirs.test');
  expect((await resend.domains.get('theirs.test')).error).toMatchObject({ statusCode: 404 });
  expect((await resend.domains.remove('theirs.test')).error).toMatchObject({ statusCode: 404 });
  expect((await resend.domains.list()).data?.data).toEqual([]);
});
