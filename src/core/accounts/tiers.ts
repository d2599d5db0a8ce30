// Limits per tier (contract §6). A deployment may override them.
export type Tier = 'standard' | 'pro' | 'enterprise';

export interface TierLimits {
  readonly readsPerSecond: number;
  readonly writesPerMinute: number;
  readonly inFlightMax: number;
  readonly keysMax: number;
  readonly webhooksMax: number;
  readonly queuesMax: number;
  readonly collectionsMax: number;
  readonly cronJobsMax: number;
}

export const tierLimits: Readonly<Record<Tier, TierLimits>> = {
  standard: {
    readsPerSecond: 100,
    writesPerMinute: 120,
    inFlightMax: 1_000,
    keysMax: 100,
    webhooksMax: 20,
    queuesMax: 1_000,
    collectionsMax: 1_000,
    cronJobsMax: 100,
  },
  pro: {
    readsPerSecond: 1_000,
    writesPerMinute: 300,
    inFlightMax: 5_000,
    keysMax: 500,
    webhooksMax: 100,
    queuesMax: 10_000,
    collectionsMax: 5_000,
    cronJobsMax: 1_000,
  },
  enterprise: {
    readsPerSecond: 10_000,
    writesPerMinute: 1_000,
    inFlightMax: 20_000,
    keysMax: 5_000,
    webhooksMax: 500,
    queuesMax: 100_000,
    collectionsMax: 50_000,
    cronJobsMax: 10_000,
  },
};

/** Free reads may burst to this many seconds of their rate. */
export const readBurstSeconds = 4;

/** What a free call takes beyond its one token: another for each of these, known or done afterwards. */
export const tokenWorth = { bodyBytes: 16 * 1024, answerBytes: 64 * 1024 } as const;
/** What calls took beyond what was there is a debt that delays the next ones, by no more than this. */
export const debtSecondsMax = 60;
