// Limits that all workers share: rates, concurrent calls, failed logins and vendor limits. The first process keeps them. So an account has one
// burst, an address one count and a vendor no more calls than its file allows, whichever worker makes them.
import { type Tier, tierLimits } from '../core/callers/tiers.ts';
import { type UnderWay, UnderWayHere } from '../core/process/under-way.ts';
import { FailedLogins, type LoginFailures } from '../gateway/limits/failed-logins.ts';
import { type Grant, type RatedClass, RateLimiter, type Rates } from '../gateway/limits/rate-limiter.ts';
import { type LimitedVendor, type LiveAttempts, type VendorLimits, VendorLimitsHere } from '../routing/limits.ts';
import type { Link } from './link.ts';

type Take = readonly [accountId: string, tier: Tier, limitClass: RatedClass];

/** The first process's side: what links ask is answered from one limiter. */
export class LimitKeeper {
  readonly #rates = new RateLimiter();
  readonly #logins = new FailedLogins();
  readonly #vendors = new VendorLimitsHere();
  readonly #underWay = new UnderWayHere();
  /** What each worker has under way, and its calls of each vendor: they end with it. */
  readonly #ofWorker = new Map<Link, { readonly underWay: UnderWayHere; readonly vendors: UnderWayHere }>();

  add(link: Link): void {
    const there = { underWay: new UnderWayHere(), vendors: new UnderWayHere() };
    this.#ofWorker.set(link, there);
    link.on('under-way.begin', ([name, max]: [string, number]) => {
      const mayBegin = this.#underWay.begin(name, max);
      if (mayBegin) there.underWay.begin(name, max);
      return mayBegin;
    });
    link.on('under-way.end', (name: string) => {
      there.underWay.end(name);
      this.#underWay.end(name);
    });
    link.on('vendor.begin', ([vendor, nowMs]: [LimitedVendor, number]) => {
      const waitMs = this.#vendors.begin(vendor, nowMs);
      if (waitMs === null) there.vendors.begin(vendor.id, Number.POSITIVE_INFINITY);
      return waitMs;
    });
    link.on('vendor.end', ([vendor, keeps]: [LimitedVendor, boolean]) => {
      there.vendors.end(vendor.id);
      this.#vendors.end(vendor, keeps);
    });
    link.on('vendor.reading', () => this.#vendors.reading());
    link.on('vendor.live', ([upTo, live]: [number, [string, number][]]) => this.#vendors.adopt(upTo, new Map(live)));
    link.on('rate.take', ([accountId, tier, limitClass]: Take) => this.#rates.take(accountId, tier, limitClass));
    link.on('rate.spend', ([tokens, ...of]: [number, ...Take]) => void this.#rates.spend(...of, tokens));
    link.on('login.fail', (address: string) => this.#logins.fail(address));
  }

  remove(link: Link): void {
    const there = this.#ofWorker.get(link);
    if (there === undefined) return;
    this.#ofWorker.delete(link);
    for (const name of there.underWay.all()) this.#underWay.end(name);
    for (const id of there.vendors.all()) this.#vendors.end({ id, limits: NO_LIMITS }, false);
  }
}

const NO_LIMITS = { concurrent: null, perMinute: null };

export class SharedRates implements Rates {
  readonly #link: Link;
  /** The rates as they were told last. */
  readonly #own = new RateLimiter();
  readonly #underWay: SharedUnderWay;

  constructor(link: Link) {
    this.#link = link;
    this.#underWay = new SharedUnderWay(link);
  }

  async take(...of: Take): Promise<Grant> {
    const grant = (await this.#link.ask('rate.take', of)) as Grant;
    this.#own.adopt(...of, grant.tokens);
    return grant;
  }

  spend(accountId: string, tier: Tier, limitClass: RatedClass, tokens: number): string {
    this.#link.tell('rate.spend', [tokens, accountId, tier, limitClass]);
    return this.#own.spend(accountId, tier, limitClass, tokens);
  }

  begin(accountId: string, tier: Tier): Promise<boolean> {
    return this.#underWay.begin(callsOf(accountId), tierLimits[tier].inFlightMax);
  }

  end(accountId: string): void {
    this.#underWay.end(callsOf(accountId));
  }
}

const callsOf = (accountId: string) => `calls ${accountId}`;

export class SharedUnderWay implements UnderWay {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  begin(name: string, max: number): Promise<boolean> {
    return this.#link.ask('under-way.begin', [name, max]) as Promise<boolean>;
  }

  end(name: string): void {
    this.#link.tell('under-way.end', name);
  }
}

export class SharedLogins implements LoginFailures {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  fail(address: string): Promise<number> {
    return this.#link.ask('login.fail', address) as Promise<number>;
  }
}

export class SharedVendorLimits implements VendorLimits {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  async begin({ id, limits }: LimitedVendor, nowMs: number): Promise<number | null> {
    if (!isLimited(limits)) return null;
    return (await this.#link.ask('vendor.begin', [{ id, limits }, nowMs])) as number | null;
  }

  end({ id, limits }: LimitedVendor, keeps: boolean): void {
    if (isLimited(limits)) this.#link.tell('vendor.end', [{ id, limits }, keeps]);
  }

  async read(live: () => Promise<LiveAttempts>): Promise<void> {
    const upTo = await this.#link.ask('vendor.reading');
    this.#link.tell('vendor.live', [upTo, [...(await live())]]);
  }
}

function isLimited({ concurrent, perMinute }: LimitedVendor['limits']): boolean {
  return concurrent !== null || perMinute !== null;
}
