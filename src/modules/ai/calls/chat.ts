// Runs one chat: chooses a vendor, holds money, asks the chain, gives the answer out as it comes, and captures the cost. The cost is captured
// once, however the call ends.

import { findReplay } from '../../../core/idempotency/write.ts';
import type { WireObject } from '../../../lib/chat/body.ts';
import { disconnectedProblem } from '../../../problems/disconnected.ts';
import { type Chain, callSucceeded, clientDisconnected, type Taken, walk } from '../../../routing/walk.ts';
import { chooseForChat } from '../models/choose.ts';
import type { AiState } from '../state.ts';
import { again, findCached, keepEnd } from './again.ts';
import type { ChatAsk, SentChat } from './ask.ts';
import { chunksOf } from './assemble.ts';
import { CallHold } from './call-hold.ts';
import type { ChatEvent } from './chat-event.ts';
import { reopen } from './kept.ts';
import type { ModelCall } from './model-call.ts';
import { openChat } from './open.ts';
import { type Reserved, reserveForChat } from './reserve.ts';
import { Settlement } from './settlement.ts';
import { askVendor, type Begun } from './vendor/ask-vendor.ts';
import { Reading } from './vendor/reading.ts';

/** Throws the Problem of a refusal or a failure, after chunks too. Whoever does not read it to its end returns it. */
export async function* chat(state: AiState, ctx: ModelCall, sent: SentChat): AsyncGenerator<ChatEvent, void> {
  // A replay comes before every other check.
  const earlier = await findReplay(ctx);
  if (earlier !== null) {
    yield* again(reopen<WireObject>(ctx, earlier.data.text), sent.stream, { replayed: true });
    return;
  }
  const giveBack = await state.places.take(ctx);
  let answering: Answering | null = null;
  try {
    const ask = await openChat(sent);
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
    const taken = await walk(ctx, this.#chain, (candidate) =>
      askVendor(this.#state, ctx, ask, candidate, this.#reserved),
    );
    const { candidate, reply } = taken;
    const settlement = new Settlement(ctx, ask, taken, this.#hold);
    if (reply.kind === 'left') {
      taken.reportOutcome(clientDisconnected);
      // The request of a batch is made again.
      if (ctx.item === undefined) await settlement.part(await reply.heard.usageByNow(), reply.heard.said);
      throw disconnectedProblem();
    }
    if (reply.kind === 'stream') this.#reading = new Reading(ctx, taken as Taken<Begun>, settlement);
    else {
      taken.reportOutcome(callSucceeded);
      const end = await settlement.complete(reply.completion, reply.usage);
      const chunks = ask.stream ? chunksOf(end.completion) : [];
      this.#events = [...chunks.map((chunk) => ({ kind: 'chunk', chunk }) as const), end];
    }
    return { kind: 'accepted', vendor: candidate.vendor, model: settlement.model };
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
