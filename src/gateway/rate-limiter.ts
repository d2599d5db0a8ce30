// Token buckets and running calls per account and process (contract §6).
import { admission } from '../core/admission.ts';
import { readBurstSeconds, type Tier, tierLimits } from '../core/tiers.ts';
import type { LimitClass } from './endpoint.ts';

export interface Grant {
  readonly allowed: boolean;
  /** Header values of the RateLimit fields draft. */
  readonly policy: string;
  readonly remaining: string;
  readonly retryAfterMs: number;
}

interface Bucket {
  tokens: number;
  updatedMs: number;
}

export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #running = new Map<string, number>();

  /** Takes one token of the account's bucket. */
  take(
    accountId: string,
    tier: Tier,
    limitClass: Exclude<LimitClass, 'none'>,
    nowMs: number = performance.now(),
  ): Grant {
    const limits = tierLimits[tier];
    const windowSeconds = limitClass === 'reads' ? 1 : 60;
    const quota = limitClass === 'reads' ? limits.readsPerSecond : limits.writesPerMinute;
    const capacity = limitClass === 'reads' ? quota * readBurstSeconds : quota;
    const perMs = quota / (windowSeconds * 1000);
    const bucket = this.#bucket(`${limitClass} ${accountId}`, capacity, nowMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (nowMs - bucket.updatedMs) * perMs);
    bucket.updatedMs = nowMs;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const resetSeconds = Math.ceil((capacity - bucket.tokens) / perMs / 1000);
    return {
      allowed,
      policy: `"${limitClass}";q=${quota};w=${windowSeconds}`,
      remaining: `"${limitClass}";r=${Math.floor(bucket.tokens)};t=${resetSeconds}`,
      retryAfterMs: allowed ? 0 : Math.ceil((1 - bucket.tokens) / perMs),
    };
  }

  /** Counts a running call; false when the account has too many. `end` must be called once for each true. */
  begin(accountId: string, tier: Tier): boolean {
    const running = this.#running.get(accountId) ?? 0;
    if (running >= tierLimits[tier].inFlightMax) return false;
    this.#running.set(accountId, running + 1);
    return true;
  }

  end(accountId: string): void {
    const running = (this.#running.get(accountId) ?? 1) - 1;
    if (running <= 0) this.#running.delete(accountId);
    else this.#running.set(accountId, running);
  }

  #bucket(id: string, capacity: number, nowMs: number): Bucket {
    let bucket = this.#buckets.get(id);
    if (bucket === undefined) {
      // A forgotten bucket is a full one: forgetting the oldest never refuses a call that was allowed.
      if (this.#buckets.size >= admission.all.ratesRemembered)
        this.#buckets.delete(this.#buckets.keys().next().value as string);
      bucket = { tokens: capacity, updatedMs: nowMs };
      this.#buckets.set(id, bucket);
    }
    return bucket;
  }
}
