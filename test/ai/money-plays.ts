// Calls of models as a play: what is asked, what the vendor does, what it tells that it used, when the client leaves; and what the price sheet
// and the contract say that it costs.
import fc from 'fast-check';
import { inputTokensOf } from '../../src/lib/chat/body.ts';
import { countTokens } from '../../src/lib/chat/tokens.ts';
import { chatBodyOf } from '../../src/modules/ai/responses/request.ts';
import type { Json } from '../support/ai/openai-double.ts';

export const HALF = 'Half ';
export const REST = 'of it.';

interface Rates {
  readonly input: number;
  readonly cached_input?: number;
  readonly cache_write?: number;
  readonly output?: number;
}
export interface Sheet extends Rates {
  readonly per_image?: number;
  readonly per_request?: number;
  readonly tiers?: readonly ({ readonly above: number } & Rates)[];
}

/** USD per million tokens; of a picture, and of a call. */
export const SHEET: Sheet = {
  input: 1,
  cached_input: 0.25,
  cache_write: 1.25,
  output: 2,
  per_image: 0.0007,
  per_request: 0.0003,
  tiers: [
    { above: 60, input: 1.5, cached_input: 0.3, cache_write: 1.7, output: 2.000003 },
    { above: 2_000, input: 3.1, cached_input: 0.25, cache_write: 1.25, output: 2 },
  ],
};
/** Dearer, and near enough to stand in. */
export const STAND_IN: Sheet = { ...SHEET, per_request: 0.0004 };
export const VECTORS: Sheet = { input: 1.000001 };
const IMAGE_TOKENS = 1_600;
export const MAX_OUTPUT = 1_000;

export interface Told {
  readonly plain: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly costUsd: number | null;
}

export interface Play {
  readonly door: 'completions' | 'chat' | 'responses' | 'embeddings' | 'embed';
  readonly model: string;
  readonly stream: boolean;
  readonly words: number;
  readonly pictures: number;
  readonly limit: number | null;
  /** Null: the vendor does not tell. */
  readonly told: Told | null;
  readonly deed: 'answers' | 'breaks' | 'refuses' | 'down';
  readonly leaves: 'never' | 'early' | 'midway';
  /** Which of two processes is asked. */
  readonly process: 0 | 1;
}

const tokens = fc.oneof(fc.nat(70), fc.nat(3_000));
const told = fc.option(
  fc.record({
    plain: tokens,
    cached: tokens,
    written: tokens,
    output: fc.nat(1_500),
    costUsd: fc.option(fc.nat(10_000_000).map((n) => n / 1e10)),
  }),
  { nil: null, freq: 4 },
);
const often = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) });

const chat = fc.record({
  door: fc.constantFrom('completions', 'chat', 'responses'),
  model: fc.constantFrom('m-1', 'acme/m-1', 'own', 'bills', 'native', 'claude', 'claude-bills'),
  stream: fc.boolean(),
  words: fc.nat(200),
  pictures: fc.constantFrom(0, 0, 1, 2),
  limit: fc.option(fc.integer({ min: 1, max: 900 })),
  told,
  deed: often('answers', 'breaks', 'refuses', 'down'),
  leaves: often('never', 'early', 'midway'),
  process: fc.constantFrom(0, 1),
}) as fc.Arbitrary<Play>;
const vectors = fc.record({
  door: fc.constantFrom('embeddings', 'embed'),
  model: fc.constantFrom('auto', 'acme/e-1'),
  stream: fc.constant(false),
  words: fc.nat(200),
  pictures: fc.constant(0),
  limit: fc.constant(null),
  told,
  deed: often('answers', 'refuses', 'down'),
  leaves: often('never', 'early'),
  process: fc.constantFrom(0, 1),
}) as fc.Arbitrary<Play>;

/** What cannot be is left out: only streams break off, or are left, in the middle. */
export const play: fc.Arbitrary<Play> = fc
  .oneof({ weight: 3, arbitrary: chat }, { weight: 1, arbitrary: vectors })
  .map((one) => {
    const stream = one.stream && one.door !== 'chat';
    const leaves = one.leaves === 'midway' && !stream ? 'never' : one.leaves;
    const deed = one.deed === 'breaks' && (!stream || leaves !== 'never') ? 'answers' : one.deed;
    return { ...one, stream, leaves, deed };
  });

export const isVectors = ({ door }: Play) => door === 'embeddings' || door === 'embed';
/** By the name of its model. */
const speaksMessages = ({ model }: Play) => model.startsWith('claude');
/** A vendor that speaks the wire of responses is asked on it only by calls of that. */
export const isNative = ({ model, door }: Play) => model === 'native' && door === 'responses';
const isReadOn = ({ model }: Play) => model.endsWith('bills');

export const paths: Readonly<Record<Play['door'], string>> = {
  completions: '/v1/chat/completions',
  chat: '/v1/ai/chat',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  embed: '/v1/ai/embed',
};

