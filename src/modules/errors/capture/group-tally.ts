// Changes of groups by the events of one commit, computed without a database: rows, facets, events to emit, answers.
import type { NewEvent } from '../../../core/events/outbox.ts';
import type { AdmittedItem } from '../../../core/wallet/lane/lane-item.ts';
import { firstCharacters } from '../../../lib/clean-text.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import type { NewActivity } from '../groups/activity-store.ts';
import { dayOf } from '../retention.ts';
import type { DayCount, FacetChange, GroupChange, NewEventRow } from './capture-store.ts';
import { type CaptureInput, type GroupState, groupKey, type KnownState } from './capture-types.ts';
import { DetailBlocks } from './detail-blocks.ts';
import { addFacets, FacetSums, facetsText } from './facets.ts';
import { dashboardUrl, type ErrorIds } from './ids.ts';
import { addHour, addRecent, isAnomalous, noCounts, rates } from './period-counts.ts';

type Admitted = AdmittedItem<CaptureInput, KnownState>;

const TOLD_EVERY_MS = 60_000;
const ANOMALY_EVERY_MS = 30 * 60_000;
const TOLD_MESSAGE_CHARACTERS = 1_000;

interface Entry {
  readonly accountId: string;
  readonly fingerprint: string;
  readonly state: GroupState;
  readonly facets: FacetSums;
  readonly before: Pick<GroupState, 'count' | 'userCount' | 'tagNames'>;
}

/** Names a facet in `KnownFacets`. */
export interface FacetKeys {
  readonly group: string;
  readonly key: string;
}

export class GroupTally {
  readonly events: NewEventRow[] = [];
  readonly details = new DetailBlocks();
  readonly reopenings: NewActivity[] = [];
  readonly told: NewEvent[] = [];
  readonly #known: KnownState;
  readonly #ids: ErrorIds;
  readonly #baseUrl: string;
  readonly #nowMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #days = new Map<string, DayCount>();
  readonly #marks = new Map<string, string>();

  constructor(known: KnownState, ids: ErrorIds, baseUrl: string, nowMs: number) {
    this.#known = known;
    this.#ids = ids;
    this.#baseUrl = baseUrl;
    this.#nowMs = nowMs;
  }

  get days(): readonly DayCount[] {
    return [...this.#days.values()];
  }

  /** What becomes of the groups, and of those facets that are rows. */
  changes(): { groups: GroupChange[]; values: (FacetChange & FacetKeys)[] } {
    const values: (FacetChange & FacetKeys)[] = [];
    const groups = [...this.#entries].map(([group, { accountId, fingerprint, state, facets: sums, before }]) => {
      const { added } = sums;
      const all = state.facets === null ? null : addFacets(state.facets, added);
      const facets = all === null ? null : facetsText(all.values());
      if (facets === null) {
        const { groupId } = state;
        for (const [key, facet] of all ?? added) values.push({ accountId, groupId, facet, group, key });
      }
      return {
        accountId,
        fingerprint,
        state,
        facets,
        events: state.count - before.count,
        users: state.userCount - before.userCount,
        tagNames: state.tagNames - before.tagNames,
      };
    });
    return { groups, values };
  }

  /** Takes one event; answers the JSON text of its CaptureResult. */
  add({ item, firstSeq: seq }: Admitted): string {
    const { accountId, input } = item;
    const key = groupKey(accountId, input.fingerprint);
    const place = this.#known.places.get(key) as number;
    const { entry, isNew } = this.#entryOf(key, accountId, input, seq);
    const { state, facets } = entry;
    const atMs = sequenceMs(seq);
    const reopened = state.isResolved;
    state.count += 1;
    state.level = input.level;
    state.isResolved = false;
    state.exceptionType ??= input.exceptionType;
    if (seq > state.lastSeq) state.lastSeq = seq;
    state.recent = addRecent(state.recent, atMs);
    state.hours = addHour(state.hours, atMs);
    facets.addEvent(state, input);
    this.#countDay(accountId, place, state.groupId, input, atMs);
    this.events.push(this.#row(accountId, state.groupId, seq, input));
    const eventId = this.#ids.eventId(accountId, seq);
    if (reopened) {
      this.reopenings.push({ accountId, groupId: state.groupId, type: 'reopened', keyId: null, subject: eventId });
    }
    this.#tell(item, state, { seq, isNew, reopened });
    const groupId = this.#ids.groupId(accountId, state.groupId);
    return JSON.stringify({
      event_id: eventId,
      fingerprint: input.fingerprint,
      error_group_id: groupId,
      is_new_group: isNew,
      reopened,
      dashboard_url: dashboardUrl(this.#baseUrl, groupId),
    });
  }

  #entryOf(key: string, accountId: string, input: CaptureInput, seq: bigint): { entry: Entry; isNew: boolean } {
    const open = this.#entries.get(key);
    if (open !== undefined) return { entry: open, isNew: false };
    const known = this.#known.groups.get(key);
    const state = known === undefined ? newGroup(input, seq) : { ...known };
    const { count, userCount, tagNames } = state;
    const rows = this.#known.rows.get(key);
    const inline = state.facets;
    const facets = new FacetSums((facet) => (inline === null ? rows?.get(facet) : inline.get(facet)?.[3]) ?? 0);
    const entry = { accountId, fingerprint: input.fingerprint, state, facets, before: { count, userCount, tagNames } };
    this.#entries.set(key, entry);
    return { entry, isNew: known === undefined };
  }

  #countDay(accountId: string, place: number, groupId: bigint, input: CaptureInput, atMs: number): void {
    const environment = input.environment ?? '';
    const { level } = input;
    const day = dayOf(atMs);
    const ofDay = { accountId, day, environment, level, events: 1 };
    bump(this.#days, `${place} ${day} ${environment} ${level}`, { ...ofDay, groupId });
    bump(this.#days, `${accountId} ${day} ${environment} ${level}`, { ...ofDay, groupId: 0n });
  }

  #row(accountId: string, groupId: bigint, seq: bigint, input: CaptureInput): NewEventRow {
    const { level, title, message, environment, release, userId, occurredAtMs, detail } = input;
    const mark = this.#markOf(accountId);
    const words = input.words.map((word) => mark + word).join(' ');
    const tags = JSON.stringify(input.tags);
    return {
      accountId,
      groupId,
      seq,
      level,
      title,
      message,
      environment,
      release,
      userId,
      occurredAtMs,
      tags,
      detail: this.details.add(accountId, seq, detail),
      words,
    };
  }

  #markOf(accountId: string): string {
    const mark = this.#marks.get(accountId) ?? this.#ids.searchMark(accountId);
    this.#marks.set(accountId, mark);
    return mark;
  }

