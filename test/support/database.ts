// A database of its own for a test file: a clone of the migrated template on the PostgreSQL of this run.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import { cloneOnCluster, dropOnCluster } from './cluster.ts';
import { TEMPLATE_DATABASE } from './postgres.ts';

export interface TestDatabase {
  readonly connection: Connection;
  /** The same as a DATABASE_URL, for processes under test. */
  readonly url: string;
  /** Whether its tables lie on several nodes. */
  readonly distributed: boolean;
  /** Ends every session of the database and removes it. */
  drop(): Promise<void>;
}

/** @param template `migrated` (the schema of this release) or `template0` (empty). */
export async function createTestDatabase(
  template: 'migrated' | 'template0' = TEMPLATE_DATABASE,
): Promise<TestDatabase> {
  const database = `test_${randomBytes(8).toString('hex')}`;
  const connection = { ...inject('postgres'), database };
  await clone(database, template);
  return {
    connection,
    url: databaseUrl(connection),
    distributed: inject('cluster') !== null,
    drop: () => drop(database),
  };
}

/**
 * Lets plain PostgreSQL be used as a distributed engine of one node with four shards, which nothing can move: there is nothing to lock. Does
 * nothing on a cluster.
 */
export async function useAsDistributed({ connection, distributed }: TestDatabase): Promise<void> {
  if (distributed) return;
  const { host, port } = connection;
  await withClient(connection, (client) =>
    client.query(`
      CREATE FUNCTION citus_version() RETURNS text LANGUAGE sql AS $$SELECT 'none'$$;
      CREATE FUNCTION get_shard_id_for_distribution_column(regclass, text) RETURNS bigint LANGUAGE sql
        AS 'SELECT abs(hashtext($2)::bigint) % 4';
      CREATE FUNCTION lock_shard_metadata(integer, bigint[]) RETURNS void LANGUAGE sql AS 'SELECT';
      CREATE TABLE public.pg_dist_shard AS SELECT shardid, 'core.wallet'::regclass AS logicalrelid FROM generate_series(0::bigint, 3) shardid;
      CREATE TABLE public.pg_dist_placement AS SELECT shardid, 1 AS groupid FROM public.pg_dist_shard;
      CREATE TABLE public.pg_dist_node AS
        SELECT 1 AS groupid, '${host}' AS nodename, ${port} AS nodeport, 'primary' AS noderole,
               true AS isactive, true AS hasmetadata, true AS metadatasynced`),
  );
}

async function clone(database: string, template: 'migrated' | 'template0'): Promise<void> {
  const cluster = inject('cluster');
  if (cluster !== null)
    return cloneOnCluster(cluster, database, cluster[template === 'migrated' ? 'migrated' : 'empty']);
  await (await maintenance()).query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY FILE_COPY`);
}

async function drop(database: string): Promise<void> {
  const cluster = inject('cluster');
  if (cluster !== null) return dropOnCluster(cluster, database);
  await (await maintenance()).query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
}

let opened: Promise<pg.Client> | undefined;

/** One session for all databases of this worker, which ends with it: a new one takes a third of what making a database does. */
function maintenance(): Promise<pg.Client> {
  opened ??= openMaintenance();
  return opened;
}

async function openMaintenance(): Promise<pg.Client> {
  const client = new pg.Client(inject('postgres'));
  await client.connect();
  return client;
}

function databaseUrl({ host, port, user, password, database }: Connection): string {
  const parameters = new URLSearchParams({ host, port: String(port), user, password });
  return `postgresql:///${database}?${parameters}`;
}
