import { describe, expect, it } from 'vitest';
import { textArray } from './arrays.ts';
import { lockedAccounts } from './shard-lock.ts';

const OF_ONE = 'SELECT w.held FROM core.wallet w WHERE w.account_id = $1';
const OF_LIST = 'SELECT w.held FROM core.wallet w WHERE w.account_id = ANY($1::text[])';
const asked = (text: string, first: string | Buffer) => lockedAccounts({ name: '', text }, [first, '7']);

describe('the accounts whose shards are locked', () => {
  it.each(['FOR UPDATE', 'FOR SHARE OF w', 'FOR KEY SHARE', 'FOR NO KEY UPDATE', 'FOR UPDATE OF w SKIP LOCKED'])(
    'are those of a read %s',
    (lock) => {
      expect(asked(`${OF_ONE} ${lock}`, 'acct_1')).toEqual(['acct_1']);
      expect(asked(`${OF_LIST} ${lock}`, textArray(['acct_ü', '', 'b']))).toEqual(['acct_ü', '', 'b']);
      const inTable = `WITH c AS MATERIALIZED (${OF_LIST} ${lock}) SELECT c.held FROM c`;
      expect(asked(inTable, textArray(['a']))).toEqual(['a']);
    },
  );

  it.each([
    OF_ONE,
    `WITH c AS MATERIALIZED (${OF_ONE} FOR UPDATE SKIP LOCKED) UPDATE core.wallet t SET held = $2 FROM c WHERE t.account_id = $1`,
    `WITH c AS MATERIALIZED (${OF_ONE} FOR UPDATE) DELETE FROM core.wallet AS t USING c WHERE t.account_id = $1`,
    'UPDATE core.wallet SET held = $2 WHERE account_id = $1',
    'SELECT s.value FROM core.setting s WHERE s.name = $1 FOR UPDATE',
  ])('are none for %s', (text) => {
    expect(asked(text, 'acct_1')).toEqual([]);
  });
});
