// One chat: a vendor is chosen, money held, the chain asked, the answer given out as it comes, and what it cost captured, once, however the
// call ends.

import { findReplay } from '../../../core/idempotency/write.ts';
import type { Candidate } from '../../../core/vendors/choose.ts';
import type { WireObject } from '../../../lib/chat/body.ts';
import type { AiAdapter, AiUsage, ChatPiece, ChatReply } from '../../../vendors/ai/port.ts';
import type { NotSent, Refused } from '../../../vendors/call/port.ts';
import { DRAIN_MS, PREAMBLE_PIECES_MAX } from '../limits.ts';
import { type Chain, chooseForChat } from '../models/choose.ts';
import { aiModel, speaksResponses, timeoutsOf, wireModel } from '../models/family.ts';
import { named } from '../responses/own-wire.ts';
import type { AiState } from '../state.ts';
import { again, findCached, keepEnd } from './again.ts';
import type { ChatAsk } from './ask.ts';
import { Assembly, chunksOf } from './assemble.ts';
import { CallHold } from './call-hold.ts';
import type { ChatEnd, ChatEvent } from './chat-event.ts';
import { reopen } from './kept.ts';
import type { ModelCall } from './model-call.ts';
import { type Reserved, reserveForChat } from './reserve.ts';
import { Settlement } from './settlement.ts';
import { Upstream } from './upstream.ts';
import { failureOf, outcomeOf, type Taken, tooLate, walk, wentWell } from './walk.ts';

/** Throws the Problem of a refusal or a failure, after chunks too. Whoever does not read it to its end returns it. */
export async function* chat(state: AiState, ctx: ModelCall, ask: ChatAsk): AsyncGenerator<ChatEvent, void> {
  // A replay comes before every other check.
  const earlier = await findReplay(ctx);
  if (earlier !== null) {
    yield* again(reopen<WireObject>(ctx, earlier.data.text), ask.stream, { replayed: true });
    return;
  }
  const giveBack = state.slots.take(ctx);
  let answering: Answering | null = null;
  try {
    const chain = await chooseForChat(ctx.core, ctx.accountId, ask);
    const cached = await findCached<WireObject>(state, ctx, ask, chain);
    if (cached !== null) {
      yield* again(cached, ask.stream);
      return;
    }
    const reserved = await reserveForChat(ctx, ask, chain);
    if (reserved.kind === 'replayed') {
      const { text, balanceNanos } = reserved;
      yield* again(reopen<WireObject>(ctx, text), ask.stream, { replayed: true, balanceNanos });
      return;
    }
    answering = new Answering(state, ctx, ask, chain, reserved);
    yield await answering.begin();
    // The only generator on the way of a piece: each takes microseconds of it.
    for (let event = await answering.next(); event !== null; event = await answering.next()) {
      yield event.kind === 'end' ? await keepEnd(state, ctx, ask, chain, event) : event;
    }
  } finally {
    await answering?.close();
    giveBack();
  }
}

/** The vendors are asked, and the answer of the one that takes it on is read. Its hold ends with it. */
class Answering {
  readonly #state: AiState;
  readonly #ctx: ModelCall;
  readonly #ask: ChatAsk;
  readonly #chain: Chain;
  readonly #reserved: Reserved;
  readonly #hold: CallHold;
  /** Of an answer that comes piece by piece. */
  #reading: Reading | null = null;
  /** Of one that came in one piece. */
  #events: ChatEvent[] = [];

  constructor(state: AiState, ctx: ModelCall, ask: ChatAsk, chain: Chain, reserved: Reserved) {
    this.#state = state;
    this.#ctx = ctx;
    this.#ask = ask;
    this.#chain = chain;
    this.#reserved = reserved;
    this.#hold = new CallHold(ctx, reserved);
  }

