// Trial call of a language model, the smallest real one, for an operator who checks vendor, key and row.
import type { NotSent, Refused } from '../../../vendors/call/port.ts';
import type { ModelRow, TryOut } from '../../../vendors/file/port.ts';
import type { OutboundClient } from '../../../vendors/http/port.ts';
import type { AiAdapter, AiCall, AiModel, AiUsage, ChatPiece } from './port.ts';

/** A model that reasons may think for so long before it says a word. */
const TRY_OUT_MS = 120_000;
/** Of the answer. */
const OUTPUT_TOKENS = 16;
/** Of a vector, where the row does not say. */
const DIMENSIONS_MAX = 16_384;
const WORDS = 'Say hello.';

/** Asks once. Never takes longer than two minutes, or than the row gives a call, where that is less. */
export async function tryModel(
  adapter: AiAdapter,
  row: ModelRow,
  outbound: Pick<OutboundClient, 'send'>,
): Promise<TryOut> {
  const totalMs = Math.min(row.timeouts.total_ms ?? TRY_OUT_MS, TRY_OUT_MS);
  const signal = AbortSignal.timeout(totalMs);
  const connectMs = Math.min(row.timeouts.connect_ms ?? 5_000, totalMs);
  const { baseUrl, key, assetHosts } = row.vendor;
  const call: AiCall = {
    baseUrl,
    assetHosts,
    outbound,
    signal,
    key: key?.reveal() ?? null,
    timeouts: { connectMs, firstContentMs: totalMs, idleMs: totalMs, totalMs },
    holdPicture: () => undefined,
    markAccepted: () => undefined,
    countDroppedLine: () => undefined,
  };
  const model = { id: row.id, jsonSchema: null, reasoning: row.traits.reasoning === true, options: row.options };
  const tried = await (row.serves.includes('ai.embed')
    ? tryVectors(adapter, row, model, call)
    : tryChat(adapter, model, call));
  return signal.aborted && !tried.ok ? { ok: false, message: `it said nothing within ${totalMs} ms` } : tried;
}

async function tryChat(adapter: AiAdapter, model: AiModel, call: AiCall): Promise<TryOut> {
  const body = { messages: [{ role: 'user', content: WORDS }] };
  const reply = await adapter.chat(call, {
    model,
    body,
    outputTokensMax: OUTPUT_TOKENS,
    stream: false,
    inputTokens: 8,
  });
  if (reply.kind === 'stream') return readStream(reply.pieces);
  return reply.kind === 'completed' ? successOf('it answered', reply.usage) : failureOf(reply);
}

/** Some stream unasked. */
async function readStream(pieces: AsyncIterable<ChatPiece>): Promise<TryOut> {
  let usage: AiUsage | null = null;
  for await (const piece of pieces) {
    if (piece.kind === 'failed') return failureOf(piece.failure);
    if (piece.kind === 'usage') usage = piece.usage;
    if (piece.kind === 'end') return successOf('it answered', usage);
  }
  return { ok: false, message: 'its answer broke off' };
}

async function tryVectors(adapter: AiAdapter, { traits }: ModelRow, model: AiModel, call: AiCall): Promise<TryOut> {
  if (adapter.embed === undefined) return { ok: false, message: `the adapter ${adapter.name} has no embeddings` };
  const wanted = typeof traits.dimensions === 'number' ? traits.dimensions : null;
  const request = {
    model,
    inputs: [WORDS],
    dimensions: null,
    dimensionsMax: DIMENSIONS_MAX,
    further: {},
    inputTokens: 4,
  };
  const reply = await adapter.embed(call, request);
  if (reply.kind !== 'embedded') return failureOf(reply);
  const length = reply.vectors[0]?.length ?? 0;
  if (wanted !== null && length !== wanted)
    return { ok: false, message: `its vectors have ${length} numbers; the row says ${wanted}`, usage: reply.usage };
  return successOf(`it made a vector of ${length} numbers`, reply.usage);
}

function successOf(what: string, usage: AiUsage | null): TryOut {
  if (usage === null) return { ok: true, message: `${what}, and does not tell what it used`, usage };
  return { ok: true, message: `${what}: ${usage.inputTokens} tokens in, ${usage.outputTokens} out`, usage };
}

function failureOf(reply: Refused | NotSent): TryOut {
  if (reply.kind === 'not_sent') return { ok: false, message: 'nothing was sent' };
  const { reason, message, vendorSaid } = reply;
  return { ok: false, message: [`${reason}: ${message}`, vendorSaid].filter(Boolean).join(' ') };
}
