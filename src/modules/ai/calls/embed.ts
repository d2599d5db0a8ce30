// Runs one call for embeddings: chosen, held, asked along its chain and captured like a chat, but priced by input tokens.
import { setImmediate as turn } from 'node:timers/promises';
import { admission } from '../../../core/admission.ts';
import { findReplay } from '../../../core/idempotency/write.ts';
import type { Answer } from '../../../kit/capability.ts';
import { tokensOfAll } from '../../../lib/chat/token-counter.ts';
import { countTokens } from '../../../lib/chat/tokens.ts';
import { disconnectedProblem } from '../../../problems/disconnected.ts';
import { invalidField } from '../../../problems/problem.ts';
import type { Candidate } from '../../../routing/choose.ts';
import { type Chain, callSucceeded, clientDisconnected, walk } from '../../../routing/walk.ts';
import {
  CACHE_TTL_SECONDS_MAX,
  DIMENSIONS_UNSAID,
  INPUT_MARGIN,
  INPUTS_MAX,
  KEPT_BYTES_MAX,
  NUMBER_BYTES,
  VECTOR_BYTES_HELD_MAX,
} from '../limits.ts';
import { chooseForEmbed, type EmbedWish } from '../models/choose.ts';
import { aiModel } from '../models/family.ts';
import { billedNanos, mostNanos, pricedModel, soundUsage, usedNanos } from '../models/price.ts';
import type { AiState } from '../state.ts';
import type { AiUsage } from '../vendors/port.ts';
import { findCached, keepCached } from './again.ts';
import { digestOf, readRouting, type Sent, wholeOf } from './ask.ts';
import { requireFewTokens, requireSize } from './body-size.ts';
import { CallHold, type Due } from './call-hold.ts';
import { type Kept, keep, reopen } from './kept.ts';
import type { ModelCall } from './model-call.ts';
import { reserve } from './reserve.ts';
import { askEmbedder } from './vendor/ask-embedder.ts';

export interface EmbedAsk extends EmbedWish {
  readonly inputs: readonly string[] | readonly (readonly number[])[];
  readonly encoding: 'float' | 'base64';
  /** For the vendor as they came. */
  readonly further: Sent;
  readonly cacheTtlSeconds: number | null;
  /** As that of a chat. */
  readonly digest: string;
}

/** As its body says it. */
export interface SentEmbed extends Omit<EmbedAsk, 'inputTokens' | 'longestTokens'> {
  /** Of each input; null: not counted yet. */
  readonly counts: readonly number[] | null;
}

export interface Embedded {
  /** `vendor/model`. */
  readonly model: string;
  /** One for each input, in its order. */
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
  readonly isEstimated: boolean;
  readonly answer: Omit<Answer, 'data'>;
}

const OWN = [
  'model',
  'input',
  'encoding_format',
  'dimensions',
  'vendor',
  'cross_region',
  'idempotency_key',
  'cache_ttl_seconds',
];

/** `text`: of the whole body. Throws VALIDATION_FAILED. */
export function readEmbed(sent: Sent, text: string): SentEmbed {
  const { input, ...beside } = sent;
  const inputs = inputsOf(input);
  requireSize(beside);
  const encoding = sent.encoding_format ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64')
    throw invalidField('encoding_format', 'enum', 'encoding_format is float or base64.');
  return {
    ...readRouting(sent),
    inputs,
    encoding,
    dimensions: wholeOf(sent, 'dimensions', 1),
    further: Object.fromEntries(Object.entries(sent).filter(([name]) => !OWN.includes(name))),
    counts: text.length > admission.call.readHereBytesMax ? inputs.map(tokensIn) : null,
    areTokens: !areTexts(inputs),
    cacheTtlSeconds: wholeOf(sent, 'cache_ttl_seconds', 1, CACHE_TTL_SECONDS_MAX),
    digest: digestOf(text),
  };
}

const tokensIn = (input: string | readonly number[]) => (typeof input === 'string' ? countTokens(input) : input.length);

