// External name servers in this process, by entry id: permission to hold a zone there, and calls within the limits of the file. A failure there
// becomes a failure of the call.
import { AccountPlaces } from '../../../core/account-places.ts';
import type { Services } from '../../../kit/services.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { CallOutcome } from '../../../routing/health.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { HOST_CALL_MS, HOSTS_AT_ONCE } from '../limits.ts';
import { CloudflareHost } from './cloudflare/host.ts';
import { mayHold, SERVES } from './family.ts';
import { VendorFault, type ZoneHost } from './port.ts';
import { Rfc2136Host } from './rfc2136/host.ts';

/** The name servers of this service. */
export const EMBEDDED = 'embedded';
const BUSY_MS = 10_000;

/** Whose zone it is. */
interface Holder {
  readonly accountId: string;
  readonly zone: string;
}

export class ZoneHosts {
  readonly #core: Services;
  readonly #hosts: ReadonlyMap<string, { readonly row: ModelRow; readonly host: ZoneHost }>;
  readonly #places = new AccountPlaces(HOSTS_AT_ONCE);

  constructor(core: Services) {
    this.#core = core;
    const rows = core.vendors.rowsFor(SERVES).filter(({ vendor }) => vendor.disabled === null);
    this.#hosts = new Map(
      rows
        .toSorted((one, other) => one.vendor.priority - other.vendor.priority)
        .map((row) => [row.vendor.id, { row, host: openHost(core, row) }]),
    );
  }

  /** Where a new zone goes when the call does not say and this service has no name server: the first that the account may hold it at. */
  usual({ accountId, zone }: Holder): string {
    const found = [...this.#hosts].find(([, { row }]) => mayHold(row, accountId, zone));
    return found?.[0] ?? EMBEDDED;
  }

  /** Throws VALIDATION_FAILED for an entry that is not there, or does not let the account hold the zone: one does not tell from the other. */
  requireHolding(vendor: string, { accountId, zone }: Holder): void {
    const found = this.#hosts.get(vendor);
    if (found !== undefined && mayHold(found.row, accountId, zone)) return;
    throw invalidField(
      'vendor',
      'vendor',
      `The operator has no vendor ${vendor} at which this account may hold ${zone}. Leave vendor out, or ask the operator.`,
    );
  }

  /** Work at the vendor of a zone. Throws VENDOR_NOT_AVAILABLE when the operator does not let the account hold it there any more, and what vendors fail with. */
  async run<T>(vendor: string, holder: Holder, work: (host: ZoneHost, signal: AbortSignal) => Promise<T>): Promise<T> {
    const found = this.#hosts.get(vendor);
    if (found === undefined || !mayHold(found.row, holder.accountId, holder.zone)) {
      throw problem('VENDOR_NOT_AVAILABLE', {
        message: `The operator does not serve ${holder.zone} by the vendor ${vendor} any more.`,
        detail: 'no_vendor_configured',
      });
    }
    return this.#places.run(holder.accountId, null, () => this.#call(found.row, found.host, work));
  }

  async #call<T>(row: ModelRow, host: ZoneHost, work: (host: ZoneHost, signal: AbortSignal) => Promise<T>): Promise<T> {
    const admitted = await this.#core.vendors.enter(row.vendor, SERVES);
    if (admitted.kind === 'pass') {
      const { reason, retryAfterMs } = admitted;
      throw problem(reason, { message: `The vendor ${row.vendor.id} takes no calls for now.`, retryAfterMs });
    }
    let outcome: CallOutcome = { breaker: { kind: 'none' }, reason: null, isUnknown: true };
    try {
      const done = await work(host, AbortSignal.timeout(HOST_CALL_MS));
      outcome = { breaker: { kind: 'none' }, reason: null };
      return done;
    } catch (error) {
      if (!(error instanceof VendorFault)) throw error;
      outcome = outcomeOf(error);
      this.#core.log.warn({ err: error, vendor: row.vendor.id }, 'a vendor of DNS zones failed');
      const { reason, message, retryAfterMs } = error;
      throw problem(reason, { message, cause: error, ...(retryAfterMs === null ? {} : { retryAfterMs }) });
    } finally {
      admitted.reportOutcome(outcome);
    }
  }
}

function openHost(core: Services, row: ModelRow): ZoneHost {
  return row.vendor.adapter === 'cloudflare' ? new CloudflareHost(core.outbound, row) : new Rfc2136Host(row);
}

function outcomeOf({ reason, retryAfterMs, isRace }: VendorFault): CallOutcome {
  if (isRace || reason === 'VALIDATION_FAILED' || reason === 'VENDOR_ERROR') {
    return { breaker: { kind: 'none' }, reason: null, told: reason };
  }
  // Of one zone maybe, and so no reason to shut out others.
  if (reason === 'VENDOR_AUTH_ERROR') return { breaker: { kind: 'none' }, reason, told: reason };
  if (reason === 'RATE_LIMIT_VENDOR') return { breaker: { kind: 'waits', ms: retryAfterMs ?? BUSY_MS }, reason };
  return { breaker: { kind: 'counts' }, reason };
}
