// Model family of language models: their fields in the operator's file, the notation of prices, and the models of the sandbox.
import Type from 'typebox';
import { nanosOfUsd } from '../../../lib/money.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { ModelFamily, ModelRow } from '../../../vendors/file/port.ts';
import { DIMENSIONS_MAX, DIMENSIONS_MIN, OUTPUT_TOKENS, REASONING_OUTPUT_TOKENS, TOKENS_PER_IMAGE } from '../limits.ts';
import { aiAdapters } from '../vendors/index.ts';
import type { AiAdapter, AiTimeouts, AiModel as WireModel } from '../vendors/port.ts';
import { tryModel } from '../vendors/try-out.ts';

const tokens = Type.Integer({ minimum: 1, maximum: 100_000_000 });
const MILLION = 1_000_000n;
const VECTOR_DIMENSIONS_MAX = 16_384;
const dimensions = Type.Integer({ minimum: 1, maximum: VECTOR_DIMENSIONS_MAX });
const usd = Type.Number({ minimum: 0, maximum: 100_000 });

const traits = Type.Object({
  context: Type.Optional(tokens),
  max_output: Type.Optional(tokens),
  default_output: Type.Optional(tokens),
  tools: Type.Optional(Type.Boolean()),
  images: Type.Optional(Type.Boolean()),
  image_tokens: Type.Optional(tokens),
  json_schema: Type.Optional(Type.Union([Type.Boolean(), Type.Enum(['native', 'tool'])])),
  reasoning: Type.Optional(Type.Boolean()),
  bills_after_disconnect: Type.Optional(Type.Boolean()),
  cost_from_usage: Type.Optional(Type.Boolean()),
  batch_discount: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  dimensions: Type.Optional(dimensions),
  dimensions_range: Type.Optional(Type.Object({ min: dimensions, max: dimensions }, { additionalProperties: false })),
  max_input_tokens: Type.Optional(tokens),
  token_inputs: Type.Optional(Type.Boolean()),
  embedding_space: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  default_embedding: Type.Optional(Type.Boolean()),
});

const rateFields = {
  input: Type.Optional(usd),
  cached_input: Type.Optional(usd),
  cache_write: Type.Optional(usd),
  output: Type.Optional(usd),
};
const price = Type.Object(
  {
    ...rateFields,
    input: usd,
    per_image: Type.Optional(usd),
    per_request: Type.Optional(usd),
    tiers: Type.Optional(
      Type.Array(Type.Object({ above: tokens, ...rateFields }, { additionalProperties: false }), { maxItems: 20 }),
    ),
  },
  { additionalProperties: false, description: '{input, output, …} in USD per million tokens' },
);

interface RateSaid {
  readonly input?: number;
  readonly cached_input?: number;
  readonly cache_write?: number;
  readonly output?: number;
}
type PriceSaid =
  | 'free'
  | (RateSaid & {
      readonly input: number;
      readonly per_image?: number;
      readonly per_request?: number;
      readonly tiers?: readonly (RateSaid & { readonly above: number })[];
    });

interface Traits {
  readonly context?: number;
  readonly max_output?: number;
  readonly default_output?: number;
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly image_tokens?: number;
  readonly json_schema?: boolean | 'native' | 'tool';
  readonly reasoning?: boolean;
  readonly bills_after_disconnect?: boolean;
  readonly cost_from_usage?: boolean;
  readonly batch_discount?: number;
  readonly dimensions?: number;
  readonly dimensions_range?: { readonly min: number; readonly max: number };
  readonly max_input_tokens?: number;
  readonly token_inputs?: boolean;
  readonly embedding_space?: string;
  readonly default_embedding?: boolean;
}

/** Nano-USD per million tokens. */
export interface Rates {
  readonly input: bigint;
  readonly cachedInput: bigint;
  readonly cacheWrite: bigint;
  readonly output: bigint;
}

