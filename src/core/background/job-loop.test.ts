import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createLog } from '../process/log.ts';
import { JobLoop, type JobLoopOptions } from './job-loop.ts';

function loopOf(options: Partial<JobLoopOptions<number>>): JobLoop<number> {
  const rest = { name: 'test', log: createLog('silent'), concurrency: 2, intervalMs: 60_000 };
  return new JobLoop<number>({ ...rest, take: async () => [], run: async () => undefined, ...options });
}

/** Answers the jobs `room` at a time. */
function from(jobs: number[]): JobLoopOptions<number>['take'] {
  return async (room) => jobs.splice(0, room);
}

test('no more jobs run at once than allowed, and all of them run', async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  const loop = loopOf({
    take: from([1, 2, 3, 4, 5]),
    async run(job) {
      running += 1;
      most = Math.max(most, running);
      for (let i = 0; i < 5; i += 1) await turn();
      running -= 1;
      done.push(job);
    },
  });
  loop.start();
  await vi.waitFor(() => expect(done).toHaveLength(5));
  await loop.stop();
  expect([most, done.sort()]).toEqual([2, [1, 2, 3, 4, 5]]);
});

test('it looks at once when woken, also while it is looking', async () => {
  let looks = 0;
  const loop = loopOf({
    take: async () => {
      looks += 1;
      if (looks === 1) loop.wake();
      return [];
    },
  });
  loop.start();
  await vi.waitFor(() => expect(looks).toBe(2));
  loop.wake();
  await vi.waitFor(() => expect(looks).toBe(3));
  await loop.stop();
  expect(looks).toBe(3);
});

test('a job that fails, or a search that does, is counted and stops nothing', async () => {
  const jobs = [1, 2];
  let searches = 0;
  const done: number[] = [];
  const loop = loopOf({
    concurrency: 1,
    intervalMs: 5,
    take: async (room) => {
      searches += 1;
      if (searches === 1) throw new Error('no database');
      return jobs.splice(0, room);
    },
    async run(job) {
      if (job === 1) throw new Error('fails');
      done.push(job);
    },
  });
  loop.start();
  await vi.waitFor(() => expect(done).toEqual([2]), { timeout: 10_000 });
  await loop.stop();
  expect(done).toEqual([2]);
  expect(loop.metrics().find(({ name }) => name === 'qm_jobs_failures_total')?.value).toBe(2);
});

test('at the stop it waits for what runs, takes nothing more, and then gives back what it had', async () => {
  const events: string[] = [];
  const jobs = [1, 2];
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const loop = loopOf({
    concurrency: 1,
    take: from(jobs),
    async run(job) {
      begun.resolve();
      await end.promise;
      events.push(`ended ${job}`);
    },
    async onStop() {
      events.push('given back');
    },
    metrics: () => [{ name: 'qm_own', help: '', labels: {}, value: 7 }],
  });
  loop.start();
  await begun.promise;
  const stopping = loop.stop();
  await turn();
  end.resolve();
  await stopping;
  expect(events).toEqual(['ended 1', 'given back']);
  expect(jobs).toEqual([2]);
  expect(loop.metrics().at(-1)).toMatchObject({ name: 'qm_own', value: 7 });
});

test('a job that does not end by itself is told to after four seconds', async () => {
  let told = false;
  const begun = Promise.withResolvers<void>();
  const loop = loopOf({
    take: from([1]),
    run: (_job, signal) =>
      new Promise((resolve) => {
        begun.resolve();
        signal.addEventListener('abort', () => {
          told = true;
          resolve();
        });
      }),
  });
  loop.start();
  await begun.promise;
  await loop.stop();
  expect(told).toBe(true);
});
