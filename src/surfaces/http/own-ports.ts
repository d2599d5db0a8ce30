// The ports that this process listens on. Fetches on behalf of callers never connect to them.
import type { Server } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { ConnectionConfig } from '../../db/database.ts';
import type { Module } from '../../kit/module.ts';

export interface OwnPortsOptions {
  readonly server: Server;
  readonly config: Pick<Config, 'port' | 's3' | 'tls' | 'databaseUrl'>;
  readonly connection: ConnectionConfig;
  readonly modules: readonly Module[];
  readonly states: ReadonlyMap<string, unknown>;
}

/** Asked anew each time: the server may listen later than this is made, and modules have their state only after their start. */
export function ownPorts({ server, config, connection, modules, states }: OwnPortsOptions): () => ReadonlySet<number> {
  return () => {
    const address = server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : config.port;
    const servers = modules.flatMap(({ name, servers: of = [] }) =>
      states.has(name) ? of.map(({ port }) => port(states.get(name))) : [],
    );
    const database = config.databaseUrl === undefined ? (connection.port ?? null) : null;
    const ports = [bound, config.s3.port, config.tls?.redirectPort ?? null, database, ...servers];
    return new Set(ports.filter((port) => port !== null));
  };
}
