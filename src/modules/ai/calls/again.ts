// Stored answers: replays of an idempotency key and, where the caller asks for it, cache hits of the same request.

import { hash } from 'node:crypto';
import type { Answer } from '../../../kit/capability.ts';
import type { WireObject } from '../../../lib/chat/body.ts';
import { isLonger } from '../../../lib/long-json.ts';
import type { Candidate } from '../../../routing/choose.ts';
import type { Chain } from '../../../routing/walk.ts';
import { CACHED_BYTES_MAX } from '../limits.ts';
import type { AiState } from '../state.ts';
import type { ChatAsk } from './ask.ts';
import { chunksOf } from './assemble.ts';
import type { ChatEnd, ChatEvent } from './chat-event.ts';
import type { Kept } from './kept.ts';
import type { ModelCall } from './model-call.ts';
import { ownWireOf } from './own-wires.ts';

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

/** What is cached by its request. */
type Cacheable = Pick<ChatAsk, 'digest' | 'cacheTtlSeconds'> & Partial<Pick<ChatAsk, 'own'>>;

/** Of the model that answered: what came from another in its place is no answer of the one that is asked first. */
function digestOf({ core }: AiState, { digest, own = null }: Cacheable, { vendor, model, row }: Candidate): string {
  // What has come on a vendor's own wire is no answer on another.
  const isOwn = own !== null && ownWireOf(core, row, own.wire) !== null;
  const asked = isOwn ? `${own.wire} ${JSON.stringify(own.headers)} ${own.digest}` : digest;
  return hash('sha256', `${vendor}/${model} ${asked}`, 'base64url');
}

/** Null: nothing is kept, or nobody asks for it. */
export async function findCached<Body>(
  state: AiState,
  { accountId }: ModelCall,
  ask: Cacheable,
  chain: Chain,
): Promise<Kept<Body> | null> {
  if (ask.cacheTtlSeconds === null) return null;
  const found = await state.cache.find(accountId, digestOf(state, ask, chain[0]));
  if (found === null) return null;
  const kept = JSON.parse(found.text) as Kept<Body>;
  return { ...kept, served: { ...kept.served, cacheLayer: found.layer } };
}

/** Keeps a complete answer, when the caller asks for it and it is not too long. */
export async function keepCached<Body>(
  state: AiState,
  { accountId }: ModelCall,
  ask: Cacheable,
  chain: Chain,
  kept: Kept<Body>,
): Promise<void> {
  if (ask.cacheTtlSeconds === null || isLonger(kept, CACHED_BYTES_MAX)) return;
  const answered = chain.find(({ vendor, model }) => `${vendor}/${model}` === kept.model);
  if (answered === undefined) throw new Error(`${kept.model} was not asked`);
  await state.cache.keep(accountId, digestOf(state, ask, answered), JSON.stringify(kept), ask.cacheTtlSeconds * 1_000);
}

/** The same end; a complete answer is kept, when the caller asks for it. */
export async function keepEnd(
  state: AiState,
  ctx: ModelCall,
  ask: ChatAsk,
  chain: Chain,
  end: ChatEnd,
): Promise<ChatEnd> {
  if (ask.cacheTtlSeconds === null) return end;
  const { completion: body, answer, isWhole } = end;
  const served = { vendor: '', ...answer.served };
  const { vendor, region, markupPct } = served;
  const kept = { body, model: body.model as string, served: { vendor, region, markupPct } };
  if (isWhole) await keepCached(state, ctx, ask, chain, kept);
  return { ...end, answer: { ...answer, served: { ...served, cacheLayer: 'l1_miss' } } };
}
