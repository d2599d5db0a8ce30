// Prices as people read them: plain decimals, never an exponent.
import type { Pricing } from '../../manifest/describe.ts';

/** `0.00002 USD per message`, `free`, `free; each run 0.00002 USD`. */
export function priceInWords(pricing: Pricing): string {
  const later = (pricing.later ?? []).map(({ unit, price_usd }) => `each ${unit} ${decimal(price_usd)} USD`);
  return [ownPrice(pricing), ...later].join('; ');
}

function ownPrice(pricing: Pricing): string {
  if (pricing.price_usd === 0) return 'free';
  const minimum = pricing.minimum_usd === undefined ? '' : `, at least ${decimal(pricing.minimum_usd)} USD per call`;
  return `${decimal(pricing.price_usd)} USD per ${pricing.unit}${minimum}`;
}

/** Down to one nano-USD, without trailing zeros. */
function decimal(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '');
}
