// Deletes of single objects that come at once: they share a commit, and each is judged by itself.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../src/core/callers/enter.ts';
import type { ApiKey } from '../../src/core/keys/api-key.ts';
import type { Database } from '../../src/db/database.ts';
import { removeObject } from '../../src/objects/remove-together.ts';
import type { Problem } from '../../src/problems/problem.ts';
import { type Own, query, StorageBench } from './harness.ts';

let bench: StorageBench;
beforeAll(async () => {
  bench = await StorageBench.start();
});
afterAll(() => bench.stop());

/** The same database, and how many transactions were begun through it. */
function counting(db: Database): { readonly db: Database; readonly begun: () => number } {
  let begun = 0;
  const counted = new Proxy(db, {
    get(target, name) {
      if (name === 'transaction') begun += 1;
      return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
    },
  });
  return { db: counted, begun: () => begun };
}

async function callerOf({ accountId, secret }: Pick<Own, 'accountId' | 'secret'>): Promise<Caller> {
  const principal = (await bench.core.keys.find(secret)) as ApiKey;
  return { accountId, principal, capability: 'storage.object.delete', scope: 'write' };
}

/** Its deletes, each by bucket, key and the tag it asks for. */
function deleting(db: Database, caller: Caller) {
  return (bucket: string, key: string, tag?: string): Promise<string> => {
    const conditions = tag === undefined ? {} : { ifMatch: [tag] };
    const ctx = { ...caller, core: { ...bench.core, db } };
    return removeObject(ctx, { bucket, key: Buffer.from(key), conditions }).then(
      () => 'gone',
      ({ code }: Problem) => code,
    );
  };
}

test('deletes that come at once share a commit, and none takes another one along', async () => {
  const own = await bench.withAccount();
  await own.data('POST', '/v1/storage/bucket/create', { bucket: 'other' });
  for (const key of ['a', 'b', 'kept', 'twice']) await own.put('work', key, 'five!');
  await own.put('other', 'a', 'other');
  const { db, begun } = counting(bench.core.db);
  const remove = deleting(db, await callerOf(own));
  const outcomes = await Promise.all([
    remove('work', 'a'),
    remove('nowhere', 'a'),
    remove('work', 'kept', 'another tag'),
    remove('work', 'twice', '*'),
    remove('work', 'twice', '*'),
    remove('other', 'a'),
    remove('work', 'never'),
    remove('work', 'b'),
  ]);
  expect(outcomes).toEqual([
    'gone',
    'BUCKET_NOT_FOUND',
    'PRECONDITION_FAILED',
    'gone',
    'OBJECT_NOT_FOUND',
    'gone',
    'gone',
    'gone',
  ]);
  expect(begun()).toBe(1);
  const bucket = (name: string) => own.data('GET', `/v1/storage/bucket/get/${name}`);
  expect(await bucket('work')).toMatchObject({ object_count: 1, bytes: 5 });
  expect(await bucket('other')).toMatchObject({ object_count: 0, bytes: 0 });
  expect(await bench.rows('held', own.accountId)).toMatchObject([{ bytes: 5n }]);
  expect(await own.data('GET', `/v1/storage/object/head${query({ bucket: 'work', key: 'kept' })}`)).toMatchObject({
    bytes: 5,
  });
});

test('a key that was revoked deletes nothing, beside one that may', async () => {
  const own = await bench.withAccount();
  for (const key of ['a', 'b']) await own.put('work', key, 'x');
  const { key_id: keyId, secret } = await own.data('POST', '/v1/account/keys/create', { name: 'second' });
  const second = await callerOf({ accountId: own.accountId, secret });
  await own.data('DELETE', `/v1/account/keys/revoke/${keyId}`);
  const first = await callerOf(own);
  const { db, begun } = counting(bench.core.db);
  const outcomes = await Promise.all([deleting(db, second)('work', 'a'), deleting(db, first)('work', 'b')]);
  expect(outcomes).toEqual(['INVALID_API_KEY', 'gone']);
  expect(begun()).toBe(1);
  expect((await bench.rows<{ key: Buffer }>('object', own.accountId)).map(({ key }) => key.toString())).toEqual(['a']);
});
