// Looks: what a rule finds at its steps, what becomes of it, and what its history tells. The clock is moved; queues are filled and emptied.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { Alerts, ENV, WAIT } from './harness.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ENV });
});
afterAll(() => service.stop());

const depth = { when: { queue: { queue: 'jobs', measure: 'depth' } }, above: 1 };

async function withQueue(): Promise<Alerts> {
  const own = await Alerts.at(service);
  await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
  return own;
}

async function fill(own: Alerts, messages: number): Promise<void> {
  await own.ok('POST', '/v1/queue/purge/jobs', {});
  for (let n = 0; n < messages; n += 1) await own.ok('POST', '/v1/queue/publish', { queue: 'jobs', payload: { n } });
}

describe('a rule', () => {
  test('is looked at when it is set, fires, and is ok again', async () => {
    const own = await withQueue();
    await own.set(depth);
    expect(await own.looked()).toMatchObject({
      state: 'ok',
      value: 0,
      series: [{ labels: {}, state: 'ok', value: 0 }],
    });
    await fill(own, 3);
    const firing = await own.next();
    expect(firing).toMatchObject({ state: 'firing', value: 3, series: [{ state: 'firing', value: 3 }] });
    expect(firing.since).toBe(firing.looked_at);
    expect(Date.parse(firing.looked_at) % 60_000).toBe(0);
    await fill(own, 2);
    expect(await own.next()).toMatchObject({ state: 'firing', value: 2, since: firing.since });
    await fill(own, 0);
    expect(await own.next()).toMatchObject({ state: 'ok', value: 0 });
    expect((await own.history()).map(({ state_before, state, value }) => [state_before, state, value])).toEqual([
      ['firing', 'ok', 0],
      ['ok', 'firing', 3],
    ]);
  });

  test('is pending first where it must hold for a time', async () => {
    const own = await withQueue();
    await fill(own, 2);
    await own.set({ ...depth, for_seconds: 120 });
    expect((await own.looked()).state).toBe('pending');
    expect((await own.next()).state).toBe('pending');
    expect((await own.next()).state).toBe('firing');
  });

  test('makes up no steps that were missed', async () => {
    const own = await withQueue();
    await own.set(depth);
    await own.looked();
    await fill(own, 2);
    await own.next('r', 7_200);
    expect(await own.history()).toHaveLength(1);
  });

  test('that was changed begins anew only if it watches something else', async () => {
    const own = await withQueue();
    await fill(own, 2);
    await own.set(depth);
    const firing = await vi.waitFor(async () => {
      const found = await own.looked();
      expect(found.state).toBe('firing');
      return found;
    }, WAIT);
    expect(await own.set({ ...depth, title: 'Another title' })).toMatchObject({ state: 'firing', since: firing.since });
    expect(await own.set({ ...depth, above: 100 })).toMatchObject({ state: 'ok', series: [] });
    expect((await own.next()).state).toBe('ok');
  });

  test('is unknown once what it watches is gone, and known again when it is back', async () => {
    const own = await withQueue();
    await own.set(depth);
    await own.looked();
    await own.ok('DELETE', '/v1/queue/delete/jobs');
    const unknown = await own.next();
    expect(unknown).toMatchObject({ state: 'unknown', value: null });
    expect(unknown.words).toContain('queue');
    await own.next();
    await own.ok('POST', '/v1/queue/create', { name: 'jobs' });
    expect(await own.next()).toMatchObject({ state: 'ok', words: null });
    expect((await own.history()).map(({ state }) => state)).toEqual(['ok', 'unknown']);
  });

  test('tells how long its look took', async () => {
    const own = await withQueue();
    await own.set(depth);
    expect((await own.looked()).took_ms).toBeGreaterThan(0);
  });
});

describe('lists', () => {
  test('alerts.list has what is not ok, or what is in a state', async () => {
    const own = await withQueue();
    await fill(own, 2);
    await own.set({ ...depth, rule: 'fires' });
    await own.set({ ...depth, rule: 'rests', above: 50 });
    await own.looked('rests');
    await vi.waitFor(async () => expect((await own.looked('fires')).state).toBe('firing'), WAIT);
    const names = async (query: string) =>
      (await own.ok('GET', `/v1/alerts/list${query}`)).items.map(({ rule }: { rule: string }) => rule);
    expect(await names('')).toEqual(['fires']);
    expect(await names('?state=firing')).toEqual(['fires']);
    expect(await names('?state=ok')).toEqual(['rests']);
    expect(await names('?state=unknown')).toEqual([]);
  });

  test('history has pages', async () => {
    const own = await withQueue();
    await own.set(depth);
    await own.looked();
    for (let n = 0; n < 3; n += 1) {
      await fill(own, n % 2 === 0 ? 2 : 0);
      await own.next();
    }
    const first = await own.ok('GET', '/v1/alerts/history/r?limit=2');
    const second = await own.ok('GET', `/v1/alerts/history/r?limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items]).toEqual(await own.history());
    expect([first.has_more, second.has_more]).toEqual([true, false]);
  });
});

test('two services look at a step once', async () => {
  const other = await startTestService({ env: ENV, database: service.database });
  try {
    const own = await withQueue();
    const names = Array.from({ length: 20 }, (_, n) => `r${n}`);
    for (const rule of names) await own.set({ ...depth, rule });
    for (const rule of names) await own.looked(rule);
    for (const messages of [2, 0, 2]) {
      await fill(own, messages);
      await service.advance(60);
      for (const rule of names) await own.looked(rule);
    }
    for (const rule of names)
      expect((await own.history(rule)).map(({ state }) => state)).toEqual(['firing', 'ok', 'firing']);
  } finally {
    await other.stop();
  }
});
