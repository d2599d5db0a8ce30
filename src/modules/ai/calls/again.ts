// What was answered before: for a repeat of an idempotency key, or, where the caller asks for it, for the same request.
import { hash } from 'node:crypto';
import type { CallContext } from '../../../core/context.ts';
import type { WireObject } from '../../../lib/chat/body.ts';
import type { Answer } from '../../../manifest/capability.ts';
import type { Chain } from '../models/choose.ts';
import type { AiState } from '../state.ts';
import type { ChatAsk } from './ask.ts';
import { chunksOf } from './assemble.ts';
import type { ChatEvent } from './chat-event.ts';
import type { Kept } from './kept.ts';

/** In the form that is asked for now. */
export function* again(
  { body, model, served }: Kept<WireObject>,
  stream: boolean,
  told: Pick<Answer, 'replayed' | 'balanceNanos'> = {},
): Generator<ChatEvent, void> {
  yield { kind: 'accepted', vendor: served.vendor, model };
  if (stream) for (const chunk of chunksOf(body)) yield { kind: 'chunk', chunk };
  const answer = { costNanos: 0n, served, ...told };
  yield { kind: 'end', completion: body, usage: body.usage as WireObject, isEstimated: false, isWhole: true, answer };
}

/** Of the model that is asked first: another may have answered in its place. */
function digestOf({ digest }: ChatAsk, [{ vendor, model }]: Chain): string {
  return hash('sha256', `${vendor}/${model} ${digest}`, 'base64url');
}

/** Null: nothing is kept, or nobody asks for it. */
export async function findCached({ cache }: AiState, { accountId }: CallContext, ask: ChatAsk, chain: Chain) {
  if (ask.cacheTtlSeconds === null) return null;
  const found = await cache.find(accountId, digestOf(ask, chain));
  if (found === null) return null;
  const kept = JSON.parse(found.text) as Kept<WireObject>;
  return again({ ...kept, served: { ...kept.served, cacheLayer: found.layer } }, ask.stream);
}

/** The same events; a complete answer is kept on the way, when the caller asks for it. */
export async function* keepCached(
  { cache }: AiState,
  { accountId }: CallContext,
  ask: ChatAsk,
  chain: Chain,
  events: AsyncGenerator<ChatEvent, void>,
): AsyncGenerator<ChatEvent, void> {
  const { cacheTtlSeconds: ttl } = ask;
  for await (const event of events) {
    if (event.kind !== 'end' || ttl === null) {
      yield event;
      continue;
    }
    const { completion: body, answer, isWhole } = event;
    const served = { vendor: '', ...answer.served };
    if (isWhole) {
      const { vendor, region, markupPct } = served;
      const text = JSON.stringify({ body, model: body.model, served: { vendor, region, markupPct } });
      await cache.keep(accountId, digestOf(ask, chain), text, ttl * 1_000);
    }
    yield { ...event, answer: { ...answer, served: { ...served, cacheLayer: 'l1_miss' } } };
  }
}
