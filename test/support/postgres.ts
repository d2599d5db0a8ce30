// Starts the one PostgreSQL of an integration run, with a migrated database that every test database is cloned from.
// PG_MAJOR=15 runs the same tests on the oldest supported version. It survives no power failure, and is quicker for it; tests of
// durability start a server of their own. DISTRIBUTED=1 runs them on the cluster of CLUSTER_URL.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { withClient } from '../../src/db/client.ts';
import { type Connection, type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded/index.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Cluster, closeCluster, openCluster } from './cluster.ts';
import { useMemoryDisk } from './memory-disk.ts';

export const TEMPLATE_DATABASE = 'migrated';

const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '400' };

declare module 'vitest' {
  interface ProvidedContext {
    postgres: Connection;
    pgMajor: 18 | 15;
    /** Null on plain PostgreSQL. */
    cluster: Cluster | null;
    /** A data directory whose PostgreSQL is made and migrated, for services with one of their own: it is copied. */
    preparedData: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeDisk = useMemoryDisk();
  const [removePrepared, end] = await Promise.all([
    prepareData(project),
    process.env.DISTRIBUTED === '1' ? setupCluster(project) : setupEmbedded(project),
  ]);
  return async () => {
    removePrepared();
    await end();
    removeDisk();
  };
}

/** A first start takes three times the processor time of another. */
async function prepareData(project: TestProject): Promise<() => void> {
  const dataDir = temporaryDirectory();
  const postgres = await startEmbedded({ dataDir });
  await migrate(postgres.connection);
  await postgres.stop();
  project.provide('preparedData', dataDir);
  return () => rmSync(dataDir, { recursive: true, force: true });
}

function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'quartermaster-test-'));
  // As root the server runs as another user; PostgreSQL 15 must be able to pass through every parent directory by name.
  chmodSync(path, 0o711);
  return path;
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
    const postgres = await startWithSettings(dataDir, major);
    await withClient(postgres.connection, (client) => client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`));
    await migrate({ ...postgres.connection, database: TEMPLATE_DATABASE });
    project.provide('postgres', postgres.connection);
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

async function startWithSettings(dataDir: string, major: 18 | 15): Promise<EmbeddedPostgres> {
  const first = await startEmbedded({ dataDir, major });
  await withClient(first.connection, async (client) => {
    for (const [name, value] of Object.entries(SETTINGS)) await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  });
  await first.stop();
  return startEmbedded({ dataDir, major });
}

function pgMajor(): 18 | 15 {
  const value = process.env.PG_MAJOR ?? '18';
  if (value === '18') return 18;
  if (value === '15') return 15;
  throw new Error(`PG_MAJOR must be 18 or 15, not ${value}`);
}
