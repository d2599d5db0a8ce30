import { expect, test } from 'vitest';
import { Secrets } from '../../core/secrets/secrets.ts';
import type { TargetRow } from './store.ts';
import { TargetCache } from './target-cache.ts';

const secrets = new Secrets('a secret of the tests, long enough to be one');
const seal = (text: string, id = 'wh_1') => secrets.encrypt('webhook-secret', id, text);
const row = (fields: Partial<TargetRow> = {}): TargetRow => ({
  webhook_id: 'wh_1',
  url: 'https://example.org/',
  retry_policy: 'default',
  timeout_seconds: 15,
  headers: null,
  secret: seal('whsec_new'),
  previous_secret: null,
  status: 'enabled',
  ...fields,
});

test('an unchanged row is decrypted once', () => {
  const cache = new TargetCache(secrets);
  const first = row();
  expect(cache.open({ ...first })).toBe(cache.open({ ...first }));
});

test.each<[string, Partial<TargetRow>]>([
  ['url', { url: 'https://example.org/b' }],
  ['retry policy', { retry_policy: 'aggressive' }],
  ['timeout', { timeout_seconds: 16 }],
  ['secret', { secret: seal('whsec_newer') }],
  ['previous secret', { previous_secret: seal('whsec_old') }],
  ['headers', { headers: secrets.encrypt('webhook-headers', 'wh_1', '{"x-a":"b"}') }],
])('a changed %s counts at once', (_name, change) => {
  const cache = new TargetCache(secrets);
  const before = row();
  cache.open(before);
  const changed = cache.open({ ...before, ...change });
  expect(changed).toEqual(new TargetCache(secrets).open({ ...before, ...change }));
  expect(changed).not.toEqual(cache.open(before));
});

test('it holds a bounded number of targets', () => {
  const cache = new TargetCache(secrets, 1);
  const [one, two] = [row(), row({ webhook_id: 'wh_2', secret: seal('whsec_two', 'wh_2') })];
  const first = cache.open(one);
  cache.open(two);
  expect(cache.open(one)).not.toBe(first);
});
