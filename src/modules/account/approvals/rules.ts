// Changes of approval rules. A key that a rule binds changes none of them. A change counts up the version in the wallet, so calls that were looked
// at under the rules before are not committed (core/callers/rules-version.ts).
import { readRules, ruleTable } from '../../../approvals/rules.ts';
import { replaceApprovals } from '../../../approvals/store.ts';
import { forgetKeysHere } from '../../../core/hear-siblings.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { keyOf } from '../../../core/keys/api-key.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../problems.ts';

/** Never a version that there was before, also when the rules were gone in between. */
const countUp = statement(
  'wallet_count_up_rules',
  'UPDATE core.wallet SET rules_version = GREATEST(rules_version + 1, $2::bigint) WHERE account_id = $1',
);
const noRules = statement('wallet_clear_rules', 'UPDATE core.wallet SET rules_version = 0 WHERE account_id = $1');

/** `change` answers the data. When this has answered, every process on this port asks by the new rules; others do within a second. */
export async function changeRules(
  ctx: CallContext,
  ruleName: string,
  change: (tx: Transaction, nowMs: number) => Promise<unknown>,
) {
  const written = await runWrite(ctx, async (tx, { nowMs }) => {
    await requireUnbound(tx, ctx);
    const data = await change(tx, nowMs);
    await replaceApprovals(tx, ctx.accountId, ruleName, nowMs);
    const isEmpty = await ruleTable.isEmpty(tx, ctx.accountId);
    await (isEmpty ? tx.query(noRules, [ctx.accountId]) : tx.query(countUp, [ctx.accountId, BigInt(nowMs)]));
    return data;
  });
  await forgetKeysHere(ctx.core, ctx.accountId);
  return written;
}

/** Throws INSUFFICIENT_SCOPE. */
async function requireUnbound(tx: Transaction, { accountId, principal }: CallContext): Promise<void> {
  const key = keyOf(principal);
  if (key === null || !(await readRules(tx, accountId)).bindsKey(key.id)) return;
  throw problem('INSUFFICIENT_SCOPE', {
    detail: 'bound_by_rule',
    message:
      'An approval rule binds this key, so it changes no rules. A person who has signed in does, or a key that no rule binds.',
  });
}
