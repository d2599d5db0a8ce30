// Messages of all sockets of an account: so many in a slice of time, and no more in one turn of the event loop. Sockets with further ones
// wait for a later slice, whoever has waited longest first.
const SLICE_MS = 100;

interface Reader {
  /** Its account. */
  readonly owner: string;
  /** It is its turn. */
  goOn(): void;
}

export class SocketTurns {
  readonly #perSlice: number;
  /** Messages in this slice, by account. */
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Reader>();
  #timer: NodeJS.Timeout | null = null;

  constructor(messagesPerSecond: number) {
    this.#perSlice = Math.ceil((messagesPerSecond * SLICE_MS) / 1_000);
  }

  /** Takes one message; false: its socket goes on later. */
  take(socket: Reader): boolean {
    this.#timer ??= setTimeout(() => this.#next(), SLICE_MS).unref();
    const taken = this.#taken.get(socket.owner) ?? 0;
    if (taken >= this.#perSlice) {
      this.#waiting.add(socket);
      return false;
    }
    this.#taken.set(socket.owner, taken + 1);
    return true;
  }

  #next(): void {
    this.#timer = null;
    this.#taken.clear();
    for (const socket of [...this.#waiting]) {
      if ((this.#taken.get(socket.owner) ?? 0) >= this.#perSlice) continue;
      this.#waiting.delete(socket);
      socket.goOn();
    }
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#next(), SLICE_MS).unref();
  }
}
