// Vector writes as a lane effect: set-based over all calls of a commit, across accounts and collections. A commit's changes to one collection
// are one version. A commit never waits, under a wallet lock, for a collection that a long write holds: that call takes a hold and writes alone.
// Large writes do the same; they lock the collection before the wallet.

import type { AdmittedItem, LaneEffect, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { accountsOf } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import type { Problem } from '../../../problems/problem.ts';
import { type CollectionRow, holdCollection } from '../collections/store.ts';
import type { VectorEngine } from '../engine/port.ts';
import { faultOf } from '../items/embedding.ts';
import { problem } from '../problems.ts';
import { type ChangeInput, type ChangeItem, changesOf, type RowChange } from './change.ts';
import { embeddingAt, metadataAt } from './packed.ts';
import { lockFree, readKnownIds, readNamed, sendAdvance, sendUpdates, sendUpserts } from './store.ts';

type Admitted = AdmittedItem<ChangeInput, CollectionRow>;

// A statement of a large write: more would keep this process busy while it is encoded.
const SLICE_BYTES = 512 * 1024;
const SLICE_ROWS = 200;

export class ChangeEffect implements LaneEffect<ChangeInput, CollectionRow> {
  readonly name = 'vector.change';
  readonly #engine: VectorEngine;

  constructor(engine: VectorEngine) {
    this.#engine = engine;
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly ChangeItem[]): Promise<ReadVerdict<CollectionRow>[]> {
    const accounts = accountsOf(items);
    const here = items.filter(({ mode }) => mode === 'charge');
    const updates = items.flatMap(({ accountId, input }) =>
      input.kind === 'update' ? [{ accountId, name: input.collection, id: input.id }] : [],
    );
    const [known, free, ids] = await Promise.all([
      readNamed(tx, accounts, namesOf(items)),
      here.length === 0 ? null : lockFree(tx, accounts, namesOf(here)),
      updates.length === 0 ? null : readKnownIds(tx, accounts, updates),
    ]);
    const rows = byName(known.rows);
    const locked = byName(free?.rows ?? []);
    const present = new Set(ids?.rows.map((row) => `${row.account_id}\n${row.name}\n${row.id}`));
    return items.map((item) => {
      const name = keyOf(item);
      const row = locked.get(name) ?? rows.get(name);
      const fault = row === undefined ? missing() : faultIn(item.input, row, present.has(`${name}\n${idOf(item)}`));
      if (fault !== null) return { kind: 'refuse', problem: fault };
      if (item.mode === 'charge' && !locked.has(name)) return { kind: 'defer' };
      return { kind: 'go', context: row as CollectionRow };
    });
  }

  write(tx: Transaction, items: readonly Admitted[], nowMs: number): string[] {
    const changes = new Map<string, RowChange>();
    for (const { item, context } of items) for (const row of rowsOf(item.input, context)) add(changes, row);
    const rows = [...changes.values()];
    const accounts = accountsOf(items.map(({ item }) => item));
    const upserts = rows.filter(({ embedding }) => embedding !== null);
    const updates = rows.filter(({ embedding }) => embedding === null);
    void sendAdvance(tx, accounts, rows, nowMs);
    if (upserts.length > 0) void sendUpserts(tx, accounts, upserts);
    if (updates.length > 0) void sendUpdates(tx, accounts, updates);
    void countAccepted(
      tx,
      items.map(({ item }) => item),
    );
    return items.map(({ item }) => answerOf(item.input));
  }

  afterCommit(items: readonly Admitted[]): void {
    const engine = this.#engine;
    if (engine.noteChange !== undefined) {
      for (const change of changesOf(items, (ref) => engine.indexState(ref).state === 'ready'))
        engine.noteChange(change);
    }
    for (const { item } of items) if (item.mode === 'hold') freeWritten(item.input);
  }

  async writeLarge(tx: Transaction, { item }: Admitted, nowMs: number): Promise<string> {
    const { accountId, input } = item;
    const row = await holdCollection(tx, accountId, input.collection);
    if (row === null) throw missing();
    const accounts = accountsOf([item]);
    const [known] =
      input.kind === 'update' ? [await readKnownIds(tx, accounts, [{ ...nameOf(item), id: input.id }])] : [];
    const fault = faultIn(input, row, known?.count === 1);
    if (fault !== null) throw fault;
    const rows = rowsOf(input, row);
    await sendAdvance(tx, accounts, rows, nowMs);
    // One after the other: between two of them other calls have their turn.
    if (input.kind === 'update') await sendUpdates(tx, accounts, rows);
    else await upsertInSlices(tx, accounts, rows);
    void countAccepted(tx, [item]);
    return answerOf(input);
  }
}

/** One slice after the other, through the same memory: garbage of their size made a full collection of every second long upsert. */
async function upsertInSlices(tx: Transaction, accounts: Buffer, rows: readonly RowChange[]): Promise<void> {
  const room = Buffer.allocUnsafeSlow(SLICE_BYTES + SLICE_ROWS * 8);
  for (const slice of slices(rows)) await sendUpserts(tx, accounts, slice, room);
}

/** Megabytes that nobody needs any more would wait for a collection of the whole heap, and bring it about. */
function freeWritten(input: ChangeInput): void {
  if (input.kind === 'upsert') input.vectors.floats.buffer.transfer(0);
}

function missing(): Problem {
  return problem('COLLECTION_NOT_FOUND', { param: 'collection' });
}

function faultIn(input: ChangeInput, row: CollectionRow, isPresent: boolean): Problem | null {
  if (input.kind === 'update')
    return isPresent
      ? null
      : problem('NOT_FOUND', { param: 'id', message: 'The collection has no vector with this id.' });
  const { lengths, zeros } = input.vectors;
  const wrong = lengths.findIndex((length) => length !== row.dimension);
  const at = wrong === -1 ? (zeros[0] ?? -1) : wrong;
  if (at === -1) return null;
  return faultOf({ length: lengths[at] as number, isZero: wrong === -1 }, row, `vectors[${at}].embedding`);
}

function rowsOf(input: ChangeInput, collection: CollectionRow): RowChange[] {
  if (input.kind === 'update') return [{ collection, id: input.id, embedding: null, metadata: input.metadata }];
  const { vectors } = input;
  return vectors.ids.map((id, i) => ({
    collection,
    id,
    embedding: embeddingAt(vectors, i),
    metadata: metadataAt(vectors, i),
  }));
}

/** The later change of a vector wins; new metadata leaves the embedding of an earlier upsert. */
function add(changes: Map<string, RowChange>, row: RowChange): void {
  const key = `${row.collection.account_id}\n${row.collection.collection_id}\n${row.id}`;
  const earlier = changes.get(key);
  changes.set(key, { ...row, embedding: row.embedding ?? earlier?.embedding ?? null });
}

function slices(rows: readonly RowChange[]): RowChange[][] {
  const all: RowChange[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const size = (row.embedding?.length ?? 0) + (row.metadata?.length ?? 0);
    const slice = all.at(-1);
    if (slice === undefined || bytes + size > SLICE_BYTES || slice.length === SLICE_ROWS) {
      all.push([row]);
      bytes = size;
    } else {
      slice.push(row);
      bytes += size;
    }
  }
  return all;
}

function answerOf(input: ChangeInput): string {
  if (input.kind === 'update') {
    const metadata = input.metadata?.toString('utf8') ?? 'null';
    return `{"collection":"${input.collection}","ok":true,"id":${JSON.stringify(input.id)},"metadata":${metadata}}`;
  }
  const { ids, lengths } = input.vectors;
  const id = lengths.length === 1 ? (ids[0] as string) : null;
  return JSON.stringify({ collection: input.collection, upserted: ids.length, ok: true, id });
}

function nameOf({ accountId, input }: ChangeItem) {
  return { accountId, name: input.collection };
}

function keyOf({ accountId, input }: ChangeItem): string {
  return `${accountId}\n${input.collection}`;
}

function idOf({ input }: ChangeItem): string {
  return input.kind === 'update' ? input.id : '';
}

function namesOf(items: readonly ChangeItem[]) {
  return [...new Map(items.map((item) => [keyOf(item), nameOf(item)])).values()];
}

function byName(rows: readonly CollectionRow[]): Map<string, CollectionRow> {
  return new Map(rows.map((row) => [`${row.account_id}\n${row.name}`, row]));
}
