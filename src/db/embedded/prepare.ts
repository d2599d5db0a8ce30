// Prepares a server to run: its user, programs, address, cluster and settings.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries, locateBinaries, type Major } from './binaries.ts';
import { ensureCluster, giveTo, writeSettings } from './cluster.ts';
import type { Connection, ConnectionRecord, Layout } from './layout.ts';
import { chooseOwner, type Owner } from './owner.ts';
import { fingerprintOf } from './settings.ts';

const DATABASE = 'quartermaster';
const USER = 'quartermaster';
const UNIX_PORT = 5432;
const SOCKET_PATH_BYTES_MAX = 103;
const PASSWORD_BYTES = 24;

export interface PreparedServer {
  readonly owner: Owner | undefined;
  readonly binaries: Binaries;
  readonly connection: Connection;
  readonly fingerprint: string;
}

/**
 * Makes the cluster where there is none. `onRecord` hears how it is reached before that, so that its password is known whatever happens.
 * Throws StartupError.
 */
export async function prepareServer(
  layout: Layout,
  major: Major,
  earlier: ConnectionRecord | undefined,
  onRecord: (record: ConnectionRecord) => void = () => undefined,
): Promise<PreparedServer> {
  const owner = chooseOwner(layout);
  const binaries = locateBinaries(major, owner);
  const address = await chooseAddress(layout, owner, earlier);
  const connection = { ...address, user: USER, password: earlier?.password ?? newPassword(), database: DATABASE };
  const fingerprint = fingerprintOf(binaries.version);
  onRecord({ ...connection, fingerprint });
  await ensureCluster(layout, binaries, major, owner, connection);
  const socketDirectory = address.host === layout.cluster ? '.' : address.host;
  writeSettings(layout, owner, { loopback: process.platform === 'win32', socketDirectory, port: address.port });
  return { owner, binaries, connection, fingerprint };
}

const newPassword = () => randomBytes(PASSWORD_BYTES).toString('base64url');

type ListenAddress = Pick<Connection, 'host' | 'port'>;

async function chooseAddress(
  layout: Layout,
  owner: Owner | undefined,
  earlier: ConnectionRecord | undefined,
): Promise<ListenAddress> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: earlier?.port ?? (await freePort()) };
  const socket = join(layout.cluster, `.s.PGSQL.${UNIX_PORT}`);
  if (Buffer.byteLength(socket) <= SOCKET_PATH_BYTES_MAX) return { host: layout.cluster, port: UNIX_PORT };
  if (earlier !== undefined && existsSync(earlier.host)) return { host: earlier.host, port: UNIX_PORT };
  const host = mkdtempSync(join(tmpdir(), 'quartermaster-'));
  giveTo(owner, host);
  return { host, port: UNIX_PORT };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