/** `id` comes to the vendor with it. */
export function bodyOf(one: Play, id: string): Json {
  const { door, model, stream, words, pictures, limit } = one;
  const text = `Hello${' word'.repeat(words)}.`;
  if (isVectors(one)) return { model, user: id, input: [text] };
  const streamed = stream ? { stream } : {};
  const url = 'data:image/png;base64,AAAA';
  if (door === 'responses') {
    const images = Array.from({ length: pictures }, () => ({ type: 'input_image', image_url: url }));
    const input = [{ role: 'user', content: [{ type: 'input_text', text }, ...images] }];
    return { model, user: id, input, ...streamed, ...(limit === null ? {} : { max_output_tokens: limit }) };
  }
  const images = Array.from({ length: pictures }, () => ({ type: 'image_url', image_url: { url } }));
  const messages = [{ role: 'user', content: [{ type: 'text', text }, ...images] }];
  return { model, user: id, messages, ...streamed, ...(limit === null ? {} : { max_tokens: limit }) };
}

interface Used {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly costUsd?: number | null;
}

/** What the call costs, nano-USD. `by`: who has answered; null: nobody. */
export function costOf(one: Play, by: string | null): bigint {
  const used = by === null ? null : usedBy(one);
  if (used === null) return 0n;
  const sheet = isVectors(one) ? VECTORS : by === 'corp' ? STAND_IN : SHEET;
  const cost = one.model === 'own' && used.costUsd != null ? ownCost(used.costUsd) : priced(sheet, used, one.pictures);
  const most = held(one);
  return cost < most ? cost : most;
}

function usedBy(one: Play): Used | null {
  const { told, deed, leaves } = one;
  if (leaves === 'early') return null;
  const said = told === null ? null : usedAsTold(one, told);
  if (deed === 'breaks')
    return said === null || isNative(one) ? null : speaksMessages(one) ? { ...said, output: 0 } : said;
  if (leaves !== 'midway' || isReadOn(one)) return said ?? counted(one, HALF + REST);
  // The Messages API tells the input before anything else.
  return said !== null && speaksMessages(one) ? { ...said, output: countTokens(HALF) } : counted(one, HALF);
}

/** Of what is written to a cache one wire says nothing, and vectors have no output. */
function usedAsTold(one: Play, { plain, cached, written, output, costUsd }: Told): Used {
  if (isVectors(one)) return { input: plain, cached: 0, written: 0, output: 0 };
  return { input: plain + cached + written, cached, written: isNative(one) ? 0 : written, output, costUsd };
}

function counted(one: Play, said: string): Used {
  const input = countedInput(one) + one.pictures * IMAGE_TOKENS;
  return { input, cached: 0, written: 0, output: isVectors(one) ? 0 : countTokens(said) };
}

function countedInput(one: Play): number {
  const sent = bodyOf(one, '');
  if (isVectors(one)) return countTokens(sent.input[0]);
  return inputTokensOf(one.door === 'responses' ? chatBodyOf(sent) : sent);
}

const nanos = (usd = 0) => BigInt(Math.round(usd * 1e9));
const MARKUP = 105n;
const ceil = (above: bigint, below: bigint) => (above + below - 1n) / below;

function priced(sheet: Sheet, { input, cached, written, output }: Used, pictures: number): bigint {
  const rates: Rates = sheet.tiers?.findLast(({ above }) => input > above) ?? sheet;
  const tokens =
    BigInt(input - cached - written) * nanos(rates.input) +
    BigInt(cached) * nanos(rates.cached_input) +
    BigInt(written) * nanos(rates.cache_write) +
    BigInt(output) * nanos(rates.output);
  const whole = tokens + 1_000_000n * (nanos(sheet.per_request) + BigInt(pictures) * nanos(sheet.per_image));
  return ceil(whole * MARKUP, 100_000_000n);
}

/** Its tenths of a nano-USD are whole. */
function ownCost(costUsd: number): bigint {
  return ceil(BigInt(Math.round(costUsd * 1e10)) * MARKUP, 1_000n);
}

/** Input from above at the dearest rate that may apply, the whole limit of the output, where it costs most. */
function held(one: Play): bigint {
  const sheet = isVectors(one) ? VECTORS : one.model === 'm-1' ? STAND_IN : SHEET;
  const input = Math.ceil(countedInput(one) * 1.2) + one.pictures * IMAGE_TOKENS;
  const applicable: Rates[] = [sheet, ...(sheet.tiers ?? []).filter(({ above }) => input > above)];
  const dearest = (...of: readonly (keyof Rates)[]) =>
    Math.max(...applicable.flatMap((rates) => of.map((name) => rates[name] ?? 0)));
  const rates = { input: dearest('input', 'cached_input', 'cache_write'), output: dearest('output') };
  const { per_request = 0, per_image = 0 } = sheet;
  const output = isVectors(one) ? 0 : (one.limit ?? MAX_OUTPUT);
  return priced({ ...rates, per_request, per_image }, { input, cached: 0, written: 0, output }, one.pictures);
}
