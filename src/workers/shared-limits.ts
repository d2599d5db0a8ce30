// Rates and failed logins of all workers: the first process keeps them, so that an account has one burst and an address one count,
// whichever worker it meets. Calls under way are counted where they run, each worker having its share of them: connections are
// spread over all.
import type { Tier } from '../core/accounts/tiers.ts';
import { FailedLogins, type LoginFailures } from '../gateway/limits/failed-logins.ts';
import { type Grant, type RatedClass, RateLimiter, type Rates } from '../gateway/limits/rate-limiter.ts';
import type { Link } from './link.ts';

type Take = readonly [accountId: string, tier: Tier, limitClass: RatedClass];

/** The first process's side: what links ask is answered from one limiter. */
export class LimitKeeper {
  readonly #rates = new RateLimiter();
  readonly #logins = new FailedLogins();

  add(link: Link): void {
    link.on('rate.take', ([accountId, tier, limitClass]: Take) => this.#rates.take(accountId, tier, limitClass));
    link.on('rate.spend', ([tokens, ...of]: [number, ...Take]) => void this.#rates.spend(...of, tokens));
    link.on('login.fail', (address: string) => this.#logins.fail(address));
  }
}

export class SharedRates implements Rates {
  readonly #link: Link;
  /** Counts what runs here, and remembers the rates as they were told last. */
  readonly #own: RateLimiter;

  constructor(link: Link, workers: number) {
    this.#link = link;
    this.#own = new RateLimiter(workers);
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

  begin(accountId: string, tier: Tier): boolean {
    return this.#own.begin(accountId, tier);
  }

  end(accountId: string): void {
    this.#own.end(accountId);
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
