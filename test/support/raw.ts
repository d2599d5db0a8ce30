// Bytes on a socket: requests that no HTTP client would make.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawConnection {
  send(bytes: string | Uint8Array): void;
  /** Everything received once `enough` holds of it, the peer has closed, or the time is up. */
  receive(enough?: (text: string) => boolean, timeoutMs?: number): Promise<string>;
  /** Closes without a farewell. */
  destroy(): void;
  readonly closed: boolean;
}

export async function openRaw(baseUrl: string): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  const socket: Socket = connect(Number(port), hostname);
  let text = '';
  let closed = false;
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return {
    send: (bytes) => void socket.write(bytes),
    async receive(enough = (all) => all.includes('\r\n\r\n'), timeoutMs = 50_000) {
      const deadline = performance.now() + timeoutMs;
      while (!closed && !enough(text) && performance.now() < deadline) await sleep(5);
      return text;
    },
    destroy: () => void socket.destroy(),
    get closed() {
      return closed;
    },
  };
}
