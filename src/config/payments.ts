// PAYMENT_PROVIDER and its settings: the provider, the currencies, and which payments are reviewed before they are credited.
import { isLoopback } from '../lib/loopback.ts';
import { ConfigError, type Variables } from './variables.ts';

const PROVIDERS = ['stripe', 'sandbox', 'off'] as const;
/** Beside USD and CNY, whose rate is CNY_PER_USD. */
const QUOTED = ['EUR', 'GBP', 'JPY'] as const;
const SOLD_TIERS = ['pro', 'enterprise'];
const PRICE = /^\d{1,6}(\.\d{1,2})?$/;
const RATE = /^\d{1,6}(\.\d{1,9})?$/;

export interface PaymentSettings {
  readonly provider: (typeof PROVIDERS)[number];
  /** Set when the provider is `stripe`. */
  readonly stripe: StripeSettings | null;
  /** Units per USD times 10^9, by currency; what is absent is not offered. */
  readonly fxRatesNanos: Readonly<Record<string, bigint>>;
  /** A top-up above it waits for the operator; null: none does. */
  readonly reviewAboveNanos: bigint | null;
  /** Above it a year's top-ups ask for an identity verification; null: never. */
  readonly kycAboveNanos: bigint | null;
  /** Of a month; a tier without one is sold by talking. */
  readonly tierPricesNanos: { readonly pro?: bigint; readonly enterprise?: bigint };
}

export interface StripeSettings {
  readonly secretKey: string;
  /** Null: no webhook is believed, and payments are found by the checks alone. */
  readonly webhookSecret: string | null;
  /** In place of Stripe's; null: Stripe's own. */
  readonly apiBase: string | null;
}

/** Test money buys real work: a public address has it only when it is asked for by name. Throws ConfigError. */
export function paymentSettings(
  variables: Variables,
  { baseUrl, cnyPerUsd }: { readonly baseUrl: string; readonly cnyPerUsd: number },
): PaymentSettings {
  const secretKey = variables.secret('STRIPE_SECRET_KEY', 8);
  const webhookSecret = variables.secret('STRIPE_WEBHOOK_SECRET', 8) ?? null;
  const apiBase = variables.text('STRIPE_API_BASE') === undefined ? null : variables.httpUrl('STRIPE_API_BASE', '');
  const usual = isLoopback(new URL(baseUrl).hostname) ? 'sandbox' : 'off';
  const provider = variables.oneOf('PAYMENT_PROVIDER', PROVIDERS, secretKey === undefined ? usual : 'stripe');
  if (provider === 'stripe' && secretKey === undefined)
    throw new ConfigError('PAYMENT_PROVIDER is stripe: STRIPE_SECRET_KEY must be set');
  return Object.freeze({
    provider,
    stripe: provider === 'stripe' && secretKey !== undefined ? { secretKey, webhookSecret, apiBase } : null,
    fxRatesNanos: ratesOf(variables, cnyPerUsd),
    reviewAboveNanos: usdOrOff(variables, 'TOPUP_REVIEW_ABOVE_USD'),
    kycAboveNanos: usdOrOff(variables, 'KYC_ABOVE_USD'),
    tierPricesNanos: tierPrices(variables),
  });
}

function ratesOf(variables: Variables, cnyPerUsd: number): PaymentSettings['fxRatesNanos'] {
  const rates: Record<string, bigint> = { USD: 10n ** 9n, CNY: rateNanos(cnyPerUsd.toFixed(9)) };
  const value = variables.text('FX_RATES');
  if (value === undefined) return rates;
  const form = `FX_RATES must be JSON like {"EUR": 0.9, "GBP": 0.78, "JPY": 150}`;
  const given = objectOf(value);
  if (given === null) throw new ConfigError(form);
  for (const [currency, rate] of Object.entries(given)) {
    if (!QUOTED.some((quoted) => quoted === currency))
      throw new ConfigError(`${form}, not ${JSON.stringify(currency.slice(0, 20))}`);
    const isRate = typeof rate === 'number' && rate > 0 && RATE.test(String(rate));
    if (!isRate) throw new ConfigError(`${form}: ${currency} must be units per USD, up to nine decimals`);
    rates[currency] = rateNanos(rate.toFixed(9));
  }
  return rates;
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Of a decimal text. */
function rateNanos(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * 10n ** 9n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}

function usdOrOff(variables: Variables, name: string): bigint | null {
  const value = variables.text(name);
  if (value === undefined || value === 'off') return null;
  if (/^\d{1,6}(\.\d{1,2})?$/.test(value)) return rateNanos(value);
  throw new ConfigError(
    `${name} must be an amount of USD with up to two decimals, or off, not ${JSON.stringify(value)}`,
  );
}

function tierPrices(variables: Variables): PaymentSettings['tierPricesNanos'] {
  const value = variables.text('TIER_PRICES');
  if (value === undefined) return { pro: 20n * 10n ** 9n };
  const form = 'TIER_PRICES must be JSON like {"pro": 20, "enterprise": 500}';
  const given = objectOf(value);
  if (given === null) throw new ConfigError(form);
  const prices = Object.entries(given).map(([tier, price]) => {
    if (!SOLD_TIERS.includes(tier)) throw new ConfigError(`${form}, not ${JSON.stringify(tier.slice(0, 20))}`);
    const isPrice = typeof price === 'number' && price >= 1 && PRICE.test(String(price));
    if (!isPrice) throw new ConfigError(`${form}: ${tier} must be USD a month, at least 1, up to two decimals`);
    return [tier, rateNanos(String(price))];
  });
  return Object.fromEntries(prices);
}
