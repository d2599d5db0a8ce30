// Two ends of an in-process connection, between a stream of HTTP/2 and the server of HTTP/1.1. Each implements what Node's HTTP uses of a
// socket. A write completes when the other end has room for more, so a slow reader slows the writer down.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** `near` for a client, `far` for a server, which sees `peer` as who has connected. */
export function socketPair(peer: Peer): { near: Socket; far: Socket } {
  const [near, far] = [new End(peer), new End(peer)];
  near.other = far;
  far.other = near;
  return { near: near as unknown as Socket, far: far as unknown as Socket };
}

class End extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly encrypted = true;
  other: End | null = null;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Tells the other end that there is room again. */
  #room: (() => void) | null = null;

  constructor({ remoteAddress, remotePort, localAddress, localPort }: Peer) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.localAddress = localAddress;
    this.localPort = localPort;
  }

  override _read(): void {
    this.#giveRoom();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytesWritten += chunk.length;
    this.#timer?.refresh();
    if (this.other === null || this.other.destroyed) done();
    else this.other.#take(chunk, done);
  }

  override _final(done: () => void): void {
    if (this.other?.destroyed === false) this.other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#giveRoom();
    const { other } = this;
    // Whoever has read the end may still read what came before it.
    if (other !== null && !this.writableFinished) process.nextTick(() => other.destroy());
    done(error);
  }

  #take(chunk: Buffer, done: () => void): void {
    this.bytesRead += chunk.length;
    this.#timer?.refresh();
    if (this.push(chunk)) done();
    else this.#room = done;
  }

  #giveRoom(): void {
    const room = this.#room;
    this.#room = null;
    room?.();
  }

  setTimeout(ms: number, listener?: () => void): this {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.timeout = ms;
    this.#timer = ms === 0 ? null : setTimeout(() => this.emit('timeout'), ms).unref();
    if (listener !== undefined) this.once('timeout', listener);
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
