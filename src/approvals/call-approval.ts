// One call that rules of its account may meet. It is bound by a hash of key, capability, input and idempotency key, so an approval lets nothing
// else through. An approved call runs once: under its own idempotency key, or under one that is derived from the approval. A call that takes
// none uses the approval up before it runs.
import { createHash } from 'node:crypto';
import type { CallContext, CostApproval } from '../core/callers/context.ts';
import type { IdempotencyKey } from '../core/callers/idempotency-key.ts';
import { isRulesChanged, rulesChanged } from '../core/callers/rules-version.ts';
import type { Capability } from '../kit/capability.ts';
import { ruleHolds } from '../kit/json-logic/hold.ts';
import { Problem } from '../problems/problem.ts';
import { type ApprovalServices, ask } from './ask.ts';
import { approvalDenied, approvalRequired } from './refusals.ts';
import type { Rule } from './rules.ts';
import {
  ANSWERED_FOR_MS,
  approvalsOfCall,
  beginUnder,
  finishAll,
  giveBackAll,
  hasCalledBefore,
  type ListedRow,
  lastingOf,
  REPEATED_FOR_MS,
  statusOf,
  takeAll,
  takeFromLasting,
} from './store.ts';

/** A call as the gateway has it. */
export interface GatedCall
  extends Pick<CallContext<ApprovalServices>, 'core' | 'accountId' | 'principal' | 'capability' | 'requestId'> {
  readonly endpoint: { readonly capability: Pick<Capability, 'id' | 'price' | 'laterPrices' | 'idempotent'> };
  /** A failure was charged all the same. */
  readonly billed: boolean;
  idempotency: IdempotencyKey | null;
}

type Facts = Readonly<Record<string, unknown>> | null;

/** What a call asks for, however it came in. Nothing of it is made where no rule may meet the call. */
export interface Asked {
  /** What tells the input from all others, the same for each repeat. */
  canonical(): string | Promise<string>;
  /** The input as people see it, JSON text without secrets; null: it is no JSON, or too long. */
  shownInput(): string | null;
  /** What a rule over the input looks at; null: it cannot, and holds. */
  facts(): Facts | Promise<Facts>;
  /** Whether the call can be looked at again once it runs: not where its body was read as it came. */
  readonly isRepeatable: boolean;
}

/** The call is to be looked at again: it was approved meanwhile. */
export class LookAgain extends Error {}

export class CallApproval implements CostApproval {
  readonly #call: GatedCall;
  readonly #asked: Asked;
  #rules: readonly Rule[];
  /** The key that was sent; null: none was. */
  readonly #ownKey: string | null;
  readonly #hash: string;
  /** Under which the call runs, by rule. */
  readonly #under = new Map<string, ListedRow>();
  /** Rules of which an approval for a time has paid. */
  readonly #paid = new Set<string>();
  /** Of a call that is read as it runs: what it was before. */
  readonly #shownInput: string | null;
  #hasEntered = false;
  #wasCharged = false;
  #isDone = false;
  /** Of a call that takes no key: the approvals are used up for it. */
  #hasTaken = false;

  private constructor(call: GatedCall, asked: Asked, rules: readonly Rule[], ownKey: string | null, canonical: string) {
    this.#call = call;
    this.#asked = asked;
    this.#rules = rules;
    this.#ownKey = ownKey;
    this.#shownInput = asked.isRepeatable ? null : asked.shownInput();
    const parts = [call.principal.id, call.capability, canonical, ownKey ?? ''];
    this.#hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  }

  /** `rules`: those that may meet the call, at least one. `ownKey`: the idempotency key that was sent; null: none was. */
  static async of(call: GatedCall, asked: Asked, rules: readonly Rule[], ownKey: string | null): Promise<CallApproval> {
    return new CallApproval(call, asked, rules, ownKey, await asked.canonical());
  }

  get #isFree(): boolean {
    return this.#call.endpoint.capability.price === 'free';
  }

