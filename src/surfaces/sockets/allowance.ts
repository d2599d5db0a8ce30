// What one socket may send: messages and bytes a second, with some seconds' worth of both at once.
import type { Admission } from '../../core/admission.ts';

export class Allowance {
  readonly #bounds: Admission['webSocket'];
  #messages: number;
  #bytes: number;
  #filledMs = performance.now();

  constructor(bounds: Admission['webSocket']) {
    this.#bounds = bounds;
    this.#messages = bounds.messagesPerSecond * bounds.burstSeconds;
    this.#bytes = bounds.bytesPerSecond * bounds.burstSeconds;
  }

  /** False: it has sent more. */
  spend(messages: number, bytes: number, nowMs = performance.now()): boolean {
    const { messagesPerSecond, bytesPerSecond, burstSeconds } = this.#bounds;
    const seconds = (nowMs - this.#filledMs) / 1_000;
    this.#filledMs = nowMs;
    const filled = (left: number, perSecond: number) => Math.min(perSecond * burstSeconds, left + seconds * perSecond);
    this.#messages = filled(this.#messages, messagesPerSecond) - messages;
    this.#bytes = filled(this.#bytes, bytesPerSecond) - bytes;
    return this.#messages >= 0 && this.#bytes >= 0;
  }
}
