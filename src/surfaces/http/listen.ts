// Binding the port: what an operator can mend is told in one line.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Config, httpOrigin } from '../../config/config.ts';
import { StartupError } from '../../db/startup-error.ts';

/** Connections that the system accepts for us meanwhile: beyond, clients try again after a second. */
const BACKLOG = 4_096;

/** Answers the base URL, with the port that the system chose where PORT is 0. */
export async function listen(rest: FastifyInstance, config: Config): Promise<string> {
  try {
    await rest.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === 'EADDRINUSE')
      throw new StartupError(`port ${config.port} on ${config.host} is in use: stop the other program or set PORT`);
    if (code === 'EACCES')
      throw new StartupError(`port ${config.port} may not be opened by this user: set PORT to one above 1023`);
    throw new StartupError(`cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`);
  }
  if (config.port !== 0 || config.baseUrl !== httpOrigin(config.host, 0)) return config.baseUrl;
  return httpOrigin(config.host, (rest.server.address() as AddressInfo).port);
}
