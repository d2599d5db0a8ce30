// Rules that all reads at a payment provider share: ownership, the first check, the lease, and pages whose creation got no answer.
import type { Core } from '../core/core.ts';
import { clockNow } from '../core/database-clock.ts';
import { HOUR_MS } from '../lib/time.ts';
import { type PaymentProvider, PaymentProviderError, type PaymentState } from '../vendors/payments/port.ts';
import type { Payments } from './terms.ts';

/** Longer than a provider's answer takes, retries included. */
export const LEASE_MS = 120_000;
/** Beyond it a provider may have forgotten the id of a write, and would make a second one: then it is only looked up. */
export const repeatableMs = 23 * HOUR_MS;

const MINUTE_MS = 60_000;
const FIRST_CHECKS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];
/** After the beginning. */
export const FIRST_CHECK_MS = MINUTE_MS;

/** The next of 1, 5 and 15 minutes after the beginning; null: all are over. */
export function earlyCheckMs(createdMs: number, nowMs: number): number | null {
  return FIRST_CHECKS_MS.map((afterMs) => createdMs + afterMs).find((atMs) => atMs > nowMs) ?? null;
}

/** A row of what a provider has. */
interface OfProvider {
  readonly provider: string;
  readonly test_mode: boolean;
}

export function isOf(provider: Pick<PaymentProvider, 'name' | 'testMode'>, row: OfProvider): boolean {
  return provider.name === row.provider && provider.testMode === row.test_mode;
}

/** Null: of a provider that is not configured any more nothing can be learned. */
export function providerOf({ provider }: Pick<Payments, 'provider'>, row: OfProvider): PaymentProvider | null {
  return provider !== null && isOf(provider, row) ? provider : null;
}

/**
 * What became of a page at the provider. A row without a ref asks for its page again, under its id, while that is safe. Null: there is none that the
 * provider knows. Throws PaymentProviderError.
 * @param open makes the page, or meets it again, and keeps its link. Answers its ref.
 */
export async function readPage(
  { db }: Pick<Core, 'db'>,
  provider: PaymentProvider,
  row: { readonly checkout_ref: string | null; readonly created_at: number },
  open: () => Promise<string>,
): Promise<PaymentState | null> {
  if (row.checkout_ref !== null) return provider.read(row.checkout_ref);
  if ((await clockNow(db)) >= row.created_at + repeatableMs) return null;
  try {
    return await provider.read(await open());
  } catch (error) {
    if (error instanceof PaymentProviderError && error.kind === 'refused') return null;
    throw error;
  }
}
