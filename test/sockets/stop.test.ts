// A stop closes sockets one after the other, takes no new ones, and waits for nobody who does not answer.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openRaw } from '../support/raw.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { handshake, openBare, openLine } from './client.ts';
import { emptyParlor, parlorModule } from './parlor.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('at a stop sockets are closed with 1012, spread over some time, and new ones are refused', async () => {
  const state = emptyParlor();
  // Nobody but the stop looks at them.
  const webSocket = { stopWithinMs: 600, closeWithinMs: 800, lookEveryMs: 60_000 };
  const bench = await startTestService({ database, extraModules: [parlorModule(state)], admission: { webSocket } });
  const { secret } = await createTestAccount(bench.core);
  const lines = await Promise.all(Array.from({ length: 20 }, () => openLine(bench.url, '/parlor/x', secret)));
  const deaf = await openBare(bench.url, '/parlor/x', secret);
  const half = await openRaw(bench.url);
  half.send(handshake('/parlor/x', secret));
  const begunMs = performance.now();
  const ends = lines.map(async ({ ended }) => ({ ...(await ended), ms: performance.now() - begunMs }));

  const stopping = bench.stop();
  half.send('\r\n');
  expect(await half.receive()).toMatch(/^HTTP\/1.1 503[\s\S]*retry-after: 1[\s\S]*SERVICE_UNAVAILABLE/i);
  const ended = await Promise.all(ends);
  await stopping;
  expect(new Set(ended.map(({ code }) => code))).toEqual(new Set([1012]));
  // Not all at once: a slow machine closes some of them together.
  const moments = new Set(ended.map(({ ms }) => Math.floor(ms / 20)));
  expect(moments.size).toBeGreaterThan(3);
  expect([deaf.closed, state.open.size, state.closed.length]).toEqual([true, 0, 21]);
});
