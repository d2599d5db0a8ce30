// The operator's account: its lookup, and the rule that only its keys may have scopes of the operator's module.
import type { Queryable } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { problem } from '../../problems/problem.ts';
import { isOperatorsScope } from '../callers/scopes.ts';

const findOperator = statement('operator_find', `SELECT s.value FROM core.setting s WHERE s.name = 'operator_account'`);

/** Its id; null: the first start found accounts, so none was made. */
export async function operatorAccount(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ value: string }>(findOperator, []);
  return rows[0]?.value || null;
}

/** Throws INVALID_SCOPE for a scope of the operator's module that a key of another account is to have. */
export async function requireMayHave(
  db: Queryable,
  accountId: string,
  scopes: readonly string[] | null,
): Promise<void> {
  const at = (scopes ?? []).findIndex(isOperatorsScope);
  if (at === -1 || (await operatorAccount(db)) === accountId) return;
  throw operatorsOnly(scopes?.[at] ?? '', at);
}

/** Throws INVALID_SCOPE for any scope of the operator's module. */
export function requireNotOperators(scopes: readonly string[]): void {
  const at = scopes.findIndex(isOperatorsScope);
  if (at !== -1) throw operatorsOnly(scopes[at] ?? '', at);
}

function operatorsOnly(scope: string, at: number) {
  return problem('INVALID_SCOPE', {
    message: `${scope} is only for keys of the operator's account, which the operator makes with qm keys create.`,
    param: `scopes[${at}]`,
  });
}
