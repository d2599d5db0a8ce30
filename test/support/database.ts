// A database of its own for a test file: a clone of the migrated template on the PostgreSQL of this run.

import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import { TEMPLATE_DATABASE } from './postgres.ts';

export interface TestDatabase {
  readonly connection: Connection;
  /** The same as a DATABASE_URL, for processes under test. */
  readonly url: string;
  /** Ends every session of the database and removes it. */
  drop(): Promise<void>;
}

/** @param template `migrated` (the schema of this release) or `template0` (empty). */
export async function createTestDatabase(
  template: 'migrated' | 'template0' = TEMPLATE_DATABASE,
): Promise<TestDatabase> {
  const server = inject('postgres');
  const database = `test_${randomBytes(8).toString('hex')}`;
  await withClient(server, (client) =>
    client.query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY FILE_COPY`),
  );
  const connection = { ...server, database };
  return {
    connection,
    url: databaseUrl(connection),
    drop: async () => {
      await withClient(server, (client) => client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
    },
  };
}

function databaseUrl({ host, port, user, password, database }: Connection): string {
  const parameters = new URLSearchParams({ host, port: String(port), user, password });
  return `postgresql:///${database}?${parameters}`;
}
