import { describe, expect, it } from 'vitest';
import { textArray } from './arrays.ts';
import { lockedAccount } from './shard-lock.ts';

const OF_ONE = 'SELECT w.held FROM core.wallet w WHERE w.account_id = $1';
const OF_LIST = 'SELECT w.held FROM core.wallet w WHERE w.account_id = ANY($1::text[])';
const asked = (text: string, first: string | Buffer) => lockedAccount({ name: '', text }, [first, '7']);

describe('the account whose shard is locked', () => {
  it.each(['FOR UPDATE', 'FOR SHARE OF w', 'FOR KEY SHARE', 'FOR NO KEY UPDATE', 'FOR UPDATE OF w SKIP LOCKED'])(
    'is that of a read %s',
    (lock) => {
      expect(asked(`${OF_ONE} ${lock}`, 'acct_1')).toBe('acct_1');
      expect(asked(`${OF_LIST} ${lock}`, textArray(['acct_ü']))).toBe('acct_ü');
      expect(asked(`WITH c AS MATERIALIZED (${OF_LIST} ${lock}) SELECT c.held FROM c`, textArray(['a']))).toBe('a');
    },
  );

  it.each([
    OF_ONE,
    `WITH c AS MATERIALIZED (${OF_ONE} FOR UPDATE SKIP LOCKED) UPDATE core.wallet t SET held = $2 FROM c WHERE t.account_id = $1`,
    `WITH c AS MATERIALIZED (${OF_ONE} FOR UPDATE) DELETE FROM core.wallet AS t USING c WHERE t.account_id = $1`,
    'UPDATE core.wallet SET held = $2 WHERE account_id = $1',
    'SELECT s.value FROM core.setting s WHERE s.name = $1 FOR UPDATE',
  ])('is nobody for %s', (text) => {
    expect(asked(text, 'acct_1')).toBeNull();
  });
});
