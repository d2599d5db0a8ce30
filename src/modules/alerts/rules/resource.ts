// Rules as a resource of the API.
import type { Queryable, Transaction } from '../../../db/database.ts';
import type { ListBounds } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { forgetChanges } from '../changes/store.ts';
import { endingNotices } from '../looks/end.ts';
import { tellNotices } from '../notices/tell.ts';
import { problem } from '../problems.ts';
import { ruleField, ruleSchema } from '../schemas.ts';
import { removeSilence, silenceId, silencesOf } from '../silences/store.ts';
import { ruleRecord, type ShownRule } from './record.ts';
import type { RuleRow } from './row.ts';
import { ruleTable } from './store.ts';

export const ruleMissing = () =>
  problem('RULE_NOT_FOUND', { param: 'rule', message: 'There is no such rule. alerts.rule.list has them.' });

export const rules = {
  noun: 'rule',
  keyName: 'rule',
  keyField: ruleField,
  output: ruleSchema,
  notFound: ruleMissing,
  show: ruleRecord,
  positionOf: ({ row }: ShownRule) => row.rule,
  async find(db: Queryable, ctx: CallContext, key: string): Promise<ShownRule | null> {
    const row = await ruleTable.find(db, ctx, key);
    return row === null ? null : { row, silences: await silencesOf(db, ctx.accountId) };
  },
  async list(db: Queryable, ctx: CallContext, bounds: ListBounds): Promise<readonly ShownRule[]> {
    return withSilences(db, ctx.accountId, await ruleTable.list(db, ctx, bounds));
  },
  /** Whoever was told that it fires is told that it does not any more. */
  async remove(tx: Transaction, ctx: CallContext, key: string, nowMs: number): Promise<boolean> {
    const { core, accountId } = ctx;
    const row = await ruleTable.find(tx, ctx, key);
    if (row === null) return false;
    await tellNotices(tx, { core, accountId, row, nowMs }, endingNotices(row, 'The rule was deleted.', nowMs));
    await Promise.all([forgetChanges(tx, accountId, key), removeSilence(tx, accountId, silenceId(key, null))]);
    return ruleTable.remove(tx, ctx, key);
  },
};

export async function withSilences(
  db: Queryable,
  accountId: string,
  rows: readonly RuleRow[],
): Promise<readonly ShownRule[]> {
  if (rows.length === 0) return [];
  const silences = await silencesOf(db, accountId);
  return rows.map((row) => ({ row, silences }));
}
