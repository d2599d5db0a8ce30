// Per-process cache of an account's rules and the shapes of its list entries, by revision. A commit reads the revision under the wallet lock,
// and the rest only if this process lacks it. So a change applies from the next commit on, in every process.
import { LRUCache } from 'lru-cache';
import { int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { problem } from '../../../problems/problem.ts';
import { NETWORK_LENGTHS_MAX } from '../limits.ts';
import { defaultRules } from './default-rules.ts';
import { RuleSet, type Rules } from './rule-set.ts';

export interface Settings {
  readonly revision: bigint;
  /** Null: the default ones. */
  readonly own: Rules | null;
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

const selectChanged = statement(
  'risk_settings_changed',
  `SELECT s.account_id, s.revision, s.shapes, s.rules, s.updated_at
     FROM unnest($2::text[], $3::bigint[]) u(account_id, revision), risk.settings s
    WHERE s.account_id = ANY($1::text[]) AND s.account_id = u.account_id AND s.revision <> u.revision`,
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

/** Of an account that has none. */
const none: Settings = {
  revision: 0n,
  own: null,
  set: new RuleSet(defaultRules),
  shapes: [],
  updatedAtMs: null,
};

export class KnownSettings {
  readonly #known = new LRUCache<string, Settings>({ max: 2_000 });

  /** As they are under the locks of `tx`. */
  async read(tx: Queryable, accountIds: readonly string[]): Promise<(accountId: string) => Settings> {
    const known = new Map(accountIds.map((id) => [id, this.#known.get(id) ?? none]));
    const changed = await findChanged(tx, known);
    for (const [id, settings] of changed) this.#known.set(id, settings);
    return (accountId) => changed.get(accountId) ?? known.get(accountId) ?? none;
  }
}

export async function readSettings(db: Queryable, accountId: string): Promise<Settings> {
  return (await findChanged(db, new Map([[accountId, none]]))).get(accountId) ?? none;
}

/** Of the accounts, those that have another revision than `known`. */
async function findChanged(db: Queryable, known: ReadonlyMap<string, Settings>): Promise<Map<string, Settings>> {
  const accounts = textArray([...known.keys()]);
  const revisions = int8Array([...known.values()].map(({ revision }) => revision));
  const { rows } = await db.query<SettingsRow>(selectChanged, [accounts, accounts, revisions]);
  return new Map(
    rows.map(({ account_id: id, revision, shapes, rules, updated_at: updatedAtMs }) => {
      const own = rules === null ? null : rulesOf(rules);
      const set = own === null ? none.set : new RuleSet(own);
      return [id, { revision, own, set, shapes: shapes === '' ? [] : shapes.split(' '), updatedAtMs }];
    }),
  );
}

export async function saveRules(tx: Transaction, accountId: string, rules: Rules, nowMs: number): Promise<void> {
  await tx.query(upsertRules, [accountId, rulesText(rules), timestamp(nowMs)]);
}

/** As they are stored: there the name of a rule is its id. */
type StoredRules = Pick<Rules, 'thresholds'> & {
  readonly rules: readonly (Omit<Rules['rules'][number], 'name'> & { readonly id: string })[];
};

function rulesText({ thresholds, rules }: Rules): string {
  const stored: StoredRules = { thresholds, rules: rules.map(({ name, ...rule }) => ({ id: name, ...rule })) };
  return JSON.stringify(stored);
}

function rulesOf(text: string): Rules {
  const { thresholds, rules }: StoredRules = JSON.parse(text);
  return { thresholds, rules: rules.map(({ id, ...rule }) => ({ name: id, ...rule })) };
}

/** Says that the account's lists may have entries of this shape. Throws QUOTA_EXCEEDED. */
export async function addShape(tx: Transaction, accountId: string, shape: string, nowMs: number): Promise<void> {
  if ((await readSettings(tx, accountId)).shapes.includes(shape)) return;
  // Those whose entries are gone go too.
  const { rows } = await tx.query<{ shape: string }>(selectShapes, [accountId]);
  const shapes = [...rows.map((row) => row.shape), shape];
  if (shapes.filter((each) => each.startsWith('cidr')).length > NETWORK_LENGTHS_MAX) {
    const message = `Lists may have networks of ${NETWORK_LENGTHS_MAX} different prefix lengths: use one that is there.`;
    throw problem('QUOTA_EXCEEDED', { param: 'value', message });
  }
  await tx.query(upsertShapes, [accountId, shapes.join(' '), timestamp(nowMs)]);
}
