// A backup, taken of a service whose target has said its secrets in all forms: it opens nothing to who finds it, and neither does what it restores.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { temporaryDirectory } from '../support/prepared-data.ts';
import { createPlace, type Place, startProcess } from '../support/process.ts';
import { createQmHome, type QmHome } from '../support/qm.ts';
import { client, createTestAccount } from '../support/service.ts';
import { SITE_NETWORK } from '../support/site.ts';
import { startTarget, type Target } from './harness.ts';
import { echoInPieces, forms, formsIn, kinds, textOfDatabase } from './secret-places.ts';

let target: Target;
let place: Place;
let home: QmHome;
const folder = temporaryDirectory();
const backup = join(folder, 'backup');

const databaseOf = (dataDir: string) =>
  new Database({ connection: readConnection(dataDir) as Connection, connections: 2, hotConnections: 1 });

beforeAll(async () => {
  target = await startTarget();
  place = await createPlace({ ALLOW_PRIVATE_SOURCES: SITE_NETWORK });
  await startProcess(place);
  const db = databaseOf(place.dataDir);
  const core = { db, secrets: new Secrets(await loadServerSecret({ dataDir: place.dataDir })) } as unknown as Services;
  const { secret } = await createTestAccount(core, 1);
  await db.end();
  const call = client(place.url, secret);
  for (const [kind, fields, secrets] of kinds) {
    target.respond = echoInPieces(secrets);
    const set = { connection: kind, kind, hosts: [target.host], ...fields };
    expect((await call('PUT', '/v1/vault/connection/set', set)).status).toBe(200);
    for (const inline of [true, false]) {
      const keyed = { connection: kind, url: '/x', inline, idempotency_key: `${kind}-${inline}` };
      expect((await call('POST', '/v1/vault/call', keyed)).status).toBe(200);
    }
  }
  home = createQmHome({ DATA_DIR: place.dataDir, TMPDIR: folder });
  expect(await home.run(['backup', 'create', backup])).toMatchObject({ code: 0, stderr: '' });
  await place.remove();
});
afterAll(async () => {
  await Promise.all([home?.remove(), place?.remove(), target.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Files of the backup that hold one of the texts. */
function filesWith(texts: readonly string[]): string[] {
  const patterns = join(folder, 'patterns');
  writeFileSync(patterns, texts.join('\n'));
  const found = spawnSync('grep', ['-rlaF', '-f', patterns, backup], { env: { LC_ALL: 'C' }, encoding: 'utf8' });
  // 1: none has.
  if (found.error !== undefined || (found.status ?? 2) > 1) throw new Error(found.stderr);
  return found.stdout.split('\n').filter((line) => line !== '');
}

test('no file of a backup holds a form of a secret', () => {
  expect(filesWith([target.host]).length).toBeGreaterThan(0);
  expect(filesWith(forms)).toEqual([]);
});

test('no row of a restored database holds one, also unfolded', async () => {
  const dataDir = temporaryDirectory();
  expect(await home.run(['backup', 'restore', backup], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
  const restored = await createPlace({ DATA_DIR: dataDir });
  await startProcess(restored);
  const db = databaseOf(dataDir);
  const text = await textOfDatabase(db);
  await db.end();
  await restored.remove();
  expect(text).toContain(target.host);
  expect(formsIn(text)).toEqual([]);
});
