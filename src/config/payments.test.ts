import { describe, expect, test } from 'vitest';
import { loadConfig } from './config.ts';

const payments = (env: Record<string, string>) => loadConfig(env).payments;
const KEY = 'sk_live_0123456789';

describe('who takes payments', () => {
  test.each([
    [{}, 'sandbox'],
    [{ BASE_URL: 'https://q.example' }, 'off'],
    [{ BASE_URL: 'https://q.example', PAYMENT_PROVIDER: 'sandbox' }, 'sandbox'],
    [{ BASE_URL: 'https://q.example', STRIPE_SECRET_KEY: KEY }, 'stripe'],
    [{ STRIPE_SECRET_KEY: KEY }, 'stripe'],
    [{ STRIPE_SECRET_KEY: KEY, PAYMENT_PROVIDER: 'sandbox' }, 'sandbox'],
    [{ STRIPE_SECRET_KEY: KEY, PAYMENT_PROVIDER: 'off' }, 'off'],
  ])('%j: %s', (env, provider) => {
    expect(payments(env).provider).toBe(provider);
  });

  test('Stripe has its settings, nobody else sees its key', () => {
    expect(payments({ STRIPE_SECRET_KEY: KEY, STRIPE_API_BASE: 'http://127.0.0.1:9/' }).stripe).toEqual({
      secretKey: KEY,
      webhookSecret: null,
      apiBase: 'http://127.0.0.1:9',
    });
    expect(payments({ STRIPE_SECRET_KEY: KEY, PAYMENT_PROVIDER: 'sandbox' }).stripe).toBeNull();
  });
});

test('rates are exact to nine decimals; what is not quoted is not offered', () => {
  expect(payments({ FX_RATES: '{"EUR": 0.9, "JPY": 150.123456789}', CNY_PER_USD: '7.1' }).fxRatesNanos).toEqual({
    USD: 1_000_000_000n,
    CNY: 7_100_000_000n,
    EUR: 900_000_000n,
    JPY: 150_123_456_789n,
  });
});

test.each([
  ['PAYMENT_PROVIDER', 'paypal'],
  ['PAYMENT_PROVIDER', 'stripe'],
  ['STRIPE_SECRET_KEY', 'short'],
  ['FX_RATES', '0.9'],
  ['FX_RATES', '[]'],
  ['FX_RATES', '{"CHF": 1}'],
  ['FX_RATES', '{"USD": 2}'],
  ['FX_RATES', '{"EUR": 0}'],
  ['FX_RATES', '{"EUR": -1}'],
  ['FX_RATES', '{"EUR": "0.9"}'],
  ['FX_RATES', '{"EUR": 1e-10}'],
  ['TIER_PRICES', '20'],
  ['TIER_PRICES', '{"team": 20}'],
  ['TIER_PRICES', '{"pro": "20"}'],
  ['TIER_PRICES', '{"pro": 0}'],
  ['TIER_PRICES', '{"pro": 20.005}'],
  ['TOPUP_REVIEW_ABOVE_USD', '-1'],
  ['TOPUP_REVIEW_ABOVE_USD', '1.234'],
  ['KYC_ABOVE_USD', 'much'],
])('%s=%s is refused with one line that names it', (name, value) => {
  expect(() => payments({ [name]: value })).toThrow(new RegExp(`^[^\\n]*(${name}|STRIPE_SECRET_KEY)[^\\n]*$`));
});

test('a top-up above the bound is reviewed; without a bound none is', () => {
  expect(payments({ TOPUP_REVIEW_ABOVE_USD: '99.5' }).reviewAboveNanos).toBe(99_500_000_000n);
  expect(payments({ TOPUP_REVIEW_ABOVE_USD: 'off' }).reviewAboveNanos).toBeNull();
});

test('tiers cost what the settings say; pro costs 20 USD a month unless they do, and may have no price', () => {
  expect(payments({}).tierPricesNanos).toEqual({ pro: 20_000_000_000n });
  expect(payments({ TIER_PRICES: '{"pro": 19.9, "enterprise": 500}' }).tierPricesNanos).toEqual({
    pro: 19_900_000_000n,
    enterprise: 500_000_000_000n,
  });
  expect(payments({ TIER_PRICES: '{}' }).tierPricesNanos).toEqual({});
});
