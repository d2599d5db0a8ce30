// Messages on one connection between processes of a deployment: TLS by a key that both derive from the server secret, so that each knows the other
// and nobody between them reads. A frame is its length in four bytes and a structured clone; an empty one says that the sender lives.
import { connect as connectTls, createServer, type Server, type TLSSocket } from 'node:tls';
import { deserialize, serialize } from 'node:v8';
import type { Admission } from '../core/admission.ts';
import type { Secrets } from '../core/secrets/secrets.ts';

const KEY_BYTES = 32;
const IDENTITY = 'quartermaster';
const LENGTH_BYTES = 4;
/** Node has keys of one's own for TLS 1.2 alone. */
const TLS = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

export type ChannelBounds = Admission['rendering'];

export function channelKey(secrets: Pick<Secrets, 'derive'>): Buffer {
  return secrets.derive('rendering', KEY_BYTES);
}

/** Emits `secureConnection` for whoever has the key. */
export function createChannelServer(psk: Buffer, { handshakeMs }: ChannelBounds): Server {
  return createServer({
    ...TLS,
    handshakeTimeout: handshakeMs,
    pskCallback: (_, identity) => (identity === IDENTITY ? psk : null),
  });
}

/** Throws when nobody with the key is there. */
export function connectChannel(
  { host, port }: { readonly host: string; readonly port: number },
  psk: Buffer,
  { handshakeMs }: ChannelBounds,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      ...TLS,
      host,
      port,
      pskCallback: () => ({ psk, identity: IDENTITY }),
      // The key says who it is; there is no certificate.
      checkServerIdentity: () => undefined,
    });
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(handshakeMs, () => fail(new Error(`no answer within ${handshakeMs} ms`)));
    socket.once('error', fail).once('close', () => fail(new Error('the connection was closed')));
    socket.once('secureConnect', () => {
      socket.removeAllListeners('timeout').removeAllListeners('error').removeAllListeners('close');
      resolve(socket);
    });
  });
}

export class FrameTooLong extends Error {}

export class Channel {
  readonly #socket: TLSSocket;
  readonly #bounds: ChannelBounds;
  readonly #beat: NodeJS.Timeout;
  /** What is sent does not count: a socket's own timeout would begin anew with each beat. */
  readonly #silence: NodeJS.Timeout;
  #chunks: Buffer[] = [];
  #held = 0;
  /** Of the frame that comes, its length included. */
  #awaited = LENGTH_BYTES;

  /** Of `onClose` is told once: also when the other side is silent for too long, or sends what is no frame. */
  constructor(
    socket: TLSSocket,
    bounds: ChannelBounds,
    { onMessage, onClose }: { onMessage(message: unknown): void; onClose(): void },
  ) {
    this.#socket = socket;
    this.#bounds = bounds;
    this.#beat = setInterval(() => socket.write(Buffer.alloc(LENGTH_BYTES)), bounds.beatMs);
    socket.setNoDelay(true);
    socket.setTimeout(0);
    this.#silence = setTimeout(() => socket.destroy(), bounds.silenceMs);
    // What is wrong with a connection ends it, which is what its user is told.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(this.#beat);
      clearTimeout(this.#silence);
      onClose();
    });
    socket.on('data', (chunk: Buffer) => {
      this.#silence.refresh();
      try {
        this.#take(chunk, onMessage);
      } catch {
        socket.destroy();
      }
    });
  }

  /** Throws FrameTooLong. */
  send(message: unknown): void {
    const body = serialize(message);
    if (body.length > this.#bounds.frameBytesMax) throw new FrameTooLong(`a message has ${body.length} bytes`);
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32BE(body.length);
    this.#socket.write(head);
    this.#socket.write(body);
  }

  /** Ends it once all is sent. */
  end(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer, onMessage: (message: unknown) => void): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= this.#awaited) {
      const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      const length = bytes.readUInt32BE();
      if (length > this.#bounds.frameBytesMax) throw new FrameTooLong(`a frame of ${length} bytes`);
      const end = LENGTH_BYTES + length;
      if (bytes.length < end) {
        this.#keep(bytes, end);
        return;
      }
      if (length > 0) onMessage(deserialize(bytes.subarray(LENGTH_BYTES, end)));
      this.#keep(bytes.subarray(end), LENGTH_BYTES);
    }
  }

  #keep(rest: Buffer, awaited: number): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#held = rest.length;
    this.#awaited = awaited;
  }
}
