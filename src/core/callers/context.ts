// The context of a call: its caller, its entry form, and the services of this process that serve it. The gateway builds one per call.
import type { JsonText } from '../../lib/json-text.ts';
import type { EntryForm } from './entry-form.ts';
import type { IdempotencyKey } from './idempotency-key.ts';
import type { Principal } from './principal.ts';
import type { ScopeKind } from './scopes.ts';
import type { Tier } from './tiers.ts';

/** The fields of an input; a JsonText among them, or in place of them all, goes in byte for byte. */
export type InvokedInput = JsonText | Readonly<Record<string, unknown>>;

export interface InvokeOptions {
  /** Tells the calls of one call apart, in what their idempotency keys are derived from; when absent, their order does. */
  readonly step?: string;
}

/** Whether a call may cost so much. */
export interface CostApproval {
  /** Before anything is done for the money. Throws APPROVAL_REQUIRED, APPROVAL_DENIED. */
  require(costNanos: bigint): Promise<void>;
}

/** A rule of a module's own, beside those of the account: calls of keys that it meets wait for an owner. */
export interface OwnRule {
  /** As people see it. */
  readonly name: string;
  /** How long the call waits. */
  readonly expiresMs: number;
  /** What is approved beside the input: what the call would be made with. */
  readonly binds: string;
}

/** What `perform` made, and what was charged for it, nano-USD. */
export interface Performed<Result> {
  readonly result: Result;
  readonly costNanos: bigint;
}

/** `Services`: those parts of this process that a function needs for the call. */
export interface CallContext<Services> {
  readonly core: Services;
  readonly capability: string;
  /** What the record of the capability asks of a key. */
  readonly scope: ScopeKind;
  /** Entry of the price book that the record names; null: free. */
  readonly priceEntry: string | null;
  readonly requestId: string;
  readonly traceId: string;
  readonly entryForm: EntryForm;
  readonly accountId: string;
  readonly tier: Tier;
  readonly principal: Principal;
  /** Of a call that approval rules may meet; null: they do not. */
  readonly approval: CostApproval | null;
  /**
   * The call waits for a person, unless one has approved it: before it does anything. Its charge asks with what it may cost. Throws
   * APPROVAL_REQUIRED, APPROVAL_DENIED.
   */
  askFirst(rule: OwnRule): Promise<void>;
  /** The idempotency key sent with the call, with the fingerprint of the request; null when none was sent. */
  readonly idempotency: IdempotencyKey | null;
  /** The input as JSON text, as it was sent and without what stood in the path; empty when there is none. Opaque values are cut from it. */
  readonly inputText: string;
  /** Those that the record of the capability reads, in lower case; none of a call that another makes. */
  readonly sentHeaders: Readonly<Record<string, string>>;
  /** Sentences that reach the caller as metadata.warnings. */
  readonly warnings: string[];
  /**
   * Takes further tokens of the account's rate, for work that one does not cover: the next calls wait for them. Of calls without a
   * rate it takes nothing.
   */
  weigh(tokens: number): void;
  /**
   * Counts bytes of a long answer that is being made against what the account, and all, may hold of these; given back once it is
   * written. Throws CONCURRENCY_LIMITED, OVERLOADED.
   */
  holdAnswer(bytes: number): void;
  /** The same of what cannot be refused any more: it counts in any case. */
  holdMade(bytes: number): void;
  /** Before what cannot be refused later. Throws CONCURRENCY_LIMITED or OVERLOADED when account, or all, hold too much of answers. */
  requireAnswerRoom(): void;
  /** The call fails, and yet it was charged so much, for tokens counted here or told by a vendor: its failure says so, and usage has it once. */
  chargedThoughFailed(costNanos: bigint, usageEstimated: boolean): void;
  /** Aborted when the client goes away or the service stops. */
  readonly signal: AbortSignal;
  /**
   * Calls another capability, of any module, for the same principal: in the same trace, under its scopes and rates, for the price of
   * that capability. Under an idempotency key the calls it makes have keys derived from it. Throws the Problem of a refusal or failure.
   */
  invoke(
    capability: string,
    input: InvokedInput,
    options?: InvokeOptions,
  ): Promise<{ readonly data: unknown; readonly costNanos?: bigint }>;
  /**
   * The same of a call whose input is no JSON, such as bytes: `work` stands in place of the capability's own run, and gets its context. Scope, rate
   * and figures are that capability's. `input`: what tells the call from others, in the names of the capability.
   */
  perform<Result>(
    capability: string,
    input: Readonly<Record<string, unknown>>,
    work: (ctx: CallContext<Services>) => Promise<Performed<Result>>,
  ): Promise<Result>;
  /** From now on the call does little but wait: its place among those that run is for others. */
  idle(): void;
}
