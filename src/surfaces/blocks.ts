// Bodies that may be long, taken from the socket into blocks as they arrive: joining 30 MB at the end would take the event loop some
// 50 ms. The reading, with its limits and errors, stays Fastify's: it sees a stream of one byte a chunk and the length as received.
import { Readable } from 'node:stream';

const BLOCK_BYTES = 1024 * 1024;
const MARK = Buffer.from(' ');

export class Blocks extends Readable {
  /** What Fastify holds to the body limit and to Content-Length. */
  receivedEncodedLength = 0;
  readonly #bytesMax: number;
  readonly #blockBytes: number;
  #full: Buffer[] = [];
  #last = Buffer.alloc(0);
  #used = 0;

  /** `announcedBytes`: Content-Length, NaN without one. Beyond `bytesMax` nothing is kept. */
  constructor(payload: Readable, announcedBytes: number, bytesMax: number) {
    super();
    this.#bytesMax = bytesMax;
    this.#blockBytes = announcedBytes < BLOCK_BYTES ? announcedBytes : BLOCK_BYTES;
    // Fastify listens until it has what it wants: a client that leaves after its body was refused is nobody's concern.
    this.on('error', () => undefined);
    payload.on('data', (chunk: Buffer) => this.#take(chunk));
    payload.once('end', () => this.push(null));
    payload.once('error', (error) => this.destroy(error));
  }

  /** Each in a buffer of its own. */
  get blocks(): readonly Uint8Array<ArrayBuffer>[] {
    return [...this.#full, this.#last.subarray(0, this.#used)].filter(
      ({ length }) => length > 0,
    ) as Buffer<ArrayBuffer>[];
  }

  override _read(): void {
    // Chunks come when they come.
  }

  #take(chunk: Buffer): void {
    this.receivedEncodedLength += chunk.length;
    if (this.receivedEncodedLength > this.#bytesMax) {
      this.#full = [];
      this.#used = 0;
    } else this.#keep(chunk);
    this.push(MARK);
  }

  #keep(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#last.length) {
        if (this.#used > 0) this.#full.push(this.#last);
        this.#last = Buffer.allocUnsafeSlow(this.#blockBytes);
        this.#used = 0;
      }
      const copied = chunk.copy(this.#last, this.#used, at);
      at += copied;
      this.#used += copied;
    }
  }
}
