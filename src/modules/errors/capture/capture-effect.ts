// Capture as a lane effect: one event per call, set-based over all calls of the commit. Everything about a group is decided under the wallet
// lock of its account, so of many first events exactly one is the first.

import { type NewEvent, sendEvents } from '../../../core/events/outbox.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { accountsOf, byteaArray, int2Array, int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { sendActivity } from '../groups/activity-store.ts';
import { readFacets, readGroups, sendDays, sendFacets, sendGroups, sendNewEvents } from './capture-store.ts';
import { CAPTURE, type CaptureInput, type GroupState, groupKey, KIND, type KnownState } from './capture-types.ts';
import { sendDetails } from './detail-blocks.ts';
import { decisiveFacets, type Facet, KnownFacets, parseFacets, tagNameOf } from './facets.ts';
import { type FacetKeys, GroupTally } from './group-tally.ts';
import type { ErrorIds } from './ids.ts';
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
  readonly facets: string | null;
  readonly told_at: number | null;
  readonly anomaly_at: number | null;
  readonly exception_type: string | null;
}

export class CaptureEffect implements LaneEffect<CaptureInput, KnownState> {
  readonly name = CAPTURE;
  readonly readsUnderLock = true;
  readonly #ids: ErrorIds;
  readonly #baseUrl: string;
  readonly #facets = new KnownFacets();
  /** The facets that each commit wrote as rows. */
  readonly #written = new WeakMap<KnownState, readonly FacetKeys[]>();

  constructor(ids: ErrorIds, baseUrl: string) {
    this.#ids = ids;
    this.#baseUrl = baseUrl;
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<KnownState>[]> {
    const accounts = accountsOf(items);
    const wanted = wantedGroups(items);
    const isKnown = (group: string) => this.#facets.of(group) !== undefined;
    const [groups, asked] = await Promise.all([
      tx.query<GroupRow>(readGroups, [accounts, ...wanted.columns]),
      readRowsOf(tx, accounts, items, wanted, this.#facets, isKnown),
    ]);
    const states = new Map(groups.rows.map((row) => [keyOf(row), stateOf(row)]));
    // This process has not written to them since their facets became rows: it had no reason to ask for these.
    const isNews = (group: string) => states.get(group)?.facets === null && !asked.has(group);
    const rows = new Map([...asked, ...(await readRowsOf(tx, accounts, items, wanted, this.#facets, isNews))]);
    const context: KnownState = { groups: states, places: wanted.places, rows };
    return items.map(() => ({ kind: 'go', context }));
  }

  write(tx: Transaction, items: readonly Admitted[], nowMs: number): string[] {
    const known = items[0]?.context as KnownState;
    const tally = new GroupTally(known, this.#ids, this.#baseUrl, nowMs);
    const texts = items.map((admitted) => tally.add(admitted));
    const accounts = accountsOf(items.map(({ item }) => item));
    sendNewEvents(tx, accounts, tally.events);
    sendDetails(tx, accounts, tally.details.blocks());
    const { groups, values } = tally.changes();
    sendGroups(tx, accounts, groups);
    sendDays(tx, accounts, tally.days);
    sendFacets(tx, accounts, values);
    this.#written.set(known, values);
    sendActivity(tx, tally.reopenings, nowMs);
    sendEvents(tx, tally.told as readonly NewEvent[], nowMs);
    void countAccepted(
      tx,
      items.map(({ item }) => item),
    );
    return texts;
  }

  afterCommit(items: readonly Admitted[]): void {
    const written = this.#written.get(items[0]?.context as KnownState) ?? [];
    for (const { group, key } of written) this.#facets.add(group, key);
  }
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

/**
 * Events of the facets that are rows already, of the groups that `isAsked` says yes to: read are those that this process does not
 * know to be there.
 */
async function readRowsOf(
  tx: Queryable,
  accounts: Buffer,
  items: readonly Item[],
  { places, columns }: WantedGroups,
  known: KnownFacets,
  isAsked: (group: string) => boolean,
): Promise<Map<string, Map<string, number>>> {
  const found = new Map<string, Map<string, number>>();
  const wanted: WantedFacet[] = [];
  for (const { accountId, input } of items) {
    const group = groupKey(accountId, input.fingerprint);
    if (!isAsked(group)) continue;
    let facets = found.get(group);
    if (facets === undefined) {
      facets = new Map();
      found.set(group, facets);
    }
    const there = known.of(group);
    for (const [key, facet] of decisiveFacets(input)) {
      if (facets.has(key)) continue;
      facets.set(key, there?.has(key) === true ? 1 : 0);
      if (there?.has(key) === true) continue;
      wanted.push({ accountId, place: places.get(group) as number, facet, facets, key });
      if (facet.kind !== KIND.tag) continue;
      const [nameKey, name] = tagNameOf(facet);
      if (!facets.has(nameKey)) wanted.push({ ...(wanted.at(-1) as WantedFacet), facet: name, key: nameKey });
      facets.set(nameKey, 0);
    }
  }
  if (wanted.length === 0) return found;
  const { rows } = await tx.query<{ position: number; events: bigint }>(readFacets, [
    accounts,
    ...columns,
    textArray(wanted.map(({ accountId }) => accountId)),
    int4Array(wanted.map(({ place }) => place)),
    int2Array(wanted.map(({ facet }) => facet.kind)),
    textArray(wanted.map(({ facet }) => facet.name)),
    textArray(wanted.map(({ facet }) => facet.value)),
  ]);
  for (const { position, events } of rows) {
    const { facets, key } = wanted[position - 1] as WantedFacet;
    facets.set(key, Number(events));
  }
  return found;
}

interface WantedFacet {
  readonly accountId: string;
  readonly place: number;
  readonly facet: Facet;
  /** Where what is found is told. */
  readonly facets: Map<string, number>;
  readonly key: string;
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
    facets: parseFacets(row.facets),
    toldAtMs: row.told_at,
    anomalyAtMs: row.anomaly_at,
    exceptionType: row.exception_type,
  };
}
