// Stands between the service and PostgreSQL and loses connections at the worst moment: around a COMMIT.
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '../support/database.ts';

export interface LossyProxy {
  readonly connection: TestDatabase['connection'];
  /** How many connections were lost so far. */
  readonly lost: () => number;
  /** `answer`: the next COMMIT reaches the server, its answer is lost. `request`: the next COMMIT itself is lost. */
  loseNext(what: 'answer' | 'request'): void;
  close(): Promise<void>;
}

export async function openLossyProxy(target: TestDatabase['connection']): Promise<LossyProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'qm-proxy-'));
  const path = join(directory, `.s.PGSQL.${target.port}`);
  const sockets = new Set<Socket>();
  let next: 'answer' | 'request' | null = null;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = createConnection(upstreamOf(target));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    upstream.on('data', (chunk) => client.write(chunk));
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.end());
    client.on('data', (chunk) => {
      if (next === null || !/commit/i.test(chunk.toString('latin1'))) {
        upstream.write(chunk);
        return;
      }
      lost += 1;
      const what = next;
      next = null;
      if (what === 'answer') upstream.write(chunk);
      upstream.removeAllListeners('data');
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    connection: { ...target, host: directory },
    lost: () => lost,
    loseNext: (what) => {
      next = what;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function upstreamOf({ host, port }: TestDatabase['connection']) {
  return host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port: Number(port) };
}