  /** Contract of errors: the first event and a reopening are told, then one a minute; an anomaly once in half an hour. */
  #tell(
    item: Admitted['item'],
    state: GroupState,
    { seq, isNew, reopened }: { seq: bigint; isNew: boolean; reopened: boolean },
  ): void {
    if (state.isIgnored) return;
    const due = (lastMs: number | null, everyMs: number) => lastMs === null || this.#nowMs - lastMs >= everyMs;
    if (isNew || reopened || due(state.toldAtMs, TOLD_EVERY_MS)) {
      state.toldAtMs = this.#nowMs;
      this.#push(item, 'error.captured', state, seq, { is_new_group: isNew, is_reopened: reopened });
    }
    if (due(state.anomalyAtMs, ANOMALY_EVERY_MS) && isAnomalous(state.recent)) {
      state.anomalyAtMs = this.#nowMs;
      const { now, baseline } = rates(state.recent);
      const rounded = Math.round(baseline * 100) / 100;
      this.#push(item, 'error.rate_anomaly', state, seq, { count_5m: now, baseline_5m: rounded });
    }
  }

  #push(
    { accountId, requestId, input }: Admitted['item'],
    type: string,
    state: GroupState,
    seq: bigint,
    more: object,
  ): void {
    const message = input.message === null ? null : firstCharacters(input.message, TOLD_MESSAGE_CHARACTERS);
    const object = { ...this.#eventObject(accountId, input, state, seq), message, ...more };
    const data = message === input.message ? { object } : { object, truncated: true };
    this.told.push({ accountId, type, data, requestId });
  }

  /** The event and its group without what may be long or about users: stacks, breadcrumbs, context, extra, request, user. */
  #eventObject(accountId: string, input: CaptureInput, state: GroupState, seq: bigint): object {
    const groupId = this.#ids.groupId(accountId, state.groupId);
    return {
      event_id: this.#ids.eventId(accountId, seq),
      fingerprint: input.fingerprint,
      error_group_id: groupId,
      timestamp: iso(input.occurredAtMs ?? sequenceMs(seq)),
      level: input.level,
      title: input.title,
      environment: input.environment,
      release: input.release,
      tags: input.tags,
      group_title: state.title,
      group_count: state.count,
      group_user_count: state.userCount,
      group_first_seen_at: iso(sequenceMs(state.groupId)),
      group_last_seen_at: iso(sequenceMs(state.lastSeq)),
      received_at: iso(sequenceMs(seq)),
      is_resolved: false,
      is_ignored: false,
      dashboard_url: dashboardUrl(this.#baseUrl, groupId),
    };
  }
}

function newGroup(input: CaptureInput, seq: bigint): GroupState {
  return {
    groupId: seq,
    title: input.title,
    level: input.level,
    isResolved: false,
    isIgnored: false,
    count: 0,
    userCount: 0,
    tagNames: 0,
    lastSeq: seq,
    recent: noCounts,
    hours: noCounts,
    facets: new Map(),
    toldAtMs: null,
    anomalyAtMs: null,
    exceptionType: null,
  };
}

function bump(counts: Map<string, DayCount>, key: string, row: DayCount): void {
  const sum = counts.get(key);
  if (sum === undefined) counts.set(key, row);
  else sum.events += 1;
}