  /**
   * Before the call runs. What it costs is not known yet: a rule about that is asked by `require`, and looked up here only where the call
   * comes `again`, or cannot. Throws APPROVAL_REQUIRED, APPROVAL_DENIED.
   */
  async enter(again: boolean): Promise<void> {
    const isAboutCostAlone = this.#rules.every(({ costAboveNanos }) => costAboveNanos !== null);
    if (isAboutCostAlone && this.#asked.isRepeatable && !again) return;
    const { core, accountId } = this.#call;
    this.#hasEntered = true;
    const found = new Map<string, Awaited<ReturnType<typeof approvalsOfCall>>>();
    for (const rule of this.#rules) {
      const hash = this.#hashFor(rule);
      const rows = found.get(hash) ?? (await approvalsOfCall(core.db, accountId, hash));
      found.set(hash, rows);
      await this.#judge(rule, rows);
    }
    await this.#begin([...found.values()].flat()[0]?.now ?? 0);
  }

  /** What an approval by the rule is found under. */
  #hashFor({ binds }: Rule): string {
    if (binds === undefined) return this.#hash;
    return createHash('sha256')
      .update(JSON.stringify([this.#hash, binds]))
      .digest('base64url');
  }

  /** One more rule meets the call, which has begun to run. Throws APPROVAL_REQUIRED, APPROVAL_DENIED. */
  async meet(rule: Rule): Promise<void> {
    this.#rules = [...this.#rules, rule];
    await this.enter(true);
  }

  async #judge(rule: Rule, rows: readonly (ListedRow & { readonly now: number })[]): Promise<void> {
    const row = rows.find((each) => each.rule_name === rule.name && this.#stands(each, each.now));
    if (row !== undefined) {
      const status = statusOf(row, row.now);
      if (status === 'pending') throw approvalRequired(this.#call.core, row);
      if (status === 'denied' || status === 'expired') throw approvalDenied(row, status);
      if (row.lasts_until === null) this.#under.set(rule.name, row);
      if (row.lasts_until === null) return;
    }
    // Of a paid call the charge asks: then the most that it may cost is known.
    if (this.#isFree && !(await this.#mayPass(rule, 0n))) throw await this.#ask(rule, 0n);
  }

  /** Whether what was said of the call still says something of it. */
  #stands(row: ListedRow, nowMs: number): boolean {
    const status = statusOf(row, nowMs);
    if (status === 'used') return this.#ownKey !== null && nowMs - (row.started_at ?? 0) < REPEATED_FOR_MS;
    if (status === 'denied') return nowMs - (row.decided_at ?? 0) < ANSWERED_FOR_MS;
    if (status === 'expired') return nowMs - row.expires_at < ANSWERED_FOR_MS;
    return status === 'pending' || row.started_at === null || nowMs - row.started_at < REPEATED_FOR_MS;
  }

  /** The approvals are the call's from here on. */
  async #begin(nowMs: number): Promise<void> {
    const { core, accountId, capability, endpoint } = this.#call;
    const approved = [...this.#under.values()].filter(({ status }) => status === 'approved');
    const [first] = approved;
    if (first === undefined) return;
    const ids = approved.map(({ approval_id: id }) => id);
    if (endpoint.capability.idempotent) await beginUnder(core.db, accountId, ids, nowMs);
    else {
      this.#hasTaken = await takeAll(core.db, accountId, ids, nowMs);
      if (!this.#hasTaken) throw new LookAgain();
    }
    if (!endpoint.capability.idempotent || this.#ownKey !== null) return;
    const raw = `approval ${first.approval_id}`;
    const fingerprint = this.#hash.slice(0, FINGERPRINT_CHARACTERS);
    this.#call.idempotency = { raw, hash: core.secrets.idempotencyHash(capability, raw), fingerprint };
  }

  async require(costNanos: bigint): Promise<void> {
    this.#wasCharged = true;
    for (const rule of this.#rules) {
      if (rule.costAboveNanos !== null && costNanos <= rule.costAboveNanos) continue;
      const under = this.#under.get(rule.name);
      if (under !== undefined && under.cost_nanos >= costNanos) continue;
      if (await this.#mayPass(rule, costNanos)) continue;
      if (!this.#hasEntered && (await this.#isSettled(rule))) throw new LookAgain();
      throw await this.#ask(rule, costNanos);
    }
  }

  /** Whether something was said of the call by now. */
  async #isSettled(rule: Rule): Promise<boolean> {
    const rows = await approvalsOfCall(this.#call.core.db, this.#call.accountId, this.#hashFor(rule));
    return rows.some((row) => row.rule_name === rule.name && row.lasts_until === null && this.#stands(row, row.now));
  }

  /** By an approval for a time, or since the rule is about the first use alone. */
  async #mayPass(rule: Rule, costNanos: bigint): Promise<boolean> {
    if (this.#paid.has(rule.name)) return true;
    const { core, accountId, capability, principal } = this.#call;
    if (rule.firstUse && (await hasCalledBefore(core.db, accountId, capability, principal.id))) return true;
    const lasting = (await lastingOf(core.db, accountId, principal.id)).get(rule.name) ?? [];
    if (lasting.length === 0 || !(await takeFromLasting(core.db, accountId, lasting, costNanos))) return false;
    this.#paid.add(rule.name);
    return true;
  }

  async #ask(rule: Rule, costNanos: bigint): Promise<Problem> {
    const { core, accountId, principal, capability, requestId } = this.#call;
    const row = await ask(core, {
      accountId,
      rulesVersion: principal.rulesVersion,
      rule,
      keyId: principal.id,
      capability,
      callHash: this.#hashFor(rule),
      input: this.#asked.isRepeatable ? this.#asked.shownInput() : this.#shownInput,
      costNanos,
      requestId,
    });
    if (row === 'rules_changed') return rulesChanged();
    return approvalRequired(core, row);
  }

  /** The call has succeeded. Throws where a rule met it and nothing it did could be asked about: then it has only read. */
  async settle(): Promise<void> {
    const { core, accountId } = this.#call;
    const unasked = this.#rules.find(({ name, costAboveNanos }) => costAboveNanos === null && !this.#under.has(name));
    if (!this.#isFree && !this.#wasCharged && unasked !== undefined && !(await this.#mayPass(unasked, 0n)))
      throw await this.#ask(unasked, 0n);
    this.#isDone = true;
    if (this.#under.size === 0) return;
    // The call has had its effect: a repeat finds its answer, also where the approval is not marked yet.
    await finishAll(core.db, accountId, this.#ids()).catch((err: unknown) => {
      core.log.warn({ err, accountId }, 'an approval that was used could not be marked');
    });
  }

  /** The call has failed: what was refused, and not charged, may be tried again. `error`: a failure of the service may come behind the effect. */
  async giveBack(error: unknown): Promise<void> {
    const { core, accountId, billed } = this.#call;
    if (this.#under.size === 0 || this.#isDone) return;
    if (billed) await finishAll(core.db, accountId, this.#ids());
    else if (this.#hasTaken && isRefusal(error)) await giveBackAll(core.db, accountId, this.#ids());
  }

  #ids(): string[] {
    return [...this.#under.values()].map(({ approval_id: id }) => id);
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof LookAgain || isRulesChanged(error)) return true;
  return error instanceof Problem && error.httpStatus < 500;
}

/** As those of requests. */
const FINGERPRINT_CHARACTERS = 22;

/** Those of the rules that meet the input. What a rule cannot look at it meets. */
export async function meeting(rules: readonly Rule[], asked: Asked): Promise<readonly Rule[]> {
  if (rules.every(({ input }) => input === null)) return rules;
  const facts = await asked.facts();
  return rules.filter(({ input }) => input === null || facts === null || ruleHolds(input, facts) !== false);
}
