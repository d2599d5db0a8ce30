// Lists single events of blocks, newest first, mostly in threads.
import type { ScanTask } from '../../../blocks/block.ts';
import { StoredEvents, StoredProperties, uuidAt } from '../events/stored-events.ts';
import { IntTable } from '../people/int-table.ts';
import { DELETED } from '../people/joins.ts';
import type { CountArgs } from './period.ts';

/** Where a list is: by time, then by number. */
export interface Position {
  readonly timeMs: number;
  readonly number: bigint;
}

export interface EventArgs extends CountArgs {
  /** Null: all. */
  readonly event: string | null;
  /** Numbers of a person; null: of everybody. */
  readonly numbers: readonly number[] | null;
  /** Only events behind it in the list; null: all. */
  readonly after: Position | null;
  readonly limit: number;
}

export interface FoundEvent extends Position {
  /** Which distinct ID it came with, and of whom that is now. */
  readonly id: number;
  readonly person: number;
  readonly name: string;
  readonly uuid: string | null;
  readonly isBot: boolean;
  /** A JSON object. */
  readonly properties: string;
}

/** Of a page: further events are for the next one. */
export const PAGE_BYTES_MAX = 1024 * 1024;

export function newestFirst(a: Position, b: Position): number {
  return b.timeMs - a.timeMs || (a.number > b.number ? -1 : a.number < b.number ? 1 : 0);
}

interface Candidate extends Position {
  readonly of: Block;
  readonly event: number;
  readonly person: number;
}

/** The first `limit` events of the blocks, of as many bytes as a page may have, and one more. */
export const findEvents: ScanTask<EventArgs, FoundEvent[]> = {
  source: import.meta.url,
  id: 'findEvents',
  run(blocks, args) {
    const joins = new IntTable(args.joins);
    const found = blocks.flatMap((block) => new Block(new StoredEvents(block)).find(args, joins)).sort(newestFirst);
    const events: FoundEvent[] = [];
    let bytes = 0;
    for (const candidate of found.slice(0, args.limit + 1)) {
      const event = candidate.of.show(candidate);
      events.push(event);
      if (bytes > PAGE_BYTES_MAX) break;
      bytes += event.properties.length;
    }
    return events;
  },
};

class Block {
  readonly #events: StoredEvents;
  readonly #names: readonly (string | null)[];
  readonly #nameIds: Uint32Array;
  readonly #persons: Float64Array;
  readonly #bots: Uint8Array | null;
  #properties: StoredProperties | null = null;

  constructor(events: StoredEvents) {
    this.#events = events;
    const { values, ids } = events.names();
    this.#names = values;
    this.#nameIds = ids;
    this.#persons = events.persons();
    this.#bots = events.bots();
  }

  find({ fromMs, toMs, event, numbers, after, limit, includeBots }: EventArgs, joins: IntTable): Candidate[] {
    const { times } = this.#events;
    const name = event === null ? -1 : this.#names.indexOf(event);
    if (event !== null && name === -1) return [];
    const wanted = numbers === null ? null : new Set(numbers);
    const seqs = this.#events.numbers();
    const found: Candidate[] = [];
    for (let i = this.#events.records - 1; i >= 0 && found.length <= limit; i -= 1) {
      const [id, timeMs] = [this.#persons[i] as number, times[i] as number];
      if (timeMs < fromMs) break;
      if (id === 0 || timeMs >= toMs || (name >= 0 && this.#nameIds[i] !== name)) continue;
      if ((!includeBots && this.#bots?.[i] === 1) || wanted?.has(id) === false) continue;
      const at = { timeMs, number: seqs[i] as bigint };
      if (after !== null && newestFirst(at, after) <= 0) continue;
      const person = joins.get(id, id);
      if (person !== DELETED) found.push({ ...at, of: this, event: i, person });
    }
    return found;
  }

  show({ timeMs, number, event, person }: Candidate): FoundEvent {
    this.#properties ??= new StoredProperties(this.#events);
    return {
      timeMs,
      number,
      person,
      id: this.#persons[event] as number,
      name: this.#names[this.#nameIds[event] as number] as string,
      uuid: uuidAt(this.#events.uuids(), this.#events.sentUuids(), event),
      isBot: this.#bots?.[event] === 1,
      properties: this.#properties.json(event),
    };
  }
}