  async begin(): Promise<ChatEvent> {
    const [ctx, ask] = [this.#ctx, this.#ask];
    const taken = await walk(ctx, this.#chain, (place) => askVendor(this.#state, ctx, ask, place, this.#reserved));
    const { place, reply } = taken;
    const settlement = new Settlement(ctx, ask, taken, this.#hold);
    if (reply.kind === 'stream') this.#reading = new Reading(ctx, taken as Taken<Begun>, settlement);
    else {
      taken.ended(wentWell);
      const end = await settlement.complete(reply.completion, reply.usage);
      const chunks = ask.stream ? chunksOf(end.completion) : [];
      this.#events = [...chunks.map((chunk) => ({ kind: 'chunk', chunk }) as const), end];
    }
    return { kind: 'accepted', vendor: place.vendor, model: settlement.model };
  }

  /** Null: that was all. */
  next(): Promise<ChatEvent | null> {
    return this.#reading === null ? Promise.resolve(this.#events.shift() ?? null) : this.#reading.next();
  }

  async close(): Promise<void> {
    try {
      await this.#reading?.close();
    } finally {
      await this.#hold.release();
    }
  }
}

/** A stream that has begun: what was held back of it, and the rest. */
interface Begun {
  readonly kind: 'stream';
  readonly first: readonly ChatPiece[];
  readonly rest: AsyncIterator<ChatPiece>;
  readonly upstream: Upstream;
}
type Completed = Extract<ChatReply, { kind: 'completed' }>;

async function askVendor(
  { pictures }: AiState,
  { core, signal, accountId }: ModelCall,
  ask: ChatAsk,
  place: Candidate,
  reserved: Reserved,
): Promise<Begun | Completed | Refused | NotSent> {
  const { row } = place;
  const model = aiModel(row);
  const timeouts = timeoutsOf(model);
  const upstream = new Upstream(signal, model.billsAfterDisconnect ? DRAIN_MS : 0);
  upstream.limit(timeouts.totalMs);
  const hasContent = ask.stream ? upstream.limit(timeouts.firstContentMs) : null;
  const { baseUrl, key, assetHosts, adapter: name } = row.vendor;
  const adapter = core.vendors.adapter<AiAdapter>('ai', name);
  const held = pictures.of(accountId);
  const call = {
    ...{ baseUrl, assetHosts, outbound: core.outbound, signal: upstream.signal },
    key: key?.reveal() ?? null,
    holdPicture: held.take,
    dropped: () => core.vendors.lineDropped(row.vendor.id),
    // What is not streamed comes in one piece, at its end.
    timeouts: ask.stream ? timeouts : { ...timeouts, firstContentMs: timeouts.totalMs, idleMs: timeouts.totalMs },
  };
  let reply: Begun | Completed | Refused | NotSent | null = null;
  try {
    const own = adapter.respond !== undefined && speaksResponses(row) ? ask.response : null;
    const replied = await (own === null ? adapter.chat : (adapter.respond as AiAdapter['chat']))(call, {
      model: wireModel(model),
      body: own ?? ask.body,
      outputTokensMax: reserved.outputTokensOf(model),
      stream: ask.stream,
    });
    if (replied.kind !== 'stream') reply = replied;
    else reply = await (ask.stream ? toContent(replied.pieces, upstream) : toEnd(replied.pieces));
    hasContent?.();
    return reply.kind === 'refused' && upstream.isLate ? tooLate() : reply;
  } finally {
    held.release();
    if (reply?.kind !== 'stream') upstream.close();
  }
}

/** What comes before the first content commits nobody: a failure in it is a refusal. */
async function toContent(pieces: AsyncIterableIterator<ChatPiece>, upstream: Upstream): Promise<Begun | Refused> {
  const first: ChatPiece[] = [];
  while (first.length < PREAMBLE_PIECES_MAX) {
    const piece = pieceOf(await pieces.next());
    if (piece.kind === 'failed') return piece.failure;
    first.push(piece);
    if (piece.kind === 'end' || (piece.kind === 'chunk' && piece.hasContent))
      return { kind: 'stream', first, rest: pieces, upstream };
  }
  upstream.end();
  await pieces.return?.();
  return brokenOff('The vendor sends pieces without content.');
}

/** Of a vendor that streams unasked: nobody sees half of it, so what fails is a refusal, however far it had come. */
async function toEnd(pieces: AsyncIterableIterator<ChatPiece>): Promise<Completed | Refused> {
  const said = new Assembly();
  let usage: AiUsage | null = null;
  for (;;) {
    const piece = pieceOf(await pieces.next());
    if (piece.kind === 'chunk') said.add(piece.chunk);
    else if (piece.kind === 'usage') usage = piece.usage;
    else if (piece.kind === 'failed') return piece.failure;
    else if (piece.response !== undefined) return { kind: 'completed', completion: piece.response, usage };
    else if (said.isWhole) return { kind: 'completed', completion: said.completion(), usage };
    else return brokenOff('The answer is too long to be given in one piece.');
  }
}

function pieceOf({ done, value }: IteratorResult<ChatPiece>): ChatPiece {
  return done === true ? { kind: 'failed', failure: brokenOff('The vendor broke off its answer.') } : value;
}

function brokenOff(message: string): Refused {
  return { kind: 'refused', reason: 'VENDOR_DOWN', breaker: { kind: 'counts' }, message, vendorSaid: null };
}

/** Reads a stream to its end, or as far as somebody waits for it. */
class Reading {
  readonly #ctx: ModelCall;
  readonly #taken: Taken<Begun>;
  readonly #settlement: Settlement;
  readonly #said = new Assembly();
  /** Held back, in their order. */
  readonly #first: ChatPiece[];
  #usage: AiUsage | null = null;
  /** It may still grow. */
  #isPartial = false;
  #isOver = false;

  constructor(ctx: ModelCall, taken: Taken<Begun>, settlement: Settlement) {
    this.#ctx = ctx;
    this.#taken = taken;
    this.#settlement = settlement;
    this.#first = [...taken.reply.first];
  }

  /** A chunk, or the end of the answer; null: nothing comes any more. Throws what it fails with. */
  async next(): Promise<ChatEvent | null> {
    while (!this.#isOver) {
      const piece = this.#noted(this.#first.shift() ?? pieceOf(await this.#taken.reply.rest.next()));
      if (piece.kind === 'usage') continue;
      if (piece.kind === 'chunk') {
        // Who has left is given nothing more, but what it cost is still to be known.
        if (this.#ctx.signal.aborted) continue;
        return { kind: 'chunk', chunk: named(piece.chunk, this.#settlement.model) };
      }
      this.#isOver = true;
      if (piece.kind === 'end') return await this.#complete(piece.response);
      await this.#failed(piece.failure);
    }
    return null;
  }

  async close(): Promise<void> {
    const { upstream, rest } = this.#taken.reply;
    if (!this.#isOver) await this.#readOn();
    upstream.close();
    await rest.return?.();
  }

  #noted(piece: ChatPiece): ChatPiece {
    if (piece.kind === 'usage') {
      this.#usage = piece.usage;
      this.#isPartial = piece.isPartial === true;
    }
    if (piece.kind === 'chunk') this.#said.add(piece.chunk);
    return piece;
  }

  /** `response`: of a vendor that tells it whole at its end. */
  #complete(response?: WireObject): Promise<ChatEnd> {
    this.#taken.ended(wentWell);
    return this.#settlement.complete(response ?? this.#said.completion(), this.#usage, this.#said);
  }

  /** Throws what it failed with. A client that has left made it fail. */
  async #failed(failure: Refused): Promise<void> {
    const { ended, reply } = this.#taken;
    if (this.#ctx.signal.aborted) {
      ended(wentWell);
      await this.#settlement.part(this.#usedByNow(), this.#said);
      return;
    }
    const told = reply.upstream.isLate ? tooLate() : failure;
    ended(outcomeOf(told));
    if (this.#usage !== null) await this.#settlement.part(this.#usage, this.#said);
    throw failureOf(told.reason, `${told.message} The answer is not complete.`);
  }

  /** Of an answer that its client has left: what the vendor said in the beginning has grown since. */
  #usedByNow(): AiUsage | null {
    const usage = this.#usage;
    if (usage === null || !this.#isPartial) return usage;
    return { ...usage, outputTokens: Math.max(usage.outputTokens, this.#said.tokens) };
  }

  /** Nobody takes what comes. What the vendor bills in any case is read to its end. */
  async #readOn(): Promise<void> {
    const { reply, place, ended } = this.#taken;
    if (!aiModel(place.row).billsAfterDisconnect) reply.upstream.end();
    else reply.upstream.limit(DRAIN_MS);
    let last: ChatPiece;
    do last = this.#noted(this.#first.shift() ?? pieceOf(await reply.rest.next()));
    while (last.kind === 'chunk' || last.kind === 'usage');
    if (last.kind === 'end') await this.#complete(last.response);
    else {
      ended(wentWell);
      await this.#settlement.part(this.#usedByNow(), this.#said);
    }
  }
}
