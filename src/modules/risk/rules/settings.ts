// An account's rules and the shapes of its list entries, kept per process by their revision. A commit reads the revision under the wallet
// lock, and the whole row only where it is new here: a change counts from the next commit on, in every process.
import { LRUCache } from 'lru-cache';
import { int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { problem } from '../../../problems/problem.ts';
import { NETWORK_LENGTHS_MAX } from '../limits.ts';
import { defaultRules } from './default-rules.ts';
import { type RuleSet, type Rules, ruleSet } from './rule-set.ts';

export interface Settings {
  readonly revision: bigint;
  readonly rules: Rules;
  readonly isDefault: boolean;
  readonly set: RuleSet;
  /** Kinds of entries that the account's lists may have, with the prefix length of networks: `email`, `cidr4/24`. */
  readonly shapes: readonly string[];
  readonly updatedAtMs: number | null;
}

interface SettingsRow {
  readonly account_id: string;
  readonly revision: bigint;
  readonly shapes: string;
  readonly rules: string | null;
  readonly updated_at: number;
}

const select = statement(
  'risk_settings_find',
  'SELECT s.account_id, s.revision, s.shapes, s.rules, s.updated_at FROM risk.settings s WHERE s.account_id = $1',
);
const selectNew = statement(
  'risk_settings_changed',
  `SELECT s.account_id, s.revision, CASE WHEN s.revision <> u.revision THEN s.shapes END AS shapes,
          CASE WHEN s.revision <> u.revision THEN s.rules END AS rules, s.updated_at
     FROM unnest($2::text[], $3::bigint[]) u(account_id, revision), risk.settings s
    WHERE s.account_id = ANY($1::text[]) AND s.account_id = u.account_id`,
);
const upsertRules = statement(
  'risk_settings_save_rules',
  `INSERT INTO risk.settings AS s (account_id, revision, shapes, rules, updated_at) VALUES ($1, 1, '', $2, $3)
       ON CONFLICT (account_id) DO UPDATE SET revision = s.revision + 1, rules = excluded.rules, updated_at = excluded.updated_at`,
);
const upsertShapes = statement(
  'risk_settings_save_shapes',
  `INSERT INTO risk.settings AS s (account_id, revision, shapes, rules, updated_at) VALUES ($1, 1, $2, NULL, $3)
       ON CONFLICT (account_id) DO UPDATE SET revision = s.revision + 1, shapes = excluded.shapes`,
);

const selectShapes = statement(
  'risk_settings_shapes_of_entries',
  `SELECT DISTINCT CASE WHEN e.kind <> 'cidr' THEN e.kind
                        WHEN strpos(e.value, ':') > 0 THEN 'cidr6/' || split_part(e.value, '/', 2)
                        ELSE 'cidr4/' || split_part(e.value, '/', 2) END AS shape
     FROM risk.entry e WHERE e.account_id = $1`,
);

const none: Settings = {
  revision: 0n,
  rules: defaultRules,
  isDefault: true,
  set: ruleSet(defaultRules),
  shapes: [],
  updatedAtMs: null,
};

export class KnownSettings {
  readonly #known = new LRUCache<string, Settings>({ max: 2_000 });

  of(accountId: string): Settings {
    return this.#known.get(accountId) ?? none;
  }

  /** Of the accounts that have any, as they are under the locks of `tx`. */
  async read(tx: Queryable, accountIds: readonly string[]): Promise<Map<string, Settings>> {
    const accounts = textArray(accountIds);
    const { rows } = await tx.query<SettingsRow & { shapes: string | null }>(selectNew, [
      ...[accounts, accounts],
      int8Array(accountIds.map((id) => this.of(id).revision)),
    ]);
    return new Map(
      rows.map((row) => {
        const settings = row.shapes === null ? this.of(row.account_id) : settingsOf(row);
        if (row.shapes !== null) this.#known.set(row.account_id, settings);
        return [row.account_id, settings];
      }),
    );
  }
}

export async function readSettings(db: Queryable, accountId: string): Promise<Settings> {
  const { rows } = await db.query<SettingsRow>(select, [accountId]);
  return rows[0] === undefined ? none : settingsOf(rows[0]);
}

/** Null: the default ones. */
export async function saveRules(tx: Transaction, accountId: string, rules: Rules | null, nowMs: number): Promise<void> {
  await tx.query(upsertRules, [accountId, rules === null ? null : JSON.stringify(rules), timestamp(nowMs)]);
}

const networksIn = (shapes: readonly string[]) => shapes.filter((shape) => shape.startsWith('cidr')).length;

async function shapesOfEntries(tx: Transaction, accountId: string): Promise<string[]> {
  return (await tx.query<{ shape: string }>(selectShapes, [accountId])).rows.map(({ shape }) => shape);
}

/** That the account's lists may have entries of this shape. */
export async function addShape(tx: Transaction, accountId: string, shape: string, nowMs: number): Promise<void> {
  const { shapes } = await readSettings(tx, accountId);
  if (shapes.includes(shape)) return;
  // Shapes whose entries are gone stay until their number matters.
  const kept = networksIn([...shapes, shape]) > NETWORK_LENGTHS_MAX ? await shapesOfEntries(tx, accountId) : shapes;
  if (networksIn([...kept, shape]) > NETWORK_LENGTHS_MAX) {
    const message = `Lists may have networks of ${NETWORK_LENGTHS_MAX} different prefix lengths: use one that is there.`;
    throw problem('QUOTA_EXCEEDED', { param: 'value', message });
  }
  await tx.query(upsertShapes, [accountId, [...kept, shape].join(' '), timestamp(nowMs)]);
}

function settingsOf({ revision, shapes, rules, updated_at }: SettingsRow): Settings {
  const own = rules === null ? null : (JSON.parse(rules) as Rules);
  return {
    ...{ revision, rules: own ?? defaultRules, isDefault: own === null },
    set: own === null ? none.set : ruleSet(own),
    shapes: shapes.split(' ').filter((shape) => shape !== ''),
    updatedAtMs: updated_at,
  };
}
