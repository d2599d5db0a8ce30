// Major-version upgrade of a cluster to the PostgreSQL of this release. Both servers run side by side, all rows are copied, and the new cluster
// replaces the old one. The old cluster is kept under another name.
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from '../../client.ts';
import { StartupError } from '../../errors.ts';
import { migrate } from '../../migrate.ts';
import { CURRENT_MAJOR, locateBinaries, type Major } from '../binaries.ts';
import { ensureDatabase, giveTo, majorOf } from '../cluster.ts';
import { type ConnectionRecord, createHome, type Layout, layoutOf, readConnectionRecord } from '../layout.ts';
import { takeServiceLock } from '../lock.ts';
import { chooseOwner, placeOf } from '../owner.ts';
import { findPostmaster, removeLeftovers } from '../pid-file.ts';
import { adoptPostmaster, startPostmaster, stopPostmaster } from '../postmaster.ts';
import { prepareServer } from '../prepare.ts';
import { type Copied, copyRows, type Side } from './copy.ts';
import { finishUpgrade, swapClusters, UPGRADED } from './swap.ts';

/** What ALTER SYSTEM has set. */
const OWN_SETTINGS = 'postgresql.auto.conf';

export interface Upgraded extends Copied {
  readonly from: Major;
  readonly to: Major;
  /** Where the old cluster lies. */
  readonly kept: string;
}

/** Null: there is nothing to upgrade. Throws StartupError; the old cluster is then in its place, as it was. */
export async function upgradeDatabase(dataDir: string): Promise<Upgraded | null> {
  const layout = layoutOf(dataDir);
  createHome(layout);
  const lock = takeServiceLock(layout);
  try {
    finishUpgrade(layout);
    if (!existsSync(layout.cluster)) return null;
    const from = majorOf(layout);
    if (from === CURRENT_MAJOR) return null;
    if (from > CURRENT_MAJOR)
      throw new StartupError(`the database is of PostgreSQL ${from}: this release brings ${CURRENT_MAJOR} only`);
    const record = readConnectionRecord(layout);
    if (record === undefined)
      throw new StartupError(`${layout.connectionFile} is missing: it has the database's password`);
    const kept = `data.${from}`;
    if (existsSync(join(layout.home, kept)))
      throw new StartupError(`${join(layout.home, kept)} is of an earlier upgrade: move it away first`);
    const copied = await copyCluster(layout, from, record);
    return { ...copied, from, to: CURRENT_MAJOR, kept: swapClusters(layout, kept) };
  } finally {
    lock.release();
  }
}

async function copyCluster(layout: Layout, from: Major, record: ConnectionRecord): Promise<Copied> {
  const target = layoutOf(layout.dataDir, UPGRADED);
  await stopSurvivor(target, CURRENT_MAJOR);
  rmSync(target.cluster, { recursive: true, force: true });
  const copied = await withServer(layout, from, record, (old) =>
    withServer(target, CURRENT_MAJOR, record, (made) => copyRows(old, made)),
  );
  const settings = join(target.cluster, OWN_SETTINGS);
  copyFileSync(join(layout.cluster, OWN_SETTINGS), settings);
  giveTo(chooseOwner(target), settings);
  return copied;
}

/** Brings the schema of the database to this release, too: the two have to be alike. */
async function withServer<T>(
  layout: Layout,
  major: Major,
  record: ConnectionRecord,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  await stopSurvivor(layout, major);
  const { binaries, connection, owner } = await prepareServer(layout, major, { ...record, host: '' });
  removeLeftovers(layout, connection.host, connection.port);
  const server = await startPostmaster(layout, binaries, owner, new AbortController().signal);
  try {
    await ensureDatabase(connection);
    await migrate(connection);
    const { pgdata } = placeOf(owner, layout.cluster);
    return await withClient(connection, (client) => work({ client, cluster: layout.cluster, pgdata }));
  } finally {
    await stopPostmaster(layout, binaries, server);
    if (connection.host !== layout.cluster) rmSync(connection.host, { recursive: true, force: true });
  }
}

/** Of a service, or of an upgrade, that was killed. */
async function stopSurvivor(layout: Layout, major: Major): Promise<void> {
  const found = findPostmaster(layout);
  if (found === undefined) return;
  await stopPostmaster(layout, locateBinaries(major, chooseOwner(layout)), adoptPostmaster(layout, found.pid));
}