/** Counts what is not counted. */
export async function openEmbed({ counts: counted, ...sent }: SentEmbed): Promise<EmbedAsk> {
  const counts = counted ?? (await countsOf(sent.inputs));
  return { ...sent, inputTokens: counts.reduce((sum, count) => sum + count, 0), longestTokens: Math.max(...counts) };
}

async function countsOf(inputs: EmbedAsk['inputs']): Promise<readonly number[]> {
  if (areTexts(inputs)) return tokensOfAll(inputs);
  return inputs.map(({ length }) => length);
}

function areTexts(inputs: EmbedAsk['inputs']): inputs is readonly string[] {
  return typeof inputs[0] === 'string';
}

function inputsOf(input: unknown): EmbedAsk['inputs'] {
  const list = typeof input === 'string' || isTokens(input) ? [input] : input;
  if (!Array.isArray(list) || list.length === 0 || list.length > INPUTS_MAX)
    throw invalidField('input', 'type', `input is a text, a list of 1 to ${INPUTS_MAX} texts, or lists of tokens.`);
  for (const [i, one] of list.entries()) {
    const isSame = typeof one === typeof list[0] && (typeof one === 'string' ? one !== '' : isTokens(one));
    if (!isSame)
      throw invalidField(`input[${i}]`, 'type', 'Each input is a text that is not empty, or each is a list of tokens.');
  }
  requireFewTokens(list);
  return list;
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token) && token >= 0);
}

/** Throws the Problem of a refusal or a failure. `expect` is told how many numbers are to come, before anything is paid, and may throw. */
export async function embed(
  state: AiState,
  ctx: ModelCall,
  sent: SentEmbed,
  expect: (numbers: number) => void = () => undefined,
): Promise<Embedded> {
  // A replay comes before every other check.
  const earlier = await findReplay(ctx);
  if (earlier !== null) return again(reopen<KeptVectors>(ctx, earlier.data.text), { replayed: true });
  const giveBack = await state.places.take(ctx);
  try {
    const ask = await openEmbed(sent);
    const chain = await chooseForEmbed(ctx.core, ctx.accountId, ask);
    const cached = await findCached<KeptVectors>(state, ctx, ask, chain);
    if (cached !== null) return again(cached);
    const numbers = numbersOf(ask, chain);
    expect(numbers);
    ctx.holdAnswer?.(heldBytes(numbers));
    const tokens = Math.ceil(ask.inputTokens * INPUT_MARGIN);
    const amounts = chain.map(({ row }) => mostNanos(pricedModel(ctx, row), { ...none, inputTokens: tokens }));
    const amount = amounts.reduce((most, one) => (one > most ? one : most));
    const reserved = await reserve(ctx, { units: BigInt(tokens), amount, priceVersion: chain[0].priceVersion });
    if (reserved.kind === 'replayed') {
      const { text, balanceNanos } = reserved;
      return again(reopen<KeptVectors>(ctx, text), { replayed: true, balanceNanos });
    }
    const hold = new CallHold(ctx, reserved);
    try {
      const embedded = await answerOf(state, ctx, ask, chain, hold);
      const came = embedded.vectors.reduce((sum, { length }) => sum + length, 0);
      ctx.holdMade?.(Math.max(0, heldBytes(came) - heldBytes(numbers)));
      return embedded;
    } finally {
      await hold.release();
    }
  } finally {
    giveBack();
  }
}

/** Of the answer. */
function numbersOf({ inputs, dimensions }: EmbedAsk, chain: Chain): number {
  return (
    inputs.length * (dimensions ?? Math.max(...chain.map(({ row }) => aiModel(row).dimensions ?? DIMENSIONS_UNSAID)))
  );
}

function heldBytes(numbers: number): number {
  return Math.min(numbers * NUMBER_BYTES, VECTOR_BYTES_HELD_MAX);
}

const none = { images: 0, outputTokens: 0, choices: 0 };

