// Test databases on a distributed engine (Citus): the coordinator of CLUSTER_URL and its workers. A database exists on every node, each
// with its own part, so a clone is one of each node's template. A template that nobody may connect to stays as it is.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withClient } from '../../src/db/client.ts';
import type { Connection } from '../../src/db/embedded/index.ts';
import { sqlState } from '../../src/db/errors.ts';
import { migrate } from '../../src/db/migrate.ts';

export interface Cluster {
  readonly coordinator: Connection;
  readonly workers: readonly Connection[];
  /** Databases to clone: with nodes and nothing else, and with the schema of this release. */
  readonly empty: string;
  readonly migrated: string;
}

// Few, since each is a copy of every table, and enough for every worker to have some.
export const SHARDS = 4;
const IN_USE = '55006';

/** Makes the templates. The role of `url` must be a superuser that every node lets in, and the database must know the workers. */
export async function openCluster(url: string): Promise<Cluster> {
  const coordinator = connectionOf(url);
  const nodes = await withClient(coordinator, (client) =>
    client.query<{ host: string; port: number }>(
      'SELECT node_name AS host, node_port::int AS port FROM citus_get_active_worker_nodes() ORDER BY 1, 2',
    ),
  );
  const workers = nodes.rows.map(({ host, port }) => ({ ...coordinator, host, port }));
  if (workers.length < 2) throw new Error('CLUSTER_URL: the database knows fewer than two workers (citus_add_node)');
  const run = `qm_${randomBytes(4).toString('hex')}`;
  const cluster = { coordinator, workers, empty: `${run}_empty`, migrated: `${run}_migrated` };
  await onEveryNode(cluster, `CREATE DATABASE ${cluster.empty}`);
  await Promise.all(
    nodesOf(cluster).map((node) =>
      withClient({ ...node, database: cluster.empty }, (client) =>
        client.query('CREATE EXTENSION IF NOT EXISTS citus'),
      ),
    ),
  );
  await withClient({ ...coordinator, database: cluster.empty }, async (client) => {
    await client.query('SELECT citus_set_coordinator_host($1, $2)', [coordinator.host, coordinator.port]);
    for (const { host, port } of workers) await client.query('SELECT citus_add_node($1, $2)', [host, port]);
  });
  await close(cluster, cluster.empty);
  await cloneOnCluster(cluster, cluster.migrated, cluster.empty);
  await migrate({ ...coordinator, database: cluster.migrated });
  await close(cluster, cluster.migrated);
  return cluster;
}

export async function closeCluster(cluster: Cluster): Promise<void> {
  for (const template of [cluster.migrated, cluster.empty]) {
    for (const node of nodesOf(cluster)) await dropOnNode(node, template);
  }
}

export async function cloneOnCluster(cluster: Cluster, database: string, template: string): Promise<void> {
  await onEveryNode(cluster, `CREATE DATABASE ${database} TEMPLATE ${template}`);
  await withClient({ ...cluster.coordinator, database }, async (client) => {
    await client.query(`ALTER DATABASE ${database} SET citus.shard_count = ${SHARDS}`);
    // What the role has set in a database is not cloned.
    if (template === cluster.migrated) await client.query('SELECT core.distribute()');
  });
}

/** Ends every session of the database and removes it. */
export async function dropOnCluster(cluster: Cluster, database: string): Promise<void> {
  await dropOnNode(cluster.coordinator, database);
  for (const worker of cluster.workers) {
    await endPrepared({ ...worker, database });
    await dropOnNode(worker, database);
  }
}

/** A template is cloned only while nobody is in it, the engine's own background process included. */
async function close(cluster: Cluster, template: string): Promise<void> {
  await onEveryNode(cluster, `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`);
  await onEveryNode(
    cluster,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${template}'`,
  );
}

/** The engine's own background process comes back for a moment after it was ended. */
async function dropOnNode(node: Connection, database: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await withClient(node, (client) => client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
      return;
    } catch (error) {
      if (sqlState(error) !== IN_USE || tries === 20) throw error;
      await sleep(100);
    }
  }
}

/** Ends what a coordinator that is gone has left prepared: it would keep the database. */
async function endPrepared(worker: Connection): Promise<void> {
  await withClient(worker, async (client) => {
    const { rows } = await client.query('SELECT gid FROM pg_prepared_xacts WHERE database = current_database()');
    for (const { gid } of rows) await client.query(`ROLLBACK PREPARED '${gid}'`);
  });
}

async function onEveryNode(cluster: Cluster, text: string): Promise<void> {
  await Promise.all(nodesOf(cluster).map((node) => withClient(node, (client) => client.query(text))));
}

function nodesOf({ coordinator, workers }: Cluster): Connection[] {
  return [coordinator, ...workers];
}

function connectionOf(url: string): Connection {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url });
  return { host, port, user: user ?? 'postgres', password: password ?? '', database: database ?? 'postgres' };
}
