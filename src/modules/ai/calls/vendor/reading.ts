// Reads a stream that a vendor has begun, at the pace of its client.
import { performance } from 'node:perf_hooks';
import type { WireObject } from '../../../../lib/chat/body.ts';
import { problem } from '../../../../problems/problem.ts';
import {
  callSucceeded,
  clientDisconnected,
  failureOf,
  outcomeOf,
  type Taken,
  tooLate,
} from '../../../../routing/walk.ts';
import type { Refused } from '../../../../vendors/call/port.ts';
import { DRAIN_MS } from '../../limits.ts';
import { aiModel } from '../../models/family.ts';
import type { ChatPiece } from '../../vendors/port.ts';
import type { ChatEnd, ChatEvent } from '../chat-event.ts';
import type { ModelCall } from '../model-call.ts';
import { withModel } from '../own-wires.ts';
import type { Settlement } from '../settlement.ts';
import { type Begun, pieceOf } from './ask-vendor.ts';
import type { Heard } from './heard.ts';

/** Of the time that a call has taken: a client that keeps its answer waiting for more is why it takes too long. */
const HELD_UP_SHARE = 0.1;

/** Reads a stream to its end, or as far as somebody waits for it. */
export class Reading {
  readonly #ctx: ModelCall;
  readonly #taken: Taken<Begun>;
  readonly #settlement: Settlement;
  readonly #heard: Heard;
  /** Held back, in their order; heard already. */
  readonly #first: ChatPiece[];
  #isOver = false;
  /** For how long nobody has asked for the next piece, and since when. */
  #heldUpMs = 0;
  #givenMs: number | null = null;

  constructor(ctx: ModelCall, taken: Taken<Begun>, settlement: Settlement) {
    this.#ctx = ctx;
    this.#taken = taken;
    this.#settlement = settlement;
    this.#heard = taken.reply.heard;
    this.#first = [...taken.reply.first];
  }

  /** A chunk, or the end of the answer; null: nothing comes any more. Throws what it fails with. */
  async next(): Promise<ChatEvent | null> {
    if (this.#givenMs !== null) this.#heldUpMs += performance.now() - this.#givenMs;
    while (!this.#isOver) {
      const piece = await this.#piece();
      if (piece.kind === 'usage') continue;
      if (piece.kind === 'chunk') {
        // Who has left is given nothing more, but what it cost is still to be known.
        if (this.#ctx.signal.aborted) continue;
        this.#givenMs = performance.now();
        return { kind: 'chunk', chunk: withModel(piece.chunk, this.#settlement.model) };
      }
      this.#isOver = true;
      if (piece.kind === 'end') return await this.#complete(piece.response);
      await this.#throwFailure(piece.failure);
    }
    return null;
  }

  async close(): Promise<void> {
    const { upstream, rest } = this.#taken.reply;
    if (!this.#isOver) await this.#readOn();
    upstream.close();
    await rest.return?.();
  }

  async #piece(): Promise<ChatPiece> {
    return this.#first.shift() ?? this.#heard.note(pieceOf(await this.#taken.reply.rest.next()));
  }

  /** `response`: of a vendor that tells it whole at its end. */
  #complete(response?: WireObject): Promise<ChatEnd> {
    this.#taken.reportOutcome(callSucceeded);
    const { said, usage } = this.#heard;
    return this.#settlement.complete(response ?? said.completion(), usage, said);
  }

  /** Throws what it failed with. A client that has left made it fail, and so did one that took it too slowly. */
  async #throwFailure(failure: Refused): Promise<void> {
    const { reportOutcome, reply } = this.#taken;
    if (this.#ctx.signal.aborted) return this.#endDisconnected();
    if (reply.upstream.isLate && this.#heldUpMs > reply.upstream.ageMs * HELD_UP_SHARE) {
      await this.#endDisconnected();
      const message = 'The answer was not taken in time: its client read too slowly. What had come of it is charged.';
      throw problem('DEADLINE_EXCEEDED', { message });
    }
    const told = reply.upstream.isLate ? tooLate() : failure;
    reportOutcome(outcomeOf(told));
    if (this.#heard.usage !== null) await this.#settlement.part(this.#heard.usage, this.#heard.said);
    throw failureOf(told.reason, `${told.message} The answer is not complete.`);
  }

  /** Nobody waits for more of it. */
  async #endDisconnected(): Promise<void> {
    this.#taken.reportOutcome(clientDisconnected);
    await this.#settlement.part(await this.#heard.usageByNow(), this.#heard.said);
  }

  /** Nobody takes what comes. What the vendor bills in any case is read to its end. */
  async #readOn(): Promise<void> {
    const { reply, candidate } = this.#taken;
    if (!aiModel(candidate.row).billsAfterDisconnect) reply.upstream.end();
    else reply.upstream.limit(DRAIN_MS);
    let last: ChatPiece;
    do last = await this.#piece();
    while (last.kind === 'chunk' || last.kind === 'usage');
    if (last.kind !== 'end') return this.#endDisconnected();
    const { answer, isEstimated } = await this.#complete(last.response);
    this.#ctx.chargedThoughFailed?.(answer.costNanos ?? 0n, isEstimated);
  }
}
