// HTTP answers of model calls on OpenAI's wires: status, headers and the cost of the call.

import type { Answer } from '../../../kit/capability.ts';
import { json, refusal } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawHead, RawRequest } from '../../../kit/raw-route.ts';
import type { CallContext } from '../../../kit/services.ts';
import { within } from '../../../lib/event-stream.ts';
import { usd } from '../../../lib/money.ts';
import type { Problem } from '../../../problems/problem.ts';
import { type SentChat, ttlIn } from '../calls/ask.ts';
import { chat } from '../calls/chat.ts';
import type { ChatEvent } from '../calls/chat-event.ts';
import { channelOf, publishedTo } from '../calls/stream-to.ts';
import type { AiState } from '../state.ts';
import { type ChatWire, framesOf } from './frames.ts';

export function refuse(failure: Problem, head: RawHead): RawAnswer {
  const metadata = failureMetadata(head);
  return refusal(failure, failure.param ?? null, metadata === null ? {} : { service_metadata: metadata });
}

/** What was not charged was not counted either. */
export function failureMetadata(head: Pick<RawHead, 'failureMetadata'>): object | null {
  const metadata = head.failureMetadata();
  return metadata === null ? null : { usage_estimated: false, ...metadata };
}

/** Who calls, as a call of the route's capability; it is told what is missing. */
export async function contextOf(request: RawRequest): Promise<CallContext> {
  return request.ctx ?? (await request.admit(null));
}

/** The answer of a chat, in one piece or as it comes, on one wire. */
export async function answerChat(
  request: RawRequest,
  state: AiState,
  ctx: CallContext,
  read: SentChat,
  wire: ChatWire,
): Promise<RawAnswer> {
  const ask = { ...read, cacheTtlSeconds: read.cacheTtlSeconds ?? ttlIn(request.headers) };
  const metadataOf = metadataBy(request);
  const channel = channelOf(ask.streamTo, request.headers);
  const events =
    channel === null ? chat(state, ctx, ask) : publishedTo(ctx, channel, chat(state, ctx, { ...ask, stream: true }));
  if (!ask.stream) return whole(events, wire, metadataOf);
  const { streamHeadAfterMs, streamCommentEveryMs } = state.core.bounds.call;
  const first = events.next();
  first.catch(() => undefined);
  // What fails at once has its own status; headers do not wait for ever, and then a failure is told in the stream.
  const begun = await within(first, streamHeadAfterMs);
  let costNanos = 0n;
  const frames = framesOf(wire, begun === null ? first : Promise.resolve(begun), events, {
    isLate: begun === null,
    endMetadata: ({ answer, isEstimated }) => {
      costNanos = answer.costNanos ?? 0n;
      return metadataOf(answer, isEstimated);
    },
    failureMetadata: () => failureMetadata(request),
  });
  const accepted = begun?.done === false && begun.value.kind === 'accepted' ? begun.value : null;
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      ...wire.headers,
      ...(accepted === null ? {} : servedHeaders(accepted.vendor, accepted.model)),
    },
    body: frames,
    beat: { everyMs: streamCommentEveryMs, text: wire.beat },
    costNanos: () => costNanos,
  };
}

async function whole(
  events: AsyncGenerator<ChatEvent, void>,
  wire: ChatWire,
  metadataOf: MetadataOf,
): Promise<RawAnswer> {
  for await (const event of events) {
    if (event.kind !== 'end') continue;
    const { completion, answer, isEstimated } = event;
    const headers = { ...wire.headers, ...answeredHeaders(completion.model as string, answer) };
    const told = json(wire.whole(event, metadataOf(answer, isEstimated)), 200, headers);
    return { ...told, costNanos: answer.costNanos ?? 0n };
  }
  throw new Error('a chat ended without an end');
}

type MetadataOf = (answer: Omit<Answer, 'data'>, isEstimated: boolean) => object;

export function metadataBy(request: RawRequest): MetadataOf {
  return (answer, usageEstimated) => request.metadata({ ...answer, usageEstimated, data: null });
}

function servedHeaders(vendor: string, name: string) {
  return { 'x-qm-vendor': vendor, 'x-qm-model': name };
}

export function answeredHeaders(name: string, { served, costNanos = 0n }: Omit<Answer, 'data'>) {
  return { ...servedHeaders(served?.vendor ?? 'self', name), 'x-qm-cost-usd': String(usd(costNanos)) };
}
