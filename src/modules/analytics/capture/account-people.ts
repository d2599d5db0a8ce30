// State of one account's people during a commit, under the lock of its wallet. Event by event, numbers are assigned and people joined and
// described. What has changed is written in a few statements at the end.

import type { Join, PersonChange } from '../intake/person-change.ts';
import { PERSON_BYTES_MAX, PERSON_IDS_MAX } from '../limits.ts';
import type { AccountRow, AliasRow, Move, NewAlias, PersonRow, SavedPerson } from './capture-store.ts';

interface Alias {
  readonly number: number;
  /** As it is stored; 0: it is new. */
  readonly stored: number;
}

interface Person {
  ids: number;
  isIdentified: boolean;
  /** JSON members by name. */
  properties: Map<string, string>;
  /** Of the properties as JSON. */
  bytes: number;
  createdMs: number;
  updatedMs: number;
  isStored: boolean;
  isChanged: boolean;
}

export class AccountPeople {
  #numbers: number;
  #changes: bigint;
  #isKnown: boolean;
  readonly #aliases = new Map<string, Alias>();
  readonly #persons = new Map<number, Person>();
  /** People who became part of another one. */
  readonly #into = new Map<number, number>();
  /** People who were there before the commit and have moved. */
  readonly #moved = new Set<number>();
  /** UUIDs that calls of this commit bring, in hex. */
  readonly claimed = new Set<string>();
  readonly seen = new Set<string>();

  constructor(row: AccountRow | undefined) {
    this.#numbers = row?.numbers ?? 0;
    this.#changes = row?.changes ?? 0n;
    this.#isKnown = row !== undefined;
  }

  know({ distinct_id, number, person }: AliasRow): void {
    this.#aliases.set(distinct_id, { number, stored: person });
  }

  knowPerson(row: PersonRow): void {
    this.#persons.set(row.person, {
      ids: row.ids,
      isIdentified: row.is_identified,
      properties: membersOf(row.properties),
      bytes: row.properties.length,
      createdMs: Number(row.created_ms),
      updatedMs: Number(row.updated_ms),
      isStored: true,
      isChanged: false,
    });
  }

  /** The number that events of a distinct ID have: a new one at first sight. */
  number(distinctId: string): number {
    const known = this.#aliases.get(distinctId);
    if (known !== undefined) return known.number;
    this.#numbers += 1;
    this.#aliases.set(distinctId, { number: this.#numbers, stored: 0 });
    return this.#numbers;
  }

  apply({ join, set, setOnce }: PersonChange, distinctId: string, other: string | null, timeMs: number): void {
    let id = this.#personOf(distinctId);
    if (join !== null && other !== null) id = this.#join(join, id, this.#personOf(other), timeMs);
    const person = this.#person(id, timeMs);
    if (join === 'identify') person.isIdentified = true;
    person.isChanged = true;
    person.updatedMs = Math.max(person.updatedMs, timeMs);
    person.createdMs = Math.min(person.createdMs, timeMs);
    describe(person, membersOf(setOnce ?? ''), false);
    describe(person, membersOf(set ?? ''), true);
  }

  pendingChanges() {
    const aliases: NewAlias[] = [];
    for (const [distinctId, { number, stored }] of this.#aliases) {
      if (stored !== 0) continue;
      const person = this.#rootOf(number);
      aliases.push({ distinctId, number, person, changed: person === number ? 0n : this.#changes });
    }
    const moves: Move[] = [...this.#moved].map((person) => ({
      person,
      into: this.#rootOf(person),
      changed: this.#changes,
    }));
    const persons: SavedPerson[] = [];
    for (const [person, { ids, isIdentified, properties, createdMs, updatedMs, isChanged }] of this.#persons) {
      if (!isChanged || this.#into.has(person)) continue;
      persons.push({ person, ids, isIdentified, properties: jsonOfMembers(properties), createdMs, updatedMs });
    }
    const gone = [...this.#into.keys()].filter((person) => this.#persons.get(person)?.isStored === true);
    const isChanged = !this.#isKnown || aliases.length > 0 || moves.length > 0;
    return {
      account: isChanged ? { numbers: this.#numbers, changes: this.#changes } : null,
      aliases,
      moves,
      persons,
      gone,
    };
  }

  #personOf(distinctId: string): number {
    const number = this.number(distinctId);
    return this.#rootOf((this.#aliases.get(distinctId) as Alias).stored || number);
  }

  #rootOf(person: number): number {
    let root = person;
    for (let next = this.#into.get(root); next !== undefined; next = this.#into.get(root)) root = next;
    return root;
  }

  #person(id: number, timeMs: number): Person {
    let person = this.#persons.get(id);
    if (person === undefined) {
      person = {
        ids: 1,
        isIdentified: false,
        properties: new Map(),
        bytes: 2,
        createdMs: timeMs,
        updatedMs: timeMs,
        isStored: false,
        isChanged: false,
      };
      this.#persons.set(id, person);
    }
    return person;
  }

  /** Makes one person of two, if they may be one. Answers who the first one is then. What the first one is like counts. */
  #join(join: Join, first: number, second: number, timeMs: number): number {
    if (first === second) return first;
    const [one, two] = [this.#person(first, timeMs), this.#person(second, timeMs)];
    if (join !== 'merge' && two.isIdentified) return first;
    if (one.ids + two.ids > PERSON_IDS_MAX) return first;
    // The one with more IDs stays where it is: fewer rows move.
    const [root, from] = two.ids > one.ids ? [second, first] : [first, second];
    const properties = new Map(one.properties);
    const joined: Person = {
      ids: one.ids + two.ids,
      isIdentified: one.isIdentified || two.isIdentified,
      properties,
      bytes: one.bytes,
      createdMs: Math.min(one.createdMs, two.createdMs),
      updatedMs: Math.max(one.updatedMs, two.updatedMs),
      isStored: this.#persons.get(root)?.isStored === true,
      isChanged: true,
    };
    describe(joined, two.properties, false);
    this.#persons.set(root, joined);
    this.#into.set(from, root);
    // Of people who are new in this commit there is nothing to move.
    this.#moved.add(from);
    this.#changes += 1n;
    return root;
  }
}

/** Adds properties that there is room for. */
function describe(person: Person, members: ReadonlyMap<string, string>, replaces: boolean): void {
  const { properties } = person;
  for (const [name, json] of members) {
    const before = properties.get(name);
    if (before !== undefined && !replaces) continue;
    const more = json.length - (before === undefined ? -name.length - 6 : before.length);
    if (person.bytes + more > PERSON_BYTES_MAX) continue;
    person.bytes += more;
    properties.set(name, json);
  }
}

function membersOf(json: string): Map<string, string> {
  if (json === '' || json === '{}') return new Map();
  return new Map(Object.entries(JSON.parse(json) as object).map(([name, value]) => [name, JSON.stringify(value)]));
}

export function jsonOfMembers(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
