// The service is killed while calls go out: each is charged once or not at all, as the log and the ledger say, and no key sends twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { createPlace, type Place, type ServiceProcess, startProcess, until } from '../support/process.ts';
import { client, createTestAccount, type TestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';
import { endLostCalls, type Service, startTarget, type Target, TOKEN, type Vault } from './harness.ts';

const KILLS = rounds(6);
const CALLS = 60 * KILLS;
const CALLERS = 8;
const COST = 0.00002;

let place: Place;
let running: ServiceProcess;
let target: Target;
let db: Database;
beforeAll(async () => {
  target = await startTarget();
  place = await createPlace({ ALLOW_PRIVATE_SOURCES: '127.77.0.0/16' });
  running = await startProcess(place);
  db = new Database({ connection: readConnection(place.dataDir) as Connection, connections: 4, hotConnections: 1 });
});
afterAll(async () => {
  await target.stop();
  await db?.end();
  await place?.remove();
});

test(`${CALLS} calls and ${KILLS} times SIGKILL`, { timeout: 600_000 }, async () => {
  const core = { db, secrets: new Secrets(await loadServerSecret({ dataDir: place.dataDir })) } as unknown as Services;
  const account: TestAccount = await createTestAccount(core, 100);
  const call = client(place.url, account.secret);
  const set = { connection: 'forge', kind: 'bearer', secret: TOKEN, hosts: [target.host] };
  expect((await call('PUT', '/v1/vault/connection/set', set)).status).toBe(200);
  // Some answers are slow, so that kills find calls at each step.
  target.respond = ({ url }, response) => void setTimeout(() => response.end('done'), url.endsWith('7') ? 300 : 0);
  let begun = 0;
  let ended = 0;
  const caller = async () => {
    for (let n = begun++; n < CALLS; n = begun++) {
      const input = {
        connection: 'forge',
        method: 'POST',
        url: `${target.url}/${n}`,
        body: '{}',
        idempotency_key: `call-${n}`,
      };
      for (;;) {
        const reply = await call('POST', '/v1/vault/call', input).catch(() => null);
        const code = reply?.body.error?.code;
        if (reply?.status === 200 || code === 'VENDOR_TIMEOUT') break;
        // It is still held by the call that died.
        if (code === 'IDEMPOTENCY_IN_FLIGHT') await endLostCalls({ core } as unknown as Service, { account } as Vault);
        await sleep(50);
      }
      ended += 1;
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, caller));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await until(() => ended >= (kill * CALLS) / (KILLS + 1));
    await running.end('SIGKILL');
    running = await startProcess(place);
  }
  await callers;
  await endLostCalls({ core } as unknown as Service, { account } as Vault);
  const paths = target.seen.map(({ url }) => url);
  expect(new Set(paths).size, 'no call was sent twice').toBe(paths.length);
  const charged = await charges(account.accountId);
  expect(charged.rows, 'each call in the log is charged once').toBe(charged.units);
  expect(charged.rows).toBeGreaterThanOrEqual(paths.length);
  const left = (await call('GET', '/v1/account/balance')).body.data.balance_usd as number;
  expect(Math.round((100 - left) * 1e9)).toBe(Math.round(charged.units * COST * 1e9));
  expect(charged.holds).toBe(0);
  expect((await examine({ db, secrets: core.secrets, modules })).findings).toEqual([]);
});

async function charges(accountId: string) {
  const text = `SELECT (SELECT count(*)::int FROM vault.call WHERE account_id = $1 AND code IS DISTINCT FROM 'TARGET_FAILED') AS rows,
                       (SELECT units::int FROM core.accepted_units WHERE account_id = $1 AND capability = 'vault.call') AS units,
                       (SELECT count(*)::int FROM core.hold WHERE account_id = $1 AND status = 'active') AS holds`;
  const { rows } = await db.query<{ rows: number; units: number; holds: number }>({ name: '', text }, [accountId]);
  return rows[0] as { rows: number; units: number; holds: number };
}
