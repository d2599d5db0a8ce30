// Rates, calls under way and failed logins of all workers: the first process keeps them, so that an account has one burst and an address
// one count, whichever worker it meets.
import type { Tier } from '../core/accounts/tiers.ts';
import { FailedLogins, type LoginFailures } from '../gateway/limits/failed-logins.ts';
import { type Grant, type RatedClass, RateLimiter, type Rates } from '../gateway/limits/rate-limiter.ts';
import type { Link } from './link.ts';

type Take = readonly [accountId: string, tier: Tier, limitClass: RatedClass];

/** The first process's side: what links ask is answered from one limiter. */
export class LimitKeeper {
  readonly #rates = new RateLimiter();
  readonly #logins = new FailedLogins();

  /** Calls of each account that run in a worker: they end with it. */
  readonly #running = new Map<Link, Map<string, number>>();

  add(link: Link): void {
    const running = new Map<string, number>();
    this.#running.set(link, running);
    link.on('rate.begin', ([accountId, tier]: [string, Tier]) => {
      const mayRun = this.#rates.begin(accountId, tier);
      if (mayRun) running.set(accountId, (running.get(accountId) ?? 0) + 1);
      return mayRun;
    });
    link.on('rate.end', (accountId: string) => {
      const left = (running.get(accountId) ?? 0) - 1;
      if (left > 0) running.set(accountId, left);
      else running.delete(accountId);
      this.#rates.end(accountId);
    });
    link.on('rate.take', ([accountId, tier, limitClass]: Take) => this.#rates.take(accountId, tier, limitClass));
    link.on('rate.spend', ([tokens, ...of]: [number, ...Take]) => void this.#rates.spend(...of, tokens));
    link.on('login.fail', (address: string) => this.#logins.fail(address));
  }

  remove(link: Link): void {
    for (const [accountId, count] of this.#running.get(link) ?? [])
      for (let ended = 0; ended < count; ended += 1) this.#rates.end(accountId);
    this.#running.delete(link);
  }
}

export class SharedRates implements Rates {
  readonly #link: Link;
  /** The rates as they were told last. */
  readonly #own = new RateLimiter();

  constructor(link: Link) {
    this.#link = link;
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
    return this.#link.ask('rate.begin', [accountId, tier]) as Promise<boolean>;
  }

  end(accountId: string): void {
    this.#link.tell('rate.end', accountId);
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
