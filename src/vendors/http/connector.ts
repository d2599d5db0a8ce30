// Opens sockets to exactly one checked address, whatever the host's name resolves to by then. undici does not resolve IP literals, but
// resolves names again. So the address is passed as a literal, and the connected peer is compared with it once more.
import net from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import { readAddress } from '../../lib/address.ts';
import { connectFailed, connectTimedOut, OutboundError, tlsFailed } from './failure.ts';

export interface Pin {
  readonly secure: boolean;
  /** A name, or an address. */
  readonly host: string;
  readonly port: number;
  /** The checked address. */
  readonly address: string;
}

const KEEP_ALIVE_MS = 60_000;

/** A connector for undici's pools; it fails with OutboundError within `connectMs`, TLS handshake included. */
export function pinnedConnector(pin: Pin, connectMs: number): buildConnector.connector {
  const open = pin.secure ? tlsOpener(pin) : () => net.connect(endpoint(pin));
  return (_options, callback) => {
    const socket = open();
    let failed = connectFailed;
    const timer = setTimeout(() => socket.destroy(connectTimedOut()), connectMs);
    const settle = (error: Error | null) => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
      if (error === null) callback(null, socket);
      else callback(error, null);
    };
    const onError = (error: Error) => settle(error instanceof OutboundError ? error : failed(error));
    const onClose = () => settle(failed(undefined));
    // An answer may take a quarter of an hour; what stands between forgets a silent connection after minutes.
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS).once('error', onError).once('close', onClose);
    socket.once('connect', () => {
      const error = peerError(socket, pin);
      if (error !== null) socket.destroy(error);
      failed = tlsFailed;
    });
    socket.once(pin.secure ? 'secureConnect' : 'connect', () => {
      if (!socket.destroyed) settle(null);
    });
  };
}

/** A plain TCP connection to the pin. It stays half open when one side has ended. Rejects with OutboundError. */
export async function connectPinned(pin: Pin, connectMs: number): Promise<net.Socket> {
  const connect = pinnedConnector({ ...pin, secure: false }, connectMs);
  const to = { hostname: pin.host, port: String(pin.port), protocol: 'http:' };
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  connect(to, (error, socket) => (error === null ? resolve(socket as net.Socket) : reject(error)));
  const socket = await promise;
  socket.allowHalfOpen = true;
  return socket;
}

// The session of one socket spares the next one half of the handshake. It stays within the pin, whose certificate it stands for.
function tlsOpener(pin: Pin): () => tls.TLSSocket {
  let session: Buffer | undefined;
  return () =>
    tls
      .connect({
        ...endpoint(pin),
        // RFC 6066 has no addresses in SNI; for them the certificate is checked against the address.
        ...(net.isIP(pin.host) === 0 && { servername: pin.host }),
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true,
        session,
      })
      .on('session', (next: Buffer) => {
        session = next;
      });
}

function endpoint(pin: Pin): { host: string; port: number; autoSelectFamily: boolean } {
  return { host: pin.address, port: pin.port, autoSelectFamily: false };
}

// A peer that has reset the connection by now has no address any more.
function peerError(socket: net.Socket, pin: Pin): OutboundError | null {
  if (socket.remoteAddress === undefined) return connectFailed(undefined);
  const isChecked = readAddress(socket.remoteAddress)?.toString() === pin.address;
  return isChecked ? null : new OutboundError('refused', 'The connection led to another address than the checked one.');
}
