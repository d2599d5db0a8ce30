// In-process state of the vector module.

import { AccountPlaces } from '../../core/account-places.ts';
import { AnswerEffect } from '../../core/wallet/charge/charge-answer.ts';
import { readFunds } from '../../core/wallet/funds.ts';
import { textArray } from '../../db/arrays.ts';
import { StartupError } from '../../db/errors.ts';
import type { Services } from '../../kit/services.ts';
import { Coalescer } from '../../lib/coalesce.ts';
import type { CollectionRow } from './collections/store.ts';
import { createEmbeddedEngine } from './engine/embedded/index.ts';
import { createPgvectorEngine, hasPgvector } from './engine/pgvector/index.ts';
import type { VectorEngine } from './engine/port.ts';
import type { VectorSettings } from './settings.ts';
import { ChangeEffect } from './writing/effect.ts';
import { readNamed } from './writing/store.ts';

export interface VectorState {
  readonly core: Services;
  readonly engine: VectorEngine;
  readonly changing: ChangeEffect;
  readonly querying: AnswerEffect;
  /** Keyed by account; an item is a collection's name. Many queries share one reading that began after they came. */
  readonly reading: Coalescer<string, Reading>;
  /** Turns of this process's deletions by filter. */
  readonly filterPlaces: AccountPlaces;
  /** Turns of answers of megabytes: three times as much is in memory while one is written. */
  readonly longAnswers: AccountPlaces;
}

export interface Reading {
  readonly collection: CollectionRow | null;
  /** What the account could be charged, nano-USD. */
  readonly funds: bigint;
}

const QUERIES_PER_READ = 256;
// Each takes a connection all the time; most of the pool is left to everything else.
const FILTERS_AT_ONCE = 2;

export async function createVectorState(core: Services, settings: VectorSettings): Promise<VectorState> {
  const engine = await createEngine(core, settings);
  return {
    core,
    engine,
    changing: new ChangeEffect(engine),
    querying: new AnswerEffect('vector.query'),
    reading: new Coalescer({
      batchMax: QUERIES_PER_READ,
      run: (accountId, names) => readCollections(core, accountId, names),
    }),
    filterPlaces: new AccountPlaces(FILTERS_AT_ONCE, { alone: 'all' }),
    longAnswers: new AccountPlaces(core.bounds.all.longAnswersAtOnce, { alone: 'all' }),
  };
}

async function createEngine(
  { db, connection, log, bounds }: Services,
  { engine, memoryMb }: VectorSettings,
): Promise<VectorEngine> {
  if (engine === 'embedded') return createEmbeddedEngine({ connection, memoryMb: memoryMb / bounds.processes, log });
  if (db.distributed) {
    throw new StartupError('VECTOR_ENGINE: pgvector is for one PostgreSQL; on a distributed engine use embedded');
  }
  if (!(await hasPgvector(db))) {
    throw new StartupError(
      'VECTOR_ENGINE: pgvector needs the extension vector, 0.8 or later, in the database (CREATE EXTENSION vector)',
    );
  }
  return createPgvectorEngine({ connection, log });
}

async function readCollections({ db }: Services, accountId: string, names: readonly string[]): Promise<Reading[]> {
  const wanted = [...new Set(names)].map((name) => ({ accountId, name }));
  const [{ rows }, funds] = await Promise.all([
    readNamed(db.hot, textArray([accountId]), wanted),
    readFunds(db.hot, accountId),
  ]);
  const byName = new Map(rows.map((row) => [row.name, row]));
  return names.map((name) => ({ collection: byName.get(name) ?? null, funds }));
}
