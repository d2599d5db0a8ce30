// Flags as the operations name and show them.
import type { Resource } from '../../../kit/resource.ts';
import { problem } from '../problems.ts';
import { flagSchema, keyField } from '../schemas.ts';
import type { FlagsState } from '../state.ts';
import { change } from './change.ts';
import { type FlagRow, showFlag } from './definition.ts';
import { findFlag } from './store.ts';

export const flags: Omit<Resource<FlagRow, FlagsState, typeof flagSchema>, 'list' | 'positionOf'> = {
  ...{ noun: 'flag', keyName: 'key', keyField, output: flagSchema, show: showFlag },
  notFound: () => problem('FLAG_NOT_FOUND', { param: 'key' }),
  find: (db, { accountId }, key) => findFlag(db, accountId, key),
  async remove(tx, ctx, key, nowMs) {
    const before = await findFlag(tx, ctx.accountId, key);
    if (before === null) return false;
    await change(tx, ctx, { action: 'delete', saved: [], removed: [key], bytes: -before.bytes, added: 0 }, nowMs);
    return true;
  },
};
