// Database access for commands: DATABASE_URL, the embedded PostgreSQL of a running service, or an embedded one started for the
// duration of the command.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { type Config, loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { ProcessRegistry } from '../../core/process/processes.ts';
import { withClient } from '../../db/client.ts';
import { type ConnectionConfig, Database } from '../../db/database.ts';
import { readConnection, startEmbedded } from '../../db/embedded/index.ts';
import { layoutOf } from '../../db/embedded/layout.ts';
import { hasCluster } from '../../db/embedded/upgrade/swap.ts';
import { migrate } from '../../db/migrate.ts';
import { statement } from '../../db/statement.ts';
import { isDistributed } from '../../db/storage.ts';
import { commandLine } from '../../lib/command-line.ts';
import { CommandError } from '../output.ts';

export interface Session {
  readonly config: Config;
  readonly connection: ConnectionConfig;
  readonly db: Database;
}

interface OpenStore {
  readonly connection: ConnectionConfig;
  /** True when the PostgreSQL runs for this command only. */
  readonly own: boolean;
  stop(): Promise<void>;
}

const findSchema = statement('cli_find_schema', `SELECT to_regclass('core.account') IS NOT NULL AS found`);

const CONNECTIONS = { connections: 3, hotConnections: 1 };

/** Lends `work` a database with the schema in store. */
export async function withSession<T>(
  work: (session: Session) => Promise<T>,
  config = loadConfig(readEnv()),
): Promise<T> {
  return withDatabase(config, async ({ connection, own }) => {
    if (own) await migrate(connection);
    const distributed = config.databaseUrl !== undefined && (await withClient(connection, isDistributed));
    const db = new Database({ connection, distributed, ...CONNECTIONS });
    try {
      await requireSchema(db);
      return await work({ config, connection, db });
    } finally {
      await db.end();
    }
  });
}

/** Resolves when no process can still act on what it knew of keys and accounts before. This one is not registered: each running one counts. */
export function keyDropInForce(db: Database): Promise<void> {
  return new ProcessRegistry(db, `cli-${randomUUID()}`, ['cli']).keyDropInForce();
}

/** Lends `work` a way to the database, whatever its schema. */
export async function withDatabase<T>(config: Config, work: (store: OpenStore) => Promise<T>): Promise<T> {
  const store = await openStore(config);
  try {
    return await work(store);
  } finally {
    await store.stop();
  }
}

async function openStore({ databaseUrl, dataDir }: Config): Promise<OpenStore> {
  const stop = async () => undefined;
  if (databaseUrl !== undefined) return { connection: { connectionString: databaseUrl }, own: false, stop };
  const running = readConnection(dataDir);
  if (running !== null) return { connection: running, own: false, stop };
  requireCluster(dataDir);
  endOnSignal();
  const embedded = await startEmbedded({ dataDir });
  return { connection: embedded.connection, own: true, stop: () => embedded.stop() };
}

/** A database is made by the service only: here it would hide that the command looks at the wrong folder. */
export function requireCluster(dataDir: string): void {
  const layout = layoutOf(dataDir);
  if (hasCluster(layout)) return;
  throw new CommandError(
    `there is no database in ${layout.dataDir}: run the command in the folder of the service, or set DATA_DIR to its data or DATABASE_URL to its database; the first start of the service makes one`,
  );
}

/** The PostgreSQL of a command ends with it: the default of these signals would leave it behind. */
export function endOnSignal(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

async function requireSchema(db: Database): Promise<void> {
  const { rows } = await db.query<{ found: boolean }>(findSchema, []);
  if (rows[0]?.found === true) return;
  throw new CommandError(`the database has no schema yet: start the service, or run \`${commandLine('migrate')}\``);
}
