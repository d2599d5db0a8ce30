// Turns of hosts: over all processes and accounts together, as robots.txt asks, and never for one account alone.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostSweep, Pace } from '../../src/modules/web/fetch/pace.ts';
import { startTestService, type TestService } from '../support/service.ts';

const EVERY_MS = 200;
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { LOG_LEVEL: 'error' } });
});
afterAll(() => service.stop());

/** As of several processes. */
const paces = (count: number, everyMs = EVERY_MS) =>
  Array.from({ length: count }, () => new Pace(service.core.db, everyMs));
const { signal } = new AbortController();

describe('a host', () => {
  test('is asked once in its interval by all processes and accounts together', async () => {
    const went: number[] = [];
    const begunMs = performance.now();
    const turns = paces(3).flatMap((pace, process) =>
      [1, 2].map(async (call) => {
        await pace.turn(`acct_${process}_${call}`, 'one.example', 0, signal);
        went.push(performance.now());
      }),
    );
    await Promise.all(turns);
    expect(went).toHaveLength(6);
    // A timer may end late, never early but for what rounding takes.
    for (const [i, atMs] of went.entries()) expect(atMs - begunMs).toBeGreaterThan(i * EVERY_MS - 5);
  });

  test('is asked at once after a while, and other hosts do not wait for it', async () => {
    const everyMs = 1_000;
    const [pace] = paces(1, everyMs) as [Pace];
    await pace.turn('acct_a', 'two.example', 0, signal);
    // sleeps: the interval is by the clock of the database.
    await sleep(everyMs);
    await pace.turn('acct_a', 'two.example', 0, signal);
    // Whoever waits for longer than ten seconds is refused.
    const [rare] = paces(1, 60_000) as [Pace];
    await rare.turn('acct_a', 'four.example', 0, signal);
    await rare.turn('acct_a', 'three.example', 0, signal);
  });

  test('that asks for a delay gets it', async () => {
    const [one, two] = paces(2) as [Pace, Pace];
    await one.turn('acct_a', 'slow.example', 600, signal);
    const begunMs = performance.now();
    await two.turn('acct_b', 'slow.example', 600, signal);
    expect(performance.now() - begunMs).toBeGreaterThan(500);
  });

  test('whose turns are all taken for ten seconds is refused with the wait', async () => {
    const pace = paces(30, 5_000);
    const taken = new AbortController();
    const waits = pace.map((each, i) => each.turn(`acct_${i}`, 'full.example', 0, taken.signal));
    // Whose turn is first gets it at once, and it may be any of them.
    const refused = new Promise((resolve) => {
      for (const wait of waits) wait.catch(resolve);
    });
    expect(await refused).toMatchObject({ code: 'RATE_LIMITED', detail: 'host', retryAfterMs: expect.any(Number) });
    taken.abort();
    await Promise.allSettled(waits);
  });

  test('is waited for by four calls of an account at most, so others get turns', async () => {
    const [pace] = paces(1, 2_000) as [Pace];
    const taken = new AbortController();
    const turn = (account: string) => pace.turn(account, 'fair.example', 0, taken.signal).catch((error) => error);
    const waits = [turn('acct_a'), turn('acct_a'), turn('acct_a'), turn('acct_a')];
    expect(await turn('acct_a')).toMatchObject({ code: 'RATE_LIMITED', detail: 'account' });
    await Promise.race(waits);
    const other = turn('acct_b');
    expect(await Promise.race([other, sleep(100, 'waits')])).toBe('waits');
    taken.abort();
    await Promise.all([...waits, other]);
  });

  test('an account that gave up can wait again', async () => {
    const [pace] = paces(1, 3_000) as [Pace];
    for (let round = 0; round < 3; round += 1) {
      const gone = new AbortController();
      const turns = [1, 2, 3].map(() =>
        pace.turn('acct_a', `gone${round}.example`, 0, gone.signal).catch(() => 'gone'),
      );
      await Promise.race(turns);
      gone.abort();
      await Promise.all(turns);
    }
    await pace.turn('acct_a', 'gone9.example', 0, signal);
  });
});

test('turns that are past are swept', async () => {
  const [pace] = paces(1) as [Pace];
  await pace.turn('acct_a', 'old.example', 0, signal);
  await service.advance(120);
  await pace.turn('acct_a', 'new.example', 0, signal);
  await hostSweep(service.core.db).run(signal);
  const read = { name: 'test_hosts', text: 'SELECT host FROM web.host' };
  expect((await service.core.db.query<{ host: string }>(read, [])).rows).toEqual([{ host: 'new.example' }]);
});
