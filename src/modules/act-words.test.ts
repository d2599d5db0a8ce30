import { expect, test } from 'vitest';
import { type Capability, isAdministered } from '../kit/capability.ts';
import { actText, actWords } from './account/console/requests/act-words.ts';
import { modules } from './index.ts';

const writes = modules.flatMap(({ capabilities }) => [...capabilities] as Capability[]).filter(isAdministered);

test.each(writes.map(({ id, examples }) => [id, examples[0]?.input ?? {}] as const))('%s has words', (id, input) => {
  for (const status of [200, 409]) {
    for (const text of [JSON.stringify(input), '{}', null, '{"cut'])
      expect(actText({ capability: id, status, input: text, path: '/v1/x' }, new Map())).toMatch(
        /^[A-Z](?!.*(undefined|null|NaN|\[object))/,
      );
  }
});

test('words stand for what is called, and for what pages do to people', () => {
  const ids = new Set(writes.map(({ id }) => id));
  const others = Object.keys(actWords).filter((id) => !ids.has(id));
  expect(others).toEqual([
    ...['account.people.invite', 'account.people.cancel_invitation', 'account.people.remove', 'account.restore'],
  ]);
});

test('acts are told by name', () => {
  const names = new Map([
    ['key_1', 'shop-api'],
    ['acct_1', 'Harbour'],
    ['recv_1', 'stripe'],
  ]);
  const told = (capability: string, input: object, status = 200, path = '/v1/x') =>
    actText({ capability, status, input: JSON.stringify(input), path }, names);
  expect(told('account.keys.create', { name: 'shop-api' })).toBe('Created key shop-api');
  expect(told('account.keys.revoke', { key_id: 'key_1' })).toBe('Revoked key shop-api');
  expect(told('account.keys.revoke', { key_id: 'key_1' }, 404)).toBe('Tried to revoke key shop-api');
  expect(told('account.keys.update', { key_id: 'key_1', spend_cap_usd: 5 })).toBe('Changed key shop-api: spend cap');
  expect(told('account.keys.update', { name: 'x' }, 200, '/v1/account/keys/update/key_1')).toBe(
    'Changed key shop-api: name',
  );
  expect(told('account.people.invite', { email: 'ada@example.org', role: 'viewer' })).toBe(
    'Invited ada@example.org as viewer',
  );
  expect(told('account.people.cancel_invitation', { email: 'ada@example.org' })).toBe(
    'Cancelled the invitation of ada@example.org',
  );
  expect(told('account.webhooks.receive.update', { receiver_id: 'recv_1', queue: 'x' })).toBe(
    'Changed webhook receiver stripe: queue',
  );
  expect(told('operator.credit.grant', { account_id: 'acct_1', amount_usd: 5 })).toBe(
    'Granted $5.00 to account Harbour',
  );
  expect(told('queue.publish', {})).toBeNull();
});
