// Model lists of ai.models and of OpenAI's wire. They have the three words that let the service choose, each model of each vendor, and each
// model by its name alone.
import type { Services } from '../../../kit/services.ts';
import { usd } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { type AiModel, aiModel, CHAT, EMBED } from './family.ts';

/** `capability`: ai.chat or ai.embed; null: both. */
export function listModels({ vendors }: Services, capability: string | null) {
  const { health } = vendors;
  const rows = [...new Set([CHAT, EMBED].flatMap((one) => vendors.rowsFor(one)))].filter(
    ({ vendor, validUntilMs, serves }) =>
      vendor.disabled === null &&
      (validUntilMs === null || validUntilMs > health.nowMs) &&
      (capability === null || serves.includes(capability)),
  );
  const isUp = ({ vendor, serves }: ModelRow) => serves.some((one) => health.isUp(vendor.id, one));
  const listed = rows.map((row) => ({ ...recordOf(row, isUp(row)), id: `${row.vendor.id}/${row.id}` }));
  const byName = [...Map.groupBy(rows, ({ id }) => id)].map(([id, [row, ...others]]) => {
    const one = recordOf(row as ModelRow, [row as ModelRow, ...others].some(isUp));
    return { ...one, id, vendor: others.length === 0 ? one.vendor : null };
  });
  const words = ['auto', 'cheapest', 'smartest'].map((id) => ownModel(id, rows.some(isUp)));
  return [...words, ...listed, ...byName];
}

function recordOf(row: ModelRow, up: boolean) {
  const model = aiModel(row);
  return {
    id: row.id,
    object: 'model',
    created: 0,
    owned_by: row.vendor.id,
    vendor: row.vendor.id as string | null,
    region: row.vendor.region as string | null,
    capabilities: [...row.serves],
    context_length: model.contextTokens ?? model.inputTokensMax,
    max_output_tokens: model.outputTokensMax,
    pricing: pricingOf(model),
    up,
  };
}

/** USD per million tokens, with markup; of the smallest input where the price depends on its size. */
function pricingOf({ row, tiers, perImage, perRequest }: AiModel) {
  const rates = tiers[0]?.rates;
  const priceText = (nanos: bigint | undefined) => usd(quoteOf(row.vendor, nanos ?? 0n, 1n));
  return {
    input: priceText(rates?.input),
    cached_input: priceText(rates?.cachedInput),
    cache_write: priceText(rates?.cacheWrite),
    output: priceText(rates?.output),
    per_image: priceText(perImage),
    per_request: priceText(perRequest),
  };
}

function ownModel(id: string, up: boolean) {
  return {
    id,
    object: 'model',
    created: 0,
    owned_by: 'self',
    vendor: null,
    region: null,
    capabilities: [CHAT, EMBED],
    context_length: null,
    max_output_tokens: null,
    pricing: null,
    up,
  };
}
