// Where the data is: our own PostgreSQL under the data directory, or the one of DATABASE_URL. Migrated when this returns.
import type { ConnectionConfig } from './database.ts';
import { type EmbeddedLog, startEmbedded } from './embedded/index.ts';
import { migrate } from './migrate.ts';
import { StartupError } from './startup-error.ts';

export interface Storage {
  readonly connection: ConnectionConfig;
  /** False while our own PostgreSQL restarts. */
  isUp(): boolean;
  stop(): Promise<void>;
}

/** `databaseUrl` absent: our own PostgreSQL under `dataDir`. Throws StartupError with one line when there is no usable database. */
export async function openStorage(
  config: { readonly databaseUrl?: string; readonly dataDir: string },
  log: EmbeddedLog,
): Promise<Storage> {
  if (config.databaseUrl !== undefined) return openRemote(config.databaseUrl);
  const embedded = await startEmbedded({ dataDir: config.dataDir, log });
  try {
    await migrate(embedded.connection);
  } catch (error) {
    await embedded.stop();
    throw error;
  }
  return { connection: embedded.connection, isUp: () => embedded.state === 'running', stop: () => embedded.stop() };
}

async function openRemote(connectionString: string): Promise<Storage> {
  try {
    await migrate({ connectionString });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`DATABASE_URL: ${(error as Error).message}`);
  }
  return { connection: { connectionString }, isUp: () => true, stop: async () => undefined };
}
