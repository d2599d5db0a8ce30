// A real PostgreSQL with pgvector inside this process: the migrations of this release on PGlite, reached by the service's own driver.
// PGlite has one session, so there is one connection: what two sessions do to each other at the same moment is not seen here.
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { type ConnectionConfig, Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import {
  createPgvectorEngine,
  type PgvectorEngine,
  type PgvectorEngineOptions,
} from '../../src/modules/vector/engine/pgvector/index.ts';

/** The data of a migrated database, for every database of this file: making and migrating one takes seconds. */
let migrated: Promise<Blob> | undefined;

async function dumpMigrated(): Promise<Blob> {
  const lite = await PGlite.create({ extensions: { vector } });
  const { connection, stop } = await serve(lite);
  await migrate(connection);
  await stop();
  const data = await lite.dumpDataDir('none');
  await lite.close();
  return data;
}

async function serve(db: PGlite): Promise<{ connection: ConnectionConfig; stop: () => Promise<void> }> {
  // The second one is for what must run on a session of its own, while the first is idle.
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 2 });
  await server.start();
  const port = Number(server.getServerConn().split(':').at(-1));
  const connection = { host: '127.0.0.1', port, user: 'postgres', password: 'unused', database: 'postgres' };
  return { connection, stop: () => server.stop() };
}

export class PgvectorDatabase {
  readonly connection: ConnectionConfig;
  readonly db: Database;
  readonly #engines: PgvectorEngine[] = [];
  readonly #stop: () => Promise<unknown>;

  private constructor(connection: ConnectionConfig, stop: () => Promise<unknown>) {
    this.connection = connection;
    this.db = new Database({ connection, connections: 1, hotConnections: 1 });
    this.#stop = stop;
  }

  static async start({ extension = true } = {}): Promise<PgvectorDatabase> {
    migrated ??= dumpMigrated();
    const lite = await PGlite.create({ extensions: { vector }, loadDataDir: await migrated });
    const { connection, stop } = await serve(lite);
    const database = new PgvectorDatabase(connection, () => stop().then(() => lite.close()));
    if (extension) await database.query('CREATE EXTENSION vector');
    return database;
  }

  engine(options: Partial<PgvectorEngineOptions> = {}): PgvectorEngine {
    const { connection, db } = this;
    const log = { error: (fields: unknown) => console.error(fields) } as PgvectorEngineOptions['log'];
    const engine = createPgvectorEngine({ connection, db, log, ...options });
    this.#engines.push(engine);
    return engine;
  }

  async query<R>(text: string, values: (string | number | Buffer)[] = []): Promise<R[]> {
    return (await this.db.query<R>({ name: '', text }, values)).rows;
  }

  async number(text: string): Promise<number> {
    const [row] = await this.query<{ number: bigint }>(`SELECT (${text})::bigint AS number`);
    return Number(row?.number);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.close()));
    await this.db.end();
    await this.#stop();
  }
}
