// Binds the port. Errors that an operator can fix are reported in one line.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Config, originOf } from '../../config/config.ts';
import { StartupError } from '../../db/errors.ts';
import { createRedirect } from '../tls/redirect.ts';

/** Connections that the system accepts for us meanwhile: beyond, clients try again after a second. */
export const BACKLOG = 4_096;

/**
 * Several processes on one port: the system hands each connection to one of them by a hash, and resets those of a process that dies.
 * Handed out in turn by the first process they lie more evenly (29 to 38 of 128 a process, not 21 to 44), but new ones come a quarter
 * slower, and those on their way to a process that dies hang. Where the system cannot, the first process does it all the same.
 */
export const REUSE_PORT = process.platform === 'linux';

/** Answers the base URL, with the port that the system chose where PORT is 0. */
export async function listen(rest: FastifyInstance, config: Config, isOneOfSeveral = false): Promise<string> {
  try {
    // Node's own option, which Fastify hands on.
    const options = { host: config.host, port: config.port, backlog: BACKLOG, reusePort: isOneOfSeveral && REUSE_PORT };
    await rest.listen(options);
  } catch (error) {
    throw cannotListen(error, config);
  }
  if (config.s3.port !== null && config.roles.includes('web')) await listenForS3(rest.server, config, isOneOfSeveral);
  const isFound = config.port === 0 && config.baseUrl === originOf(config);
  const { port } = rest.server.address() as AddressInfo;
  const baseUrl = isFound ? originOf({ ...config, port }) : config.baseUrl;
  if (config.tls !== null && config.tls.redirectPort !== null) {
    const redirect = createRedirect(baseUrl);
    await listenAt(redirect, config, config.tls.redirectPort, { isOneOfSeveral, name: 'TLS_REDIRECT_PORT' });
    rest.server.once('close', () => redirect.close());
  }
  return baseUrl;
}

async function listenAt(
  server: Server,
  { host }: Config,
  port: number,
  { isOneOfSeveral, name }: { readonly isOneOfSeveral: boolean; readonly name: string },
): Promise<void> {
  try {
    const options = { host, port, backlog: BACKLOG, reusePort: isOneOfSeveral && REUSE_PORT };
    await once(server.listen(options), 'listening');
  } catch (error) {
    throw cannotListen(error, { host, port }, name);
  }
}

/** Connections at S3_PORT are taken as those of the port: what they send there is routed by s3-roots.ts. */
async function listenForS3(server: Server, config: Config, isOneOfSeveral: boolean): Promise<void> {
  const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    if (server.listening) server.emit('connection', socket);
    else socket.destroy();
  });
  await listenAt(door, config, config.s3.port as number, { isOneOfSeveral, name: 'S3_PORT' });
  server.once('close', () => door.close());
}

/** The port that this deployment will listen on, which nobody else has now: where PORT is 0 the system chooses. Throws as `listen`. */
export async function findPort({ host, port }: Config): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen({ host, port }), 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    throw cannotListen(error, { host, port });
  } finally {
    server.close();
  }
}

/** The line for what an operator can mend. */
export function cannotListen(
  error: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
  name = 'PORT',
): StartupError {
  const { code, message } = error as Error & { code?: string };
  if (code === 'EADDRINUSE')
    return new StartupError(`port ${port} on ${host} is in use: stop the other program or set ${name}`);
  if (code === 'EACCES')
    return new StartupError(`port ${port} may not be opened by this user: set ${name} to one above 1023`);
  return new StartupError(`cannot listen on ${host}:${port}: ${message}`);
}
