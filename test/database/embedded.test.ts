import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { type EmbeddedPostgres, readConnection, startEmbedded } from '../../src/db/embedded/index.ts';
import { StartupError } from '../../src/db/errors.ts';
import { isCheckoutPublic, isRoot, NOBODY, startOwner, temporaryDirectory } from '../support/embedded.ts';

const query = async (postgres: EmbeddedPostgres, sql: string) =>
  (await withClient(postgres.connection, (client) => client.query(sql))).rows;

describe('an embedded PostgreSQL that runs', () => {
  const directory = temporaryDirectory();
  let postgres: EmbeddedPostgres;
  beforeAll(async () => {
    postgres = await startEmbedded({ dataDir: directory.path });
  });
  afterAll(async () => {
    await postgres.stop();
    directory.remove();
  });

  it('is durable', async () => {
    const names = ['fsync', 'synchronous_commit', 'full_page_writes'];
    const rows = await query(postgres, `SELECT setting FROM pg_settings WHERE name IN ('${names.join("', '")}')`);
    expect(rows).toEqual(names.map(() => ({ setting: 'on' })));
  });

  it('listens on no network and lets nobody in without the password', async () => {
    const [row] = await query(postgres, `SELECT current_setting('listen_addresses') AS listen`);
    expect(row).toEqual({ listen: process.platform === 'win32' ? '127.0.0.1' : '' });
    expect(statSync(postgres.connection.host).mode & 0o077).toBe(0);
    expect(statSync(join(directory.path, 'postgres/connection.json')).mode & 0o077).toBe(0);
    const stranger = { ...postgres.connection, password: 'wrong' };
    await expect(withClient(stranger, async () => undefined)).rejects.toMatchObject({ code: '28P01' });
  });

  it('limits the wait for locks by the role', async () => {
    expect(await query(postgres, 'SHOW lock_timeout')).toEqual([{ lock_timeout: '2s' }]);
  });

  it('tells the command line how to reach it', () => {
    expect(readConnection(directory.path)).toEqual(postgres.connection);
  });

  it('refuses a second service on its directory, in this process and in another', async () => {
    const line = `the data directory ${directory.path} is in use by another running service (process ${process.pid})`;
    await expect(startEmbedded({ dataDir: directory.path })).rejects.toThrow(new StartupError(line));
    const other = await startOwner(directory.path);
    expect(other.startupError).toBe(line);
  });

  it.skipIf(process.platform !== 'linux')('does not run as root', () => {
    expect(statSync(`/proc/${postgres.pid}`).uid).not.toBe(0);
  });
});

describe('the user that runs it', () => {
  const directory = temporaryDirectory();
  afterAll(directory.remove);

  it('may be an ordinary one', async (test) => {
    test.skip(isRoot && !isCheckoutPublic(), 'an ordinary user cannot enter this checkout');
    const dataDir = join(directory.path, 'data');
    mkdirSync(dataDir);
    if (isRoot) {
      chmodSync(directory.path, 0o711);
      chownSync(dataDir, NOBODY.uid, NOBODY.gid);
    }
    const owner = await startOwner(dataDir, isRoot ? NOBODY : undefined);
    expect(owner.startupError).toBeUndefined();
    expect(statSync(join(dataDir, 'postgres/data')).uid).toBe(isRoot ? NOBODY.uid : process.getuid?.());
    await owner.end('SIGTERM');
  });
});

describe('a data directory that cannot be used', () => {
  const directory = temporaryDirectory();
  afterAll(directory.remove);
  const start = (name: string) => startEmbedded({ dataDir: join(directory.path, name) });

  it('is named when it is not a directory', async () => {
    writeFileSync(join(directory.path, 'file'), '');
    await expect(start('file')).rejects.toThrow(
      new StartupError(`cannot use the data directory ${directory.path}/file: a part of the path is not a directory`),
    );
  });

  it('is named when it may not be written', async (test) => {
    test.skip(isRoot && !isCheckoutPublic(), 'an ordinary user cannot enter this checkout');
    if (isRoot) chmodSync(directory.path, 0o711);
    mkdirSync(join(directory.path, 'closed'), { mode: 0o500 });
    const dataDir = join(directory.path, 'closed');
    const owner = await startOwner(dataDir, isRoot ? NOBODY : undefined);
    expect(owner.startupError).toBe(`cannot use the data directory ${dataDir}: permission denied`);
  });

  it('is named when another major version made it, and is left alone', async () => {
    const cluster = join(directory.path, 'old/postgres/data');
    mkdirSync(cluster, { recursive: true });
    writeFileSync(join(cluster, 'PG_VERSION'), '17\n');
    await expect(start('old')).rejects.toThrow(
      new StartupError(
        `the database in ${cluster} was made by PostgreSQL 17, this service brings 18: run \`npm run --silent qm -- migrate --upgrade-database\``,
      ),
    );
    expect(readFileSync(join(cluster, 'PG_VERSION'), 'utf8')).toBe('17\n');
  });
});

describe('where it lies', () => {
  const directory = temporaryDirectory();
  let postgres: EmbeddedPostgres | undefined;
  afterEach(() => postgres?.stop());
  afterAll(directory.remove);

  it('may have a path longer than a socket allows, and an unfinished cluster in it', async () => {
    const dataDir = join(directory.path, 'd'.repeat(120));
    mkdirSync(join(dataDir, 'postgres/data.unfinished/base'), { recursive: true });
    postgres = await startEmbedded({ dataDir });
    expect(await query(postgres, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const { host } = postgres.connection;
    expect(statSync(host).mode & 0o077).toBe(0);
    await postgres.stop();
    expect(() => statSync(host)).toThrow();
    expect(readConnection(dataDir)).toBeNull();
  });
});
