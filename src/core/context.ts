// What a capability is given: who calls, how, and the services of this process. Built by the gateway, one per call.

import type { ConnectionConfig, Database, Queryable } from '../db/database.ts';
import type { JsonText } from '../lib/json-text.ts';
import type { NameServer } from '../lib/name-server.ts';
import type { OutboundClient } from '../vendors/http/port.ts';
import type { IdentityProvider } from '../vendors/identity/port.ts';
import type { MailServer } from '../vendors/mail/port.ts';
import type { Tier } from './accounts/tiers.ts';
import type { Admission } from './admission.ts';
import type { Assets } from './assets/assets.ts';
import type { OwnCalls } from './background/own-calls.ts';
import type { BlockThreads } from './blocks/threads.ts';
import type { EntryForm } from './entry-form.ts';
import type { IdempotencyKey } from './idempotency/key.ts';
import type { KeyRing } from './keys/ring.ts';
import type { DecodeTurns } from './pictures/turns.ts';
import type { Principal } from './principal.ts';
import type { Logger } from './process/logger.ts';
import type { ProcessRegistry } from './process/processes.ts';
import type { Siblings } from './process/siblings.ts';
import type { UnderWay } from './process/under-way.ts';
import type { RequestLog } from './requests/request-log.ts';
import type { KnownScopes, ScopeKind } from './scopes.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { Payments, SignUp } from './terms.ts';
import type { Tracing } from './tracing/tracing.ts';
import type { UsageMeter } from './usage/meter.ts';
import type { Vendors } from './vendors/vendors.ts';
import type { Holds } from './wallet/holds/holds.ts';
import type { Lanes } from './wallet/lane/lanes.ts';
import type { PriceBook } from './wallet/prices.ts';

/** Services of one process, built once by app.ts. */
export interface Core {
  readonly db: Database;
  /** For sessions of their own, as threads need them. */
  readonly connection: ConnectionConfig;
  readonly secrets: Secrets;
  readonly lanes: Lanes;
  readonly holds: Holds;
  readonly keys: KeyRing;
  readonly knownScopes: KnownScopes;
  readonly usage: UsageMeter;
  readonly requests: RequestLog;
  readonly prices: PriceBook;
  /** What webhooks may subscribe to; nothing tells a planned type yet. */
  readonly eventTypes: ReadonlyMap<string, 'ga' | 'planned'>;
  readonly processes: ProcessRegistry;
  /** The only way to URLs that users name. */
  readonly outbound: OutboundClient;
  /** Whom outside work may be given to. */
  readonly vendors: Vendors;
  /** Where bytes are kept that are too many for the database. */
  readonly assets: Assets;
  /** Calls of background work in the name of accounts. */
  readonly calls: OwnCalls;
  /** Where pictures of all modules wait to be decoded. */
  readonly decodes: DecodeTurns;
  /** Where blocks of records are worked on. */
  readonly blockThreads: BlockThreads;
  readonly payments: Payments;
  /** Sends mail; null: it stands in the outbox. */
  readonly mailServer: MailServer | null;
  /** Who may sign up. */
  readonly signUp: SignUp;
  /** Who may vouch for people who sign in, by id, in the order of the settings. */
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  /** What an account gets at its first sign-in by one of them. */
  readonly signUpCreditNanos: bigint;
  /** Whether an account has nothing in any module. */
  readonly isEmptyAccount: (db: Queryable, accountId: string) => Promise<boolean>;
  readonly log: Logger;
  /** A Chromium or Chrome for pages; null: there is none. */
  readonly chromiumPath: string | null;
  /** Name servers that are asked about names of others; null: none are set. */
  readonly nameServers: readonly NameServer[] | null;
  /** Root of every URL the service hands out, without a trailing slash. */
  readonly baseUrl: string;
  /** Names of hosts that the service itself goes by: modules add theirs when they start. No account may have them. */
  readonly ownNames: Set<string>;
  readonly region: 'western' | 'china';
  /** What answers tell of costs in CNY. */
  readonly cnyPerUsd: number;
  readonly siblings: Siblings;
  readonly underWay: UnderWay;
  /** What this process may take. */
  readonly bounds: Admission;
  /** Whether accounts are limited in how often, and how much at once, they call. */
  readonly limitsRates: boolean;
  /** Null: there are no traces. */
  readonly tracing: Tracing | null;
}

/** The fields of an input; a JsonText among them, or in place of them all, goes in byte for byte. */
export type InvokedInput = JsonText | Readonly<Record<string, unknown>>;

export interface InvokeOptions {
  /** Tells the calls of one call apart, in what their idempotency keys are derived from; when absent, their order does. */
  readonly step?: string;
}

/** What `perform` made, and what was charged for it, nano-USD. */
export interface Performed<Result> {
  readonly result: Result;
  readonly costNanos: bigint;
}

export interface CallContext {
  readonly core: Core;
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
   * and figures are that capability's.
   */
  perform<Result>(capability: string, work: (ctx: CallContext) => Promise<Performed<Result>>): Promise<Result>;
  /** From now on the call does little but wait: its place among those that run is for others. */
  idle(): void;
}
