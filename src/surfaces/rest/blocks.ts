// Collects long bodies into blocks as they arrive: joining 30 MB at the end would block the event loop for some 50 ms. Reading, limits and
// errors stay Fastify's: it sees a stream of one byte a chunk and the length as received.
import { Readable } from 'node:stream';

const BLOCK_BYTES = 1024 * 1024;
/** A chunk from here on is kept as it came: copied, it would be garbage, and bodies of 30 MB made each a full collection. */
const OWN_BLOCK_FROM_BYTES = 32 * 1024;
const MARK = Buffer.from(' ');

export class Blocks extends Readable {
  /** What Fastify holds to the body limit and to Content-Length. */
  receivedEncodedLength = 0;
  readonly #bytesMax: number;
  readonly #blockBytes: number;
  #full: Buffer[] = [];
  #last = Buffer.alloc(0);
  /** Of the last block: what is kept in it since the last full one, and how far it is used. */
  #from = 0;
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

  /** In their order. Several may lie in one buffer; nothing else does. */
  get blocks(): readonly Uint8Array<ArrayBuffer>[] {
    return [...this.#full, this.#last.subarray(this.#from, this.#used)].filter(
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
      this.#from = this.#used;
    } else this.#keep(chunk);
    this.push(MARK);
  }

  #keep(chunk: Buffer): void {
    if (chunk.length >= OWN_BLOCK_FROM_BYTES && chunk.length === chunk.buffer.byteLength) {
      // The rest of the block is used on: else a chunk of each kind in turn would take a block for every byte.
      this.#full.push(this.#last.subarray(this.#from, this.#used), chunk);
      this.#from = this.#used;
      return;
    }
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#last.length) {
        this.#full.push(this.#last.subarray(this.#from));
        this.#last = Buffer.allocUnsafeSlow(this.#blockBytes);
        this.#from = 0;
        this.#used = 0;
      }
      const copied = chunk.copy(this.#last, this.#used, at);
      at += copied;
      this.#used += copied;
    }
  }
}
