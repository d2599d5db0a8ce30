// The payment provider of the settings. Stripe's package is long: only where it is configured it is loaded.
import type { PaymentSettings } from './config/payments.ts';
import type { Payments } from './core/payments/payments.ts';
import { SandboxProvider } from './core/payments/sandbox/provider.ts';
import type { Database } from './db/database.ts';
import { StartupError } from './db/startup-error.ts';

/** Throws StartupError when the provider cannot be used. */
export async function openPayments(db: Database, baseUrl: string, settings: PaymentSettings): Promise<Payments> {
  const { fxRatesNanos, reviewAboveNanos } = settings;
  return { provider: await providerOf(db, baseUrl, settings), fxRatesNanos, reviewAboveNanos };
}

async function providerOf(db: Database, baseUrl: string, settings: PaymentSettings): Promise<Payments['provider']> {
  if (settings.provider === 'off') return null;
  if (settings.provider === 'sandbox') return new SandboxProvider(db, baseUrl);
  throw new StartupError('PAYMENT_PROVIDER is stripe: this version has no adapter for it yet');
}
