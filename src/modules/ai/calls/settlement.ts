// Settlement of a chat, once: by the usage that its vendor reports, else by what was counted here.

import type { WireObject } from '../../../lib/chat/body.ts';
import type { Taken } from '../../../routing/walk.ts';
import { isMessage, messageUsage } from '../messages/own-wire.ts';
import { type AiModel, aiModel } from '../models/family.ts';
import { billedNanos, pricedModel, soundUsage, usedNanos } from '../models/price.ts';
import { isResponse } from '../responses/own-wire.ts';
import type { AiUsage } from '../vendors/port.ts';
import type { ChatAsk } from './ask.ts';
import { Assembly, chunksOf, usageOf } from './assemble.ts';
import type { CallHold, Charged } from './call-hold.ts';
import type { ChatEnd } from './chat-event.ts';
import { keep } from './kept.ts';
import type { ModelCall } from './model-call.ts';
import { isOwnAnswer } from './own-wires.ts';

export class Settlement {
  readonly #ctx: ModelCall;
  readonly #ask: ChatAsk;
  readonly #taken: Taken<unknown>;
  readonly #hold: CallHold;
  readonly #row: AiModel;
  /** The model that answers, `vendor/model`. */
  readonly model: string;

  constructor(ctx: ModelCall, ask: ChatAsk, taken: Taken<unknown>, hold: CallHold) {
    this.#ctx = ctx;
    this.#ask = ask;
    this.#taken = taken;
    this.#hold = hold;
    this.#row = pricedModel(ctx, taken.candidate.row);
    this.model = `${taken.candidate.vendor}/${taken.candidate.model}`;
  }

  /** `said`: of a stream. */
  async complete(completion: WireObject, reported: AiUsage | null, said?: Assembly): Promise<ChatEnd> {
    const sound = soundUsage(reported);
    const usage = sound ?? (await this.#countUsage(said ?? assemble(completion)));
    const isEstimated = sound === null;
    if (isEstimated) this.#ctx.warnings.push('usage: counted here, for the vendor has not told it');
    const isOwn = isOwnAnswer(completion);
    const isNonsense = isEstimated && reported !== null;
    const further = isOwn || isNonsense ? {} : (completion.usage as object | undefined);
    const shownUsage = { ...usageOf(usage), ...further };
    const whole = { ...completion, model: this.model, ...usageIn(completion, shownUsage, isEstimated) };
    const { vendor, region, markupPct } = this.#taken.candidate;
    const served = { vendor, region, markupPct };
    const isKept = isResponse(completion) || said === undefined || said.isWhole;
    const answer = keep(this.#ctx, isKept ? { body: whole, model: this.model, served } : null);
    const { failover } = this.#taken;
    const charged = await this.#charge(usage, answer, () => JSON.stringify(whole));
    return {
      kind: 'end',
      completion: whole,
      usage: shownUsage,
      isEstimated,
      isWhole: isKept,
      answer: { ...charged, served: { ...served, ...(failover === null ? {} : { failover }) } },
    };
  }

  /** Of an answer that did not come to its end: what the vendor told of it, or what came. The call is told that it has cost so much. */
  async part(reported: AiUsage | null, said: Assembly): Promise<void> {
    const sound = soundUsage(reported);
    const { costNanos } = await this.#charge(sound ?? (await this.#countUsage(said)));
    this.#ctx.chargedThoughFailed?.(costNanos, sound === null);
  }

  #charge(usage: AiUsage, answer?: ReturnType<typeof keep>, response?: () => string): Promise<Charged> {
    const { images } = this.#ask;
    return this.#hold.capture({
      candidate: this.#taken.candidate,
      nanos: usedNanos(this.#row, usage, images),
      billedNanos: billedNanos(aiModel(this.#taken.candidate.row), usage, images),
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      ...(answer === undefined ? {} : { answer }),
      ...(response === undefined ? {} : { response }),
    });
  }

  async #countUsage(said: Assembly): Promise<AiUsage> {
    const { inputTokens, images } = this.#ask;
    const input = inputTokens + images * this.#row.imageTokens;
    const none = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costUsd: null };
    return { ...none, inputTokens: input, outputTokens: await said.tokens() };
  }
}

/** An answer of another wire has its own, unless nothing can be made of that. */
function usageIn(completion: WireObject, usage: WireObject, isEstimated: boolean): WireObject {
  if (!isOwnAnswer(completion)) return { usage };
  return isMessage(completion) && isEstimated ? { usage: messageUsage(usage) } : {};
}

function assemble(completion: WireObject): Assembly {
  const assembly = new Assembly();
  for (const chunk of chunksOf(completion)) assembly.add(chunk);
  return assembly;
}