export interface KeptVectors {
  /** Base64 of little-endian 32-bit floats. */
  readonly vectors: readonly string[];
  readonly tokens: number;
  readonly isEstimated: boolean;
}

/** As it was kept; for nothing. */
export function again(
  { body, model, served }: Kept<KeptVectors>,
  told: Pick<Answer, 'replayed' | 'balanceNanos'> = {},
): Embedded {
  const { tokens, isEstimated } = body;
  const answer = { costNanos: 0n, served, ...told };
  return { model, vectors: body.vectors.map(fromBase64), tokens, isEstimated, answer };
}

async function answerOf(
  state: AiState,
  ctx: ModelCall,
  ask: EmbedAsk,
  chain: Chain,
  hold: CallHold,
): Promise<Embedded> {
  const { candidate, reply, failover, reportOutcome } = await walk(ctx, chain, (one) => askEmbedder(ctx, ask, one));
  reportOutcome(reply.kind === 'left' ? clientDisconnected : callSucceeded);
  if (reply.kind === 'left') {
    // The request of a batch is made again.
    const charged = ctx.item === undefined ? await hold.capture(dueFor(ctx, candidate, countedFor(ask))) : null;
    ctx.chargedThoughFailed?.(charged?.costNanos ?? 0n, true);
    throw disconnectedProblem();
  }
  const told = soundUsage(reply.usage);
  const usage = told ?? countedFor(ask);
  const { inputTokens } = usage;
  const isEstimated = told === null;
  if (isEstimated) ctx.warnings.push('usage: counted here, for the vendor has not told it');
  const { vendor, region, markupPct } = candidate;
  const served = { vendor, region, markupPct };
  const model = `${vendor}/${candidate.model}`;
  const keptNow = () => ({
    body: { vectors: reply.vectors.map(base64Of), tokens: inputTokens, isEstimated },
    model,
    served,
  });
  const isKept = ctx.idempotency !== null || ask.cacheTtlSeconds !== null;
  const kept = isKept && textBytes(reply.vectors) <= KEPT_BYTES_MAX ? keptNow() : null;
  const answer = keep<KeptVectors>(ctx, kept);
  const charged = await hold.capture({
    ...dueFor(ctx, candidate, usage),
    ...(answer === undefined ? {} : { answer }),
    response: () => JSON.stringify(keptNow()),
  });
  if (kept !== null) await keepCached(state, ctx, ask, chain, kept);
  const layer = ask.cacheTtlSeconds === null ? {} : { cacheLayer: 'l1_miss' as const };
  const charge = { ...charged, served: { ...served, ...layer, ...(failover === null ? {} : { failover }) } };
  return { model, vectors: reply.vectors, tokens: inputTokens, isEstimated, answer: charge };
}

function countedFor({ inputTokens }: EmbedAsk): AiUsage {
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0, costUsd: null };
  return { ...none, inputTokens };
}

function dueFor(ctx: ModelCall, candidate: Candidate, usage: AiUsage): Due {
  return {
    candidate,
    nanos: usedNanos(pricedModel(ctx, candidate.row), usage, 0),
    billedNanos: billedNanos(aiModel(candidate.row), usage, 0),
    inputTokens: usage.inputTokens,
    outputTokens: 0,
  };
}

/** Of vectors as base64. */
function textBytes(vectors: readonly Float32Array[]): number {
  return vectors.reduce((sum, { byteLength }) => sum + Math.ceil((byteLength * 4) / 3), 0);
}

export function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function fromBase64(text: string): Float32Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64');
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

/** The embedding list as JSON text without its last `}`, in pieces, for it is long: others get their turn in between. */
export async function* listText(
  { vectors, model, tokens }: Embedded,
  encoding: EmbedAsk['encoding'],
): AsyncGenerator<string> {
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield `{"object":"list","model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)},"data":[`;
  for (const [index, vector] of vectors.entries()) {
    const embedding = encoding === 'base64' ? `"${base64Of(vector)}"` : `[${vector.join(',')}]`;
    yield `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${embedding}}`;
    await turn();
  }
  yield ']';
}
