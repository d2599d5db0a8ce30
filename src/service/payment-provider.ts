// The payment provider of the settings. Stripe's package is large, so it is loaded only where it is configured.
import type { PaymentSettings } from '../config/payments.ts';
import { endTestCredit } from '../core/wallet/test-credit.ts';
import type { Database } from '../db/database.ts';
import { SandboxProvider } from '../payments/sandbox/provider.ts';
import type { Payments } from '../payments/terms.ts';

/** The first start that takes real money ends what is left of test money. */
export async function openPayments(db: Database, baseUrl: string, settings: PaymentSettings): Promise<Payments> {
  const { fxRatesNanos, reviewAboveNanos, kycAboveNanos, tierPricesNanos } = settings;
  const provider = await providerOf(db, baseUrl, settings);
  if (provider?.testMode === false) await endTestCredit(db);
  return { provider, fxRatesNanos, reviewAboveNanos, kycAboveNanos, tierPricesNanos };
}

async function providerOf(db: Database, baseUrl: string, settings: PaymentSettings): Promise<Payments['provider']> {
  if (settings.provider === 'off') return null;
  if (settings.provider === 'sandbox') return new SandboxProvider(db, baseUrl);
  if (settings.stripe === null) throw new Error('the settings of Stripe are missing');
  const { stripeProvider } = await import('../vendors/payments/stripe/index.ts');
  return stripeProvider(settings.stripe);
}
