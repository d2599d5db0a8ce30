// Read rates of sockets. Each socket has an allowance. All sockets of an account share a number of frames (messages, pings and pongs) per time
// slice. All of a process share milliseconds per turn of the event loop, so a thousand flooding sockets cannot block it.
import type { Admission } from '../../core/admission.ts';

const SLICE_MS = 100;
/** In a turn of the event loop. What it brings of the network is read besides. */
const TURN_MS = 2;

interface Reader {
  /** Its account. */
  readonly owner: string;
  /** It is its turn. */
  goOn(): void;
}

export class SocketPace {
  readonly #perSlice: number;
  /** Frames in this slice, by account. */
  readonly #taken = new Map<string, number>();
  /** For a turn of the event loop, whoever has waited longest first. */
  readonly #ready = new Set<Reader>();
  /** For the next slice of their accounts. */
  readonly #spent = new Set<Reader>();
  #slice: NodeJS.Timeout | null = null;
  /** Null: nothing was done in this turn. */
  #begunMs: number | null = null;

  constructor(framesPerSecond: number) {
    this.#perSlice = Math.ceil((framesPerSecond * SLICE_MS) / 1_000);
  }

  /** Takes one frame; false: its socket goes on later. */
  take(socket: Reader): boolean {
    const taken = this.#taken.get(socket.owner) ?? 0;
    if (taken >= this.#perSlice) {
      this.#spent.add(socket);
      return false;
    }
    if (this.isOver) {
      this.#ready.add(socket);
      return false;
    }
    this.#slice ??= setTimeout(() => this.#nextSlice(), SLICE_MS).unref();
    this.#taken.set(socket.owner, taken + 1);
    return true;
  }

  /** Whether sockets have had their part of this turn. */
  get isOver(): boolean {
    if (this.#begunMs !== null) return performance.now() - this.#begunMs > TURN_MS;
    this.#begin();
    return false;
  }

  /** It goes on in a later turn, whatever its account has taken. */
  later(socket: Reader): void {
    this.#ready.add(socket);
  }

  #begin(): void {
    this.#begunMs = performance.now();
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#begunMs = null;
    for (const socket of this.#ready) {
      if (this.isOver) return;
      this.#ready.delete(socket);
      socket.goOn();
    }
  }

  #nextSlice(): void {
    this.#slice = null;
    this.#taken.clear();
    for (const socket of this.#spent) this.#ready.add(socket);
    this.#spent.clear();
    if (this.#ready.size > 0 && this.#begunMs === null) this.#begin();
  }
}

/** What one socket may send: frames and bytes a second, with some seconds' worth of both at once. */
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
    const refill = (left: number, perSecond: number) => Math.min(perSecond * burstSeconds, left + seconds * perSecond);
    this.#messages = refill(this.#messages, messagesPerSecond) - messages;
    this.#bytes = refill(this.#bytes, bytesPerSecond) - bytes;
    return this.#messages >= 0 && this.#bytes >= 0;
  }
}