/** A model's row, with what it does not say filled in. */
export interface AiModel {
  readonly row: ModelRow;
  /** The share of its price that batches do not pay. */
  readonly batchDiscount: number;
  /** Tokens of input and output together; null: no end is known. */
  readonly contextTokens: number | null;
  readonly outputTokensMax: number | null;
  /** Of a call that sets none. */
  readonly outputTokens: number;
  readonly tools: boolean;
  readonly images: boolean;
  readonly imageTokens: number;
  readonly jsonSchema: 'native' | 'tool' | null;
  readonly reasoning: boolean;
  readonly billsAfterDisconnect: boolean;
  readonly costFromUsage: boolean;
  /** Of its price, what is charged: all, in batches less its discount. */
  readonly shareMillionths: bigint;
  /** Of an embedding; null: the row does not say. */
  readonly dimensions: number | null;
  /** What a caller may ask for; null: nothing else. */
  readonly dimensionsRange: { readonly min: number; readonly max: number } | null;
  readonly inputTokensMax: number | null;
  /** Whether it embeds lists of tokens beside texts. */
  readonly tokenInputs: boolean;
  /** Vectors of one space can be compared; null: with none of another row. */
  readonly embeddingSpace: string | null;
  readonly isDefaultEmbedding: boolean;
  /** Nano-USD. */
  readonly perImage: bigint;
  readonly perRequest: bigint;
  /** By size of the input in tokens, the base first; each holds above its size. */
  readonly tiers: readonly { readonly above: number; readonly rates: Rates }[];
}

const remembered = new WeakMap<ModelRow, AiModel>();

export function aiModel(row: ModelRow): AiModel {
  const known = remembered.get(row);
  if (known !== undefined) return known;
  const model = readModel(row);
  remembered.set(row, model);
  return model;
}

function readModel(row: ModelRow): AiModel {
  const said = row.traits as Traits;
  const priced = row.price as PriceSaid;
  const base = ratesOf(priced === 'free' ? { input: 0 } : priced, none);
  const tiers = priced === 'free' ? [] : [...(priced.tiers ?? [])].sort((a, b) => a.above - b.above);
  const usual = said.reasoning === true ? REASONING_OUTPUT_TOKENS : OUTPUT_TOKENS;
  const outputTokensMax = said.max_output ?? null;
  return {
    row,
    batchDiscount: said.batch_discount ?? 0,
    contextTokens: said.context ?? null,
    outputTokensMax,
    outputTokens: said.default_output ?? Math.min(outputTokensMax ?? usual, usual),
    tools: said.tools ?? false,
    images: said.images ?? false,
    imageTokens: said.image_tokens ?? TOKENS_PER_IMAGE,
    jsonSchema: said.json_schema === true ? 'native' : said.json_schema || null,
    reasoning: said.reasoning ?? false,
    billsAfterDisconnect: said.bills_after_disconnect ?? false,
    costFromUsage: said.cost_from_usage ?? false,
    shareMillionths: MILLION,
    dimensions: said.dimensions ?? null,
    dimensionsRange: said.dimensions_range ?? null,
    inputTokensMax: said.max_input_tokens ?? null,
    tokenInputs: said.token_inputs ?? true,
    embeddingSpace: said.embedding_space ?? null,
    isDefaultEmbedding: said.default_embedding ?? false,
    perImage: priced === 'free' ? 0n : nanos(priced.per_image ?? 0),
    perRequest: priced === 'free' ? 0n : nanos(priced.per_request ?? 0),
    tiers: [{ above: -1, rates: base }, ...tiers.map((tier) => ({ above: tier.above, rates: ratesOf(tier, base) }))],
  };
}

const none: Rates = { input: 0n, cachedInput: 0n, cacheWrite: 0n, output: 0n };

/** What is not said is as in `base`; of the base itself: cached and written input cost what input costs. */
function ratesOf(said: RateSaid, base: Rates): Rates {
  const input = said.input === undefined ? base.input : nanos(said.input);
  const isBase = base === none;
  return {
    input,
    cachedInput: said.cached_input === undefined ? (isBase ? input : base.cachedInput) : nanos(said.cached_input),
    cacheWrite: said.cache_write === undefined ? (isBase ? input : base.cacheWrite) : nanos(said.cache_write),
    output: said.output === undefined ? base.output : nanos(said.output),
  };
}

