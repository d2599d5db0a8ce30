// Two processes, of which one is killed: what its subscribers were is told once, by the other, when its lease ends.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pair, startPair } from '../faults/pair.ts';
import { allEvents } from '../support/events.ts';
import { startProcess } from '../support/process.ts';
import { client } from '../support/service.ts';
import { type App, PusherLine } from './pusher-line.ts';

const KILLS = Number(process.env.SOAK_KILLS ?? 1);

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ RATE_LIMITS: 'off' });
});
afterAll(() => pair.stop());

test('members of a killed process are removed once, and those who came back were never away', {
  timeout: 120_000,
}, async () => {
  const [first, second] = pair.services;
  const { secret } = await pair.account(5);
  const call = client(first.url, secret);
  const app: App = (await call('GET', '/v1/realtime/app')).body.data;
  const at = (url: string) => PusherLine.open(url, app.app_key);
  const watcher = await at(first.url);
  await watcher.subscribe('presence-k', app, { user_id: 'watcher' });
  let doomed = second;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [stays, returns] = [`stays-${kill}`, `returns-${kill}`];
    for (const user of [stays, returns]) {
      const line = await at(doomed.url);
      await line.subscribe('presence-k', app, { user_id: user });
      await watcher.next(({ event, data }) => event === 'pusher_internal:member_added' && data.user_id === user);
    }
    const lonely = await at(doomed.url);
    await lonely.subscribe(`lonely-${kill}`);
    await expect
      .poll(async () => (await call('GET', '/v1/realtime/channels?prefix=lonely')).body.data.items.length)
      .toBe(1);
    await doomed.end('SIGKILL');
    const again = await at(first.url);
    await again.subscribe('presence-k', app, { user_id: returns });
    const removed = await patiently(watcher, 'pusher_internal:member_removed');
    expect(removed.data).toEqual({ user_id: stays });
    await expect
      .poll(async () => (await told(call)).filter((line) => line.endsWith(`vacated lonely-${kill}`)), {
        timeout: 50_000,
      })
      .toHaveLength(1);
    doomed = await startProcess(doomed.place);
    again.close();
  }
  await expect.poll(async () => (await members(call)).map(({ user_id: id }) => id)).toEqual(['watcher']);
  const lines = await told(call);
  expect(new Set(lines).size).toBe(lines.length);
  for (let kill = 0; kill < KILLS; kill += 1) {
    for (const user of ['stays', 'returns'])
      expect(lines.filter((line) => line.endsWith(` ${user}-${kill}`))).toEqual([
        `member.added presence-k ${user}-${kill}`,
        `member.removed presence-k ${user}-${kill}`,
      ]);
  }
});

test('a process that was thought dead and lives tells again of what it has', { timeout: 60_000 }, async () => {
  const [first, second] = pair.services;
  const { secret } = await pair.account(5);
  const call = client(first.url, secret);
  const app: App = (await call('GET', '/v1/realtime/app')).body.data;
  const line = await PusherLine.open(first.url, app.app_key);
  await line.subscribe('presence-f', app, { user_id: 'ana' });
  await expect
    .poll(
      async () => {
        const { length } = await told(call);
        // The process may notice first and write its rows again. Then it is ended once more.
        if (length === 2) await pair.db.query(endAll, []);
        return length;
      },
      { timeout: 50_000, interval: 500 },
    )
    .toBe(6);
  expect(await told(call)).toEqual([
    ...['channel.occupied presence-f', 'member.added presence-f ana', 'member.removed presence-f ana'],
    ...['channel.vacated presence-f', 'channel.occupied presence-f', 'member.added presence-f ana'],
  ]);
  expect((await members(call, 'presence-f')).map(({ user_id: id }) => id)).toEqual(['ana']);
  expect(second.pid).toBeGreaterThan(0);
});

/** Another process does this when it finds the leases over. */
const endAll = {
  name: 'test_realtime_end_all',
  text: `UPDATE realtime.process SET lease_until = clock_timestamp() - interval '1 second', is_ended = true`,
};

async function members(call: ReturnType<typeof client>, channel = 'presence-k'): Promise<{ user_id: string }[]> {
  return (await call('GET', `/v1/realtime/members/${channel}`)).body.data.items;
}

/** The events of the account, the first first. */
async function told(call: ReturnType<typeof client>): Promise<string[]> {
  const own = (await allEvents(call)).filter(({ type }) => type.startsWith('realtime.')).reverse();
  return own.map(({ type, data: { object } }) =>
    [type.replace('realtime.', ''), object.channel, object.user_id].filter(Boolean).join(' '),
  );
}

/** The lease of the other one has to end first. */
async function patiently(line: PusherLine, event: string) {
  for (let tries = 0; ; tries += 1) {
    const frame = await line.event(event).catch(() => null);
    if (frame !== null) return frame;
    if (tries === 4) throw new Error(`${event} did not come`);
  }
}
