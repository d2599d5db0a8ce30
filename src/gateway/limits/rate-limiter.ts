// Token buckets and concurrent-call counts per account (contract §6).

import { admission } from '../../core/admission.ts';
import {
  debtSecondsMax,
  deleteBurstSeconds,
  readBurstSeconds,
  type Tier,
  tierLimits,
} from '../../core/callers/tiers.ts';
import { lruOf } from '../../lib/lru.ts';
import type { LimitClass } from '../endpoint.ts';

export type RatedClass = Exclude<LimitClass, 'none'>;

export interface Grant {
  readonly allowed: boolean;
  /** What is left; less than none: a debt. */
  readonly tokens: number;
  /** Header values of the RateLimit fields draft. */
  readonly policy: string;
  readonly remaining: string;
  readonly retryAfterMs: number;
}

export interface Rates {
  /** Takes one token of the account's bucket. */
  take(accountId: string, tier: Tier, limitClass: RatedClass): Grant | Promise<Grant>;
  /** Takes what a call costs beyond its token, also what is not there: the next calls wait for it. Answers the field's new value. */
  spend(accountId: string, tier: Tier, limitClass: RatedClass, tokens: number): string;
  /** Counts a running call; false when the account has too many. `end` must be called once for each true. */
  begin(accountId: string, tier: Tier): boolean | Promise<boolean>;
  end(accountId: string): void;
}

interface Bucket {
  tokens: number;
  updatedMs: number;
}

export class RateLimiter implements Rates {
  /** A forgotten bucket is a full one: forgetting never refuses a call that was allowed. */
  readonly #buckets = lruOf<Bucket>(admission.all.ratesRemembered);
  readonly #running = new Map<string, number>();

  take(accountId: string, tier: Tier, limitClass: RatedClass, nowMs: number = performance.now()): Grant {
    const rate = rateOf(tier, limitClass);
    const bucket = this.#refill(accountId, limitClass, rate, nowMs);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return {
      allowed,
      tokens: bucket.tokens,
      policy: rate.policy,
      remaining: remainingOf(limitClass, rate, bucket),
      retryAfterMs: allowed ? 0 : Math.ceil((1 - bucket.tokens) / rate.perMs),
    };
  }

  spend(
    accountId: string,
    tier: Tier,
    limitClass: RatedClass,
    tokens: number,
    nowMs: number = performance.now(),
  ): string {
    const rate = rateOf(tier, limitClass);
    const bucket = this.#refill(accountId, limitClass, rate, nowMs);
    bucket.tokens = Math.max(bucket.tokens - tokens, -rate.perMs * debtSecondsMax * 1000);
    return remainingOf(limitClass, rate, bucket);
  }

  /** The bucket is as another process has told it. */
  adopt(accountId: string, tier: Tier, limitClass: RatedClass, tokens: number): void {
    this.#refill(accountId, limitClass, rateOf(tier, limitClass), performance.now()).tokens = tokens;
  }

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

  #refill(accountId: string, limitClass: string, { capacity, perMs }: Rate, nowMs: number): Bucket {
    const bucket = this.#bucket(`${limitClass} ${accountId}`, capacity, nowMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (nowMs - bucket.updatedMs) * perMs);
    bucket.updatedMs = nowMs;
    return bucket;
  }

  #bucket(id: string, capacity: number, nowMs: number): Bucket {
    let bucket = this.#buckets.get(id);
    if (bucket === undefined) {
      bucket = { tokens: capacity, updatedMs: nowMs };
      this.#buckets.set(id, bucket);
    }
    return bucket;
  }
}

interface Rate {
  readonly capacity: number;
  readonly perMs: number;
  readonly policy: string;
}

function rateOf(tier: Tier, limitClass: RatedClass): Rate {
  const { readsPerSecond, evaluationsPerSecond, deletesPerSecond, receivedPerSecond, writesPerMinute } =
    tierLimits[tier];
  const [quota, windowSeconds, burst] = {
    reads: [readsPerSecond, 1, readBurstSeconds] as const,
    evaluations: [evaluationsPerSecond, 1, readBurstSeconds] as const,
    deletes: [deletesPerSecond, 1, deleteBurstSeconds] as const,
    received: [receivedPerSecond, 1, readBurstSeconds] as const,
    writes: [writesPerMinute, 60, 1] as const,
  }[limitClass];
  const policy = `"${limitClass}";q=${quota};w=${windowSeconds}`;
  return { capacity: quota * burst, perMs: quota / (windowSeconds * 1000), policy };
}

function remainingOf(limitClass: string, { capacity, perMs }: Rate, { tokens }: Bucket): string {
  const resetSeconds = Math.ceil((capacity - tokens) / perMs / 1000);
  return `"${limitClass}";r=${Math.max(0, Math.floor(tokens))};t=${resetSeconds}`;
}
