// The core services of one process. Modules and surfaces add their own parts; kit/services.ts is the sum.
import type { ConnectionConfig, Database, Queryable } from '../db/database.ts';
import type { NameServer } from '../lib/name-server.ts';
import type { OutboundClient } from '../vendors/http/port.ts';
import type { Admission } from './admission.ts';
import type { KnownScopes } from './callers/scopes.ts';
import type { KeyRing } from './keys/ring.ts';
import type { LongCalls } from './outbound/long-calls.ts';
import type { OwnCalls } from './own-calls.ts';
import type { Logger } from './process/logger.ts';
import type { ProcessRegistry } from './process/processes.ts';
import type { Siblings } from './process/siblings.ts';
import type { UnderWay } from './process/under-way.ts';
import type { RequestLog } from './requests/request-log.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { Tracing } from './tracing/tracing.ts';
import type { UsageMeter } from './usage/meter.ts';
import type { Holds } from './wallet/holds/holds.ts';
import type { Lanes } from './wallet/lane/lanes.ts';
import type { PriceBook } from './wallet/prices.ts';

/** The parts of one process that every room above may take, each by need. */
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
  /** Which calls that may take long are under way on this process. */
  readonly longCalls: LongCalls;
  /** Calls of background work in the name of accounts. */
  readonly calls: OwnCalls;
  /** Whether an account has nothing in any module. */
  readonly isEmptyAccount: (db: Queryable, accountId: string) => Promise<boolean>;
  readonly log: Logger;
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
