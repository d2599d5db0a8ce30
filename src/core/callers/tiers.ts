// Limits per account and tier (contract §6). Limits of a single module are defined in that module.
import type { Queryable } from '../../db/database.ts';

export type Tier = 'standard' | 'pro' | 'enterprise';

const order: readonly Tier[] = ['standard', 'pro', 'enterprise'];

/** Whether a tier has all that `other` has. */
export function isTierAtLeast(tier: Tier, other: Tier): boolean {
  return order.indexOf(tier) >= order.indexOf(other);
}

export interface TierLimits {
  readonly readsPerSecond: number;
  /** Of feature flags, which pages and programs ask for at every turn: a bucket beside that of reads. */
  readonly evaluationsPerSecond: number;
  /** Of stored objects: their number is that of writes that were paid for, so who cleans up needs as many calls as who wrote. */
  readonly deletesPerSecond: number;
  /** Webhooks of others, by the addresses of the account's receivers: who knows one takes nothing of the account's reads. */
  readonly receivedPerSecond: number;
  readonly writesPerMinute: number;
  readonly inFlightMax: number;
  /** Calls of its URLs and schedules under way that may take longer than 15 seconds. */
  readonly longCallsMax: number;
  readonly keysMax: number;
  readonly webhooksMax: number;
}

/** What an account of a tier may have of something; account.tier shows it. */
export interface TierLimit extends Readonly<Record<Tier, number>> {
  /** One sentence: what is counted. */
  readonly description: string;
}

export interface CountedLimit extends TierLimit {
  /** How much of it the account has now. */
  readonly used: (db: Queryable, accountId: string) => Promise<number>;
}

export const tierLimits: Readonly<Record<Tier, TierLimits>> = {
  standard: {
    readsPerSecond: 100,
    evaluationsPerSecond: 1_000,
    deletesPerSecond: 100,
    receivedPerSecond: 100,
    writesPerMinute: 120,
    inFlightMax: 1_000,
    longCallsMax: 20,
    keysMax: 100,
    webhooksMax: 20,
  },
  pro: {
    readsPerSecond: 1_000,
    evaluationsPerSecond: 10_000,
    deletesPerSecond: 1_000,
    receivedPerSecond: 1_000,
    writesPerMinute: 300,
    inFlightMax: 5_000,
    longCallsMax: 200,
    keysMax: 500,
    webhooksMax: 100,
  },
  enterprise: {
    readsPerSecond: 10_000,
    evaluationsPerSecond: 100_000,
    deletesPerSecond: 5_000,
    receivedPerSecond: 10_000,
    writesPerMinute: 1_000,
    inFlightMax: 20_000,
    longCallsMax: 2_000,
    keysMax: 5_000,
    webhooksMax: 500,
  },
};

/** Free reads, evaluations and received webhooks may burst to this many seconds of their rate. */
export const readBurstSeconds = 4;
/** Deletes of objects to so many: programs that remove 2,000 of them one by one are refused none, however fast they are. */
export const deleteBurstSeconds = 20;

/** What a free call takes beyond its one token: another for each of these, known or done afterwards. */
export const tokenWorth = { bodyBytes: 16 * 1024, answerBytes: 64 * 1024 } as const;
/** What calls took beyond what was there is a debt that delays the next ones, by no more than this. */
export const debtSecondsMax = 60;
