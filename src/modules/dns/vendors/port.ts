// Port of an external name server that holds zones. It is the truth of their records, and nothing of them is kept here. Each adapter reads a
// zone whole and changes record sets of it.
import type { RecordSet } from '../records/sets.ts';
import type { RecordType } from '../records/values.ts';

/** The record set of a name and type as it is to be; null: gone. */
export interface SetChange {
  readonly name: string;
  readonly type: RecordType;
  readonly set: Pick<RecordSet, 'ttl' | 'values'> | null;
}

/** A zone as its name server has it now. Records of types that are not served, and NS records of the zone itself, are not among its sets. */
export interface HostedZone {
  readonly zone: string;
  /** The NS records of the zone itself. */
  readonly nameServers: readonly string[];
  /** By name and type. */
  readonly sets: readonly RecordSet[];
  /** What the name server makes of a time to live, in seconds. */
  ttlOf(seconds: number): number;
  /** Sets of different names and types. Throws VendorFault; what was changed by then stays, and the same change sent again completes it. */
  change(changes: readonly SetChange[], signal: AbortSignal): Promise<void>;
}

export interface ZoneHost {
  /** Null: the name server has no such zone. Throws VendorFault. */
  read(zone: string, signal: AbortSignal): Promise<HostedZone | null>;
}

export type FaultReason =
  | 'VENDOR_AUTH_ERROR'
  | 'VENDOR_DOWN'
  | 'VENDOR_ERROR'
  | 'VENDOR_TIMEOUT'
  | 'RATE_LIMIT_VENDOR'
  | 'VALIDATION_FAILED';

/** Why a name server did not do it: `message` is a sentence for the caller. */
export class VendorFault extends Error {
  override readonly name = 'VendorFault';
  readonly reason: FaultReason;
  readonly retryAfterMs: number | null;
  /** The zone is another one than was read: nothing was done, and it may be read and changed again. */
  readonly isRace: boolean;

  constructor(
    reason: FaultReason,
    message: string,
    options: { retryAfterMs?: number; isRace?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.isRace = options.isRace ?? false;
  }
}
