// Prices as text: plain decimals, never an exponent; token prices per million, as vendors quote them.
import type { Pricing } from '../../manifest/describe.ts';

const TOKEN = 'token';
const MILLION = 1_000_000;

/**
 * `0.00002 USD per message`, `free`, `free; each run 0.00002 USD`, `0.01 USD per million tokens`. What a free call has done for it later, by the
 * price of other capabilities, names these: `0.01 USD per million tokens, as ai.chat and ai.embed`.
 */
export function priceInWords(pricing: Pricing): string {
  const { later = [] } = pricing;
  const tokens = later.filter(({ unit }) => unit === TOKEN);
  const others = later.filter(({ unit }) => unit !== TOKEN);
  const own = pricing.price_usd === 0 && tokens.length > 0 ? [] : [ownPrice(pricing)];
  const byPrice = [...Map.groupBy(tokens, ({ price_usd }) => price_usd)];
  const asOthers = byPrice.map(
    ([price, of]) => `${perMillion(price)}, as ${of.map((each) => each.capability).join(' and ')}`,
  );
  return [...own, ...asOthers, ...others.map(({ unit, price_usd }) => `each ${unit} ${decimal(price_usd)} USD`)].join(
    '; ',
  );
}

function ownPrice({ unit, price_usd, minimum_usd }: Pricing): string {
  if (price_usd === 0) return 'free';
  const minimum = minimum_usd === undefined ? '' : `, at least ${decimal(minimum_usd)} USD per call`;
  return `${unit === TOKEN ? perMillion(price_usd) : `${decimal(price_usd)} USD per ${unit}`}${minimum}`;
}

function perMillion(usdPerToken: number): string {
  return `${decimal(usdPerToken * MILLION)} USD per million tokens`;
}

/** Down to one nano-USD, without trailing zeros. */
function decimal(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '');
}
