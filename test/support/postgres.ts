// Starts the one PostgreSQL of an integration run, with a migrated database that every test database is cloned from.
// PG_MAJOR=15 runs the same tests on the oldest supported version. It survives no power failure, and is quicker for it; tests of
// durability start a server of their own. DISTRIBUTED=1 runs them on the cluster of CLUSTER_URL.

import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { withClient } from '../../src/db/client.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, startEmbedded } from '../../src/db/embedded/index.ts';
import { layoutOf } from '../../src/db/embedded/layout.ts';
import { makePartitionsAhead } from '../../src/db/partitions.ts';
import { prepareChromium } from './browser.ts';
import { type Cluster, closeCluster, openCluster } from './cluster.ts';
import { useMemoryDisk } from './memory-disk.ts';
import { type Major, preparedData, temporaryDirectory } from './prepared-data.ts';

export const TEMPLATE_DATABASE = 'migrated';

/**
 * With the usual 4,096 rounds a connection takes some milliseconds of processor time to sign in, and a run makes tens of thousands. PostgreSQL 15
 * has no such setting.
 */
const signInByOneIteration = ({ user, password }: Connection) =>
  `SET scram_iterations = 1; ALTER ROLE ${user} PASSWORD '${password}'`;

// A database lives for seconds: nothing in it grows old.
const SETTINGS = ['fsync = off', 'full_page_writes = off', 'max_connections = 400', 'autovacuum = off'];

declare module 'vitest' {
  interface ProvidedContext {
    postgres: Connection;
    pgMajor: Major;
    /** Null on plain PostgreSQL. */
    cluster: Cluster | null;
    /** A data directory whose PostgreSQL is made and migrated, for services with one of their own: it is copied. */
    preparedData: string;
    /** Path of a Chromium for services; null where there is none. */
    chromium: string | null;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeDisk = useMemoryDisk();
  project.provide('preparedData', await preparedData(18));
  project.provide('chromium', await prepareChromium());
  const end = await (process.env.DISTRIBUTED === '1' ? setupCluster(project) : setupEmbedded(project));
  return async () => {
    await end();
    removeDisk();
  };
}

async function setupCluster(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.CLUSTER_URL;
  if (url === undefined) throw new Error('CLUSTER_URL: the coordinator of a Citus cluster, as its superuser');
  const cluster = await openCluster(url);
  project.provide('postgres', cluster.coordinator);
  project.provide('pgMajor', 15);
  project.provide('cluster', cluster);
  return () => closeCluster(cluster);
}

async function setupEmbedded(project: TestProject): Promise<() => Promise<void>> {
  const major = pgMajor();
  const dataDir = temporaryDirectory();
  const removeData = () => rmSync(dataDir, { recursive: true, force: true });
  try {
    execFileSync('cp', ['-a', join(await preparedData(major), 'postgres'), dataDir]);
    appendFileSync(join(layoutOf(dataDir).cluster, 'postgresql.auto.conf'), `${SETTINGS.join('\n')}\n`);
    const postgres = await startEmbedded({ dataDir, major });
    const { connection } = postgres;
    await withClient({ ...connection, database: 'postgres' }, async (client) => {
      if (major === 18) await client.query(signInByOneIteration(connection));
      await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE} TEMPLATE ${connection.database} STRATEGY FILE_COPY`);
    });
    await makePartitions({ ...connection, database: TEMPLATE_DATABASE });
    project.provide('postgres', connection);
    project.provide('pgMajor', major);
    project.provide('cluster', null);
    return async () => {
      await postgres.stop();
      removeData();
    };
  } catch (error) {
    removeData();
    throw error;
  }
}

/** Those of today, so that the services of the tests find them: making some 33 takes longer than all else that a start asks. */
async function makePartitions(connection: Connection): Promise<void> {
  const db = new Database({ connection, connections: 1, hotConnections: 1 });
  try {
    await makePartitionsAhead(db, Date.now());
  } finally {
    await db.end();
  }
}

function pgMajor(): Major {
  const value = process.env.PG_MAJOR ?? '18';
  if (value === '18') return 18;
  if (value === '15') return 15;
  throw new Error(`PG_MAJOR must be 18 or 15, not ${value}`);
}
