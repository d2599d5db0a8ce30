// Analytics without a database: events are judged, packed and merged by the module's own functions, people joined by the commit's; rows of people are
// kept in maps. Beside it the plain reference takes the same events.
import { expect } from 'vitest';
import type { BlockThreads } from '../../src/blocks/threads.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { AccountPeople } from '../../src/modules/analytics/capture/account-people.ts';
import { draftsOfFew } from '../../src/modules/analytics/capture/few-events.ts';
import { analyticsKind, mergeEvents } from '../../src/modules/analytics/events/kind.ts';
import { packPeople } from '../../src/modules/analytics/events/pack.ts';
import { readyCapture } from '../../src/modules/analytics/intake/native.ts';
import type { ReadyEvents } from '../../src/modules/analytics/intake/ready-events.ts';
import { IntTable } from '../../src/modules/analytics/people/int-table.ts';
import { DELETED } from '../../src/modules/analytics/people/joins.ts';
import type { Question } from '../../src/modules/analytics/queries/period.ts';
import { MemoryBlocks } from '../support/memory-blocks.ts';
import { type RefEvent, Reference } from './reference.ts';

interface Alias {
  readonly number: number;
  person: number;
}

type PeopleChange = ReturnType<AccountPeople['pendingChanges']>;

export class MemoryAnalytics {
  readonly blocks = new MemoryBlocks(analyticsKind);
  readonly reference = new Reference();
  readonly #core: { readonly blockThreads: BlockThreads };
  readonly #aliases = new Map<string, Alias>();
  readonly #persons = new Map<number, PeopleChange['persons'][number]>();
  readonly #deleted = new Set<number>();
  #account: { readonly numbers: number; readonly changes: bigint } = { numbers: 0, changes: 0n };
  #hasErased = true;
  #calls = 0;

  constructor(blockThreads: BlockThreads) {
    this.#core = { blockThreads };
  }

  capture(events: RefEvent[]): void {
    const ready = readyCapture({ items: events }, Date.now());
    expect([ready.records, ready.rejected]).toEqual([events.length, []]);
    for (const event of events) this.reference.add(event);
    this.#calls += 1;
    const firstSeq = sequenceAt(Date.now() + this.#calls * 1_000);
    const persons = this.#people(ready);
    for (const part of ready.parts ?? [])
      this.blocks.add(firstSeq + BigInt(part.start), packPeople(ready, part, persons));
    if (ready.parts !== null) return;
    for (const { blockId, draft } of draftsOfFew([{ input: ready, persons, firstSeq }]))
      this.blocks.add(blockId, draft);
  }

  /** The people of the events, as the commit makes them. */
  #people({ ids, idOf, people: changes, times }: ReadyEvents): Int32Array {
    const people = new AccountPeople({ account_id: 'acc_1', ...this.#account });
    for (const [distinct_id, alias] of this.#aliases) people.know({ account_id: 'acc_1', distinct_id, ...alias });
    for (const saved of this.#persons.values()) {
      people.knowPerson({
        account_id: 'acc_1',
        person: saved.person,
        ids: saved.ids,
        is_identified: saved.isIdentified,
        properties: saved.properties,
        created_ms: BigInt(saved.createdMs),
        updated_ms: BigInt(saved.updatedMs),
      });
    }
    const persons = Int32Array.from(idOf, (id) => people.number(ids[id] as string));
    for (const change of changes) {
      const other = change.other === null ? null : (ids[change.other] as string);
      people.apply(change, ids[idOf[change.event] as number] as string, other, times[change.event] as number);
    }
    this.#save(people.pendingChanges());
    return persons;
  }

  #save({ account, aliases, moves, persons, gone }: PeopleChange): void {
    this.#account = account ?? this.#account;
    for (const { person, into } of moves)
      for (const alias of this.#aliases.values()) if (alias.person === person) alias.person = into;
    for (const { distinctId, number, person } of aliases) this.#aliases.set(distinctId, { number, person });
    for (const person of gone) this.#persons.delete(person);
    for (const saved of persons) this.#persons.set(saved.person, saved);
  }

  delete(distinctId: string): void {
    this.reference.delete(distinctId);
    const person = this.#aliases.get(distinctId)?.person;
    for (const [id, alias] of this.#aliases) {
      if (alias.person !== person) continue;
      this.#deleted.add(alias.number);
      this.#aliases.delete(id);
    }
    if (person !== undefined) this.#persons.delete(person);
    this.#hasErased = false;
  }

  /** What deleted people did leaves the blocks. */
  erase(): void {
    this.blocks.rewrite((blocks) => mergeEvents(blocks, (number) => !this.#deleted.has(number)));
    this.#hasErased = true;
  }

  /** Numbers of all IDs of the person. */
  numbersOf(distinctId: string): number[] {
    const person = this.#aliases.get(distinctId)?.person;
    return [...this.#aliases.values()].filter((alias) => alias.person === person).map(({ number }) => number);
  }

  nameOf(number: number): string | undefined {
    return [...this.#aliases].find(([, alias]) => alias.number === number)?.[0];
  }

  /** Who joined whom, as the module tells it. */
  personOf(distinctId: string): { readonly ids: string[]; readonly isIdentified: boolean } {
    const person = this.#aliases.get(distinctId)?.person;
    const ids = [...this.#aliases].filter(([, alias]) => alias.person === person).map(([id]) => id);
    return { ids, isIdentified: person !== undefined && this.#persons.get(person)?.isIdentified === true };
  }

  question({ from, to }: { readonly from: string; readonly to: string }): Question {
    const table = new IntTable(null, true);
    for (const { number, person } of this.#aliases.values()) if (number !== person) table.set(number, person);
    for (const number of this.#deleted) table.set(number, DELETED);
    return {
      ctx: { core: this.#core, accountId: 'acc_1' },
      state: { store: this.blocks },
      period: { fromMs: Date.parse(from), toMs: Date.parse(to) },
      known: { table, changed: 0n, number: 0, hasDeleted: !this.#hasErased },
      signal: new AbortController().signal,
    } as unknown as Question;
  }
}
