// Memory limits of answers that clients have not read, per owner and in all. To make room, the connections whose answers have waited longest
// are closed, and those that read more slowly than any client needs to.
import type { Socket } from 'node:net';
import type { Traffic } from '../../gateway/limits/traffic.ts';
import type { Answer } from './answer.ts';

interface Unread {
  readonly owner: string;
  readonly bytes: number;
  readonly untilMs: number;
}

export class UnreadAnswers {
  readonly #traffic: Traffic;
  /** The oldest first. */
  readonly #unread = new Map<Socket, Unread>();

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
  }

  /** An answer has been written; what the network did not take at once is counted until it has. */
  add(answer: Answer): void {
    const { socket } = answer;
    if (socket === null) return;
    const bytes = socket.writableLength;
    if (bytes === 0) return;
    const { owner } = answer;
    while (!this.#traffic.answers.take(owner, bytes)) {
      if (this.#cutOldest(owner)) continue;
      socket.destroy();
      return;
    }
    const { readGraceMs, readBytesPerSecondMin } = this.#traffic.bounds.connection;
    const untilMs = performance.now() + readGraceMs + (bytes / readBytesPerSecondMin) * 1_000;
    this.#unread.set(socket, { owner, bytes, untilMs });
    // Before the next call of the connection begins, which may be answered at once.
    answer.prependOnceListener('close', () => this.#forget(socket));
  }

  cutSlow(nowMs: number): void {
    for (const [socket, { untilMs }] of this.#unread) if (nowMs > untilMs) this.#disconnect(socket);
  }

  #cutOldest(owner: string): boolean {
    for (const [socket, unread] of this.#unread) {
      if (unread.owner !== owner) continue;
      this.#disconnect(socket);
      return true;
    }
    return false;
  }

  #disconnect(socket: Socket): void {
    socket.destroy();
    this.#forget(socket);
  }

  #forget(socket: Socket): void {
    const unread = this.#unread.get(socket);
    if (unread === undefined) return;
    this.#unread.delete(socket);
    this.#traffic.answers.release(unread.owner, unread.bytes);
  }
}
