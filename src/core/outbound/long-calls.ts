// Calls of users' URLs, and of capabilities by schedules, that may take longer than 15 s. They are counted by account (its tier), by host and in
// all, apart from shorter ones, so that a receiver which never answers holds nothing that other deliveries need. Counted in each process that
// does background work.
import { FairPlaces } from '../../lib/fair-places.ts';
import type { Admission } from '../admission.ts';
import { type Tier, tierLimits } from '../callers/tiers.ts';
import type { Metric } from '../process/metric.ts';

/** Within this a call is short. Also the default of every `timeout_seconds`. */
export const SHORT_SECONDS = 15;
export const TIMEOUT_SECONDS_MAX = 900;
/** A lease outlasts an attempt by this: the way to the receiver, and its outcome on the way back. */
export const LEASE_MARGIN_SECONDS = 15;

/** Of the places, for accounts that have none. */
const FIRSTS_SHARE = 1 / 4;

export function isLong(timeoutSeconds: number): boolean {
  return timeoutSeconds > SHORT_SECONDS;
}

/** Who calls whom. */
export interface LongCaller {
  readonly accountId: string;
  readonly tier: Tier;
  /** Null: no URL is called. */
  readonly host: string | null;
}

export class LongCalls {
  readonly #bounds: Pick<Admission['all'], 'longCalls' | 'longCallsOfHost' | 'longCallBytesMax'>;
  readonly #places: FairPlaces;
  readonly #bytes: FairPlaces;
  readonly #accounts = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  /** Of an account at a host. */
  readonly #pairs = new Map<string, number>();

  constructor(bounds: Pick<Admission['all'], 'longCalls' | 'longCallsOfHost' | 'longCallBytesMax'>) {
    this.#bounds = bounds;
    this.#places = new FairPlaces(bounds.longCalls);
    this.#bytes = new FairPlaces(bounds.longCallBytesMax);
  }

  /** How many more the account may begin now, whatever their hosts. */
  room(accountId: string, tier: Tier): number {
    if (!this.#bytes.hasRoom(accountId) || !this.#places.hasRoom(accountId)) return 0;
    const own = this.#accounts.get(accountId) ?? 0;
    const { longCalls } = this.#bounds;
    // They last: without this thousands of accounts would keep others from their first for minutes.
    const forFirsts = this.#places.taken >= longCalls * (1 - FIRSTS_SHARE) ? 1 : longCalls;
    return Math.max(0, Math.min(tierLimits[tier].longCallsMax, forFirsts) - own);
  }

  /** Takes up to `wanted` places. Answers how many; each is given back by `release`. */
  reserve(caller: LongCaller, wanted: number): number {
    const { accountId, tier } = caller;
    const most = Math.min(wanted, this.room(accountId, tier), this.#roomOfHost(caller));
    const granted = most <= 0 ? 0 : this.#places.reserve(accountId, most);
    this.#count(caller, granted);
    return granted;
  }

  release(caller: LongCaller, places: number): void {
    if (places === 0) return;
    this.#places.release(caller.accountId, places);
    this.#count(caller, -places);
  }

  /** Runs a call, for which a place is taken, that keeps so many bytes of the account. */
  async during<T>(accountId: string, bytes: number, call: () => Promise<T>): Promise<T> {
    this.#bytes.force(accountId, bytes);
    try {
      return await call();
    } finally {
      this.#bytes.release(accountId, bytes);
    }
  }

  metrics(): Metric[] {
    return [
      {
        name: 'qm_long_calls_running',
        help: 'Calls under way on this process that may take longer than 15 seconds.',
        labels: {},
        value: this.#places.taken,
      },
    ];
  }

  /** Many accounts together keep a host no busier than one may alone; whoever has no call there may always begin one. */
  #roomOfHost({ accountId, tier, host }: LongCaller): number {
    if (host === null) return Number.POSITIVE_INFINITY;
    const most = Math.max(this.#bounds.longCallsOfHost, tierLimits[tier].longCallsMax);
    const least = (this.#pairs.get(`${accountId} ${host}`) ?? 0) === 0 ? 1 : 0;
    return Math.max(least, most - (this.#hosts.get(host) ?? 0));
  }

  #count({ accountId, host }: LongCaller, by: number): void {
    add(this.#accounts, accountId, by);
    if (host === null) return;
    add(this.#hosts, host, by);
    add(this.#pairs, `${accountId} ${host}`, by);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const left = (counts.get(key) ?? 0) + by;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

/** The host that a URL calls, as calls are counted. */
export function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}
