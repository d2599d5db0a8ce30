// A stream that a vendor has begun, read as its client takes it.
import type { WireObject } from '../../../../lib/chat/body.ts';
import type { AiUsage, ChatPiece } from '../../../../vendors/ai/port.ts';
import type { Refused } from '../../../../vendors/call/port.ts';
import { DRAIN_MS } from '../../limits.ts';
import { aiModel } from '../../models/family.ts';
import { named } from '../../responses/own-wire.ts';
import { Assembly } from '../assemble.ts';
import type { ChatEnd, ChatEvent } from '../chat-event.ts';
import type { ModelCall } from '../model-call.ts';
import type { Settlement } from '../settlement.ts';
import { failureOf, outcomeOf, type Taken, tooLate, wentWell } from '../walk.ts';
import { type Begun, pieceOf } from './ask-vendor.ts';

/** Reads a stream to its end, or as far as somebody waits for it. */
export class Reading {
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