function nanos(amount: number): bigint {
  const found = nanosOfUsd(amount);
  if (found === null) throw new Error(`${amount} USD is no whole number of nano-USD`);
  return found;
}

/** The row as adapters know it. */
export function wireModel({ row, jsonSchema, reasoning }: AiModel): WireModel {
  return { id: row.id, jsonSchema, reasoning, options: row.options };
}

/** The most that a vector of the model has, as far as the row says. */
export function vectorDimensions({ dimensions, dimensionsRange }: AiModel): number {
  return dimensionsRange?.max ?? dimensions ?? VECTOR_DIMENSIONS_MAX;
}

/** Unless the configuration says otherwise. */
export function timeoutsOf({ row: { timeouts }, reasoning }: AiModel): AiTimeouts {
  return {
    connectMs: timeouts.connect_ms ?? 5_000,
    firstContentMs: timeouts.first_content_ms ?? (reasoning ? 300_000 : 60_000),
    idleMs: timeouts.idle_ms ?? 60_000,
    totalMs: timeouts.total_ms ?? 15 * 60_000,
  };
}

export const CHAT = 'ai.chat';
export const EMBED = 'ai.embed';
const SAMPLE_TOKENS = 1_000n;

export const aiFamily: ModelFamily = {
  name: 'ai',
  capabilities: [CHAT, EMBED],
  traits,
  price,
  timeouts: ['connect_ms', 'first_content_ms', 'idle_ms', 'total_ms'],
  sandbox: [
    {
      id: 'echo-1',
      serves: [CHAT],
      price: { input: 0.01, output: 0.01 },
      flagship: true,
      context: 1_000_000,
      max_output: 16_384,
      tools: true,
      images: true,
      json_schema: true,
    },
    {
      id: 'ngram-1',
      serves: [EMBED],
      price: { input: 0.01 },
      dimensions: 512,
      dimensions_range: { min: DIMENSIONS_MIN, max: DIMENSIONS_MAX },
      max_input_tokens: 100_000,
      token_inputs: false,
      embedding_space: 'ngram-1',
      default_embedding: true,
    },
  ],
  serves: (said) => {
    const { dimensions: size, embedding_space: space } = said as Traits;
    return [size === undefined && space === undefined ? CHAT : EMBED];
  },
  faults: (row, adapter) => {
    const wire = adapter as unknown as AiAdapter;
    const embeds = row.serves.includes(EMBED) && wire.embed === undefined;
    return [
      ...(embeds ? [{ field: 'serves', message: `The adapter ${wire.name} has no embeddings.` }] : []),
      ...wire.check(wireModel(aiModel(row)), row.serves),
    ];
  },
  wholeFault: (rows) => {
    const embedding = rows.filter(({ serves }) => serves.includes(EMBED));
    const defaults = embedding.filter((row) => aiModel(row).isDefaultEmbedding);
    if (embedding.length === 0 || defaults.length === 1) return null;
    return `One embedding model must have default_embedding: true, and only one; ${defaults.length} have. \`auto\` leads to it.`;
  },
  routable: {
    capabilities: [CHAT, EMBED],
    sampleNanos: (capability, row) => (capability === EMBED && !aiModel(row).isDefaultEmbedding ? null : sample(row)),
  },
  // Of a million tokens in.
  lowestNanos: (row) => quoteOf(row.vendor, aiModel(row).tiers[0]?.rates.input ?? 0n, 1n),
  adapters: () => aiAdapters,
  tryOut: (row, adapter, { outbound }) => tryModel(adapter as AiAdapter, row, outbound),
};

function sample(row: ModelRow): bigint {
  return quoteOf(row.vendor, aiModel(row).tiers[0]?.rates.input ?? 0n, SAMPLE_TOKENS, MILLION);
}
