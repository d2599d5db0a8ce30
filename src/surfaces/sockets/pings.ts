// Liveness of a socket: it is pinged and must answer. Its own pings are answered too.
import type { WebSocket } from 'ws';
import type { Admission } from '../../core/admission.ts';

/** Between two looks. */
const PONGS_AT_ONCE = 5;

export class Pings {
  readonly #ws: WebSocket;
  readonly #bounds: Admission['webSocket'];
  #pingedMs = performance.now();
  #pongMs = this.#pingedMs;
  /** Pings of the client since the last look, and the last of those beyond. */
  #heard = 0;
  #unanswered: Buffer | null = null;

  constructor(ws: WebSocket, bounds: Admission['webSocket']) {
    this.#ws = ws;
    this.#bounds = bounds;
    ws.on('pong', () => {
      this.#pongMs = performance.now();
    });
  }

  /** `isNow` false: at the next look. Of many pings at once only the last one is answered (RFC 6455, section 5.5.3): a pong takes ten times as long as its ping. */
  answer(data: Buffer, isNow: boolean): void {
    this.#heard += 1;
    if (isNow && this.#heard <= PONGS_AT_ONCE) this.#ws.pong(data);
    else this.#unanswered = data;
  }

  /** At each look. False: it does not live. */
  look(nowMs: number): boolean {
    if (this.#unanswered !== null) this.#ws.pong(this.#unanswered);
    this.#unanswered = null;
    this.#heard = 0;
    // What is not read from it now may be its pong.
    if (this.#ws.isPaused) this.#pongMs = nowMs;
    if (nowMs - this.#pongMs > this.#bounds.pongWithinMs) return false;
    if (nowMs - this.#pingedMs >= this.#bounds.pingEveryMs) {
      this.#pingedMs = nowMs;
      this.#ws.ping();
    }
    return true;
  }
}
