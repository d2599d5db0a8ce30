// One client connection, one call at a time, from an address of its choice: all of 127.0.0.0/8 is this machine, so that attackers and
// victim need not share an address.
import { connect, type Socket } from 'node:net';
import { ResponseReader } from '../support/load.ts';

/** `count` addresses of this machine. */
export function addresses(network: number, count = 1): string[] {
  return Array.from({ length: count }, (_, n) => `127.${network}.0.${n + 1}`);
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

export class Line {
  readonly #socket: Socket;
  #answered: ((answer: Answer | null) => void) | null = null;
  #isOpen = true;

  constructor(url: string, localAddress: string) {
    const { port, hostname } = new URL(url);
    this.#socket = connect({ port: Number(port), host: hostname, localAddress, noDelay: true });
    const reader = new ResponseReader((status, body, headers) => {
      // What is sent on a connection that the server has announced to end would be lost.
      if (/^connection: close\r?$/im.test(headers)) this.end();
      this.#settle({ status, body });
    });
    this.#socket.on('data', (chunk: Buffer) => reader.add(chunk));
    this.#socket.on('error', () => this.end());
    this.#socket.on('close', () => this.end());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Null when the connection ends without an answer. */
  call(request: Buffer): Promise<Answer | null> {
    return new Promise((resolve) => {
      if (!this.#isOpen) {
        resolve(null);
        return;
      }
      this.#answered = resolve;
      this.#socket.write(request);
    });
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.destroy();
    // An answer that has just been read is settled before.
    process.nextTick(() => this.#settle(null));
  }

  #settle(answer: Answer | null): void {
    const answered = this.#answered;
    this.#answered = null;
    answered?.(answer);
  }
}
