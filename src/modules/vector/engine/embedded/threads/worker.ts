// A search worker: owns its home collections, reads them from the database itself, and answers searches. No other thread changes them.
import { parentPort, workerData } from 'node:worker_threads';
import pLimit from 'p-limit';
import { Database } from '../../../../../db/database.ts';
import { CollectionGone } from '../../port.ts';
import { Collection } from '../collection/collection.ts';
import { ArenaPool } from '../memory/arena.ts';
import { MemoryBudget } from '../memory/budget.ts';
import { Shelf } from '../memory/shelf.ts';
import { type FromWorker, keyOf, type PlainError, type ToWorker, type WorkerSettings } from './protocol.ts';
import type { WorkerContext } from './worker-context.ts';

const READS_MAX = 2;

if (parentPort === null) throw new Error('this file runs in a worker thread');
const port = parentPort;
const { connection, budget: budgetState, worker, listsFromBytes } = workerData as WorkerSettings;
const tell = (message: FromWorker) => port.postMessage(message);
const budget = new MemoryBudget(budgetState);
const db = new Database({
  connection,
  hotConnections: 1,
  connections: READS_MAX + 1,
  onIdleError: trouble,
});
const collections = new Map<string, Collection>();
const calls = new Map<number, AbortController>();
const shelf = new Shelf(budget, worker, {
  onEvict: ({ key }) => {
    tell({ type: 'counted', counter: 'evictions' });
    tell({ type: 'state', key, state: 'cold', bytes: 0 });
    release(key);
  },
  onPressure: () => tell({ type: 'pressed' }),
});
const context: WorkerContext = {
  db,
  pool: new ArenaPool(budget.bytesMax),
  shelf,
  reads: pLimit(READS_MAX),
  builds: pLimit(1),
  budgetBytes: budget.bytesMax,
  listsFromBytes,
  trouble,
  count: (counter) => tell({ type: 'counted', counter }),
  onChange: ({ key, resident }, state) => tell({ type: 'state', key, state, bytes: resident?.bytes ?? 0 }),
};

function trouble(error: unknown): void {
  tell({ type: 'trouble', error: plain(error) });
}

function release(key: string): void {
  if (collections.get(key)?.empty) collections.delete(key);
}

function plain(error: unknown): PlainError {
  const { name, message, code, stack } = (error instanceof Error ? error : new Error(String(error))) as Error & {
    code?: unknown;
  };
  const text = typeof code === 'string' ? code : undefined;
  return { gone: error instanceof CollectionGone, name, message, code: text, stack };
}

async function search({ call, ref, searches }: Extract<ToWorker, { type: 'search' }>): Promise<void> {
  const key = keyOf(ref.accountId, ref.collectionId);
  const collection = collections.get(key) ?? new Collection(key, ref, context);
  collections.set(key, collection);
  const abort = new AbortController();
  calls.set(call, abort);
  try {
    tell({ type: 'found', call, results: await collection.search(ref.version, searches, abort.signal) });
  } catch (error) {
    tell({ type: 'failed', call, error: plain(error) });
  } finally {
    calls.delete(call);
    release(key);
  }
}

async function follow({ change }: Extract<ToWorker, { type: 'changed' }>): Promise<void> {
  const { accountId, collectionId } = change.ref;
  const key = keyOf(accountId, collectionId);
  let followed = false;
  try {
    followed = (await collections.get(key)?.follow(change)) === true;
  } catch (error) {
    trouble(error);
  }
  tell({ type: 'counted', counter: followed ? 'changesFollowed' : 'changesSkipped' });
  release(key);
}

function forget(key: string): void {
  const collection = collections.get(key);
  // One in use finds out by itself.
  if (collection === undefined || collection.pins > 0) return;
  shelf.drop(collection);
  collections.delete(key);
  tell({ type: 'state', key, state: 'cold', bytes: 0 });
}

async function close(): Promise<void> {
  await db.end();
  // lists may be under way, which nobody waits for
  process.exit();
}

port.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'search':
      void search(message);
      return;
    case 'changed':
      void follow(message);
      return;
    case 'cancel':
      calls.get(message.call)?.abort();
      return;
    case 'forget':
      forget(keyOf(message.accountId, message.collectionId));
      return;
    case 'evict':
      shelf.evictOldest();
      return;
    case 'close':
      void close();
  }
});
