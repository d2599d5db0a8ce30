// Facets of a group: its users, releases, environments and tags, each counted. This file has the facets that an event adds to (caps of contract
// of errors), their encoding, and those known to be in the database.
import { LRUCache } from 'lru-cache';
import { firstCharacters } from '../../../lib/clean-text.ts';
import { NAME_CHARACTERS_MAX, TAG_NAMES_COUNTED_MAX, TAG_VALUES_COUNTED_MAX } from '../limits.ts';
import { type CaptureInput, type FacetCount, facetKey, type GroupState, KIND } from './capture-types.ts';

export const OTHER = '(other)';

export interface Facet {
  readonly kind: number;
  readonly name: string;
  readonly value: string;
}

/** The facets of an event whose being new matters to its group, each by its key. */
export function decisiveFacets(input: CaptureInput): [string, Facet][] {
  const tags = Object.entries(input.tags).map(([name, value]) => facetEntry(KIND.tag, name, countedValue(value)));
  return input.userId === null ? tags : [facetEntry(KIND.user, input.userId, ''), ...tags];
}

/** What a new value of the tag is counted by. */
export function tagNameOf(tag: Facet): [string, Facet] {
  return facetEntry(KIND.tagName, tag.name, '');
}

function facetEntry(kind: number, name: string, value: string): [string, Facet] {
  return [facetKey(kind, name, value), { kind, name, value }];
}

/** Long values are counted by how they begin. */
function countedValue(value: string): string {
  return firstCharacters(value, NAME_CHARACTERS_MAX);
}

interface Sum {
  readonly facet: Facet;
  /** Events that it had before the commit. */
  readonly before: number;
  events: number;
}

/** Sums what the events of a commit add to one group, and tells what is new against what was there. */
export class FacetSums {
  readonly #before: (key: string) => number;
  readonly #sums = new Map<string, Sum>();

  /** `before`: events that a facet had before the commit, by `facetKey`. */
  constructor(before: (key: string) => number) {
    this.#before = before;
  }

  /** What is added, by `facetKey`. */
  get added(): [string, FacetCount][] {
    return [...this.#sums]
      .filter(([, { events }]) => events > 0)
      .map(([key, { facet, events }]) => [key, [facet.kind, facet.name, facet.value, events]]);
  }

  /** Adds one event; counts new users and tag names in `group`. */
  addEvent(group: GroupState, input: CaptureInput): void {
    const add = (kind: number, name: string) => this.#add(this.#open({ kind, name, value: '' }));
    if (input.userId !== null && add(KIND.user, input.userId) === 0) group.userCount += 1;
    if (input.release !== null) add(KIND.release, input.release);
    if (input.environment !== null) add(KIND.environment, input.environment);
    for (const name of Object.keys(input.tags)) this.#addTag(group, name, input.tags[name] as string);
  }

  #addTag(group: GroupState, name: string, sent: string): void {
    const tag = this.#open({ kind: KIND.tag, name, value: countedValue(sent) });
    if (tag.before + tag.events === 0) {
      // Of a tag name the distinct values are counted.
      const values = this.#open({ kind: KIND.tagName, name, value: '' });
      const distinct = values.before + values.events;
      if (distinct >= TAG_VALUES_COUNTED_MAX) {
        this.#add(this.#open({ kind: KIND.tag, name, value: OTHER }));
        return;
      }
      if (distinct === 0) {
        if (group.tagNames >= TAG_NAMES_COUNTED_MAX) return;
        group.tagNames += 1;
      }
      this.#add(values);
    }
    this.#add(tag);
  }

  #open(facet: Facet): Sum {
    const key = facetKey(facet.kind, facet.name, facet.value);
    let sum = this.#sums.get(key);
    if (sum === undefined) {
      sum = { facet, before: this.#before(key), events: 0 };
      this.#sums.set(key, sum);
    }
    return sum;
  }

  /** Answers what was there before. */
  #add(sum: Sum): number {
    const before = sum.before + sum.events;
    sum.events += 1;
    return before;
  }
}

// Facets of a group in the group's own row, as JSON, as long as they are short: with many groups of few events each, a row for each
// facet took PostgreSQL a sixth of what a capture costs (45 of 290 µs). Once they are too long they move to errors.facet_count for
// good, where a commit adds to those that it changes.

/** With the rest of its row below the 2 KB from which PostgreSQL cuts rows in pieces. */
const INLINE_BYTES_MAX = 1_024;

/** By `facetKey`; null: the facets of the group are rows. */
export function parseFacets(text: string | null): Map<string, FacetCount> | null {
  if (text === null) return null;
  const facets = JSON.parse(text) as FacetCount[];
  return new Map(facets.map((facet) => [facetKey(facet[0], facet[1], facet[2]), facet]));
}

/** Null when they are too many for the group's row. */
export function facetsText(facets: Iterable<FacetCount>): string | null {
  const text = JSON.stringify([...facets]);
  return Buffer.byteLength(text) > INLINE_BYTES_MAX ? null : text;
}

/** What is there and what is added, as one. */
export function addFacets(
  there: ReadonlyMap<string, FacetCount>,
  added: readonly (readonly [string, FacetCount])[],
): Map<string, FacetCount> {
  const sums = new Map(there);
  for (const [key, [kind, name, value, events]] of added) {
    sums.set(key, [kind, name, value, events + (there.get(key)?.[3] ?? 0)]);
  }
  return sums;
}

// Facets that are surely in the database, by group. A facet is never removed, so what was there once need not be read again: of
// captures that repeat themselves the read was a fifth of what they cost PostgreSQL (45 of 250 µs with 2,000 fingerprints).

/** About 10 MB. */
const FACETS_MAX = 100_000;
const OF_GROUP_MAX = FACETS_MAX / 4;

export class KnownFacets {
  readonly #groups = new LRUCache<string, Set<string>>({ maxSize: FACETS_MAX });

  /** `facetKey` of what is known of the group, `groupKey`. */
  of(group: string): ReadonlySet<string> | undefined {
    return this.#groups.get(group);
  }

  /** To be called once the facet is committed. */
  add(group: string, facet: string): void {
    let known = this.#groups.get(group);
    if (known?.has(facet) === true) return;
    if (known === undefined || known.size >= OF_GROUP_MAX) known = new Set();
    known.add(facet);
    // The size of what is there already would not be taken anew.
    this.#groups.delete(group);
    this.#groups.set(group, known, { size: known.size });
  }
}
