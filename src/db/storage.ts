// Opens the database: the embedded PostgreSQL under the data directory, or that of DATABASE_URL. Migrations have run when this returns.
import type pg from 'pg';
import { withClient } from './client.ts';
import type { ConnectionConfig } from './database.ts';
import { type EmbeddedLog, type EmbeddedStep, startEmbedded } from './embedded/index.ts';
import { StartupError } from './errors.ts';
import { migrate } from './migrate.ts';

export interface Storage {
  readonly connection: ConnectionConfig;
  /** The tables lie on several nodes. */
  readonly distributed: boolean;
  /** False while our own PostgreSQL restarts. */
  isUp(): boolean;
  stop(): Promise<void>;
}

/** What is done now until the storage is open. */
export type StorageStep = EmbeddedStep | 'migrate';

export interface StorageOptions {
  readonly log: EmbeddedLog;
  /** Their folder when it is not ours. */
  readonly migrations?: string | undefined;
  readonly onStep?: ((step: StorageStep) => void) | undefined;
}

/** `databaseUrl` absent: our own PostgreSQL under `dataDir`. Throws StartupError with one line when there is no usable database. */
export async function openStorage(
  config: { readonly databaseUrl?: string; readonly dataDir: string },
  { log, migrations, onStep = () => undefined }: StorageOptions,
): Promise<Storage> {
  if (config.databaseUrl !== undefined) {
    onStep('migrate');
    return openRemote(config.databaseUrl, migrations);
  }
  const embedded = await startEmbedded({ dataDir: config.dataDir, log, onStep });
  try {
    onStep('migrate');
    await migrate(embedded.connection, migrations);
  } catch (error) {
    await embedded.stop();
    throw error;
  }
  return {
    connection: embedded.connection,
    distributed: false,
    isUp: () => embedded.state === 'running',
    stop: () => embedded.stop(),
  };
}

async function openRemote(connectionString: string, migrations?: string): Promise<Storage> {
  const connection = { connectionString };
  let distributed: boolean;
  try {
    distributed = await withClient(connection, async (client) => {
      await migrate(client, migrations);
      return isDistributed(client);
    });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`DATABASE_URL: ${(error as Error).message}`);
  }
  return { connection, distributed, isUp: () => true, stop: async () => undefined };
}

/**
 * Whether the database is a distributed engine: Citus, one coordinator and its workers. migrate puts the tables on the nodes
 * (core.distribute of migration 0001); the SQL is the same, for one account at a time (docs/sql-rules.md).
 */
export async function isDistributed(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS found`,
  );
  return rows[0]?.found === true;
}
