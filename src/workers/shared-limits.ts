// Rates, what is under way and failed logins of all workers: the first process keeps them, so that an account has one burst and an
// address one count, whichever worker it meets.
import { type Tier, tierLimits } from '../core/accounts/tiers.ts';
import { type UnderWay, UnderWayHere } from '../core/process/under-way.ts';
import { FailedLogins, type LoginFailures } from '../gateway/limits/failed-logins.ts';
import { type Grant, type RatedClass, RateLimiter, type Rates } from '../gateway/limits/rate-limiter.ts';
import type { Link } from './link.ts';

type Take = readonly [accountId: string, tier: Tier, limitClass: RatedClass];

/** The first process's side: what links ask is answered from one limiter. */
export class LimitKeeper {
  readonly #rates = new RateLimiter();
  readonly #logins = new FailedLogins();

  readonly #underWay = new UnderWayHere();
  /** What is under way in each worker: it ends with it. */
  readonly #underWayOf = new Map<Link, UnderWayHere>();

  add(link: Link): void {
    const there = new UnderWayHere();
    this.#underWayOf.set(link, there);
    link.on('under-way.begin', ([name, max]: [string, number]) => {
      const mayBegin = this.#underWay.begin(name, max);
      if (mayBegin) there.begin(name, max);
      return mayBegin;
    });
    link.on('under-way.end', (name: string) => {
      there.end(name);
      this.#underWay.end(name);
    });
    link.on('rate.take', ([accountId, tier, limitClass]: Take) => this.#rates.take(accountId, tier, limitClass));
    link.on('rate.spend', ([tokens, ...of]: [number, ...Take]) => void this.#rates.spend(...of, tokens));
    link.on('login.fail', (address: string) => this.#logins.fail(address));
  }

  remove(link: Link): void {
    for (const [name, count] of this.#underWayOf.get(link)?.counts() ?? [])
      for (let ended = 0; ended < count; ended += 1) this.#underWay.end(name);
    this.#underWayOf.delete(link);
  }
}

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
