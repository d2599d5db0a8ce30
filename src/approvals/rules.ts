// Rules of an account: which calls of its keys a person must approve first. A process remembers the rules of an account by their version, which
// every look-up of a key brings along.
import type { LRUCache } from 'lru-cache';
import { admission } from '../core/admission.ts';
import type { Principal } from '../core/callers/principal.ts';
import { moduleOf } from '../core/callers/scopes.ts';
import type { Queryable } from '../db/database.ts';
import type { Capability } from '../kit/capability.ts';
import { resourceTable, rowSaver } from '../kit/resource.ts';
import { lruOf } from '../lib/lru.ts';

export const RULES_MAX = 50;

export interface RuleRow {
  readonly name: string;
  readonly capabilities: string;
  readonly keys: string | null;
  readonly cost_above_nanos: bigint | null;
  readonly input_rule: string | null;
  readonly first_use: boolean;
  readonly approvers: string | null;
  readonly expires_seconds: number;
  readonly reason_required: boolean;
  readonly created_at: number;
  readonly updated_at: number;
}

const shape = {
  table: 'core.approval_rule',
  key: 'name',
  columns:
    'name, capabilities, keys, cost_above_nanos, input_rule, first_use, approvers, expires_seconds, reason_required, created_at, updated_at',
};
export const ruleTable = resourceTable<RuleRow>(shape);
export const saveRule = rowSaver<RuleRow>(shape);

export interface Rule {
  readonly name: string;
  /** Ids, modules and parts of ids; `*`: all. */
  readonly capabilities: readonly string[];
  /** Null: all keys. */
  readonly keys: ReadonlySet<string> | null;
  /** Calls that may cost more; null: whatever they cost. */
  readonly costAboveNanos: bigint | null;
  /** JsonLogic over the input; null: every input. */
  readonly input: unknown;
  /** Only until the key has once made such a call. */
  readonly firstUse: boolean;
  /** Ids of people; null: the owners. */
  readonly approvers: readonly string[] | null;
  readonly expiresMs: number;
  readonly reasonRequired: boolean;
  /** Of a module's own rule: what is approved beside the input. */
  readonly binds?: string;
}

type Called = Pick<Capability, 'id' | 'price' | 'laterPrices' | 'asksFirst'>;

/** By these a key would get out of a rule that lists it. */
const makesKeys: ReadonlySet<string> = new Set(['account.keys.create', 'account.keys.update']);
/** By these it would become a person who approves. */
const makesPeople: ReadonlySet<string> = new Set(['account.email.bind', 'account.email.verify']);

/** The rules of an account at one version. */
export class RuleSet {
  readonly #rules: readonly Rule[];
  readonly #byCapability = new Map<string, readonly Rule[]>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  /** Those that may meet such a call of the key; none for most. */
  of(called: Called, keyId: string): readonly Rule[] {
    let covering = this.#byCapability.get(called.id);
    if (covering === undefined) {
      covering = this.#rules.filter((rule) => isCovered(rule, called));
      this.#byCapability.set(called.id, covering);
    }
    return covering.length === 0 ? covering : covering.filter((rule) => binds(rule, keyId));
  }

  /** Whether any of them binds the key. */
  bindsKey(keyId: string): boolean {
    return this.#rules.some((rule) => binds(rule, keyId));
  }
}

function binds({ keys }: Rule, keyId: string): boolean {
  return keys === null || keys.has(keyId);
}

function isCovered({ capabilities, keys, costAboveNanos }: Rule, called: Called): boolean {
  if (makesPeople.has(called.id) || (keys !== null && makesKeys.has(called.id))) return true;
  // What is free costs no more than anything.
  if (costAboveNanos !== null && called.price === 'free') return false;
  const names = namesOf(called);
  return capabilities.some(
    (each) => each === '*' || names.some((name) => name === each || name.startsWith(`${each}.`)),
  );
}

/** A batch is what its parts are: rules meet it when it is created. */
function namesOf({ id, laterPrices = [] }: Called): readonly string[] {
  return id.includes('.batch.') ? [id, id.replace('.batch.', '.'), ...laterPrices] : [id];
}

export class RuleSets {
  readonly #known: LRUCache<string, RuleSet> = lruOf(admission.all.ruleSetsRemembered);
  readonly #reading = new Map<string, Promise<RuleSet>>();

  /** Whether a rule may meet such a call; true also where the rules are not known here yet. */
  mayMeet(accountId: string, { rulesVersion, id }: Pick<Principal, 'rulesVersion' | 'id'>, called: Called): boolean {
    if (rulesVersion !== null && called.asksFirst === true) return true;
    if (rulesVersion === null || rulesVersion === 0n) return false;
    const known = this.#known.get(`${accountId} ${rulesVersion}`);
    return known === undefined || known.of(called, id).length > 0;
  }

  of(db: Queryable, accountId: string, version: bigint): RuleSet | Promise<RuleSet> {
    const id = `${accountId} ${version}`;
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const running = this.#reading.get(id);
    if (running !== undefined) return running;
    const reading = readRules(db, accountId)
      .then((set) => {
        this.#known.set(id, set);
        return set;
      })
      .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }
}

/** What was read may be newer than the version: then the commit finds another one, and the call is looked at again. */
export async function readRules(db: Queryable, accountId: string): Promise<RuleSet> {
  const rows = await ruleTable.list(db, { accountId }, { after: null, limit: RULES_MAX });
  return new RuleSet(rows.map(ruleOf));
}

export function ruleOf(row: RuleRow): Rule {
  const keys = row.keys === null ? null : (JSON.parse(row.keys) as string[]);
  return {
    name: row.name,
    capabilities: JSON.parse(row.capabilities),
    keys: keys === null ? null : new Set(keys),
    costAboveNanos: row.cost_above_nanos,
    input: row.input_rule === null ? null : JSON.parse(row.input_rule),
    firstUse: row.first_use,
    approvers: row.approvers === null ? null : JSON.parse(row.approvers),
    expiresMs: row.expires_seconds * 1_000,
    reasonRequired: row.reason_required,
  };
}

/** Whether it is the module of any capability, or the beginning of its id. */
export function isKnownName(name: string, ids: Iterable<string>): boolean {
  if (name === '*') return true;
  for (const id of ids) if (id === name || moduleOf(id) === name || id.startsWith(`${name}.`)) return true;
  return false;
}
