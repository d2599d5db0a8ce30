// Frame-by-frame reading of a socket through `ws`. It can be stopped after each frame even if the library has buffered more: one network
// chunk may hold 10,000 pings. It reports how many bytes it holds.
import type { WebSocket } from 'ws';

/** What `ws` has no public names for; test/sockets shows each. */
interface Receiver {
  _bufferedBytes: number;
  _buffers: Buffer[];
  readonly _messageLength: number;
  /** False: what is in `_buffers` stays there. */
  _loop: boolean;
  startLoop(done: (error?: Error) => void): void;
  destroy(error: Error): void;
}

export class Reading {
  readonly #ws: WebSocket;
  #state: 'on' | 'later' | 'never' = 'on';

  constructor(ws: WebSocket) {
    this.#ws = ws;
  }

  /** Of half messages and frames, and of frames that are not read yet. */
  get heldBytes(): number {
    return this.#receiver._bufferedBytes + this.#receiver._messageLength;
  }

  /** Nothing behind the frame that was just told of is read until `goOn`. */
  stop(): void {
    if (this.#state === 'on') this.#state = 'later';
    this.#ws.pause();
    this.#receiver._loop = false;
  }

  goOn(): void {
    if (this.#state !== 'later' || this.#ws.readyState === this.#ws.CLOSED) return;
    this.#state = 'on';
    const receiver = this.#receiver;
    receiver.startLoop((error) => {
      if (error !== undefined) receiver.destroy(error);
    });
    // What was at hand may have stopped it again.
    if (this.#state === 'on') this.#ws.resume();
  }

  /** Nothing more is read, and what is at hand is dropped. */
  end(): void {
    this.stop();
    this.#state = 'never';
    this.#receiver._buffers = [];
    this.#receiver._bufferedBytes = 0;
  }

  get #receiver(): Receiver {
    return (this.#ws as unknown as { readonly _receiver: Receiver })._receiver;
  }
}
