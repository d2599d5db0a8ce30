// Types of the capture effect.
import type { ReadyDetail } from '../intake/event-detail.ts';
import type { Level } from '../limits.ts';
import type { PeriodCounts } from './period-counts.ts';

/** The capability that every event is one of, and its price. */
export const CAPTURE = 'errors.capture';

/** A draft made ready to be stored: scrubbed, cut into columns. */
export interface CaptureInput {
  readonly fingerprint: string;
  readonly level: Level;
  readonly title: string;
  readonly exceptionType: string | null;
  readonly message: string | null;
  readonly environment: string | null;
  readonly release: string | null;
  readonly userId: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly occurredAtMs: number | null;
  readonly detail: ReadyDetail;
  /** Words for the search index, without the mark of the account. */
  readonly words: readonly string[];
}

/** The same before it is known who captures it. */
export interface ReadyEvent extends CaptureInput {
  /** Tells users apart when there is no `userId`; goes no further than to its hash. */
  readonly contact: string | null;
}

/** How many events of a group have a facet; of a tag name, how many values it has. */
export type FacetCount = readonly [kind: number, name: string, value: string, events: number];

/** A group as it stands under the wallet lock. */
export interface GroupState {
  readonly groupId: bigint;
  readonly title: string;
  level: string;
  isResolved: boolean;
  isIgnored: boolean;
  count: number;
  userCount: number;
  tagNames: number;
  lastSeq: bigint;
  recent: PeriodCounts;
  hours: PeriodCounts;
  /** By `facetKey`; null: they are rows. */
  readonly facets: ReadonlyMap<string, FacetCount> | null;
  toldAtMs: number | null;
  anomalyAtMs: number | null;
  /** Of the first event that was an exception. */
  exceptionType: string | null;
}

/** What the read step found for all calls of the commit. */
export interface KnownState {
  /** By account and fingerprint. */
  readonly groups: ReadonlyMap<string, GroupState>;
  /** A number for each group of the commit, by account and fingerprint: shorter in keys. */
  readonly places: ReadonlyMap<string, number>;
  /** Events of facets that are rows, by account and fingerprint, then by `facetKey`; 1 when they were not counted. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const KIND = { user: 1, release: 2, environment: 3, tag: 4, tagName: 5 } as const;

export function groupKey(accountId: string, fingerprint: string): string {
  return `${accountId}\n${fingerprint}`;
}

/** Of a facet in its group. */
export function facetKey(kind: number, name: string, value: string): string {
  return `${kind} ${name.length} ${name}${value}`;
}
