// Metrics ingest as a lane effect. Series are registered in the commit of their samples; the limit of live series is enforced under the wallet's
// lock. Series that this process has counted in the current hour are not read again, so a usual call writes one block and nothing else.
import { type SentBlock, sendBlocks } from '../../../blocks/send.ts';
import type { LaneEffect, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { accountsOf } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { type SampleBatch, seriesCount, seriesId } from '../intake/batch.ts';
import { INGEST } from '../limits.ts';
import { samplesKind } from '../samples/kind.ts';
import { KnownSeries } from '../series/known.ts';
import {
  hourOf,
  keyOf,
  type Owned,
  readAccounts,
  readMetrics,
  readSeries,
  sendAccounts,
  sendMetrics,
  sendSeries,
} from '../series/store.ts';
import { blocksOf } from './blocks.ts';
import { KnownMetrics } from './known-metrics.ts';
import { type IngestAdmitted, type IngestInput, type IngestItem, type Known, Registration } from './registration.ts';

export class IngestEffect implements LaneEffect<IngestInput, Registration> {
  readonly name = INGEST;
  readonly readsUnderLock = true;
  readonly #series = new KnownSeries();
  readonly #metrics = new KnownMetrics();
  /** How far the database's clock is ahead of this process's. */
  #offsetMs = 0;

  exclusiveKeys(): readonly string[] {
    return [];
  }

  /** Whether so many series of the batch have rows to be written. */
  newRows(accountId: string, batch: SampleBatch): number {
    return this.#unknown(accountId, batch).length;
  }

  async read(tx: Queryable, items: readonly IngestItem[]): Promise<ReadVerdict<Registration>[]> {
    const asked = items.map((item) => this.#unknown(item.accountId, item.input.batch));
    const known = await this.#read(tx, items, asked);
    return items.map((item, i) => {
      const context = new Registration(item, asked[i] as number[], known, this.#metrics);
      return { kind: 'go', context, units: BigInt(context.accepted) };
    });
  }

  async #read(tx: Queryable, items: readonly IngestItem[], asked: readonly (readonly number[])[]): Promise<Known> {
    const [ids, names]: [Owned<string>[], Owned<string>[]] = [[], []];
    for (const [i, { accountId, input }] of items.entries()) {
      for (const series of asked[i] as number[]) ids.push({ accountId, value: seriesId(input.batch, series) });
      const news = this.#metrics.newsIn(accountId, input.batch, asked[i] as number[]);
      for (const value of news) names.push({ accountId, value });
    }
    if (ids.length === 0 && names.length === 0) return { accounts: new Map(), series: new Map(), metrics: new Map() };
    const accounts = accountsOf(items);
    const [states, series, metrics] = await Promise.all([
      readAccounts(tx, accounts),
      readSeries(tx, accounts, ids),
      readMetrics(tx, accounts, names),
    ]);
    return { accounts: states, series, metrics };
  }

  write(tx: Transaction, items: readonly IngestAdmitted[], nowMs: number): string[] {
    this.#offsetMs = nowMs - Date.now();
    const accounts = accountsOf(items.map(({ item }) => item));
    const blocks: SentBlock[] = blocksOf(items);
    sendBlocks(tx, samplesKind, blocks);
    const changed = new Map(
      items.flatMap(({ item, context }) =>
        context.account === null || !context.changesAccount ? [] : [[item.accountId, context.account] as const],
      ),
    );
    sendSeries(
      tx,
      accounts,
      uniqueBy(
        items.flatMap(({ context }) => context.series()),
        ({ value: [{ id }] }) => id,
      ),
    );
    sendMetrics(
      tx,
      accounts,
      uniqueBy(
        items.flatMap(({ context }) => context.metrics()),
        ({ value }) => value.name,
      ),
    );
    sendAccounts(tx, accounts, changed);
    void countAccepted(
      tx,
      items.map(({ item, context }) => ({ ...item, units: BigInt(context.accepted) })),
    );
    return items.map(({ context }) => context.answer());
  }

  afterCommit(items: readonly IngestAdmitted[]): void {
    for (const { item, context } of items) {
      for (const { value } of context.series()) {
        const [{ id }, { liveHour, firstHour, lastHour }] = value;
        if (lastHour >= liveHour) this.#series.add(item.accountId, id, liveHour, firstHour);
      }
      for (const { value } of context.metrics()) this.#metrics.add(item.accountId, value);
    }
  }

  /** Places of the series whose rows are to be looked at. */
  #unknown(accountId: string, batch: SampleBatch): number[] {
    const hour = hourOf(Date.now() + this.#offsetMs);
    const { firstHours, lastHours } = batch;
    const unknown: number[] = [];
    for (let i = 0; i < seriesCount(batch); i += 1) {
      const [first, last] = [firstHours[i] as number, lastHours[i] as number];
      if (first >= 0 && !this.#series.has(accountId, seriesId(batch, i), hour, first, last)) unknown.push(i);
    }
    // What differences add up to stands in the row.
    const known = new Set(unknown);
    for (const { series } of batch.differences) {
      if (known.has(series)) continue;
      known.add(series);
      unknown.push(series);
    }
    return unknown;
  }
}

/** The last of each: calls of one commit share what they change. In one order everywhere, so two transactions never wait for each other. */
function uniqueBy<Value>(rows: readonly Owned<Value>[], of: (row: Owned<Value>) => string): Owned<Value>[] {
  const unique = new Map(rows.map((row) => [keyOf(row.accountId, of(row)), row]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
