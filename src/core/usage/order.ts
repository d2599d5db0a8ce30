// The one order in which rows of usage are locked: lanes and the meter of every process keep it, so they never deadlock.
interface UsageKey {
  readonly accountId: string;
  readonly capability: string;
  readonly keyId: string;
}

/** For Array.sort: by account, capability, key. */
export function usageOrder(a: UsageKey, b: UsageKey): number {
  return compare(a.accountId, b.accountId) || compare(a.capability, b.capability) || compare(a.keyId, b.keyId);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
