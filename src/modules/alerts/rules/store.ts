// SQL of rules as their owner sees and changes them. A change holds the account's lock and opens the account's turn.
import { openTurn } from '../../../core/background/turns.ts';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import { LOOKS } from '../limits.ts';
import type { State } from '../schemas.ts';
import { type RuleRow, ruleColumns } from './row.ts';

const shape = { table: 'alerts.rule', key: 'rule', columns: ruleColumns };
export const ruleTable = resourceTable<RuleRow>(shape);
const save = rowSaver<RuleRow>(shape);

export const rulesLimits = {
  alert_rules: {
    description: 'Alert rules.',
    used: ruleTable.count,
    standard: 50,
    pro: 500,
    enterprise: 5_000,
  },
} satisfies Readonly<Record<string, CountedLimit>>;

const listAlerts = statement(
  'alerts_list',
  `SELECT ${ruleColumns} FROM alerts.rule
    WHERE account_id = $1 AND rule > $2 AND state <> 'ok' AND ($3::text IS NULL OR state = $3) ORDER BY rule LIMIT $4`,
);
const findNamed = statement(
  'alerts_find_named',
  `SELECT ${ruleColumns} FROM alerts.rule WHERE account_id = $1 AND rule = ANY($2::text[])`,
);
const listOk = statement(
  'alerts_list_ok',
  `SELECT ${ruleColumns} FROM alerts.rule WHERE account_id = $1 AND rule > $2 AND state = 'ok' ORDER BY rule LIMIT $3`,
);

/** Those of the names that there are. */
export async function rulesNamed(
  db: Queryable,
  accountId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, RuleRow>> {
  const { rows } = await db.query<RuleRow>(findNamed, [accountId, textArray(names)]);
  return new Map(rows.map((row) => [row.rule, row]));
}

/** Sends the row, which is looked at at once. */
export function saveRule(tx: Transaction, accountId: string, row: RuleRow, nowMs: number): RuleRow {
  const saved = save(tx, { accountId }, { ...row, due_at: nowMs });
  void openTurn(tx, accountId, LOOKS, nowMs);
  return saved;
}

/** Rules of the state behind the name `after`; null: of every state but ok. */
export async function rulesOfState(
  db: Queryable,
  accountId: string,
  { state, after, limit }: { readonly state: State | null; readonly after: string; readonly limit: number },
): Promise<readonly RuleRow[]> {
  if (state === 'ok') return (await db.query<RuleRow>(listOk, [accountId, after, limit])).rows;
  return (await db.query<RuleRow>(listAlerts, [accountId, after, state, limit])).rows;
}
