// The two rules of all pools: a task is ended at its time, and of several threads an account never has all.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { echo, endless } from '../blocks/threads.fixture.ts';
import type { BlockTask } from '../blocks/work.ts';
import { DecodePlaces } from '../pictures/decode-places.ts';
import { AccountThreads } from './account-threads.ts';
import { type Admission, admission } from './admission.ts';
import { shareOf } from './shares.ts';

const source = new URL('../blocks/thread.ts', import.meta.url);
let threads: AccountThreads<BlockTask, unknown>;
afterEach(() => threads?.close());

const counter = () => new Int32Array(new SharedArrayBuffer(4));
const taskOf = ({ source: from, id }: { source: string; id: string }, args: unknown): BlockTask => {
  return { source: from, exportName: id, blocks: [], args };
};
const run = (account: string, task: BlockTask, signal: AbortSignal | null = null) =>
  threads.run(account, signal, (perform) => perform(task));

test('a task that does not end is ended at its time, and the next one gets another thread', async () => {
  threads = new AccountThreads(source, { threads: 1, msMax: 60_000 });
  const late = threads.run('a', null, (perform) => perform(taskOf(endless, counter()), { msMax: 500 }));
  expect(await late).toEqual({ kind: 'late' });
  expect(await run('a', taskOf(echo, 'next'))).toEqual({ kind: 'answer', answer: 'next' });
});

test('one account never has all threads', async () => {
  threads = new AccountThreads(source, { threads: 2, msMax: 60_000 });
  const begun = counter();
  const leaving = new AbortController();
  const held = Array.from({ length: 4 }, () => run('a', taskOf(endless, begun), leaving.signal).catch(() => 'ended'));
  expect(await run('b', taskOf(echo, 'answered'))).toEqual({ kind: 'answer', answer: 'answered' });
  await expect.poll(() => Atomics.load(begun, 0), { timeout: 25_000 }).toBe(1);
  leaving.abort();
  expect(await Promise.all(held)).toEqual(Array(4).fill('ended'));
});

test('one account never has all processes that decode pictures', async () => {
  const turns = new DecodePlaces({ decodesAtOnce: 2 });
  const end = Promise.withResolvers<void>();
  let begun = 0;
  const hang = async () => {
    begun += 1;
    await end.promise;
  };
  const held = Array.from({ length: 3 }, () => turns.run('a', hang));
  expect(await turns.run('b', async () => 'decoded')).toBe('decoded');
  expect(begun).toBe(1);
  end.resolve();
  await Promise.all(held);
});

test('a process of many has two threads of each pool, so that an account leaves one', () => {
  const pools: readonly (keyof Admission['all'])[] = ['bodyThreads', 'blockThreads', 'decodesAtOnce'];
  const { all } = shareOf(admission, 16);
  for (const pool of pools) expect([pool, all[pool]]).toEqual([pool, 2]);
});

/** Who starts threads and processes, and how both rules hold there. A new one is a pool of `AccountThreads`, or tells here how it keeps them. */
const starters: Readonly<Record<string, string>> = {
  'core/account-threads.ts': 'the pool of all others',
  'lib/threads.ts': 'its threads',
  'pictures/processes.ts': 'DecodePlaces, and msMax of its bounds',
  'lib/chat/token-counter.ts': 'one thread, in which texts take turns by pieces of 1,024 characters',
  'modules/vector/engine/embedded/threads/worker-client.ts':
    'holds collections; searches take turns in slices, and one that is cancelled ends in its next',
  'modules/image/vendors/sandbox/cards.ts': 'draws of words alone, which ends; jobs have their places by dueWork',
  'modules/video/vendors/sandbox/render.ts': 'draws of words alone, which ends; jobs have their places by dueWork',
  'workers/primary.ts': 'processes of the service',
  'db/embedded/cluster.ts': 'PostgreSQL',
  'db/embedded/postmaster.ts': 'PostgreSQL',
  'cli/calls/open.ts': 'a browser of the person at the command line',
  'cli/calls/run.ts': 'the command that a person named',
};

test('threads and processes start in pools that keep the rules, and nowhere else', async () => {
  const root = new URL('..', import.meta.url).pathname;
  const found: string[] = [];
  for (const entry of await readdir(root, { recursive: true })) {
    if (!entry.endsWith('.ts') || /\.(test|fixture)\.ts$/.test(entry)) continue;
    const text = await readFile(join(root, entry), 'utf8');
    if (/new (Worker|Threads)\b[^(]*\(|(?<![.\w])(fork|spawn)\(|cluster\.fork\(/.test(text)) found.push(entry);
  }
  expect(found.sort()).toEqual(Object.keys(starters).sort());
});
