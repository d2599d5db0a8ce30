// Without DATABASE_URL and without a running service a command brings its own PostgreSQL, for as long as it takes.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConnection, startEmbedded } from '../../src/db/embedded/index.ts';
import { migrate } from '../../src/db/migrate.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
let dataDir: string;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'quartermaster-cli-'));
  // As root the server runs as another user, who must be able to pass.
  chmodSync(dataDir, 0o711);
});
afterAll(() => rmSync(dataDir, { recursive: true }));

function qm(...args: string[]): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir };
    execFile(process.execPath, [MAIN, ...args, '--json'], { env, timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Record<string, unknown>);
      else reject(new Error(stderr));
    });
  });
}

test('commands work without a service, leave nothing running, and work beside a running server', async () => {
  const first = await startEmbedded({ dataDir });
  await migrate(first.connection);
  await first.stop();
  const { account_id } = await qm('accounts', 'create', '--name', 'early');
  expect(readConnection(dataDir)).toBeNull();
  expect((await qm('accounts', 'list')).items).toMatchObject([{ account_id, name: 'early' }]);
  expect(await qm('doctor')).toMatchObject({ ok: true, accounts: 1 });
  expect(existsSync(join(dataDir, 'operator.key'))).toBe(false);

  const postgres = await startEmbedded({ dataDir });
  try {
    expect(await qm('keys', 'create', '--account', account_id as string)).toMatchObject({
      account_id,
      key_secret: expect.any(String),
    });
    expect(readConnection(dataDir)).not.toBeNull();
  } finally {
    await postgres.stop();
  }
});
