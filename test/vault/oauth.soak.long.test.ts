// Tokens over four processes: 50 callers at each of many ends, and a process that is killed when the server has rotated its token.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY, startTestService, type TestService } from '../support/service.ts';
import { SITE_NETWORK } from '../support/site.ts';
import { rounds } from '../support/soak.ts';
import { startTarget, type Target, type Vault, vaultAt } from './harness.ts';
import { bearersOf, callTogether, connectOAuth, endToken, failuresOf, statusOf } from './oauth-harness.ts';
import { type OAuthServer, startOAuthServer } from './oauth-server.ts';

const PROCESSES = 4;
const CALLERS = 50;
const ENDS = rounds(1_000);
const KILLS = rounds(10);

let service: TestService;
const processes: ServiceProcess[] = [];
let target: Target;
let server: OAuthServer;
let vault: Vault;

const start = async () =>
  startProcess(
    await createPlace({
      DATABASE_URL: service.database.url,
      TEST_CLOCK: 'on',
      RATE_LIMITS: 'off',
      ALLOW_PRIVATE_SOURCES: SITE_NETWORK,
      SECRETS_KEY,
    }),
  );

beforeAll(async () => {
  service = await startTestService();
  for (let i = 0; i < PROCESSES; i += 1) processes.push(await start());
  target = await startTarget();
});
afterAll(async () => {
  for (const { place } of processes) await place.remove();
  await target.stop();
  await service.stop();
});
beforeEach(async () => {
  server = await startOAuthServer();
  vault = await vaultAt(service, target, 1_000);
  target.seen.length = 0;
});
afterEach(() => server.stop());

test(`${CALLERS} callers over ${PROCESSES} processes refresh once at each of ${ENDS} ends`, {
  timeout: 3_600_000,
}, async () => {
  await connectOAuth(vault, server);
  for (let ends = 1; ends <= ENDS; ends += 1) {
    await endToken(service, vault);
    target.seen.length = 0;
    expect(failuresOf(await callTogether(processes, vault, target, CALLERS))).toEqual([]);
    expect([server.asked.length, server.refused, bearersOf(target).length]).toEqual([ends, 0, 1]);
  }
});

test(`of ${KILLS} processes that were killed with a rotated token, each is told of`, { timeout: 600_000 }, async () => {
  await vault.call('POST', '/v1/queue/create', { name: 'told' });
  for (let kills = 1; kills <= KILLS; kills += 1) {
    await connectOAuth(vault, server, { notify: { queue: 'told' } });
    await endToken(service, vault);
    const killed = await start();
    server.beforeAnswer = async () => void (await killed.end('SIGKILL'));
    await expect(callTogether([killed], vault, target, 1)).rejects.toThrow();
    server.beforeAnswer = () => Promise.resolve();
    // The lease of who was killed is over.
    await service.advance(16);
    const replies = await callTogether(processes, vault, target, 8);
    expect(replies.map(({ body }) => body.error.code)).toEqual(Array(8).fill('CONNECTION_BROKEN'));
    expect((await statusOf(vault)).status).toBe('broken');
    expect([server.refused, target.seen.length]).toEqual([kills, 0]);
    await vi.waitFor(
      async () => {
        const { body } = await vault.call('POST', '/v1/queue/consume', { queue: 'told' });
        const [{ receipt_handle, payload }] = body.data.items;
        expect(payload).toMatchObject({ type: 'vault.connection.broken', connection: 'forge' });
        await vault.call('POST', '/v1/queue/ack', { queue: 'told', receipt_handle });
      },
      { timeout: 30_000, interval: 100 },
    );
    await killed.place.remove();
  }
});
