// Capturing as a lane effect: one event per call, set-based over all calls of the commit. Everything about a group is decided under
// the wallet lock of its account, so of many first events exactly one is the first.
import { type NewEvent, sendEvents } from '../../core/events/outbox.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../core/wallet/lane-item.ts';
import { lockWallets, readClock } from '../../core/wallet/statements.ts';
import { byteaArray, int2Array, int4Array, textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sendActivity } from './activity-store.ts';
import {
  readGroups,
  readValues,
  sendBilled,
  sendDays,
  sendGroups,
  sendNewEvents,
  sendValues,
} from './capture-store.ts';
import { type CaptureInput, type GroupState, groupKey, KIND, type KnownState, valueKey } from './capture-types.ts';
import { sendDetails } from './detail-store.ts';
import { decisiveFigures, type Figure, type FigureSums, tagNameOf } from './figures.ts';
import { GroupBook } from './group-book.ts';
import type { ErrorIds } from './ids.ts';
import { KnownFigures } from './known-figures.ts';
import type { Partitions } from './partitions.ts';
import { parseCounts } from './period-counts.ts';

type Item = LaneItem<CaptureInput, KnownState>;
type Admitted = AdmittedItem<CaptureInput, KnownState>;

interface GroupRow {
  readonly account_id: string;
  readonly fingerprint: Buffer;
  readonly group_id: bigint;
  readonly title: string;
  readonly level: string;
  readonly is_resolved: boolean;
  readonly is_ignored: boolean;
  readonly count: bigint;
  readonly user_count: bigint;
  readonly tag_names: number;
  readonly last_seq: bigint;
  readonly recent: string;
  readonly hours: string;
  readonly told_at: number | null;
  readonly anomaly_at: number | null;
}

export class CaptureEffect implements LaneEffect<CaptureInput, KnownState> {
  readonly name = 'errors.capture';
  readonly #ids: ErrorIds;
  readonly #partitions: Partitions;
  readonly #baseUrl: string;
  readonly #figures = new KnownFigures();
  /** What each commit added to. */
  readonly #written = new WeakMap<KnownState, FigureSums>();

  constructor(ids: ErrorIds, partitions: Partitions, baseUrl: string) {
    this.#ids = ids;
    this.#partitions = partitions;
    this.#baseUrl = baseUrl;
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<KnownState>[]> {
    const accounts = accountsOf(items);
    const wanted = wantedGroups(items);
    // A large event is written outside of the lane: it takes the lock that the lane has.
    const lock = items.some(({ mode }) => mode === 'hold') ? tx.query(lockWallets, [accounts]) : null;
    const [, clock, groups, values] = await Promise.all([
      lock,
      tx.query<{ now: number }>(readClock, []),
      tx.query<GroupRow>(readGroups, [accounts, ...wanted.columns]),
      readValuesOf(tx, accounts, items, wanted, this.#figures),
    ]);
    const nowMs = clock.rows[0]?.now as number;
    if (!this.#partitions.isReady(nowMs)) await this.#partitions.prepare(nowMs);
    const context: KnownState = {
      groups: new Map(groups.rows.map((row) => [keyOf(row), stateOf(row)])),
      places: wanted.places,
      values,
    };
    return items.map(() => ({ kind: 'go', context }));
  }

  write(tx: Transaction, items: readonly Admitted[], nowMs: number): string[] {
    const known = items[0]?.context as KnownState;
    const book = new GroupBook(known, this.#ids, this.#baseUrl, nowMs);
    const texts = items.map((admitted) => book.add(admitted));
    const accounts = accountsOf(items.map(({ item }) => item));
    sendNewEvents(tx, accounts, book.events);
    sendDetails(tx, accounts, book.details.blocks());
    sendGroups(tx, accounts, book.changes());
    sendDays(tx, accounts, book.days);
    sendValues(tx, accounts, book.figures.rows);
    this.#written.set(known, book.figures);
    sendActivity(tx, book.reopenings, nowMs);
    sendEvents(tx, book.told as readonly NewEvent[], nowMs);
    sendBilled(
      tx,
      accounts,
      items.map(({ item }) => item),
    );
    return texts;
  }

  committed(items: readonly Admitted[]): void {
    const known = items[0]?.context as KnownState;
    const groups = [...known.places.keys()];
    for (const { place, key } of this.#written.get(known)?.rows ?? [])
      this.#figures.add(groups[place - 1] as string, key);
  }
}

function accountsOf(items: readonly { readonly accountId: string }[]): Buffer {
  return textArray([...new Set(items.map(({ accountId }) => accountId))].sort());
}

interface WantedGroups {
  /** Place of each group in the columns, from 1, by its key. */
  readonly places: ReadonlyMap<string, number>;
  readonly columns: readonly [Buffer, Buffer];
}

function wantedGroups(items: readonly Item[]): WantedGroups {
  const wanted = new Map(items.map((item) => [groupKey(item.accountId, item.input.fingerprint), item]));
  const list = [...wanted.values()];
  return {
    places: new Map([...wanted.keys()].map((key, i) => [key, i + 1])),
    columns: [
      textArray(list.map(({ accountId }) => accountId)),
      byteaArray(list.map(({ input }) => Buffer.from(input.fingerprint, 'hex'))),
    ],
  };
}

/** Events of the figures that are there already, by `valueKey`: read of those that are not known to be there. */
async function readValuesOf(
  tx: Queryable,
  accounts: Buffer,
  items: readonly Item[],
  { places, columns }: WantedGroups,
  figures: KnownFigures,
): Promise<Map<string, number>> {
  const values = new Map<string, number>();
  const wanted = new Map<string, { accountId: string; place: number; figure: Figure }>();
  for (const { accountId, input } of items) {
    const group = groupKey(accountId, input.fingerprint);
    const place = places.get(group) as number;
    const known = figures.of(group);
    for (const [key, figure] of decisiveFigures(input)) {
      if (known?.has(key) === true) {
        values.set(valueKey(place, key), 1);
        continue;
      }
      wanted.set(valueKey(place, key), { accountId, place, figure });
      if (figure.kind !== KIND.tag) continue;
      const [nameKey, name] = tagNameOf(figure);
      wanted.set(valueKey(place, nameKey), { accountId, place, figure: name });
    }
  }
  if (wanted.size === 0) return values;
  const keys = [...wanted.keys()];
  const rows = [...wanted.values()];
  const { rows: found } = await tx.query<{ position: number; events: bigint }>(readValues, [
    accounts,
    ...columns,
    textArray(rows.map(({ accountId }) => accountId)),
    int4Array(rows.map(({ place }) => place)),
    int2Array(rows.map(({ figure }) => figure.kind)),
    textArray(rows.map(({ figure }) => figure.name)),
    textArray(rows.map(({ figure }) => figure.value)),
  ]);
  for (const { position, events } of found) values.set(keys[position - 1] as string, Number(events));
  return values;
}

function keyOf(row: { readonly account_id: string; readonly fingerprint: Buffer }): string {
  return groupKey(row.account_id, row.fingerprint.toString('hex'));
}

function stateOf(row: GroupRow): GroupState {
  return {
    groupId: row.group_id,
    title: row.title,
    level: row.level,
    isResolved: row.is_resolved,
    isIgnored: row.is_ignored,
    count: Number(row.count),
    userCount: Number(row.user_count),
    tagNames: row.tag_names,
    lastSeq: row.last_seq,
    recent: parseCounts(row.recent),
    hours: parseCounts(row.hours),
    toldAtMs: row.told_at,
    anomalyAtMs: row.anomaly_at,
  };
}
