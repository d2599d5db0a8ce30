import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type CapabilityDraft, defineCapability } from '../kit/capability.ts';

const written = {
  summary: 'Sends a parcel.',
  description: 'Sends one parcel to its address.',
  input: Type.Object({}),
  output: Type.Object({}),
  examples: [],
  run: async () => ({ data: {} }),
};

function defined(draft: Partial<CapabilityDraft>) {
  return defineCapability()({ ...written, method: 'POST', path: '/v1/parcel/send', ...draft });
}

test.each([
  ['/v1/queue/get/{queue}', 'queue.get'],
  ['/v1/queue/batch/publish', 'queue.batch.publish'],
  ['/v1/errors/group_detail/{error_group_id}', 'errors.group_detail'],
  ['/v1/discovery', 'discovery'],
])('the id of %s is %s', (path, id) => {
  expect(defined({ path }).id).toBe(id);
});

test('an id that the path does not give is said', () => {
  expect(defined({ path: '/v1/discovery/{capability}', id: 'discovery.capability' }).id).toBe('discovery.capability');
});

test('it is free, and has no errors and events of its own, unless it says so', () => {
  expect(defined({})).toMatchObject({ price: 'free', errors: [], events: [] });
  const said = { price: 'parcel.send', errors: ['NOT_FOUND'], events: ['parcel.sent'] } as const;
  expect(defined(said)).toMatchObject(said);
});

describe('the scope and the idempotency key follow from the method', () => {
  test.each<[string, Partial<CapabilityDraft>, string, boolean]>([
    ['a GET reads', { method: 'GET' }, 'read', false],
    ['a read by POST does', { isLongRead: true }, 'read', false],
    ['a read whose answer is a secret is for admins', { method: 'GET', answersSecret: 'admins' }, 'admin', false],
    ['everything else writes, with a key', { method: 'PATCH' }, 'write', true],
    ['a keyless write takes none', { isKeyless: true }, 'write', false],
    ['a write of the account is for admins', { path: '/v1/account/update' }, 'admin', true],
    ['a read of the account is not', { path: '/v1/account/get', method: 'GET' }, 'read', false],
    ['a write of the operator is for admins', { path: '/v1/operator/kyc/set' }, 'admin', true],
  ])('%s', (_, draft, scope, idempotent) => {
    expect(defined(draft)).toMatchObject({ scope, idempotent });
  });
});

test('a DELETE is destructive, anything else where it says so', () => {
  const destructive = (draft: Partial<CapabilityDraft>) => defined(draft).destructive;
  expect([destructive({ method: 'DELETE' }), destructive({}), destructive({ destructive: true })]).toEqual([
    true,
    false,
    true,
  ]);
});

test('whatever the operator may do has its gates, whether it names them or not', () => {
  const path = '/v1/operator/send';
  expect(defined({ path }).gates).toEqual(['operator', 'recent_sign_in']);
  expect(defined({ path, method: 'GET' }).gates).toEqual(['operator']);
  expect(defined({ path, gates: ['kyc'] }).gates).toEqual(['operator', 'recent_sign_in', 'kyc']);
  expect(defined({ gates: ['email'] }).gates).toEqual(['email']);
  expect(defined({}).gates).toBeUndefined();
});
